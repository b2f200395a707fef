"""Each way in which YuniKorn keeps a pod waiting: what is said of it, and what starts it.

The list is made from the codes of checks and nodes. Of each there is a world in which it
is the reason and a change that was run, or a sentence of why none is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from scheduler.analysis.explain.answers import answers
from scheduler.analysis.explain.asks import MOST_NODES, CheckName
from scheduler.analysis.explain.would import helps
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.engine.yunikorn.explain import Obstacle
from scheduler.engine.yunikorn.shim.pods import USER_INFO
from scheduler.model.objects import Key
from tests.builders import node, pod, queue_tree, world_of

Manifest = dict[str, Any]
OTHER_QUEUE = {"name": "b"}
TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}


def of(name: str, cpu: int, queue: str = "root.a", **given: Any) -> Manifest:
    made = pod(name, cpu=cpu, **given)
    made["metadata"]["labels"] = {"applicationId": name, "queue": queue}
    return made


def held(cpu: int, name: str = "held") -> Manifest:
    return of(name, cpu, runtime="1h")


def waiting(cpu: int = 2, **spec: Any) -> Manifest:
    made = of("p", cpu, arrival="5s")
    made["spec"] |= spec
    return made


def run(*files: Manifest, beside: bool = False, **queue: Any) -> World:
    """Queue root.a with these settings, and root.b `beside` it, for a minute."""
    tree = queue_tree({"name": "a", **queue}, *([OTHER_QUEUE] if beside else []))
    world = world_of(*files, stack="yunikorn", yunikorn={"queues": tree})
    advance(world, 60_000)
    return world


def large(**spec: Any) -> Manifest:
    return {**node("n", cpu=8), "spec": spec}


LIMIT = {"limit": "", "users": ["*"], "maxresources": {"vcore": "2"}}
CASES: dict[str, tuple[Callable[[], World], list[str], str]] = {
    "application": (
        lambda: run(large(), held(1), waiting(), beside=True, maxapplications=1),
        ["root.a has as many as its maxapplications (1) lets run"],
        "queue root.b",
    ),
    "queueQuota": (
        lambda: run(
            large(),
            held(4),
            waiting(),
            beside=True,
            resources={"max": {"vcore": "4"}},
        ),
        ["Not enough queue quota", "The max of root.a is 4 vcore: 4 vcore used."],
        "queue root.b",
    ),
    "userQuota": (
        lambda: run(large(), held(2), waiting(), beside=True, limits=[LIMIT]),
        [
            "Not enough user quota: 2 vcore asked, 0 vcore left to its user.",
            "The limit of user nobody in root.a is 2 vcore.",
        ],
        "queue root.b",
    ),
    "cordoned": (
        lambda: run(large(unschedulable=True), waiting()),
        ["1 node: cordoned."],
        "node n no longer cordoned",
    ),
    "tooSmall": (
        lambda: run(node("n", cpu=1), waiting()),
        ["1 node: too small in vcore.", "The nodes together have 1 vcore"],
        "1/2 of what each pod asks: 1 CPU",
    ),
    "short": (
        lambda: run(
            node("n", cpu=4), node("m", cpu=4), held(3), held(3, "more"), waiting()
        ),
        ["2 nodes: short of vcore."],
        "one more node like n",
    ),
    "predicate": (
        lambda: run(large(taints=[TAINT]), waiting()),
        ["1 node: node(s) had untolerated taint(s)."],
        "a toleration of gpu=true:NoSchedule",
    ),
}
UNTRIED = {
    "reserved": "whose the node is goes first, and then the pod",
    "preemption": "of preemption: what keeps it waiting is said beside",
    "mayPreempt": "of preemption: what keeps it waiting is said beside",
    "delay": "of preemption: what keeps it waiting is said beside",
    "first": "of preemption: what keeps it waiting is said beside",
}


def test_every_code_has_a_world_or_a_reason():
    assert {*get_args(CheckName), *get_args(Obstacle)} == CASES.keys() | UNTRIED.keys()


@pytest.mark.parametrize("code", CASES)
def test_the_answer_says_the_reason_first_and_a_change_that_starts_the_pod(code):
    make, parts, change = CASES[code]
    world = make()
    (found,) = answers(world, "p")
    text = "\n".join(found.sentences)
    assert [part for part in parts if part not in text] == [], text
    assert text.index(parts[0]) < text.index("Nobody would be preempted")
    said = [one.text for one in helps(world, Key("Pod", "default", "p"))]
    assert any(f"with {change}." in one for one in said), said


GROUPS = '[{"name": "w", "minMember": 8, "minResource": {"cpu": "2"}}]'


@pytest.mark.parametrize(
    ("queue", "settings", "why"),
    [
        ("root.none", {}, "no placement rule matched"),
        ("root.a", {"resources": {"max": {"vcore": "4"}}}, "larger than max queue"),
        (
            "root.a",
            {"properties": {"application.sort.policy": "fair"}},
            "unsupported sort type",
        ),
    ],
)
def test_of_a_pod_whose_application_was_rejected_the_whole_reason_is_said(
    queue, settings, why
):
    made = of("p", 2, queue)
    made["metadata"]["annotations"] = {
        "yunikorn.apache.org/task-groups": GROUPS,
        "yunikorn.apache.org/task-group-name": "w",
    }
    (found,) = answers(run(large(), made, **settings), "p")
    said = found.sentences[0]
    assert said.startswith("YuniKorn rejected its application: ")
    assert why in said


def test_the_reasons_count_every_node_and_not_those_that_are_listed():
    small = [node(f"n{number}", cpu=1) for number in range(MOST_NODES + 5)]
    (found,) = answers(run(*small, waiting()), "p")
    assert f"{len(small)} nodes: too small in vcore." in found.sentences


def of_devs(name: str, cpu: int, **given: Any) -> Manifest:
    made = of(name, cpu, **given)
    info = '{"user": "sue", "groups": ["devs"]}'
    made["metadata"].setdefault("annotations", {})[USER_INFO] = info
    return made


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"maxresources": {"vcore": "2"}}, "The limit of group devs in root.a is 2"),
        ({"maxapplications": 1}, "group devs has as many in root.a as maxapplications"),
    ],
)
def test_a_limit_is_named_with_whose_it_is_its_queue_and_its_value(limit, said):
    """The user has more in the queue than the group, so that the group's is the one."""
    limits = [
        {"limit": "", "users": ["sue"], "maxresources": {"vcore": "3"}},
        {"limit": "", "groups": ["devs"], **limit},
    ]
    held_by = of_devs("held", 1, runtime="1h")
    world = run(large(), held_by, of_devs("p", 2, arrival="5s"), limits=limits)
    (found,) = answers(world, "p")
    assert any(said in one for one in found.sentences), found.sentences


def test_where_no_change_helps_the_answer_says_that():
    world = run(large(), held(1), waiting(8), maxapplications=1)
    (only,) = helps(world, Key("Pod", "default", "p"))
    assert only.code == "would.noHelp"
