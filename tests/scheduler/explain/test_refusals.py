"""Each way in which the engine refuses a Workload: its field and value, and what helps.

The list is made from the codes. Of each there is a world in which it is the reason, the
answer names the field and its value, and a change that was run admits the Workload.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.sentence import Words
from scheduler.words.why import Gate, NotTried, Short
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
    world_of,
)

Manifest = dict[str, Any]
CLASSES = [
    workload_priority(name, n) for name, n in (("low", 1), ("mid", 50), ("high", 100))
]
FAIR = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "fairSharing": {},
}
BORROW = {"reclaimWithinCohort": "Any"}


def queue(name: str = "main", cpu: int = 4, **preemption: Any) -> list[Manifest]:
    """A ClusterQueue of the cohort, and its LocalQueue."""
    made = cluster_queue(name, cohort="co", cpu=cpu)
    made["spec"]["preemption"] = preemption
    return [made, local_queue(name, cluster_queue=name)]


def limited(name: str, cpu: int, **limits: str) -> list[Manifest]:
    made = queue(name, cpu)
    made[0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] |= limits
    return made


def stopped(made: list[Manifest], at: int) -> list[Manifest]:
    made[at]["spec"]["stopPolicy"] = "Hold"
    return made


def held(
    cpu: int, of: str = "mid", queue: str = "main", name: str = "held"
) -> Manifest:
    return job(name, queue=queue, cpu=cpu, runtime="1h", priority_class=of)


def late(cpu: int, of: str = "high", queue: str = "main", **given: str) -> Manifest:
    made = job(
        "late", queue=queue, cpu=cpu, runtime="1h", arrival="5s", priority_class=of
    )
    if given:
        made["spec"]["template"]["spec"] |= {"nodeSelector": given}
    return made


def asking(cpu: int, resource: str) -> Manifest:
    made = late(cpu)
    made["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"][
        resource
    ] = "1"
    return made


def choosy(selector: Manifest | None, **labels: str) -> list[Manifest]:
    """A queue that takes work of some namespaces, and the labels of this one."""
    made = queue()
    made[0]["spec"]["namespaceSelector"] = selector
    meta = {"name": "default", "labels": labels}
    return [*made, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}]


def limit_range(**most: str) -> Manifest:
    limits = [{"type": "Container", "max": most}]
    meta = {"name": "small", "namespace": "default"}
    given = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta}
    return {**given, "spec": {"limits": limits}}


def lender(cpu: int = 2) -> list[Manifest]:
    return queue("lender", cpu)


def run(*parts: Manifest | list[Manifest], **policy: Any) -> World:
    """Those, a flavor and three priorities, for 30 s."""
    flat = [
        one for part in parts for one in (part if isinstance(part, list) else [part])
    ]
    world = world_of(flavor("default", pool="a"), *CLASSES, *flat, **policy)
    simulate(world, until_ms=30_000)
    world.freshen()
    return world


#: Code -> a world in which it is the reason, what is named of it, and the kind of a
#: change that helps.
CASES: dict[Words, tuple[Callable[[], World], list[str], str]] = {
    Gate.WITHIN_NEVER: (
        lambda: run(queue(), held(4), late(4)),
        ["withinClusterQueue of main is Never"],
        "withinClusterQueue",
    ),
    Gate.WITHIN_PRIORITY: (
        lambda: run(
            queue(withinClusterQueue="LowerPriority"), held(4, "high"), late(4)
        ),
        ["withinClusterQueue of main is LowerPriority", "preemptor is 100"],
        "priority",
    ),
    Gate.RECLAIM_NEVER: (
        lambda: run(queue(), lender(), held(6, queue="lender"), late(4)),
        ["reclaimWithinCohort of main is Never"],
        "reclaimWithinCohort",
    ),
    Gate.RECLAIM_PRIORITY: (
        lambda: run(
            queue(reclaimWithinCohort="LowerPriority"),
            lender(),
            held(6, "high", "lender"),
            late(4, "mid"),
        ),
        ["reclaimWithinCohort of main is LowerPriority", "preemptor is 50"],
        "reclaimWithinCohort",
    ),
    Gate.WITHIN_NOMINAL: (
        lambda: run(
            queue(**BORROW, borrowWithinCohort={"policy": "LowerPriority"}),
            lender(4),
            held(4, queue="lender"),
            late(6),
        ),
        ["within the nominal quota of lender"],
        "nominalQuota",
    ),
    Gate.BORROW_NEVER: (
        lambda: run(
            queue(**BORROW),
            lender(),
            queue("third", 2),
            held(3, "high", name="own"),
            held(5, "low", "lender"),
            late(2, "mid"),
        ),
        ["To borrow, main may preempt nobody", "borrowWithinCohort is Never"],
        "borrowWithinCohort",
    ),
    Gate.BORROW_PRIORITY: (
        lambda: run(
            queue("main", 2, **BORROW, borrowWithinCohort={"policy": "LowerPriority"}),
            lender(),
            queue("third", 2),
            held(5, "high", "lender"),
            late(4, "mid"),
        ),
        ["has priority 100", "borrowWithinCohort is LowerPriority", "preemptor has 50"],
        "priority",
    ),
    Gate.THRESHOLD: (
        lambda: run(
            queue(
                "main",
                2,
                **BORROW,
                borrowWithinCohort={
                    "policy": "LowerPriority",
                    "maxPriorityThreshold": 10,
                },
            ),
            lender(),
            queue("third", 2),
            held(5, "mid", "lender"),
            late(4),
        ),
        ["has priority 50", "borrowWithinCohort.maxPriorityThreshold of main is 10"],
        "maxPriorityThreshold",
    ),
    Gate.SHARE: (
        lambda: run(
            queue("main", 1, **BORROW),
            lender(1),
            queue("third", 4),
            held(3, queue="lender"),
            late(4),
            kueue=FAIR,
        ),
        [
            "by LessThanOrEqualToFinalShare the share of main would be 500",
            "lender is 0",
        ],
        "weight",
    ),
    Short.BARRED: (
        lambda: run(queue(), late(1, pool="b")),
        ["Flavor default cannot run its pods"],
        "nodeSelector",
    ),
    Short.SELECTOR: (
        lambda: run(queue(), late(1, pool="b")),
        ["nodeSelector asks for pool=b", "nodeLabels of flavor default: pool=a"],
        "nodeSelector",
    ),
    Short.NAMESPACE: (
        lambda: run(choosy({"matchLabels": {"team": "a"}}, team="b"), late(1)),
        ["namespaceSelector of main asks for team=a", "Namespace default: team=b"],
        "namespace",
    ),
    Short.NO_SELECTOR: (
        lambda: run(choosy(None), late(1)),
        ["main has no namespaceSelector"],
        "namespaceSelector",
    ),
    Short.LIMIT_RANGE: (
        lambda: run(queue(), limit_range(cpu="2"), late(4)),
        ["LimitRange small sets Container max cpu=2"],
        "requests",
    ),
    Short.UNCOVERED: (
        lambda: run(queue(), asking(1, "nvidia.com/gpu")),
        ["1 GPU asked, and its ClusterQueue has no quota of nvidia.com/gpu"],
        "coveredResources",
    ),
    Short.SHORT: (
        lambda: run(queue(), held(3), late(4)),
        ["4 CPU asked, 1 CPU free; short by 3 CPU"],
        "nominalQuota",
    ),
    Short.NEVER: (
        lambda: run(queue(), late(5)),
        ["5 CPU asked, 4 CPU free, and no more than 4 CPU could ever be"],
        "nominalQuota",
    ),
    Short.BORROWING: (
        lambda: run(limited("main", 2, borrowingLimit="1"), lender(4), late(4)),
        ["borrowingLimit of main is 1 CPU"],
        "borrowingLimit",
    ),
    Short.LENDING: (
        lambda: run(queue("main", 2), limited("lender", 4, lendingLimit="1"), late(4)),
        ["lender has 3 CPU free that it does not lend", "lendingLimit is 1 CPU"],
        "lendingLimit",
    ),
    Short.NO_BORROWING: (
        lambda: run(
            queue("main", 2, **BORROW),
            lender(),
            queue("third", 2),
            held(5, queue="lender"),
            late(4),
        ),
        ["more than its nominal quota of 2 CPU", "borrowWithinCohort of main is Never"],
        "borrowWithinCohort",
    ),
    NotTried.NO_LOCAL_QUEUE: (
        lambda: run(queue(), late(1, queue="nope")),
        ["there is no LocalQueue nope in namespace default"],
        "localQueue",
    ),
    NotTried.NO_QUEUE: (
        lambda: run(
            queue(), local_queue("lost", cluster_queue="gone"), late(1, queue="lost")
        ),
        ["its LocalQueue lost leads to ClusterQueue gone, which is not here"],
        "localQueue",
    ),
    NotTried.STOPPED: (
        lambda: run(stopped(queue(), 0), late(1)),
        ["stopPolicy of ClusterQueue main is Hold"],
        "stopPolicy",
    ),
    NotTried.CLUSTER_QUEUE: (
        lambda: run(
            cluster_queue("bad", flavor="lost"),
            local_queue("bad", cluster_queue="bad"),
            queue(),
            late(1, queue="bad"),
        ),
        ["ClusterQueue bad is not active: references missing ResourceFlavor(s): lost"],
        "localQueue",
    ),
}
#: Codes for which no change of a field admits it, and why.
NO_REFUSAL: dict[Words, str] = {
    Short.PLACES: "it has room",
    Short.EMPTY: "a part of another sentence",
    Short.NOW: "a part of another sentence",
    Short.COST: "what the search cost",
    Short.NOBODY_GOES: "how many hold it; Gate says why they stay",
    Short.ALL_REFUSED: "how many were looked at; Gate says why they stay",
    Short.NOT_ENOUGH: "how many were looked at; Gate says why they stay",
    Short.NO_PLACES: "tests/scheduler/explain/test_topology.py",
    Short.NO_DOMAIN: "tests/scheduler/explain/test_topology.py",
    NotTried.FUTURE: "time lets it in",
    NotTried.FINISHED: "it ran",
    NotTried.HOLDS_QUOTA: "it is admitted",
    NotTried.INACTIVE: "tests/scheduler/explain/test_counterfactuals.py",
    NotTried.KEPT_OUT: "Kueue lets it never in again",
    NotTried.OVERTIME: "Kueue lets it never in again",
    NotTried.GATED: "its controller takes the gate away",
    NotTried.VARIANTS: "its variants are tried",
}


def test_every_code_of_a_refusal_has_a_world_or_a_reason():
    assert {*Gate, *Short, *NotTried} == {*CASES, *NO_REFUSAL}


@pytest.mark.parametrize("code", CASES, ids=str)
def test_a_refusal_names_its_field_and_value_and_a_change_that_was_run_helps(code):
    make, named, kind = CASES[code]
    world = make()
    [key] = [one for one in world.keys("Workload") if "late" in one.name]
    said = explain(world, key).said
    # A sentence may stand within another one.
    text = " ".join(one.text for one in said)
    codes = {one.code for one in said} | {
        hole.code
        for one in said
        for hole in one.holes.values()
        if hasattr(hole, "code")
    }
    assert str(code) in codes, text
    assert all(part in text for part in named), text
    verdicts = counterfactuals(world, key, horizon_ms=30_000).verdicts
    assert kind in [one.kind for one in verdicts if one.verdict == "yes"]


def test_labels_that_are_not_equal_to_one_value_are_named_as_kubectl_does():
    terms = [
        {"key": "team", "operator": "In", "values": ["a", "b"]},
        {"key": "tier", "operator": "NotIn", "values": ["c"]},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    world = run(choosy({"matchExpressions": terms}), late(1))
    [key] = [one for one in world.keys("Workload") if "late" in one.name]
    text = " ".join(one.text for one in explain(world, key).said)
    assert "asks for team in (a,b),tier notin (c),!old" in text


@pytest.mark.parametrize(
    ("name", "kind"), [("default", "namespace"), ("other", "namespaceSelector")]
)
def test_no_change_gives_a_namespace_the_label_with_its_name(name, kind):
    labels = {"kubernetes.io/metadata.name": name, "team": "a"}
    world = run(choosy({"matchLabels": labels}), late(1))
    [key] = [one for one in world.keys("Workload") if "late" in one.name]
    text = " ".join(one.text for one in explain(world, key).said)
    assert "labels of Namespace default: kubernetes.io/metadata.name=default" in text
    verdicts = counterfactuals(world, key, horizon_ms=30_000).verdicts
    assert (kind, "yes") in [(one.kind, one.verdict) for one in verdicts]


def test_a_limit_range_that_bounds_less_lets_it_in_too():
    world = run(queue(), limit_range(cpu="2"), late(4))
    [key] = [one for one in world.keys("Workload") if "late" in one.name]
    verdicts = counterfactuals(world, key, horizon_ms=30_000).verdicts
    assert "limitRange" in [one.kind for one in verdicts if one.verdict == "yes"]


def test_what_no_quota_would_help_is_not_said_to_wait_for_quota():
    world = run(queue(), late(5))
    [key] = [one for one in world.keys("Workload") if "late" in one.name]
    codes = [one.code for one in explain(world, key).said]
    assert "why.setAside" not in codes
    assert "why.notForQuota" in codes
