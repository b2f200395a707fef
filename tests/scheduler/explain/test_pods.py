"""Why a pod has no node: by kube-scheduler and by YuniKorn."""

from __future__ import annotations

import copy
import re
from io import StringIO
from pathlib import Path

import msgspec
import pytest

from scheduler.analysis.explain.pods import explain_pod
from scheduler.analysis.explain.shapes import AskExplanation, PodExplanation
from scheduler.assembly import assemble
from scheduler.cli.explain import main as command
from scheduler.cli.run import read_sources
from scheduler.engine.tick import advance, run_tick
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import node, pod, world_of
from tests.scheduler.explain.worlds import full_yunikorn
from tests.scheduler.yunikorn import clusters


def _key(name: str) -> Key:
    return Key("Pod", "default", name)


def _kube() -> World:
    world = world_of(
        node("large", cpu=4),
        node("small", cpu=2),
        pod("first", cpu=3),
        pod("second", cpu=3),
        stack="kube",
    )
    run_tick(world)
    world.take()
    return world


def _sources(scenario: str) -> list[tuple[str, str]]:
    folder = Path(__file__).parents[3] / "sandbox/scenarios" / scenario
    return list(read_sources([folder]))


def _of(world: World, name: str) -> PodExplanation:
    answer = explain_pod(world, _key(name))
    assert isinstance(answer, PodExplanation)
    return answer


def test_nodes_that_refuse_a_pod_say_which_plugin_and_why() -> None:
    answer = _of(_kube(), "second")
    assert answer.feasible == 0
    assert {(row.plugin, *row.reasons) for row in answer.nodes} == {
        ("NodeResourcesFit", "Insufficient cpu")
    }
    assert answer.counts == {"Insufficient cpu": 2}


def test_a_pod_with_a_node_is_looked_at_as_if_it_had_none() -> None:
    world = _kube()
    before = world.hash()
    answer = _of(world, "first")
    assert (answer.node, answer.best) == ("large", ["large"])
    assert answer.nodes[0].total == sum(
        score.normalized * scorer.weight
        for score in answer.nodes[0].scores
        for scorer in answer.scorers
        if scorer.plugin == score.plugin
    )
    assert world.hash() == before


def test_a_table_shows_the_best_nodes_first_and_no_more_than_asked() -> None:
    answer = explain_pod(_kube(), _key("first"), most_nodes=1)
    assert isinstance(answer, PodExplanation)
    assert [row.node for row in answer.nodes] == ["large"]
    assert answer.total_nodes == 2


def _ask(world: World) -> AskExplanation:
    answer = explain_pod(world, _key("p"))
    assert isinstance(answer, AskExplanation)
    return answer


def test_an_ask_says_which_conditions_fail() -> None:
    failed = {check.name for check in _ask(full_yunikorn()).checks if not check.holds}
    assert failed == {"queueQuota", "delay"}


def test_an_ask_says_what_both_sets_of_laws_would_do() -> None:
    plans = {plan.laws: plan for plan in _ask(full_yunikorn()).plans}
    assert set(plans) == {"documented", "released"}
    assert plans["documented"].in_force
    assert len(plans["documented"].victims) == 2


def test_explaining_an_ask_changes_nothing() -> None:
    world = full_yunikorn()
    before = world.hash()
    _ask(world)
    assert world.hash() == before


def test_only_pods_of_a_scheduler_can_be_explained() -> None:
    world = world_of(node("n"), pod("lonely"), stack="kube")
    with pytest.raises(SchedulerError, match="expected a Pod"):
        explain_pod(world, Key("Node", "", "n"))


def test_a_pod_that_has_ended_is_placed_by_nothing_any_more() -> None:
    world = world_of(node("n"), pod("short", runtime="1s"), stack="kube")
    for _ in range(5):
        run_tick(world)
    with pytest.raises(SchedulerError, match=r"short has ended \(Succeeded\)"):
        explain_pod(world, _key("short"))


@pytest.mark.parametrize(
    ("weights", "used"),
    [({"vcore": 1, "memory": 1}, 0.7), ({"vcore": 4, "memory": 1}, 0.82)],
)
def test_a_placed_ask_says_how_full_its_node_counts(
    weights: dict[str, int], used: float
) -> None:
    queues = copy.deepcopy(clusters.QUEUES)
    sort = {"type": "fair", "resourceweights": weights}
    queues["partitions"][0]["nodesortpolicy"] = sort
    world = clusters.world(queues=queues, nodes={"n": "10"})
    placed = clusters.pod("p", "root.default", "9")
    (container,) = placed.spec["containers"]
    container["resources"]["requests"]["memory"] = "32Gi"  # of 64
    world.put(placed)
    run_tick(world)
    (node,) = _ask(world).node_verdicts
    assert node.used == pytest.approx(used)
    assert {row.resource: row.share for row in node.shares} == pytest.approx(
        {"vcore": 0.9, "memory": 0.5}
    )


