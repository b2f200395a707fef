"""What an explanation of a placement lists, level by level, and the reason given."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.placement import (
    CountsCache,
    PodSetPlacement,
    PodSetToPlace,
)
from scheduler.engine.kueue.topology.replacement import describe
from scheduler.engine.kueue.topology.tree import TopologyTree
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.topology import SliceLayer, TopologyRequest
from tests.scheduler.kueue.topology.test_topology_placement import (
    HOST,
    host,
    pods_of,
    tree_of,
)

RACK = TopologyRequest(required="rack")
CLOSER = "others come first in order, or fit more closely"
LEFT = "below a domain that was left"


def described(tree: TopologyTree, part: PodSetToPlace) -> list[dict[str, Any]]:
    placement = PodSetPlacement(CountsCache(), TopologyGates())
    question = placement.question(tree, part)
    found = placement.place(tree, [part])[part.name]
    return describe(Counts(tree, question, empty=False).refresh(), question, found)


def rows(level: dict[str, Any]) -> list[tuple[object, ...]]:
    return [
        (d["path"], d["fits"], d["taken"], "" if d["said"] is None else d["said"].text)
        for d in level["domains"]
    ]


def test_each_level_lists_what_was_taken_first_and_why_the_others_were_not():
    tree = tree_of(host(0, 2000), host(1, 1000), host(2, 4000), host(6, 2000))
    blocks, racks, hosts = described(tree, pods_of(1, 3, RACK))
    assert rows(blocks) == [("b0", 7, 3, ""), ("b1", 2, 0, "2 of 3 pods fit")]
    assert rows(racks) == [
        ("b0/r0", 3, 3, ""),
        ("b0/r1", 4, 0, CLOSER),
        ("b1/r3", 2, 0, LEFT),
    ]
    assert rows(hosts) == [
        ("b0/r0/h0", 2, 2, ""),
        ("b0/r0/h1", 1, 1, ""),
        ("b0/r1/h2", 4, 0, LEFT),
        ("b1/r3/h6", 2, 0, LEFT),
    ]
    assert [(x["level"], x["requested"], x["needed"]) for x in (blocks, racks, hosts)] == [
        ("block", False, 3),
        ("rack", True, 3),
        (HOST, False, 3),
    ]  # fmt: skip


def test_below_the_level_that_was_asked_for_too_little_room_is_no_reason():
    tree = tree_of(host(0, 1000), host(1, 1000), host(2, 3000), host(3, 1000))
    _, racks, hosts = described(tree, pods_of(1, 3, RACK))
    assert rows(racks) == [("b0/r1", 4, 3, ""), ("b0/r0", 2, 0, "2 of 3 pods fit")]
    assert rows(hosts)[3] == ("b0/r1/h3", 1, 0, CLOSER)


def test_where_nothing_was_placed_the_roomiest_come_first_with_what_is_missing():
    tree = tree_of(host(0, 1000), host(1, 0), host(2, 2000), host(4, 0))
    _, racks, hosts = described(tree, pods_of(1, 3, RACK))
    assert rows(racks) == [
        ("b0/r1", 2, 0, "2 of 3 pods fit"),
        ("b0/r0", 1, 0, "1 of 3 pods fit"),
        ("b0/r2", 0, 0, "nothing fits"),
    ]
    assert rows(hosts)[2:] == [
        ("b0/r0/h1", 0, 0, 'resource "cpu"'),
        ("b0/r2/h4", 0, 0, 'resource "cpu"'),
    ]


def test_a_rack_with_room_for_all_is_not_too_small():
    tree = tree_of(host(0, 3000), host(2, 3000))
    _, racks, _ = described(tree, pods_of(1, 3, RACK))
    assert rows(racks) == [("b0/r0", 3, 3, ""), ("b0/r1", 3, 0, CLOSER)]


@pytest.mark.parametrize(("hosts", "more"), [(24, 0), (25, 1), (30, 6)])
def test_of_a_wide_level_the_first_two_dozen_are_listed(hosts, more):
    tree = tree_of(*(host(number, 1000) for number in range(hosts)))
    level = described(tree, pods_of(1, 1, RACK))[2]
    assert (len(level["domains"]), level["more"]) == (24, more)


def reason(tree: TopologyTree, part: PodSetToPlace) -> object:
    placement = PodSetPlacement(CountsCache(), TopologyGates())
    return placement.place(tree, [part])[part.name]


def test_layers_of_slices_say_what_fits_on_each_in_the_domain_with_most():
    tree = tree_of(host(0, 3000), host(1, 2000), host(2, 1000), host(3, 4000),
                   host(6, 4000))  # fmt: skip
    layers = (SliceLayer("rack", 4), SliceLayer(HOST, 2))
    asked = TopologyRequest(required="block", layers=layers)
    assert reason(tree, pods_of(1, 12, asked)) == (
        'topology "racks" doesn\'t allow to fit; 2/3 slice(s) fit on level rack; '
        "4/6 slice(s) fit on level kubernetes.io/hostname"
    )


@pytest.mark.parametrize(
    ("cpu", "layers", "text"),
    [
        (4, (), "doesn't allow to fit any of 6 pod(s)"),
        (2, (), "allows to fit only 1 out of 6 pod(s)"),
        (1, (SliceLayer(HOST, 2),), "allows to fit only 1 out of 3 slice(s)"),
        (2, (SliceLayer(HOST, 2),), "doesn't allow to fit any of 3 slice(s)"),
    ],
)
def test_one_layer_says_how_many_pods_or_slices_fit(cpu, layers, text):
    asked = TopologyRequest(required="rack", layers=layers)
    found = reason(tree_of(host(0, 3000), host(2, 1000)), pods_of(cpu, 6, asked))
    assert str(found).startswith(f'topology "racks" {text}')


def test_hosts_left_out_are_counted_by_what_leaves_them_out():
    tree = tree_of(host(0, 3000), host(1, 1000), host(2, 500), host(3, 9000, pods=0))
    assert reason(tree, pods_of(2, 6, RACK)) == (
        'topology "racks" allows to fit only 1 out of 6 pod(s). Total nodes: 4; '
        'excluded: resource "cpu": 2, resource "pods": 1'
    )
