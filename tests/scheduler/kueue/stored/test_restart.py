"""A stage is derived: what it wrote is enough to go on as if nothing had happened."""

from __future__ import annotations

import copy
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Context
from scheduler.model.objects import Key, Object
from tests.conformance import kueue, vectors
from tests.conformance.kueue import Timeline
from tests.scheduler.kueue.rig import Rig

HERE = Path(__file__).parents[3] / "vectors" / "kueue"


class Store:
    """The objects as a database would hold them: written when touched."""

    def __init__(self) -> None:
        self.objects: dict[Key, Object] = {}

    def put(self, obj: Object) -> None:
        self.objects[obj.key] = copy.deepcopy(obj)

    def commit(self, stage: KueueStage) -> None:
        journal = stage.context.journal
        for key in journal.stale:
            if key in self.objects:
                stage.write(self.objects[key])
        journal.stale.clear()

    def reborn(self, old: KueueStage) -> KueueStage:
        context = Context(
            seed=old.context.seed,
            epoch_us=old.context.epoch_us,
            now_ms=old.context.now_ms,
        )
        stage = KueueStage(context, old.settings)
        stage.load_state(through_bytes(old.dump_state()))
        for key in sorted(self.objects):
            obj = self.objects[key]
            stage.put(
                Object(
                    key=key,
                    manifest=through_bytes(obj.manifest),
                    status=through_bytes(obj.status),
                    state=through_bytes(obj.state),
                ),
                restore=True,
            )
        return stage


def through_bytes(value):
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


class Restarting(Timeline):
    """A timeline whose stage is thrown away and read back before every instant."""

    def __init__(self, vector) -> None:
        self.store = Store()
        super().__init__(vector)
        for obj in kueue.objects_of(vector):
            if obj.key.kind != "Workload":
                self.store.put(obj)

    def _arrive(self) -> None:
        for obj in self.arrivals.get(self.now, []):
            self.store.put(obj)
        super()._arrive()

    def _finish(self) -> None:
        self.store.commit(self.stage)
        self.stage = self.store.reborn(self.stage)
        self.script.stage = self.shown.stage = self.stage
        super()._finish()

    def _play(self, step) -> None:
        super()._play(step)
        self.store.commit(self.stage)
        for key in list(self.store.objects):
            if key not in self.script.objects:
                del self.store.objects[key]
        if self.script.last is not None:
            self.store.put(self.script.last)


def sample(mode: str, step: int) -> list:
    return list(vectors(HERE / f"{mode}.jsonl.gz"))[::step]


@pytest.mark.parametrize("vector", sample("timed", 6), ids=lambda v: v["id"])
def test_a_stage_that_is_read_back_at_every_instant_decides_the_same(vector):
    assert Restarting(vector).run() == Timeline(vector).run()


@pytest.mark.parametrize("vector", sample("checks", 4), ids=lambda v: v["id"])
def test_a_stage_that_is_read_back_at_every_instant_knows_its_checks(vector):
    again, once = Restarting(copy.deepcopy(vector)).run(), Timeline(vector).run()
    assert again["events"] == once["events"]
    assert again["changes"] == once["changes"]


@pytest.mark.parametrize("vector", sample("afs", 4), ids=lambda v: v["id"])
def test_a_stage_that_is_read_back_at_every_instant_knows_what_was_used(vector):
    again, once = Restarting(copy.deepcopy(vector)).run(), Timeline(vector).run()
    assert again["events"] == once["events"]
    assert again["usage"] == once["usage"]


@pytest.mark.parametrize("vector", sample("settle", 9), ids=lambda v: v["id"])
def test_a_stage_that_is_read_back_between_cycles_decides_the_same(vector):
    assert settle(vector, restart=True) == settle(vector, restart=False)


def settle(vector, *, restart: bool) -> list:
    store, stage = Store(), kueue.stage_of(vector)
    for obj in kueue.objects_of(vector):
        store.put(obj)
        stage.put(obj)
    reported = []
    for number in range(12):
        stage.context.now_ms = number * 1000
        kueue._controllers(stage)
        store.commit(stage)
        reported += stage.context.journal.take_decisions()
        if restart:
            stage = store.reborn(stage)
        stage.cycle()
        reported += stage.context.journal.take_decisions()
        store.commit(stage)
        if restart:
            stage = store.reborn(stage)
    stage.settle()
    return [
        *reported,
        {w.name: kueue._place(w) for w in stage.cluster.workloads.values()},
    ]


class Reborn(Rig):
    """A rig whose stage is thrown away and read back after every step."""

    def run(self, at_s=None):
        self.rebirth()  # edits that were not looked at yet survive
        reported = super().run(at_s)
        self.rebirth()
        return reported

    def rebirth(self) -> None:
        store = Store()
        store.objects = self.objects
        store.commit(self.stage)
        decisions = self.context.journal.decisions
        self.stage = store.reborn(self.stage)
        self.context = self.stage.context
        self.context.journal.decisions = decisions
        self.stage.settle()


def test_what_was_stored_before_its_controllers_ran_is_written_again_after():
    rig = Reborn()
    rig.queue("q")
    key = rig.workload("a", "q")
    rig.rebirth()
    rig.context.journal.touched.clear()
    rig.controllers()
    assert key in rig.context.journal.touched


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "finish", "remove", "off", "on", "cut", "hold"]),
        st.integers(0, 3),
        st.integers(1, 4),
        st.integers(0, 2),
    ),
    max_size=12,
)


def step(rig: Rig, number: int, what: str, where: int, cpu: int, priority: int) -> None:
    queue = f"q{where % 2}"
    if what == "add":
        rig.workload(f"w{number}", queue, cpu=cpu, priority=priority)
    elif what == "cut":
        rig.queue(queue, cpu=cpu, cohort="lab", within="LowerPriority", reclaim="Any")
    elif what == "hold":
        rig.local(queue, stop="HoldAndDrain" if cpu > 2 else "None")
    else:
        known = sorted(key for key in rig.objects if key.kind == "Workload")
        if known:
            change(rig, known[where % len(known)], what)


def change(rig: Rig, key: Key, what: str) -> None:
    running = rig.work(key.name).cluster_queue is not None
    if what == "finish" and running:
        rig.stage.finish(key)
    elif what == "remove":
        rig.stage.remove(key)
        del rig.objects[key]
    elif what in ("off", "on"):
        rig.edit(key, active=what == "on")


@settings(max_examples=60, deadline=None)
@given(edits=EDITS, waiting=st.booleans())
def test_reading_back_after_every_edit_changes_no_decision(edits, waiting):
    config = {
        "waitForPodsReady": {
            "timeout": "2s",
            "requeuingStrategy": {"backoffBaseSeconds": 3, "backoffLimitCount": 2},
        }
    }
    reported = []
    for kind in (Rig, Reborn):
        rig = kind(config if waiting else {})
        for name in ("q0", "q1"):
            rig.queue(name, cohort="lab", within="LowerPriority", reclaim="Any")
        decisions = []
        for number, edit in enumerate(edits):
            step(rig, number, *edit)
            decisions.append(rig.run(number))
        decisions.append(rig.run(30))
        reported.append(decisions)
    assert reported[0] == reported[1]
