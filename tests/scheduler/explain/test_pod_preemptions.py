"""A preemption of pods step by step, under kube-scheduler and YuniKorn."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.explain.preemptions import explain_preemption
from scheduler.analysis.explain.shapes import PodPreemption, TriedNode
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from tests.builders import Manifest, node, pod, world_of
from tests.scheduler.yunikorn import clusters


def _first_preemption(world: World, ticks: int = 60) -> PodPreemption:
    for _ in range(ticks):
        before = fork(world)
        decisions = [d for d in run_tick(world) if isinstance(d, Preempt)]
        if decisions:
            found = explain_preemption(before, decisions[0])
            assert isinstance(found, PodPreemption)
            by = decisions[0].by
            made = [str(d.subject) for d in decisions if d.by == by]
            assert sorted(v.workload for v in found.targets) == sorted(made)
            return found
    raise AssertionError("nobody was preempted")


def _on(name: str, at: str, priority: int, *, cpu: int = 1, **labels: str) -> Manifest:
    """Return a pod that may only run on one node."""
    made = pod(name, cpu=cpu, labels=labels)
    spec: dict[str, Any] = {"priority": priority, "nodeSelector": {"at": at}}
    return {**made, "spec": {**made["spec"], **spec}}


def _boss(cpu: int = 2, priority: int = 9) -> Manifest:
    made = pod("boss", cpu=cpu, arrival="3s")
    return {**made, "spec": {**made["spec"], "priority": priority}}


def _kube(*pods: Manifest, nodes: tuple[str, ...] = ("n0", "n1")) -> PodPreemption:
    made = [node(name, cpu=2, at=name) for name in nodes]
    return _first_preemption(world_of(*made, *pods, stack="kube"))


def _tried(found: PodPreemption) -> dict[str, TriedNode]:
    return {row.node: row for row in found.nodes}


def _verdicts(row: TriedNode) -> list[tuple[str, str, str]]:
    return [(p.pod.rpartition("/")[2], p.kind, p.verdict) for p in row.pods]


def test_the_node_with_the_lowest_highest_priority_is_chosen() -> None:
    found = _kube(_on("dear", "n0", 5, cpu=2), _on("cheap", "n1", 1, cpu=2), _boss())
    rows = _tried(found)
    assert (found.node, rows["n1"].outcome) == ("n1", "chosen")
    assert (rows["n0"].outcome, rows["n0"].lost_by) == ("lost", "highestPriority")
    costs = {cost.rule: cost.value for cost in rows["n0"].costs}
    assert list(costs) == found.rules
    assert (costs["highestPriority"], costs["victims"]) == (5, 1)


def test_all_lesser_pods_are_removed_and_put_back_while_the_preemptor_fits() -> None:
    pods = _on("dear", "n0", 5), _on("cheap", "n0", 1), _boss(cpu=1)
    (row,) = _kube(*pods, nodes=("n0",)).nodes
    assert _verdicts(row) == [
        ("dear", "candidate", "removed"),
        ("cheap", "candidate", "removed"),
        ("dear", "putBack", "spared"),
        ("cheap", "putBack", "needed"),
    ]
    assert row.pods[-1].why == "Insufficient cpu"


def test_who_a_budget_protects_is_named_and_its_node_loses() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    web = _on("web", "n0", 0, cpu=2, app="web")
    found = _kube(budget, web, _on("batch", "n1", 3, cpu=2), _boss())
    rows = _tried(found)
    assert [(one.name, one.allowed) for one in found.budgets] == [("default/keep", 0)]
    assert rows["n0"].pods[0].budgets == ["default/keep"]
    assert (rows["n0"].violations, rows["n0"].lost_by) == (1, "violations")
    assert found.node == "n1"


def test_nodes_that_no_removal_would_help_say_why() -> None:
    tainted = node("n1", cpu=2, at="n1")
    tainted["spec"] = {"taints": [{"key": "gone", "effect": "NoSchedule"}]}
    pods = _on("low", "n0", 0, cpu=2), _on("top", "n2", 9, cpu=2), _boss()
    nodes = [node("n0", cpu=2, at="n0"), tainted, node("n2", cpu=2, at="n2")]
    rows = _tried(_first_preemption(world_of(*nodes, *pods, stack="kube")))
    assert (rows["n1"].outcome, rows["n2"].outcome) == ("notHelpful", "noCandidates")
    assert "untolerated taint" in rows["n1"].why
    assert rows["n2"].why == "No preemption victims found for incoming pod"


def _yunikorn(
    *pods: Object, laws: str = "documented", nodes: dict[str, str] | None = None
) -> PodPreemption:
    world = clusters.world(laws=laws, nodes=nodes)
    for one in pods:
        world.put(one)
    return _first_preemption(world)


@pytest.mark.parametrize("laws", ["documented", "released"])
def test_yunikorn_says_which_pods_of_a_node_go_and_which_stay(laws: str) -> None:
    tests = [clusters.pod(f"t{n}", "root.test", "2") for n in range(4)]
    wanted = clusters.pod("p", "root.prod", "2", arrival="20s")
    found = _yunikorn(*tests, wanted, laws=laws)
    assert (found.scheduler, found.laws, found.node) == ("YuniKorn", laws, "n")
    (row,) = found.nodes
    assert [pod.verdict for pod in row.pods].count("taken") == len(found.targets) == 1
    assert [one.amount for one in row.missing if one.resource == "vcore"] == ["2000"]
    counted = {one.queue: (one.candidates > 0, one.why) for one in found.sources}
    assert counted == {"root.test": (True, ""), "root.prod": (False, "own")}


@pytest.mark.parametrize("laws", ["documented", "released"])
def test_yunikorn_says_by_which_rule_a_node_lost(laws: str) -> None:
    tests = [
        clusters.pod("one", "root.test", "4", nodeSelector={"at": "a"}),
        clusters.pod("two", "root.test", "2", nodeSelector={"at": "b"}),
        clusters.pod("three", "root.test", "2", nodeSelector={"at": "b"}),
    ]
    wanted = clusters.pod("p", "root.prod", "4", arrival="20s")
    world = clusters.world(laws=laws, nodes={})
    for name in ("a", "b"):
        made = clusters.node(name, "4")
        made.manifest["metadata"]["labels"] = {"at": name}
        world.put(made)
    for one in (*tests, wanted):
        world.put(one)
    rows = _tried(found := _first_preemption(world))
    assert (found.node, rows["a"].outcome) == ("b", "lost")
    assert rows["a"].lost_by == "originators"  # its only pod drives the application


def test_a_pod_that_must_run_on_one_node_lists_that_node_alone() -> None:
    low = [clusters.pod(f"t{n}", "root.test", "4") for n in range(2)]
    daemon = clusters.pod("d", "root.default", "1", arrival="5s")
    daemon.manifest["metadata"]["ownerReferences"] = [
        {"kind": "DaemonSet", "name": "d", "uid": "d", "apiVersion": "apps/v1"}
    ]
    terms = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    ]
    need = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
    }
    daemon.manifest["spec"]["affinity"] = {"nodeAffinity": need}
    found = _yunikorn(*low, daemon)
    assert (found.strategy, found.node) == ("RequiredNode", "n")
    assert [pod.verdict for pod in found.nodes[0].pods] == ["taken", "spared"]


def test_the_world_that_is_asked_about_stays_as_it_is() -> None:
    world = world_of(
        node("n0", cpu=2, at="n0"), _on("low", "n0", 0, cpu=2), _boss(), stack="kube"
    )
    while world.context.now_ms < 2000:
        run_tick(world)
    for _ in range(5):
        before = fork(world)
        decision = next((d for d in run_tick(world) if isinstance(d, Preempt)), None)
        if decision is not None:
            was = before.hash()
            explain_preemption(before, decision)
            assert before.hash() == was
            return
    raise AssertionError("nobody was preempted")


def test_a_preemption_by_another_plug_in_says_that_its_search_is_not_shown() -> None:
    decision = Preempt(
        at_ms=0,
        subject=Key("Pod", "a", "low"),
        by=Key("Pod", "b", "high"),
        strategy="CapacityScheduling",
    )
    with pytest.raises(SchedulerError, match="search of CapacityScheduling is not"):
        explain_preemption(world_of(node("n0"), stack="kube"), decision)
