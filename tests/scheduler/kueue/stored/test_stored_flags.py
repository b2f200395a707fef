"""What a stage has still to do is stored beside its objects, and stored again when read back."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.usage.ledger import UsageLedger
from scheduler.engine.kueue.workload.info import LocalQueue
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.kueue.check_answers import CLOSED, OPEN, GateState, closed_again
from scheduler.model.kueue.usage_settings import UsageFairSharing
from scheduler.model.objects import Key, Object
from tests.scheduler.kueue.rig import EPOCH, Rig

TRIED = {"tried": [{"cpu": 1}], "cycle": 3, "generation": 2, "identity": "7 main 1"}


def written_again(name: str, kind: str, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an object that was read back with one, before any step."""
    rig = Rig()
    rig.queue("q", 2)
    rig.workload("w", "q")
    known = rig.objects[Key(kind, "default" if kind == "Workload" else "", name)]
    fresh = Rig()
    fresh.queue("q", 2)
    fresh.controllers()
    obj = Object(key=known.key, manifest=known.manifest, state={"kueue": state})
    fresh.stage.put(obj, restore=True)
    again = Object(key=known.key, manifest=known.manifest)
    fresh.stage.write(again)
    return dict(again.state["kueue"])


def test_a_workload_that_came_with_its_queue_is_so_when_it_is_read_back():
    assert written_again("w", "Workload", {"added": True}) == {"added": True}


@pytest.mark.parametrize("kind", [1, 2, 4, 7])
def test_an_edit_of_a_queue_that_nobody_has_looked_at_is_so_when_it_is_read_back(kind):
    again = written_again("q", "ClusterQueue", {"generation": 1, "edited": kind})
    assert again["edited"] & kind == kind


def test_a_queue_that_nobody_edited_says_so():
    rig = Rig()
    rig.queue("q", 2)
    rig.run(0)
    obj = rig.objects[Key("ClusterQueue", "", "q")]
    rig.stage.write(obj)
    assert "edited" not in obj.state["kueue"]


@pytest.mark.parametrize("state", [{"ready": True}, {"secondPass": [9, 2]}, TRIED])
def test_what_a_workload_remembers_is_written_again(state):
    rig = Rig()
    rig.queue("q", 2)
    rig.workload("w", "q")
    obj = rig.objects[Key("Workload", "default", "w")]
    fresh = Rig()
    fresh.queue("q", 2)
    given = Object(key=obj.key, manifest=obj.manifest, state={"kueue": state})
    fresh.stage.put(given, restore=True)
    fresh.stage.settle()
    fresh.stage.write(obj)
    assert state.items() <= obj.state["kueue"].items()


def test_a_queue_stored_with_an_edit_is_written_again_once_it_is_carried_out():
    rig = Rig()
    rig.queue("q", 2)
    obj = rig.objects[Key("ClusterQueue", "", "q")]
    rig.run(0)
    fresh = Rig()
    state = {"kueue": {"generation": 1, "edited": 4}}
    given = Object(key=obj.key, manifest=obj.manifest, state=state)
    fresh.stage.put(given, restore=True)
    fresh.context.journal.touched.clear()
    fresh.controllers()
    assert obj.key in fresh.context.journal.touched


def test_a_gate_that_is_closed_already_was_closed_when_it_was():
    states = {"a": GateState(CLOSED, 5), "b": GateState(OPEN, 6)}
    assert closed_again(states, 9) == {
        "a": GateState(CLOSED, 5),
        "b": GateState(CLOSED, 9),
    }


def ledger() -> UsageLedger:
    settings = UsageFairSharing(half_life_s=60, interval_us=5_000_000)
    return UsageLedger(settings, Context(seed=0, epoch_us=EPOCH), lambda queue: True)


@pytest.mark.parametrize(
    "state",
    [
        {"stored": {"cpu": 3_000_000_000}},
        {
            "usage": {
                "last_us": durations.stamp_us("2026-01-02T03:04:05Z"),
                "consumed": {"cpu": 5},
                "pending": {"default/w": {"cpu": 2}},
                "seeded": True,
                "shown": {"cpu": 4},
                "shown_us": 7,
            },
            "stored": {"cpu": 1},
        },
    ],
)
def test_what_a_local_queue_has_consumed_is_read_back(state):
    queue = LocalQueue(Key("LocalQueue", "default", "q"))
    read = ledger()
    read.load(queue, state)
    assert read.dump(queue) == state


def test_local_queues_to_be_looked_at_are_read_back():
    rig = Rig({"admissionFairSharing": {"usageHalfLifeTime": "60s"}})
    rig.queue("q", 2)
    rig.workload("w", "q")
    state = rig.stage.dump_state()
    assert state["looks"] == [["LocalQueue", "default", "q"]]
    fresh = Rig({"admissionFairSharing": {"usageHalfLifeTime": "60s"}})
    fresh.stage.load_state(state)
    assert fresh.stage.dump_state() == state
