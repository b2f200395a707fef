"""Which pod goes to which domain: by rank only where every rank is sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler.engine.kueue.topology.replacement import (
    RankedPod,
    domains_for,
    index_offset,
)
from scheduler.model.topology import (
    DomainCount,
    TopologyAssignment,
    TopologyRequest,
)

X, Y, Z = ("x",), ("y",), ("z",)
INDEX = TopologyRequest(index_label="index")
GROUPS = TopologyRequest(index_label="index", sub_group_label="group", sub_groups=2)


def assignment(**domains: int) -> TopologyAssignment:
    rows = tuple(DomainCount((name,), pods) for name, pods in domains.items())
    return TopologyAssignment(("host",), rows)


def given(
    labels: Sequence[tuple[str, ...]],
    request: TopologyRequest | None = INDEX,
    offset: int = 0,
    **domains: int,
) -> str:
    """Place gated pods of these (index, group) labels; return the domains in order."""
    names = ("index", "group")
    pods = [
        RankedPod(str(number), dict(zip(names, values, strict=False)))
        for number, values in enumerate(labels)
    ]
    found = domains_for(pods, assignment(**domains), request, offset=offset)
    return "".join(found.get(pod.name, ("-",))[0] for pod in pods)


@pytest.mark.parametrize(
    ("indices", "offset", "found"),
    [
        ("2 0 1", 0, "yxx"),
        ("12 10 11", 10, "yxx"),
        ("2 0", 0, "yx"),
        ("2 2 0", 0, "xxy"),  # two of one rank
        ("3 2 0", 0, "xxy"),  # no such rank
        ("2 x 0", 0, "xxy"),
        ("2 -1 0", 0, "xxy"),
        ("13 12 10", 10, "xxy"),
        ("12 9 10", 10, "xxy"),  # before the first
        ("2 0 1", 10, "xxy"),
        ("2 1 0 0", 0, "xxy-"),  # more pods than places
    ],
)
def test_pods_go_by_their_index_where_each_has_one_of_its_own(indices, offset, found):
    labels = [(index,) for index in indices.split()]
    assert given(labels, offset=offset, x=2, y=1) == found


@pytest.mark.parametrize("request_", [None, TopologyRequest()])
def test_without_a_label_for_ranks_pods_go_as_they_come(request_):
    assert given([("2",), ("1",), ("0",)], request_, x=2, y=1) == "xxy"


def test_one_pod_without_its_label_and_all_go_as_they_come():
    assert given([("2",), (), ("0",)], x=2, y=1) == "xxy"


@pytest.mark.parametrize(
    ("labels", "offset", "found"),
    [
        ("0/1 1/1 0/0 1/0", 0, "yyxx"),
        ("5/1 6/1 5/0 6/0", 5, "yyxx"),
        ("0/1 2/0 0/0 1/0", 0, "xxyy"),  # beyond its group
        ("0/2 1/1 0/0 1/0", 0, "xxyy"),  # no such group
        ("0/1 1/1 0/x 1/0", 0, "xxyy"),
        ("0/1 1/1 0 1/0", 0, "xxyy"),
    ],
)
def test_groups_of_pods_follow_each_other(labels, offset, found):
    pairs = [tuple(each.split("/")) for each in labels.split()]
    assert given(pairs, GROUPS, offset, x=2, y=2) == found


def test_groups_whose_number_is_not_said_give_no_ranks():
    request = TopologyRequest(index_label="index", sub_group_label="group")
    assert given([("0", "1"), ("0", "0")], request, x=1, y=1) == "xy"


@pytest.mark.parametrize(
    ("stands", "found"),
    [(Z, {"b": Y, "c": X}), (Y, {"b": X, "c": Z}), (("gone",), {"b": X, "c": Y})],
)
def test_a_pod_that_stands_where_its_rank_is_not_ends_the_order_of_ranks(stands, found):
    pods = [
        RankedPod("a", {"index": "2"}, stands),
        RankedPod("b", {"index": "1"}),
        RankedPod("c", {"index": "0"}),
    ]
    assert domains_for(pods, assignment(x=1, y=1, z=1), INDEX) == found


def test_a_domain_with_more_pods_than_its_share_takes_no_other():
    pods = [RankedPod("a", {}, Y), RankedPod("b", {}, Y), RankedPod("c", {})]
    assert domains_for(pods, assignment(x=1, y=1)) == {"c": X}


@pytest.mark.parametrize(
    ("metadata", "offset"),
    [
        (None, 0),
        ({}, 0),
        ({"annotations": None}, 0),
        ({"annotations": {"kueue.x-k8s.io/pod-index-offset": "7"}}, 7),
        ({"annotations": {"kueue.x-k8s.io/pod-index-offset": "seven"}}, 0),
    ],
)
def test_what_is_no_whole_number_is_no_offset(metadata: Any, offset: int) -> None:
    assert index_offset({"metadata": metadata}) == offset
