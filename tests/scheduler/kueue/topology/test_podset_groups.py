"""Podsets that get one flavor together, and stand together with their leader."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.flavorassigner.assignment import (
    BEST,
    PodSetPlan,
    Severity,
    joined,
    podset_groups,
    share_out,
)
from scheduler.model.workload import NO_POD_SETS, Catalogue
from tests.scheduler.kueue.topology.test_node_failures import Racks


def pod_set(name: str, count: int, group: str = "", **requests: str) -> dict[str, Any]:
    request = {"required": "rack"}
    if group:
        request["podSetGroupName"] = group
    template = {"spec": {"containers": [{"resources": {"requests": requests}}]}}
    return {
        "name": name,
        "count": count,
        "template": template,
        "topologyRequest": request,
    }


def test_podsets_of_one_group_are_together_where_the_first_of_them_is():
    named = [("a", "g"), ("b", ""), ("c", "g"), ("d", "h"), ("g", "")]
    given = [pod_set(name, 1, group) for name, group in named]
    parts = Catalogue().pod_sets(given, "default")
    assert parts is not NO_POD_SETS
    groups = podset_groups([(part, 1, {}) for part in parts])
    names = [[part.name for part, _, _ in group] for group in groups]
    assert names == [["a", "c"], ["b"], ["d"], ["g"]]


def test_a_group_asks_for_the_sum():
    whole = joined(
        [
            PodSetPlan("a", 1, {"cpu": 3}),
            PodSetPlan("b", 4, {"cpu": 8, "gpu": 4}),
        ]
    )
    assert (whole.name, whole.count) == ("a", 5)
    assert whole.requests == {"cpu": 11, "gpu": 4}


@pytest.mark.parametrize(
    ("requests", "shared"),
    [({"cpu": 1}, {"cpu"}), ({"other": 1}, set()), ({}, {"cpu"})],
)
def test_a_podset_gets_the_flavors_of_what_it_requests_or_inherits(requests, shared):
    whole = PodSetPlan("a", 5, {"cpu": 11, "gpu": 4})
    for name, tried in (("cpu", 0), ("gpu", -1)):
        whole.flavors[name], whole.fits[name] = f"for-{name}", BEST
        whole.tried[name] = tried
    whole.reasons, whole.searched = ["too little"], ["for-cpu"]
    whole.severe = [Severity.WAITING]
    plan = PodSetPlan("b", 4, requests)
    share_out(whole, plan, {"for-cpu"})
    assert set(plan.flavors) == set(plan.fits) == set(plan.tried) == shared
    assert plan.tried.get("cpu", 0) == 0
    assert (plan.reasons, plan.searched) == (["too little"], ["for-cpu"])
    assert plan.severe == [Severity.WAITING]
    plan.reasons.append("own")
    assert whole.reasons == ["too little"]


def test_a_leader_stands_in_the_rack_of_its_workers():
    """Rack r2 alone has room for all: 6 + 2 of its 8 cpu; the leader came first."""
    rig = Racks()
    beside = pod_set("main", 1, cpu="1")
    rig.workload("beside", "q", podSets=[beside])
    rig.run(0)
    assert rig.hosts("beside") == {"h1": 1}
    workers = pod_set("workers", 3, "g", cpu="2")
    leader = pod_set("leader", 1, "g", cpu="2")
    rig.workload("w", "q", podSets=[leader, workers])
    rig.run(1)
    assert rig.hosts("w") == {"h3": 2, "h4": 2}
    names = [part.name for part in rig.work("w").admission.pod_sets]
    assert names == ["leader", "workers"]


def test_a_group_that_has_no_room_waits_as_a_whole():
    """The rack has room for the workers; the reason does not count their leader."""
    rig = Racks()
    workers = pod_set("workers", 4, "g", cpu="2")
    leader = pod_set("leader", 1, "g", cpu="2")
    rig.workload("w", "q", podSets=[workers, leader])
    assert rig.run(0) == []
    assert rig.condition("w")[2] == (
        "couldn't assign flavors to pod set workers: "
        'topology "racks" allows to fit only 4 out of 4 pod(s)'
    )
