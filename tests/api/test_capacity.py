"""Nodes that come and go, asked by REST: their cost, and why none comes."""

from __future__ import annotations

import pytest

from sandbox import actions
from tests.builders import pod
from tests.sandbox.conftest import tick
from tests.scheduler.autoscaling.test_node_groups import group
from tests.scheduler.autoscaling.test_node_pools import SMALL, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def growing(make, person):
    """Two pods of which one fits on the nodes of a group; a pool buys nothing."""
    tainted = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    sandbox = make(
        group(),
        pool(inner=tainted),
        SMALL,
        pod("fits", cpu=3),
        pod("large", cpu=40),
        policy={"stack": "kube"},
    )
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 20)
    return sandbox


def test_the_cost_and_why_nothing_grows_are_there(call, growing):
    found = call("get", growing, "/capacity").json()
    assert found["perHour"] == 6
    assert found["cost"] == pytest.approx(6 * 10 / 3600)
    assert [(g["kind"], g["booting"], g["most"]) for g in found["groups"]] == [
        ("NodeGroup", 1, 4),
        ("NodePool", 0, None),
    ]
    (waits,) = found["unplaced"]
    assert (waits["pod"], waits["pods"]) == ("Pod/default/large", 1)
    assert [one["reason"] for one in waits["refusals"]] == [
        "the pod does not fit on an empty node",
        "its nodes do not match the pod's selector, affinity or tolerations",
    ]


def test_a_pod_says_why_no_group_grows_for_it(call, growing):
    said = call("get", growing, "/explain/default/large?kind=Pod").json()["sentences"]
    expected = (
        "NodeGroup g does not grow for it: the pod does not fit on an empty node."
    )
    assert expected in said


def test_the_cost_is_a_metric_and_a_curve(call, growing):
    text = call("get", growing, "/metrics").content.decode()
    assert "quotalab_cluster_cost_per_hour{" in text
    assert "quotalab_cluster_cost_total{" in text
    samples = call("get", growing, "/samples").json()["items"]
    costs = [one["cost"] for one in samples]
    assert costs == sorted(costs)
    assert costs[-1] == pytest.approx(6 * 10 / 3600)
