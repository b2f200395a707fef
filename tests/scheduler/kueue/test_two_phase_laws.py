"""Laws of two-phase admission and of decaying usage, on random stories."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kueue.usage.decay import decayed, share_of_now
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.kueue.check_state import STATES, CheckState
from tests.builders import cluster_queue, flavor, job, local_queue, world_of
from tests.scheduler.kueue.rig import Rig

#: (QuotaReserved, Admitted) before and after one step of the story.
EDGES = {
    ((False, False), (True, False)),
    ((False, False), (True, True)),
    ((True, False), (True, True)),
    ((True, False), (False, False)),
    ((True, True), (False, False)),
}
NAMES = ("a", "b")
WORKS = ("one", "two", "three")
answers = st.tuples(
    st.sampled_from(WORKS), st.sampled_from(NAMES), st.sampled_from(STATES)
)


def checked() -> Rig:
    rig = Rig()
    for name in NAMES:
        status = {"conditions": [{"type": "Active", "status": "True"}]}
        rig.put("AdmissionCheck", name, {}, namespace="", status=status)
    rig.queue("q", 2)
    queue = next(key for key in rig.objects if key.kind == "ClusterQueue")
    checks = [{"name": name} for name in NAMES]
    rig.edit(queue, admissionChecksStrategy={"admissionChecks": checks})
    for name in WORKS:
        rig.workload(name, "q")
    rig.run(0)
    return rig


def phases(rig: Rig) -> dict[str, tuple[bool, bool]]:
    return {
        work.key.name: (work.reserved, work.has_condition("Admitted"))
        for work in rig.stage.cluster.workloads.values()
    }


@settings(max_examples=60, deadline=None)
@given(story=st.lists(answers, max_size=25))
def test_two_phases_move_along_their_edges_only(story):
    rig = checked()
    for at, (name, check, state) in enumerate(story, 1):
        before = phases(rig)
        key = next(k for k in rig.objects if (k.kind, k.name) == ("Workload", name))
        rig.stage.answer_check(key, check, CheckState(state, "", 0))
        rig.run(at)
        for work, after in phases(rig).items():
            # An eviction and the next reservation may fall into one instant.
            assert before[work] == after or (before[work], after) in EDGES | {
                ((True, True), (True, False))
            }
            assert after[0] or not after[1]
        queue = rig.stage.cluster.forest.queues["q"]
        held = sum(
            resource_node.usage for resource_node in queue.resource_nodes.values()
        )
        assert held == 1000 * sum(reserved for reserved, _ in phases(rig).values())


amounts = st.integers(0, 10**21)


@given(amounts, amounts, st.integers(0, 10**6), st.integers(1, 10**6))
def test_usage_decays_exactly_and_toward_what_is_used(consumed, used, seconds, half):
    share = share_of_now(float(seconds), float(half))
    found = decayed({"cpu": consumed}, {"cpu": used}, share)["cpu"]
    rest, now = Decimal(repr(1.0 - share)), Decimal(repr(share))
    cut = [
        int((Decimal(n) * x).to_integral_value(ROUND_DOWN))
        for n, x in ((consumed, rest), (used, now))
    ]
    assert found == sum(cut)
    assert min(consumed, used) - 2 <= found <= max(consumed, used) * (1 + 2**-50)


@given(amounts, amounts)
def test_no_time_changes_nothing(consumed, used):
    assert decayed({"cpu": consumed}, {"cpu": used}, share_of_now(0.0, 60.0)) == {
        "cpu": consumed
    }


def shared() -> World:
    """Two LocalQueues of one ClusterQueue whose workloads need a check."""
    queue = cluster_queue("main", cpu=2, within="LowerPriority")
    mode = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    checks = {"admissionChecks": [{"name": "budget"}]}
    queue["spec"] |= {"admissionScope": mode, "admissionChecksStrategy": checks}
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "budget"},
        "spec": {"controllerName": "example.com/budget"},
    }
    rule = {"check": "budget", "after": "uniform(1s,4s)", "probability": 0.6}
    retry = {"otherwise": "Retry", "requeueAfterSeconds": 3}
    sharing = {"usageHalfLifeTime": "20s", "usageSamplingInterval": "7s"}
    return world_of(
        flavor(),
        check,
        queue,
        local_queue("a", cluster_queue="main"),
        local_queue("b", cluster_queue="main"),
        *(
            job(f"{name}{n}", queue=name, cpu=1, runtime="6s", arrival=f"{n * 2}s")
            for n in range(6)
            for name in "ab"
        ),
        kueue={"admissionFairSharing": sharing},
        simulation={"admissionChecks": [{**rule, **retry}]},
    )


def test_a_world_read_back_at_every_second_is_the_same_world():
    world, again = shared(), shared()
    for second in range(1, 60):
        simulate(world, until_ms=second * 1000)
        simulate(again, until_ms=second * 1000)
        again = again.copy()
        assert again.hash() == world.hash(), second
