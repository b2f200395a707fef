"""Several schedulers over the same nodes: what sharing costs, by each way of it."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube.binding.host import BindingCounts
from scheduler.model.decisions import Bind, Fail
from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile

TWO = {
    "kind": "List",
    "items": [{"profiles": [profile("a")]}, {"profiles": [profile("b")]}],
}


def rivals(nodes: int = 1, pods: int = 1, cpu: int = 3, **simulation: Any) -> Rig:
    """Two schedulers with so many pods each, of which one fits on a node."""
    rig = Rig(
        *[node(f"n{i}", cpu=4) for i in range(nodes)], configuration=TWO, **simulation
    )
    for number in range(pods):
        rig.put(pod(f"a{number}", cpu=cpu, scheduler="a"))
        rig.put(pod(f"b{number}", cpu=cpu, scheduler="b"))
    return rig


def counted(rig: Rig, field: str) -> int:
    return sum(getattr(counts, field) for counts in rig.stage.counts.values())


def test_the_node_turns_away_what_two_schedulers_put_in_one_place() -> None:
    rig = rivals()
    decisions = rig.settle()
    refused = [d for d in decisions if isinstance(d, Fail) and d.node]
    assert [(d.reason, d.node) for d in refused] == [("OutOfcpu", "n0")]
    assert len(rig.places()) == 1
    assert (counted(rig, "conflicts"), counted(rig, "refused")) == (1, 1)


def test_with_compare_and_set_the_loser_tries_again() -> None:
    rig = rivals(nodes=1, cpu=2, binding="compare-and-set")
    rig.run(3_000)
    assert rig.places() == {"a0": "n0", "b0": "n0"}
    assert counted(rig, "conflicts") == 1
    assert counted(rig, "retries") >= 1
    assert counted(rig, "refused") == 0


def test_with_locks_one_waits_and_nothing_conflicts() -> None:
    rig = rivals(nodes=1, cpu=2, locking="pessimistic", bind_latency_ms=500)
    rig.run(5_000)
    assert rig.places() == {"a0": "n0", "b0": "n0"}
    assert counted(rig, "conflicts") == 0
    assert counted(rig, "blocked") >= 1
    assert counted(rig, "idle_ms") >= 500


def test_a_scheduler_that_hoards_locks_for_a_gang_starves_the_other() -> None:
    args = {"podGroupRejectPercentage": 100}
    patient = [{"name": "Coscheduling", "args": args}]
    gang = profile("a", plugins=GANG_PLUGINS, pluginConfig=patient)
    one, other = {"profiles": [gang]}, {"profiles": [profile("b")]}
    rig = Rig(
        *[node(f"n{i}", cpu=4) for i in range(2)],
        pod_group("g", 3, scheduleTimeoutSeconds=20),
        configuration={"kind": "List", "items": [one, other]},
        locking="pessimistic",
    )
    for number in range(3):
        rig.put(pod(f"g{number}", cpu=3, scheduler="a", group="g"))
    rig.run(1_000)
    rig.put(pod("small", cpu=1, scheduler="b"))
    rig.run(19_000)
    assert rig.places() == {}
    assert "locked by another scheduler" in rig.pending()["small"]
    rig.run(21_000)
    assert list(rig.places()) == ["small"]


def test_pools_by_label_avoid_conflicts_and_waste_places() -> None:
    def pooled(name: str) -> dict[str, Any]:
        term = {"key": "pool", "operator": "In", "values": [name]}
        need = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
        args = {
            "addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": need}
        }
        return {
            "profiles": [
                profile(name, pluginConfig=[{"name": "NodeAffinity", "args": args}])
            ]
        }

    pools = {"kind": "List", "items": [pooled("a"), pooled("b")]}
    nodes = [node(f"n{i}", cpu=1, labels={"pool": "ab"[i % 2]}) for i in range(4)]
    rig = Rig(*nodes, configuration=pools)
    for number in range(4):
        rig.put(pod(f"a{number}", scheduler="a"))
    rig.run(2_000)
    assert len(rig.places()) == 2
    assert counted(rig, "conflicts") == 0
    assert rig.stage.used_on("n1") == ({}, 0)


def test_one_process_with_two_profiles_never_conflicts() -> None:
    config = {"profiles": [profile("a"), profile("b")]}
    rig = Rig(node("n0", cpu=4), configuration=config)
    rig.put(pod("a0", cpu=3, scheduler="a"))
    rig.put(pod("b0", cpu=3, scheduler="b"))
    decisions = rig.settle()
    assert len([d for d in decisions if isinstance(d, Bind)]) == 1
    assert counted(rig, "conflicts") == 0


def test_nobody_always_wins() -> None:
    winners = set()
    for seed in range(12):
        rig = Rig(node("n0", cpu=4), configuration=TWO, seed=seed)
        rig.put(pod("a0", cpu=3, scheduler="a"))
        rig.put(pod("b0", cpu=3, scheduler="b"))
        rig.settle()
        winners |= set(rig.places())
    assert winners == {"a0", "b0"}


def test_counts_outlive_a_restart() -> None:
    rig = rivals()
    rig.settle()
    again = rig.restarted()
    assert again.stage.counts == rig.stage.counts
    assert again.stage.counts["a"] != BindingCounts()


def gang_beside_web() -> Rig:
    """A gang of three on two nodes, then a small pod of another scheduler."""
    args = {"podGroupRejectPercentage": 40}
    batch = profile(
        "batch",
        plugins=GANG_PLUGINS,
        pluginConfig=[{"name": "Coscheduling", "args": args}],
    )
    rig = Rig(
        node("n0", cpu=4),
        node("n1", cpu=4),
        pod_group("train", 3),
        *(pod(f"t{i}", cpu=3, group="train", scheduler="batch") for i in range(3)),
        configuration={
            "kind": "List",
            "items": [{"profiles": [batch]}, {"profiles": [profile("web")]}],
        },
        locking="pessimistic",
    )
    rig.run(1_000)
    rig.put(pod("w", cpu=1, scheduler="web"))
    return rig


def test_a_gang_that_waits_hoards_its_nodes_from_other_schedulers() -> None:
    rig = gang_beside_web()
    rig.run(30_000)
    assert rig.places() == {}
    assert "2 node(s) were locked by another scheduler" in rig.pending()["w"]


def test_a_hoarded_node_is_free_for_others_once_the_gang_is_whole() -> None:
    rig = gang_beside_web()
    rig.run(30_000)
    rig.put(node("n2", cpu=4))
    rig.run(31_000)
    assert len(rig.places()) == 4


def test_a_lost_race_names_the_versions_that_were_read_and_found() -> None:
    rig = rivals(nodes=1, cpu=2, binding="compare-and-set")
    rig.run(0)
    lost = [d.message for d in rig.decisions if isinstance(d, Fail)]
    assert len(lost) == 1
    assert "at v1, now it is at v2" in lost[0]
