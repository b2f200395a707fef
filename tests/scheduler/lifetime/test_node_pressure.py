"""A node that runs low evicts its pods one by one, in a kubelet's order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Decision, Evict, Finish, NodeChange
from scheduler.model.objects import Key
from scheduler.model.reasons import EVICTED_BY_KUBELET
from tests.builders import job, node, pod, small_cluster, world_of

GI = 1 << 30
N1 = Key("Node", "", "n1")


def machine(memory: str = "16Gi", **more: str) -> dict[str, Any]:
    """Return a node of 8 CPUs with so much memory for pods."""
    made = node("n1", cpu=8)
    allocatable = {**made["status"]["allocatable"], "memory": memory, **more}
    return {**made, "status": {**made["status"], "allocatable": allocatable}}


def using(
    name: str, *, asks: str = "2Gi", uses: str = "", priority: int = 0
) -> dict[str, Any]:
    """Return a pod that asks for memory and may use more of it."""
    made = pod(name, runtime="1h")
    made["spec"]["containers"][0]["resources"]["requests"]["memory"] = asks
    made["spec"]["priority"] = priority
    if uses:
        made["metadata"]["annotations"]["quotalab.dev/uses"] = uses
    return made


def taking(at: str, amount: str | None) -> dict[str, Any]:
    """Return a Change after which so much of the node is taken by what is no pod."""
    patch = {"metadata": {"annotations": {"quotalab.dev/taken": amount}}}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {
            "name": f"at-{at}",
            "annotations": {"quotalab.dev/arrival": at},
        },
        "spec": {"target": {"kind": "Node", "name": "n1"}, "patch": patch},
    }


def decided(world: World, until_s: int) -> list[Decision]:
    return list(simulate(world, until_ms=until_s * 1000).decisions)


def evicted(decisions: list[Decision]) -> list[tuple[str, int]]:
    return [
        (d.subject.name, d.at_ms)
        for d in decisions
        if isinstance(d, Evict) and d.reason == EVICTED_BY_KUBELET
    ]


def test_pods_above_their_requests_go_first_then_low_priority_then_most_above() -> None:
    world = world_of(
        machine("16Gi"),
        using("small", asks="1Gi", uses="memory=2Gi"),
        using("large", asks="1Gi", uses="memory=3Gi"),
        using("urgent", asks="1Gi", uses="memory=6Gi", priority=10),
        using("good", asks="4Gi"),
        taking("30s", "memory=14Gi"),
        stack="kube",
    )
    gone = evicted(decided(world, 120))
    assert gone == [
        ("large", 30_000),
        ("small", 40_000),
        ("urgent", 50_000),
        ("good", 60_000),
    ]


def test_one_that_uses_what_it_asked_for_stays_while_enough_is_free() -> None:
    world = world_of(
        machine("8Gi"),
        using("good", asks="4Gi"),
        using("greedy", asks="2Gi", uses="memory=7Gi"),
        stack="kube",
    )
    decisions = decided(world, 120)
    assert [name for name, _ in evicted(decisions)] == ["greedy"]
    (why,) = (d.message for d in decisions if isinstance(d, Evict))
    assert why == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. "
        "Container main was using 7Gi, request is 2Gi, has larger consumption of memory. "
    )
    status = world.get(Key("Pod", "default", "greedy")).status
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")


def test_a_full_node_whose_pods_use_what_they_asked_for_is_not_low() -> None:
    world = world_of(
        machine("4Gi"), using("a"), using("b", uses="memory=2Gi"), stack="kube"
    )
    assert evicted(decided(world, 60)) == []


def test_a_critical_pod_stays() -> None:
    world = world_of(
        machine("4Gi"),
        using("critical", uses="memory=9Gi", priority=2_000_000_000),
        using("other", asks="1Gi"),
        stack="kube",
    )
    assert [name for name, _ in evicted(decided(world, 120))] == ["other"]


def test_a_node_stays_tainted_for_five_minutes_and_takes_no_pods_meanwhile() -> None:
    late = using("late", asks="1Gi")
    late["metadata"]["annotations"]["quotalab.dev/arrival"] = "60s"
    world = world_of(
        machine("8Gi"),
        using("a", asks="1Gi"),
        late,
        taking("10s", "memory=7400Mi"),
        taking("20s", None),
        stack="kube",
    )
    decisions = decided(world, 600)
    changes = [(d.change, d.at_ms) for d in decisions if isinstance(d, NodeChange)]
    assert [one for one in changes if one[0] in ("pressed", "relieved")] == [
        ("pressed", 10_000),
        ("relieved", 310_000),
    ]
    binds = {d.subject.name: d.at_ms for d in decisions if isinstance(d, Bind)}
    assert binds["late"] == 310_000
    assert "taints" not in world.objects[N1].spec


def test_a_node_that_may_evict_nobody_recovers_when_a_pod_ends() -> None:
    critical = using("critical", uses="memory=9Gi", priority=2_000_000_000)
    critical["metadata"]["annotations"]["quotalab.dev/runtime"] = "30s"
    world = world_of(machine("4Gi"), critical, stack="kube")
    changes = [
        (d.change, d.at_ms)
        for d in decided(world, 600)
        if isinstance(d, NodeChange) and d.change in ("pressed", "relieved")
    ]
    assert changes == [("pressed", 0), ("relieved", 330_000)]


def test_the_pod_of_a_job_is_made_again_and_its_work_begins_again() -> None:
    made = job("train", queue="main", cpu="1", runtime="100s")
    made["spec"]["template"].setdefault("metadata", {})["annotations"] = {
        "quotalab.dev/uses": "memory=3Gi"
    }
    machine_of = machine("8Gi")
    world = world_of(
        *small_cluster(),
        machine_of,
        made,
        taking("50s", "memory=6Gi"),
        taking("60s", None),
    )
    decisions = decided(world, 1200)
    (gone,) = evicted(decisions)
    assert gone[1] == 50_000
    ends = [d.at_ms for d in decisions if isinstance(d, Finish)]
    assert ends
    assert ends[0] >= 350_000 + 100_000


def test_a_disk_is_low_below_a_tenth_of_it() -> None:
    def of(name: str, used: str) -> dict[str, Any]:
        made = using(name, asks="1Gi", uses=f"ephemeral-storage={used}")
        return made

    world = world_of(
        machine("16Gi", **{"ephemeral-storage": "90Gi"}),
        of("log", "60Gi"),
        of("cache", "35Gi"),
        stack="kube",
    )
    assert [name for name, _ in evicted(decided(world, 60))] == ["log"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 9), st.integers(0, 3)),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 16),
    st.integers(0, 120),
)
def test_a_world_that_is_written_and_read_decides_the_same(
    pods: list[tuple[int, int, int]], taken: int, cut_s: int
) -> None:
    made = [
        using(f"p{n}", asks=f"{asks}Gi", uses=f"memory={uses}Gi", priority=priority)
        for n, (asks, uses, priority) in enumerate(pods)
    ]
    world = world_of(
        machine("16Gi"), *made, taking("7s", f"memory={taken}Gi"), stack="kube"
    )
    first = decided(world, cut_s)
    again = world.copy()
    assert again.hash() == world.hash()
    rest, other = decided(world, 900), decided(again, 900)
    assert evicted(rest) == evicted(other)
    assert again.hash() == world.hash()
    used = sum(
        uses
        for (_, uses, _), one in zip(pods, made, strict=True)
        if one["metadata"]["name"] not in dict(evicted([*first, *rest]))
    )
    left = [name for name, _ in evicted([*first, *rest])]
    assert used + taken <= 16 or len(left) == len(made)
