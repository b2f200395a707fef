"""Concurrent admission: a Workload is tried in every flavor, the first that admits it runs it.

From the public documents and the source, not from recorded decisions.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler.analysis.explain.workloads import explain
from scheduler.analysis.measures.collector import Measures
from scheduler.engine.kueue.concurrent.admissions import WAIT_US, next_to_open
from scheduler.engine.kueue.workload.families import GATE, make_variant, variant_name
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.input.manifests.simulation_gaps.unsimulated import gated
from scheduler.model.decisions import Decision
from scheduler.model.kueue.check_answers import OPEN, GateState
from scheduler.model.kueue.feature_gates import FeatureGates
from scheduler.model.objects import Key, Object
from scheduler.words.effects import Effect
from tests.builders import flavor, job, local_queue, workload_priority, world_of
from tests.invariants import violations

GATE_NAME = "ConcurrentAdmission"
ON = {"featureGates": {GATE_NAME: True}}
PARENT = "kueue.x-k8s.io/concurrent-admission-parent"


def queue(mode: str = "", last: str = "", **quotas: int) -> dict[str, Any]:
    """Return the ClusterQueue `main` with these flavors, the preferred ones first."""
    migration: dict[str, Any] = {"mode": mode or "TryPreferredFlavors"}
    if last:
        migration["constraints"] = {"lastAcceptableFlavorName": last}
    flavors = [
        {"name": name, "resources": [{"name": "cpu", "nominalQuota": cpu}]}
        for name, cpu in quotas.items()
    ]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "main"},
        "spec": {
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority"},
            "concurrentAdmissionPolicy": {"migration": migration},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
        },
    }


def a_world(*jobs: dict[str, Any], of: dict[str, Any], **policy: Any) -> World:
    groups = of["spec"]["resourceGroups"]
    names = [item["name"] for item in groups[0]["flavors"]]
    return world_of(
        *map(flavor, names), of, local_queue("main", cluster_queue="main"),
        workload_priority("high", 10), *jobs, **{"kueue": ON, **policy},
    )  # fmt: skip


def cpu(name: str, amount: int = 2, **given: Any) -> dict[str, Any]:
    return job(name, queue="main", cpu=amount, **given)


def change(kind: str, at: str, patch: dict[str, Any], name: str = "main") -> dict:
    namespace = {} if kind == "ClusterQueue" else {"namespace": "default"}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {
            "name": f"{name}-{at}", "annotations": {"quotalab.dev/arrival": at},
        },
        "spec": {"target": {"kind": kind, "name": name, **namespace}, "patch": patch},
    }  # fmt: skip


def run(world: World, until_s: int) -> list[Decision]:
    return list(simulate(world, until_ms=until_s * 1000).decisions)


def reasons(decisions: list[Decision], name: str) -> list[str]:
    """Return what happened to Workloads whose name begins so, by reason."""
    return [d.reason for d in decisions if d.subject.name.startswith(name)]


def family(world: World, name: str) -> tuple[Object, dict[str, Object]]:
    """Return the Workload of a job, and its variants by flavor."""
    found = [world.get(key) for key in world.keys("Workload")]
    (parent,) = [
        one for one in found
        if one.key.name.startswith(f"job-{name}-") and PARENT in one.labels
    ]  # fmt: skip
    variants = {
        one.annotations["kueue.x-k8s.io/allowed-resource-flavor"]: one
        for one in found
        for owner in one.metadata.get("ownerReferences", ())
        if owner["name"] == parent.key.name
    }
    return parent, variants


def admitted(obj: Object) -> bool:
    return any(
        (c["type"], c["status"]) == ("Admitted", "True")
        for c in obj.status.get("conditions") or ()
    )


def runs_in(world: World, name: str) -> str:
    """Return the flavor in which a job runs; "" while it does not."""
    parent, _ = family(world, name)
    if not admitted(parent):
        return ""
    (part,) = parent.status["admission"]["podSetAssignments"]
    return str(part["flavors"]["cpu"])


def used(world: World) -> dict[str, str]:
    status = world.get(Key("ClusterQueue", "", "main")).status
    return {
        item["name"]: item["resources"][0]["total"]
        for item in status["flavorsReservation"]
    }


def test_the_first_variant_that_is_admitted_runs_the_job_and_takes_its_quota_once():
    world = a_world(cpu("a", runtime="60s"), of=queue(reserved=2, spot=8))
    decided = run(world, 1)
    parent, variants = family(world, "a")
    assert list(variants) == ["reserved", "spot"]
    assert runs_in(world, "a") == "reserved"
    assert used(world) == {"reserved": "2", "spot": "0"}
    name = variants["reserved"].key.name
    assert f"The variant {name} is admitted" in [d.message for d in decided]
    assert variants["spot"].spec["active"] is False
    assert list(violations(world)) == []
    assert world.lifetime.runs.keys() == {parent.key}


def test_a_job_moves_to_a_preferred_flavor_as_soon_as_it_has_room():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="100s", arrival="1s"),
        of=queue(reserved=2, spot=8),
    )  # fmt: skip
    run(world, 2)
    assert runs_in(world, "b") == "spot"
    decided = run(world, 100)
    assert runs_in(world, "b") == "reserved"
    assert used(world) == {"reserved": "2", "spot": "0"}
    assert "FlavorMigration" in reasons(decided, "job-b-variant-spot")
    _, variants = family(world, "b")
    (moved,) = [d for d in decided if d.reason == "FlavorMigration" and d.message][:1]
    assert moved.message == (
        f"Evicted to accommodate a workload (UID: {variants['reserved'].uid}) due to "
        "migration to more favorable resource flavor"
    )
    assert "VariantEvicted" in reasons(decided, "job-b-")


def test_with_retain_first_admission_a_job_stays_where_it_is():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="100s", arrival="1s"),
        of=queue("RetainFirstAdmission", reserved=2, spot=8),
    )  # fmt: skip
    run(world, 90)
    assert runs_in(world, "b") == "spot"
    _, variants = family(world, "b")
    assert variants["reserved"].spec["active"] is False


def test_a_job_does_not_move_to_a_flavor_after_the_last_acceptable_one():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="30s", arrival="500ms"),
        cpu("c", runtime="500s", arrival="1s"),
        of=queue(last="reserved", reserved=2, ondemand=2, spot=2),
    )  # fmt: skip
    run(world, 40)
    assert runs_in(world, "c") == "spot"  # although ondemand has room again
    run(world, 70)
    assert runs_in(world, "c") == "reserved"


def test_without_the_gate_the_policy_is_left_out_and_said_so():
    world = a_world(cpu("a"), of=queue(reserved=2, spot=8), kueue={})
    run(world, 1)
    assert len(world.keys("Workload")) == 1
    (gap,) = gated(queue(reserved=2), FeatureGates())
    assert gap.field == "spec.concurrentAdmissionPolicy"
    assert gap.effect == Effect.ONE_FLAVOR


@pytest.mark.parametrize(
    "spec", [{"queueingStrategy": "StrictFIFO"}, {"resourceGroups": []}]
)
def test_a_policy_that_kueue_refuses_is_left_out_and_said_so(spec: dict[str, Any]):
    refused = queue(reserved=2)
    refused["spec"].update(spec)
    (gap,) = gated(refused, FeatureGates(concurrent_admission=True))
    assert "refuses this policy" in gap.problem.text
    assert gap.effect == Effect.ONE_FLAVOR


def test_a_preempted_job_is_tried_in_every_flavor_again():
    world = a_world(
        cpu("low", runtime="500s"),
        cpu("high", priority_class="high", runtime="50s", arrival="10s"),
        cpu("other", runtime="20s", arrival="1s"),
        of=queue(reserved=2, spot=2),
    )  # fmt: skip
    run(world, 5)
    assert (runs_in(world, "low"), runs_in(world, "other")) == ("reserved", "spot")
    decided = run(world, 40)
    assert runs_in(world, "high") == "reserved"
    assert runs_in(world, "low") == "spot"
    assert "ActivatedVariant" in reasons(decided, "job-low-variant-spot")


def test_one_variant_at_a_time_may_preempt():
    world = a_world(
        cpu("a", runtime="500s"), cpu("b", runtime="500s", arrival="1s"),
        cpu("high", priority_class="high", runtime="50s", arrival="10s"),
        of=queue(reserved=2, spot=2),
    )  # fmt: skip
    decided = run(world, 20)
    assert reasons(decided, "job-high").count("PreemptionUngatedVariant") == 1
    assert runs_in(world, "high") == "reserved"
    assert runs_in(world, "b") == "spot"


def blocked(name: str) -> WorkloadInfo:
    key = Key("Workload", "default", name)
    work = WorkloadInfo(key, name, LocalQueue(Key("LocalQueue", "default", "main")))
    work.conditions["BlockedOnPreemptionGates"] = Condition(
        True, "PreemptionGated", "", 0
    )
    return work


def test_the_next_variant_may_preempt_five_minutes_after_the_one_before():
    first, second = blocked("first"), blocked("second")
    assert next_to_open([first, second]) == (first, 0)
    first.gate_states = {GATE: GateState(OPEN, 7)}
    assert next_to_open([first, second]) == (second, 7 + WAIT_US)


@pytest.mark.parametrize("why", ["inactive", "gated", "QuotaReserved", "Finished"])
def test_the_gate_of_a_variant_that_cannot_be_admitted_stays_closed(why):
    first, second = blocked("first"), blocked("second")
    first.gate_states = {GATE: GateState(OPEN, 7)}
    if why == "inactive":
        first.active = False
    elif why == "gated":
        first.gated = "somebody"
    else:
        first.conditions[why] = Condition(True, why, "", 0)
    assert next_to_open([first, second]) == (second, 0)


@pytest.mark.parametrize(
    ("name", "kept"), [("train-1", "train-variant-spot"), ("n" * 60, "n" * 57)]
)
def test_the_name_of_a_variant_is_that_of_its_parent_as_far_as_it_fits(name, kept):
    made = variant_name(name, "uid", "spot")
    prefix, _, last = made.rpartition("-")
    assert (prefix, len(last)) == (kept, 5)
    assert made != variant_name(name, "other", "spot")


def test_a_variant_is_owned_by_its_parent_in_the_version_of_its_parent():
    key = Key("Workload", "default", "a")
    for version in ("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"):
        manifest = {"apiVersion": version, "metadata": {"name": "a", "uid": "u"}}
        made = make_variant(Object(key=key, manifest=manifest), "spot", 3)
        assert made.metadata["ownerReferences"] == [
            {
                "apiVersion": version,
                "kind": "Workload",
                "name": "a",
                "uid": "u",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
        assert made.uid == "u-03"


def test_the_variants_of_a_deleted_job_go_with_it():
    world = a_world(cpu("a"), of=queue(reserved=2, spot=8))
    run(world, 1)
    world.delete(Key("Job", "default", "a"))
    run(world, 2)
    assert world.keys("Workload") == []
    assert used(world) == {"reserved": "0", "spot": "0"}


def test_variants_follow_the_flavors_of_the_queue():
    fewer = queue(spot=8, extra=4)["spec"]["resourceGroups"]
    world = a_world(
        cpu("a", runtime="500s"),
        change("ClusterQueue", "5s", {"spec": {"resourceGroups": fewer}}),
        of=queue(reserved=2, spot=8),
    )  # fmt: skip
    world.put(Object(key=Key("ResourceFlavor", "", "extra"), manifest=flavor("extra")))
    decided = run(world, 10)
    _, variants = family(world, "a")
    assert sorted(variants) == ["extra", "spot"]
    assert {"DeletedVariant", "ConcurrentAdmission"} <= set(reasons(decided, "job-a-"))
    assert runs_in(world, "a") == "spot"


def test_the_variants_of_an_inactive_workload_are_inactive():
    world = a_world(cpu("a", runtime="500s"), of=queue(reserved=2, spot=8))
    run(world, 1)
    parent, _ = family(world, "a")
    world.put(
        Object(
            key=parent.key,
            manifest={**parent.manifest, "spec": {**parent.spec, "active": False}},
        )
    )
    run(world, 3)
    _, variants = family(world, "a")
    assert [one.spec["active"] for one in variants.values()] == [False, False]
    assert used(world) == {"reserved": "0", "spot": "0"}


def test_each_job_counts_once_in_the_measures():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="10s", arrival="1s"),
        of=queue(reserved=2, spot=8),
    )  # fmt: skip
    measured = Measures(world)
    measured.observe(run(world, 100))
    found = measured.summary()
    assert (found.arrived, found.finished) == (2, 2)


def test_an_explanation_names_the_variants_and_what_each_waits_for():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="10s", arrival="1s"),
        of=queue(reserved=2, spot=0),
    )  # fmt: skip
    run(world, 5)
    parent, variants = family(world, "b")
    sentences = explain(world, parent.key).sentences
    assert "its variants are tried in its place" in " ".join(sentences)
    assert f"Variant {variants['spot'].key.name} for flavor spot: couldn't" in " ".join(
        sentences
    )
    (first, *_) = explain(world, variants["spot"].key).sentences
    assert first.startswith(f"It is the variant of {parent.key.name} for flavor spot")


def switched(world: World, *, on: bool) -> World:
    spec = replace(world.policy.spec, kueue={"featureGates": {GATE_NAME: on}})
    world.set_policy(replace(world.policy, spec=spec))
    return world


def test_parents_keep_what_their_variants_hold_when_the_gate_is_switched_off():
    world = a_world(
        cpu("a", runtime="60s"), cpu("b", runtime="60s", arrival="1s"),
        cpu("c", runtime="10s", arrival="2s"), of=queue(reserved=2, spot=2),
    )  # fmt: skip
    run(world, 5)
    decided = run(switched(world, on=False), 30)
    assert not reasons(decided, "job-a") + reasons(decided, "job-b")
    assert [key.name[:5] for key in world.keys("Workload")] == [
        "job-a",
        "job-b",
        "job-c",
    ]
    assert used(world) == {"reserved": "2", "spot": "2"}
    run(world, 200)
    assert used(world) == {"reserved": "0", "spot": "0"}


def test_what_runs_goes_on_as_a_variant_when_the_gate_is_switched_on():
    world = a_world(
        cpu("a", runtime="60s"), of=queue(reserved=2, spot=2), kueue={},
    )  # fmt: skip
    run(world, 5)
    run(switched(world, on=True), 20)
    _, variants = family(world, "a")
    assert sum(map(admitted, variants.values())) == 1


def test_a_queue_that_loses_its_flavors_ends_the_job_and_its_variants():
    world = a_world(cpu("a", runtime="500s"), of=queue(reserved=2, spot=8))
    run(world, 1)
    bare = queue()
    bare["spec"]["resourceGroups"] = []
    world.put(Object(key=Key("ClusterQueue", "", "main"), manifest=bare))
    run(world, 2)
    (left,) = world.keys("Workload")
    assert not admitted(world.get(left))
    assert list(violations(world)) == []
