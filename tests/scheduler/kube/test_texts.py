"""Statements of the texts in worlds in which nothing else gives the same answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from scheduler.assembly import assemble
from scheduler.engine.kube.noderesources.scoring import ratio_rule
from scheduler.input.manifests.jobs.pod import GROUP
from scheduler.model.decisions import Preempt
from scheduler.model.pod import GANG_LABELS
from scheduler.model.policy import ExtenderAnswers
from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile

FIT = "NodeResourcesFit"
GANGS = {"profiles": [profile(plugins=GANG_PLUGINS)]}


def test_the_score_of_a_node_is_the_weighted_mean_of_its_resources() -> None:
    rule = ratio_rule([(0, 0), (100, 10)])
    whole = np.array([100])
    rows = [(3, np.array([80]), whole), (1, np.array([40]), whole)]
    assert rule.rows(rows, 1).tolist() == [70]


def test_the_use_of_a_node_counts_the_pod_that_is_placed() -> None:
    packs = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "nvidia.com/gpu"}],
        "requestedToCapacityRatio": {
            "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
        },
    }
    only = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": FIT}]}}
    args = [{"name": FIT, "args": {"scoringStrategy": packs}}]
    rig = Rig(
        *(node(f"large-{number}", gpu=8) for number in range(7)),
        node("small", gpu=2),
        configuration={"profiles": [profile(plugins=only, pluginConfig=args)]},
    )
    rig.put(pod("p", gpu=1))
    rig.settle()
    assert rig.places() == {"p": "small"}


def test_coscheduling_sorts_by_priority_then_by_the_time_of_the_group() -> None:
    rig = Rig(configuration=GANGS)
    for second, name in enumerate(("old", "young")):
        group = pod_group(name, 2)
        group["metadata"]["creationTimestamp"] = f"1970-01-01T00:00:0{2 * second}Z"
        rig.put(group)
    for number in range(2):
        rig.put(pod(f"young-{number}", group="young"))
        rig.put(pod(f"old-{number}", group="old"))
    rig.context.now_ms = 1000
    rig.put(pod("alone"))
    rig.put(pod("urgent", priority=5))
    assert _order(rig) == ["urgent", "old-0", "old-1", "alone", "young-0", "young-1"]


@pytest.mark.parametrize(
    ("stack", "label"), [("kueue", GROUP), *(("kube", one) for one in GANG_LABELS)]
)
def test_a_gang_of_several_priorities_is_found(stack: str, label: str) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 5}
    members = [
        _member(name, gang, label, **spec)
        for name, gang, spec in (
            ("a-0", "even", {"priorityClassName": "high"}),
            ("a-1", "even", {"priority": 5}),
            ("b-0", "mixed", {}),
            ("b-1", "mixed", {"priorityClassName": "high"}),
            ("c-0", "", {"priority": 7}),
        )
    ]
    texts = [high | {"metadata": {"name": "high"}}, *members]
    found = assemble(
        [("w.yaml", yaml.safe_dump_all(texts))], policy={"stack": stack}
    ).loaded.findings
    said = [one.problem.partition(":")[0] for one in found]
    assert [one for one in said if "priority" in one] == [
        "pod b-1 of group mixed has priority 5, b-0 of it has 0"
    ]


def _member(name: str, gang: str, label: str, **spec: object) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {label: gang} if gang else {}},
        "spec": {"containers": containers, **spec},
    }


def _order(rig: Rig) -> list[str]:
    (scheduler,) = rig.stage.schedulers
    plugin = scheduler.frameworks["default-scheduler"].plugins["Coscheduling"]
    queued = sorted(scheduler.queue.entries.values(), key=plugin.sort_key)
    return [one.pod.name for one in queued]


def test_a_member_that_waited_too_long_gives_the_nodes_of_its_group_back() -> None:
    args = {"permitWaitingTimeSeconds": 5, "podGroupRejectPercentage": 100}
    gangs = profile(
        plugins=GANG_PLUGINS, pluginConfig=[{"name": "Coscheduling", "args": args}]
    )
    rig = Rig(node("n", cpu=2), pod_group("g", 3), configuration={"profiles": [gangs]})
    rig.put(pod("first", group="g"))
    rig.put(pod("never-fits", group="g", cpu=9))
    rig.put(pod("elsewhere", group="g", cpu=9))
    rig.run(2_000)
    rig.put(pod("second", group="g"))
    rig.run(4_999)
    assert rig.stage.used_on("n")[1] == 2
    rig.run(5_000)
    assert rig.stage.used_on("n")[1] == 0


def test_a_group_that_is_complete_lets_no_other_group_go() -> None:
    args = {"podGroupRejectPercentage": 100}
    gangs = profile(
        plugins=GANG_PLUGINS, pluginConfig=[{"name": "Coscheduling", "args": args}]
    )
    rig = Rig(node("n", cpu=3), configuration={"profiles": [gangs]})
    for name in ("whole", "part"):
        rig.put(pod_group(name, 2))
    rig.put(pod("part-0", group="part"))
    rig.put(pod("part-1", group="part", cpu=9))
    for number in range(2):
        rig.put(pod(f"whole-{number}", group="whole"))
    rig.settle()
    assert set(rig.places()) == {"whole-0", "whole-1"}


@pytest.mark.parametrize(
    ("cpu", "gone"), [(1, {"low"}), (2, {"low", "mid"}), (3, set())]
)
def test_only_pods_of_lower_priority_leave_the_lowest_first(
    cpu: int, gone: set[str]
) -> None:
    rig = Rig(node("n", cpu=3))
    for name, priority in (("mid", 3), ("same", 5), ("low", 1)):
        rig.put(pod(name, priority=priority))
    rig.settle()
    rig.put(pod("p", cpu=cpu, priority=5))
    rig.settle()
    preempted = {d.subject.name for d in rig.decisions if isinstance(d, Preempt)}
    assert preempted == gone


def test_an_extender_decides_between_nodes_by_its_scores() -> None:
    url = "http://rank.example.com"
    asked = {"urlPrefix": url, "prioritizeVerb": "prioritize", "weight": 5}
    names = [f"n{number}" for number in range(8)]
    rig = Rig(
        *(node(name) for name in names),
        configuration={"profiles": [profile()], "extenders": [asked]},
        extenders=[ExtenderAnswers(url_prefix=url, scores={"n5": 10})],
    )
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {"p": "n5"}


def test_a_pod_that_is_changed_to_less_lets_one_that_waits_have_its_room() -> None:
    rig = Rig(node("n", cpu=2))
    rig.put(pod("runs", cpu=2))
    rig.settle()
    rig.put(pod("waits", cpu=1))
    rig.settle()
    smaller = pod("runs", cpu=1)
    smaller["spec"]["nodeName"] = "n"
    rig.put(smaller)
    rig.run(60_000)
    assert rig.places() == {"runs": "n", "waits": "n"}


def test_a_node_is_refused_by_the_first_filter_that_does_not_want_it() -> None:
    taint = {"key": "kept", "effect": "NoSchedule"}
    rig = Rig(node("n", cpu=1, taints=[taint]))
    rig.put(pod("p", cpu=9))
    rig.settle()
    assert "untolerated taint" in rig.pending()["p"]
    assert "Insufficient cpu" not in rig.pending()["p"]


def test_a_taint_to_be_avoided_outweighs_a_little_room() -> None:
    avoid = {"key": "slow", "effect": "PreferNoSchedule"}
    rig = Rig(node("avoided", cpu=64, taints=[avoid]), node("plain", cpu=8))
    rig.put(pod("p", cpu=4))
    rig.settle()
    assert rig.places() == {"p": "plain"}
