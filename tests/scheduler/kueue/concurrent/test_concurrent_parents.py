"""Concurrent admission: what parents and variants say, and gates of a Workload's own."""

from __future__ import annotations

from scheduler.engine.kueue.workload.families import GATE, make_variant
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import BELOW_LAST_ACCEPTABLE
from tests.scheduler.kueue.concurrent.test_concurrent_admission import (
    ON,
    a_world,
    cpu,
    family,
    queue,
    reasons,
    run,
    runs_in,
)
from tests.scheduler.kueue.rig import Rig
from tests.scheduler.kueue.test_feature_gates import GATED, at, workload_manifest


def test_the_variants_that_were_made_are_named_one_by_one():
    world = a_world(cpu("a"), of=queue(reserved=2, spot=8))
    decided = run(world, 1)
    _, variants = family(world, "a")
    assert [d.message for d in decided if d.reason == "CreatedVariant"] == [
        f'Variant Workload "default/{one.key.name}" created'
        for one in variants.values()
    ]


def test_a_variant_that_waits_for_a_migration_says_so():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="100s", arrival="1s"),
        of=queue(reserved=2, spot=8),
    )  # fmt: skip
    decided = run(world, 100)
    (waits, *_) = [d for d in decided if d.reason == "WaitingForPreemptedWorkloads"]
    assert waits.message == ". Pending the migration of 1 workload(s)"


def test_a_parent_is_evicted_whose_pods_are_not_ready_in_time():
    waiting = {**ON, "waitForPodsReady": {"timeout": "10s"}}
    world = a_world(cpu("a", ready_after="30s"), of=queue(reserved=2), kueue=waiting)
    run(world, 1)
    parent, variants = family(world, "a")
    for one in (parent, variants["reserved"]):
        assert condition(one, "PodsReady")[:2] == ("False", "WaitForStart")
    assert "PodsReadyTimeout" in reasons(run(world, 12), "job-a-")


def test_an_own_gate_of_a_workload_holds_its_variants_until_it_opens():
    held = workload_manifest()
    held["spec"] |= {"priority": 10, "priorityClassName": "high"}
    gates = {**ON["featureGates"], **GATED["featureGates"]}
    world = a_world(
        cpu("low", 1, runtime="500s"),
        of=queue(reserved=1),
        kueue={"featureGates": gates},
    )  # fmt: skip
    run(world, 1)
    key = Key("Workload", "default", "w")
    world.put(Object(key=key, manifest=held))
    run(world, 30)
    assert runs_in(world, "low") == "reserved"
    world.put(Object(key=key, manifest=held, status=at("Open")))
    assert "Preempted" in reasons(run(world, 31), "job-low-variant")


def condition(obj: Object, kind: str) -> tuple[str, str, str]:
    (found,) = [c for c in obj.status["conditions"] if c["type"] == kind]
    return found["status"], found["reason"], found["message"]


class Variants(Rig):
    """A queue of the flavors `e`, `f` and `g`; whoever is to stop does not."""

    def __init__(self, **quotas: int) -> None:
        super().__init__(ON)
        for name in quotas:
            self.put("ResourceFlavor", name, {}, namespace="")
        self.change_queue(**quotas)
        self.local("main")

    def change_queue(self, last: str = "", **quotas: int) -> None:
        spec = queue(last=last, **quotas)["spec"]
        self.put("ClusterQueue", "main", spec, namespace="")

    def reconcile(self) -> None:
        """Run the controllers, and make the variants that they ask for."""
        assert self.stage.variants is not None
        self.stage.reconcile()
        wanted, _ = self.stage.variants.making.take()
        for parent, flavor, place in wanted:
            variant = make_variant(self.objects[parent], flavor, place)
            self.objects[variant.key] = variant
            self.stage.put(variant)
        self.stage.reconcile()

    def cycles(self, count: int) -> None:
        for _ in range(count):
            self.reconcile()
            self.stage.cycle()
        self.reconcile()

    def variants(self, name: str) -> list[WorkloadInfo]:
        assert self.stage.cluster.families is not None
        key = Key("Workload", "default", name)
        return self.stage.cluster.families.variants(key, ("e", "f", "g"))


def test_the_next_gate_is_due_five_minutes_after_the_last_one_opened():
    rig = Variants(f=2, g=2)
    for name in ("low", "other"):
        rig.workload(name, "main", 2)
        rig.cycles(3)
    rig.context.now_ms = 2000
    rig.workload("boss", "main", 2, priority=9)
    rig.cycles(1)
    rig.change_queue(f=0, g=2)  # nothing comes of the gate that opened
    rig.cycles(3)
    first, second = rig.variants("boss")
    assert first.gate_states[GATE].position == "Open"
    assert rig.stage.due() == 302_000
    for now_ms, opened in ((301_999, False), (302_000, True)):
        rig.context.now_ms = now_ms
        rig.reconcile()
        assert (GATE in second.gate_states) is opened


def test_a_variant_that_an_edit_puts_below_the_last_acceptable_flavor_is_refused():
    rig = Variants(e=0, f=0, g=2)
    rig.workload("w", "main", 2)
    rig.cycles(4)
    _, second, third = rig.variants("w")
    assert (second.reserved, third.reserved) == (False, True)
    rig.change_queue(last="e", e=0, f=2, g=2)
    rig.stage.settle()
    rig.stage.requeue_inadmissible()
    rig.context.journal.take_decisions()
    rig.stage.cycle()  # of the first one
    rig.stage.cycle()
    assert [
        (one.subject, one.reason, one.message)
        for one in rig.context.journal.take_decisions()
    ] == [(second.key, "PendingEvaluation", BELOW_LAST_ACCEPTABLE)]
    assert not third.evicted