def test_an_ask_says_its_preemption_policy() -> None:
    world = clusters.world()
    world.put(clusters.pod("p", "root.prod", preemptionPolicy="Never"))
    run_tick(world)
    answer = _ask(world)
    assert (answer.allow_preempt_self, answer.allow_preempt_other) == (True, False)


def _verdicts(answer: PodExplanation, point: str) -> dict[str, tuple[str, str]]:
    [found] = [one for one in answer.points if one.point == point]
    return {p.plugin: (p.verdict, p.detail) for p in found.plugins}


def test_a_cycle_is_told_point_by_point_in_the_order_of_the_framework() -> None:
    names = [point.point for point in _of(_kube(), "second").points]
    assert names[:4] == ["PreEnqueue", "QueueSort", "PreFilter", "Filter"]
    assert names[-5:] == ["Reserve", "Permit", "PreBind", "Bind", "PostBind"]


def test_each_plugin_says_what_it_did_with_a_pod_that_finds_no_node() -> None:
    answer = _of(_kube(), "second")
    fit = _verdicts(answer, "Filter")["NodeResourcesFit"]
    assert fit == ("refused", "2 of 2: Insufficient cpu")
    assert _verdicts(answer, "PostFilter")["DefaultPreemption"][0] == "ok"
    assert _verdicts(answer, "Bind")["DefaultBinder"] == ("idle", "")


def test_a_filter_is_asked_about_the_nodes_that_those_before_it_left() -> None:
    world = assemble(_sources("kube-zone-bound-volume")).world
    advance(world, 5_000)
    said = _verdicts(_of(world, "database"), "Filter")
    bound = "1 of 1: node(s) didn't match PersistentVolume's node affinity"
    assert said["NodeResourcesFit"] == ("refused", "1 of 2: Insufficient cpu")
    assert said["NodeVolumeLimits"] == ("ok", "asked about 1 of 2 nodes")
    assert said["VolumeBinding"] == ("refused", bound)


@pytest.mark.parametrize("names", ["true", "false"])
def test_a_request_to_an_extender_holds_names_or_whole_nodes(names: str) -> None:
    texts = [
        (name, text.replace("nodeCacheCapable: true", f"nodeCacheCapable: {names}"))
        for name, text in _sources("extender-refuses")
    ]
    world = assemble(texts).world
    advance(world, 1_000)
    asks = _of(world, "licensed")
    nodes = [world.objects[Key("Node", "", f"node-{n}")] for n in (1, 2, 3, 4)]
    whole = sum(len(msgspec.json.encode(one.manifest)) for one in nodes)
    said = _verdicts(asks, "Filter")["Extender"][1]
    found = re.search(r"; 4 nodes in (\d+) bytes$", said)
    assert found
    assert (int(found[1]) > whole) == (names == "false")


def test_the_points_behind_the_choice_name_the_node_of_a_pod_that_has_one() -> None:
    answer = _of(_kube(), "first")
    assert _verdicts(answer, "Bind")["DefaultBinder"] == ("ok", "large")
    assert _verdicts(answer, "Score")["NodeResourcesFit"][0] == "ok"
    assert _verdicts(answer, "PostFilter")["DefaultPreemption"] == ("idle", "")


def test_no_point_was_run_for_a_pod_that_came_with_its_node() -> None:
    answer = explain_pod(_kube(), _key("first"), bound=False)
    assert isinstance(answer, PodExplanation)
    said = {one.verdict for point in answer.points for one in point.plugins}
    assert said == {"notRun"}
    assert answer.sentences[-1] == "It came with its node: no scheduler bound it."


def test_a_node_that_another_scheduler_locked_takes_no_pod() -> None:
    world = assemble(_sources("kube-locks-deadlock")).world
    advance(world, 20_000)
    answer = explain_pod(world, _key("east-2"))
    assert isinstance(answer, PodExplanation)
    assert answer.feasible == 0
    assert answer.counts["node(s) were locked by another scheduler"] == 1


@pytest.mark.parametrize(
    ("pod", "at", "line"),
    [
        ("huge", "21s", "Extender idle (not asked: no node is left)"),
        ("plain", "4s", "NodeResourcesFit ok (asked about 1 of 3 nodes)"),
        ("licensed", "6s", "Extender ok (1 node in"),
    ],
)
def test_an_extender_is_told_of_at_the_filter_of_pods_that_it_is_for(
    pod: str, at: str, line: str
) -> None:
    out = StringIO()
    command(
        [
            "sandbox/scenarios/extender-points",
            "--at",
            at,
            "--about",
            f"Pod/{pod}",
            "--steps",
        ],
        out,
    )
    lines = [one.strip() for one in out.getvalue().splitlines()]
    (said,) = [one for one in lines if one.startswith("Filter:")]
    assert line in said
