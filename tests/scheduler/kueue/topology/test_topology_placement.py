"""Placement under topology: laws that hold for any tree and any request."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.placement import (
    CountsCache,
    PodSetPlacement,
    PodSetToPlace,
)
from scheduler.engine.kueue.topology.replacement import replace_node
from scheduler.engine.kueue.topology.tree import TopologyNode, TopologyTree
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.quota import Flavor
from scheduler.model.topology import (
    DomainCount,
    SliceLayer,
    Topology,
    TopologyAssignment,
    TopologyRequest,
    read_topology_assignment,
)

HOST = "kubernetes.io/hostname"
TOPOLOGY = Topology("racks", ("block", "rack", HOST))


def host(number: int, cpu: int, *, pods: int = 8, usable: bool = True) -> TopologyNode:
    labels = {"block": f"b{number // 6}", "rack": f"r{number // 2}", HOST: f"h{number}"}
    return TopologyNode(f"n{number}", labels, (), {"cpu": cpu, "pods": pods}, usable)


def pods_of(
    cpu: int, count: int, request: TopologyRequest, name: str = "main"
) -> PodSetToPlace:
    container = {"resources": {"requests": {"cpu": str(cpu)}}}
    needs = PlacementNeeds({"containers": [container]})
    return PodSetToPlace(name, count, needs, request)


def tree_of(*nodes: TopologyNode) -> TopologyTree:
    tree = TopologyTree(TOPOLOGY, Flavor(name="f"), {})
    for node in nodes:
        tree.put_node(node)
    return tree


def balanced(tree: TopologyTree, *parts: PodSetToPlace) -> dict[str, dict[str, int]]:
    """By podset: host -> pods, spread evenly where that is preferred."""
    placement = PodSetPlacement(CountsCache(), TopologyGates(balanced=True))
    return {
        name: {row.values[0]: row.pods for row in found.domains}
        for name, found in placement.place(tree, parts).items()
        if isinstance(found, TopologyAssignment)
    }


def test_a_rack_whose_hosts_cannot_hold_the_equal_number_is_not_taken():
    """It has room for all three, one on a host and two on another: no less to spare."""
    tree = tree_of(host(0, 1000), host(1, 2000), host(2, 4000))
    found = balanced(tree, pods_of(1, 3, TopologyRequest(preferred="rack")))
    assert found == {"main": {"h2": 3}}


def test_where_no_equal_number_leaves_room_for_the_leader_the_usual_search_places_all():
    """Neither two on each rack nor one: the block with most room loses one to it."""
    tree = tree_of(host(0, 8000), host(6, 10000), host(8, 7000))
    together = TopologyRequest(preferred="block", group="g")
    found = balanced(
        tree, pods_of(3, 7, together, "workers"), pods_of(2, 1, together, "leader")
    )
    assert found == {"workers": {"h0": 2, "h6": 3, "h8": 2}, "leader": {"h0": 1}}


def test_a_pod_of_a_slice_is_replaced_in_the_rack_of_its_slice():
    """The host of another rack has less free, and would be taken first."""
    tree = tree_of(host(0, 4000), host(2, 1000))
    slices = TopologyRequest(layers=(SliceLayer("rack", 2),))
    before = TopologyAssignment(
        (HOST,), (DomainCount(("h0",), 1), DomainCount(("h1",), 1))
    )
    found = replace_node(
        PodSetPlacement(CountsCache(), TopologyGates()),
        tree,
        [pods_of(1, 2, slices)],
        {"main": before},
        "h1",
    )["main"]
    assert isinstance(found, TopologyAssignment)
    assert found.domains == (DomainCount(("h0",), 2),)


def test_a_replacement_takes_the_most_free_first_where_the_mixed_profile_is_off():
    """Four pods fit on no host; least free first would use all three."""
    tree = tree_of(host(0, 1000), host(2, 2000), host(4, 3000))
    before = TopologyAssignment((HOST,), (DomainCount(("gone",), 4),))
    found = replace_node(
        PodSetPlacement(CountsCache(), TopologyGates(profile_mixed=False)),
        tree,
        [pods_of(1, 4, TopologyRequest(unconstrained=True))],
        {"main": before},
        "gone",
    )["main"]
    assert isinstance(found, TopologyAssignment)
    assert {row.values[0]: row.pods for row in found.domains} == {"h0": 1, "h4": 3}


def test_a_replacement_is_refused_where_a_host_that_stays_has_left_the_tree():
    before = TopologyAssignment(
        (HOST,), (DomainCount(("gone",), 1), DomainCount(("stale",), 2))
    )
    found = replace_node(
        PodSetPlacement(CountsCache(), TopologyGates()),
        tree_of(host(0, 9000)),
        [pods_of(1, 3, TopologyRequest(required="rack"))],
        {"main": before},
        "gone",
    )["main"]
    assert isinstance(found, str)
    assert found.endswith("it contains the stale domain stale")


def test_counts_follow_a_tree_whose_log_was_begun_anew():
    tree, part = tree_of(host(0, 9000)), pods_of(1, 1, TopologyRequest())
    placement = PodSetPlacement(CountsCache(), TopologyGates())
    question = placement.question(tree, replace(part, implied=True))
    counts = Counts(tree, question, empty=False).refresh()
    while not tree.log_start:
        tree.add_usage(("h0",), {"cpu": 1}, 1)
        tree.add_usage(("h0",), {"cpu": 1}, -1)
    tree.add_usage(("h0",), {"cpu": 1000}, 4)
    assert counts.refresh().of(tree.leaves[("h0",)]).pods == 5


def test_what_is_placed_on_a_rack_is_not_taken_from_a_host_of_the_same_name():
    racks = TopologyTree(Topology("racks", ("rack",)), Flavor(name="f"), {})
    room = {"cpu": 4000, "pods": 8}
    racks.put_node(TopologyNode("n", {"rack": "h0"}, (), room, usable=True))
    hosts = tree_of(host(0, 4000))
    placement = PodSetPlacement(CountsCache(), TopologyGates())
    placement.sharing, placement.last_flavor = [hosts], False
    placement.place(racks, [pods_of(1, 1, TopologyRequest(required="rack"))])
    assert list(placement.assumed) == [racks]


REQUESTS = st.sampled_from(
    [
        TopologyRequest(required="rack"),
        TopologyRequest(required="block"),
        TopologyRequest(preferred="rack"),
        TopologyRequest(preferred=HOST),
        TopologyRequest(unconstrained=True),
        TopologyRequest(preferred="block", layers=(SliceLayer("rack", 2),)),
        TopologyRequest(
            required="block", layers=(SliceLayer("rack", 4), SliceLayer(HOST, 2))
        ),
    ]
)
GATES = st.builds(TopologyGates, profile_mixed=st.booleans(), balanced=st.booleans())
NUMBERS = st.integers(0, 11)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("node"), NUMBERS, st.integers(0, 9)),
        st.tuples(st.just("gone"), NUMBERS, st.just(0)),
        st.tuples(st.just("place"), st.integers(1, 3), st.integers(1, 9)),
    ),
    min_size=1,
    max_size=14,
)


@given(steps=STEPS, request=REQUESTS, gates=GATES)
def test_no_leaf_holds_more_than_it_has(steps, request, gates):
    tree, cache = tree_of(*(host(n, 6000) for n in range(6))), CountsCache()
    for kind, first, second in steps:
        if kind == "place":
            part = pods_of(first, second, request)
            placement = PodSetPlacement(cache, gates)
            found = placement.place(tree, [part])["main"]
            placement.end()
            if isinstance(found, TopologyAssignment):
                before = {key: dict(tree.used[key]) for key in tree.used}
                for domain in found.domains:
                    tree.add_usage(domain.values, part.needs.per_pod, domain.pods)
                grown = [key for key in tree.used if tree.used[key] != before.get(key)]
                for key in grown:
                    left = tree.remaining(tree.leaves[key], empty=False).amounts
                    assert min(left.values()) >= 0
        elif kind == "node":
            tree.put_node(host(first, second * 1000))
        else:
            tree.remove_node(f"n{first}")


@given(steps=STEPS, request=REQUESTS, empty=st.booleans())
def test_counts_that_follow_changes_equal_counts_from_scratch(steps, request, empty):
    tree = tree_of(*(host(n, 6000) for n in range(8)))
    part = pods_of(1, 4, request)
    question = PodSetPlacement(CountsCache(), TopologyGates()).question(tree, part)
    followed = Counts(tree, question, empty=empty).refresh()
    for kind, first, second in steps:
        if kind == "place":
            tree.add_usage((f"h{first}",), {"cpu": 1000, "pods": 1}, second)
        elif kind == "node":
            tree.put_node(host(first, second * 1000, usable=second != 3))
        else:
            tree.remove_node(f"n{first}")
        followed.refresh()
        fresh = Counts(tree, question, empty=empty).refresh()
        for level in range(3):
            for domain in tree.level(level):
                assert followed.of(domain) == fresh.of(domain)


@given(
    st.lists(
        st.tuples(st.text("abc", min_size=1, max_size=4), st.integers(1, 4)),
        unique_by=lambda row: row[0],
    )
)
def test_a_stored_assignment_expands_to_what_it_was(rows):
    domains = tuple(DomainCount((name,), count) for name, count in rows)
    assignment = TopologyAssignment((HOST,), domains)
    assert read_topology_assignment(assignment.document()) == assignment
