"""What topology knows of a cluster: nodes, pods beside, and who stands where."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.topology.cache import (
    DomainUsage,
    ReservedDomains,
    TopologyCache,
)
from scheduler.engine.kueue.topology.placement import PodSetPlacement, PodSetToPlace
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.objects import Key, Object
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.quota import Flavor
from scheduler.model.topology import Topology, TopologyRequest

HOST = "kubernetes.io/hostname"
RACKS = Topology("racks", ("rack", HOST))
ONE_CPU = {"cpu": 1000, "pods": 1}


def node(name: str, *, rack: str = "r", cpu: str = "4", **labels: str) -> Object:
    labels = {"rack": rack, HOST: name, **labels}
    return Object(
        key=Key("Node", "", name),
        manifest={"metadata": {"name": name, "labels": labels}},
        status={"allocatable": {"cpu": cpu, "pods": "10"}},
    )


def pod(name: str, host: str, cpu: str = "1", **metadata: Any) -> Object:
    containers = [{"resources": {"requests": {"cpu": cpu}}}]
    return Object(
        key=Key("Pod", "default", name),
        manifest={
            "metadata": metadata,
            "spec": {"nodeName": host, "containers": containers},
        },
        status={},
    )


def cache_of(
    *flavors: Flavor, topology: Topology = RACKS, overlapping: bool = True
) -> TopologyCache:
    cache = TopologyCache(TopologyGates(overlapping=overlapping))
    for flavor in flavors or (Flavor(name="f", topology="racks"),):
        cache.put_flavor(flavor)
    cache.put_topology(topology)
    return cache


def free(cache: TopologyCache, *key: str, flavor: str = "f") -> int:
    tree = cache.trees[flavor]
    return tree.remaining(tree.leaves[key], empty=False).amounts["cpu"]


def used(key: tuple[str, ...], pods: int, flavor: str = "f") -> DomainUsage:
    return DomainUsage(flavor, key, ONE_CPU, pods)


def test_nodes_and_pods_that_came_before_the_topology_are_read_with_it():
    cache = TopologyCache(TopologyGates())
    cache.put_flavor(Flavor(name="f", topology="racks"))
    assert cache.put_node(node("h")) == []
    assert cache.put_pod(pod("p", "h")) == []
    cache.put_node(node("gone"))
    cache.put_pod(pod("ended", "h"))
    assert cache.remove_node("gone") == []
    assert cache.remove_pod(Key("Pod", "default", "ended")) == []
    assert cache.put_topology(RACKS)
    assert list(cache.trees["f"].leaves) == [("h",)]
    assert free(cache, "h") == 3000


def test_a_topology_that_is_as_before_is_no_news():
    cache = cache_of()
    assert not cache.put_topology(RACKS)
    assert cache.put_topology(Topology("racks", ("rack",)))


def test_a_pod_takes_of_its_node_until_it_leaves_and_then_its_flavors_are_named():
    cache = cache_of()
    cache.put_node(node("h"))
    cache.put_node(node("k"))
    assert cache.put_pod(pod("p", "h", "1")) == []  # takes, frees nothing
    assert cache.put_pod(pod("p", "h", "1")) == []
    assert free(cache, "h") == 3000
    assert cache.put_pod(pod("p", "k", "2")) == ["f"]
    assert (free(cache, "h"), free(cache, "k")) == (4000, 2000)
    assert cache.remove_pod(Key("Pod", "default", "p")) == ["f"]
    assert cache.remove_pod(Key("Pod", "default", "p")) == []
    assert free(cache, "k") == 4000


@pytest.mark.parametrize(
    ("annotation", "left"),
    [
        ("kueue.x-k8s.io/podset-required-topology", 4000),
        ("kueue.x-k8s.io/podset-preferred-topology", 4000),
        ("kueue.x-k8s.io/podset-unconstrained-topology", 4000),
        ("kueue.x-k8s.io/podset-slice-required-topology", 4000),
        ("kueue.x-k8s.io/podset-slice-required-topology-constraints", 4000),
        ("kueue.x-k8s.io/podset-slice-size", 3000),
    ],
)
def test_a_pod_that_topology_placed_counts_by_its_assignment_alone(annotation, left):
    cache = cache_of()
    cache.put_node(node("h"))
    cache.put_pod(pod("p", "h", annotations={annotation: "rack"}))
    assert free(cache, "h") == left


@pytest.mark.parametrize(
    ("phase", "left"), [("Running", 3000), ("Succeeded", 4000), ("Failed", 4000)]
)
def test_a_pod_that_ended_takes_nothing(phase, left):
    cache = cache_of()
    cache.put_node(node("h"))
    ended = pod("p", "h")
    ended.status["phase"] = phase
    cache.put_pod(ended)
    assert free(cache, "h") == left


def test_a_node_names_the_flavors_it_came_to_changed_in_or_left():
    pool = Flavor(name="pool", topology="racks", labels={"pool": "a"})
    cache = cache_of(Flavor(name="f", topology="racks"), pool)
    assert cache.put_node(node("h")) == ["f"]
    assert cache.put_node(node("h")) == []
    assert cache.put_node(node("h", pool="a")) == ["f", "pool"]
    assert cache.put_node(node("h", cpu="8")) == ["f", "pool"]
    assert cache.remove_node("h") == ["f"]
    assert cache.remove_node("h") == []


@pytest.mark.parametrize(("overlapping", "left"), [(True, 2000), (False, 4000)])
def test_flavors_over_the_same_hosts_share_what_is_used_behind_the_gate(
    overlapping, left
):
    both = (Flavor(name="f", topology="racks"), Flavor(name="g", topology="racks"))
    cache = cache_of(*both, overlapping=overlapping)
    cache.put_node(node("h"))
    held = ReservedDomains(cache, (used(("h",), 2),))
    assert (free(cache, "h"), free(cache, "h", flavor="g")) == (2000, left)
    assert len(cache.sharing()) == (2 if overlapping else 0)
    held.release()
    assert (free(cache, "h"), free(cache, "h", flavor="g")) == (4000, 4000)
    assert not cache.holders


@pytest.mark.parametrize("edit", ["no flavor", "no topology", "other levels"])
def test_what_is_held_in_a_flavor_without_a_tree_takes_nothing_of_those_it_shared(edit):
    other = Flavor(name="g", topology="others")
    cache = cache_of(Flavor(name="f", topology="racks"), other)
    cache.put_topology(Topology("others", RACKS.levels))
    cache.put_node(node("h"))
    held = ReservedDomains(cache, (used(("h",), 2),))
    assert free(cache, "h", flavor="g") == 2000
    if edit == "no flavor":
        cache.remove_flavor("f")
    elif edit == "no topology":
        cache.remove_topology("racks")
    else:
        cache.put_topology(Topology("racks", ("rack",)))
    assert free(cache, "h", flavor="g") == 4000
    cache.put_flavor(Flavor(name="f", topology="others"))
    assert free(cache, "h", flavor="g") == 2000
    held.release()
    assert (free(cache, "h"), free(cache, "h", flavor="g")) == (4000, 4000)


def test_flavors_of_racks_share_nothing():
    both = (Flavor(name="f", topology="racks"), Flavor(name="g", topology="racks"))
    cache = cache_of(*both, topology=Topology("racks", ("rack",)))
    cache.put_node(node("h"))
    ReservedDomains(cache, (used(("r",), 2),))
    assert (free(cache, "r"), free(cache, "r", flavor="g")) == (2000, 4000)
    assert cache.sharing() == []


def test_within_a_cycle_only_the_flavor_itself_counts():
    both = (Flavor(name="f", topology="racks"), Flavor(name="g", topology="racks"))
    cache = cache_of(*both)
    cache.put_node(node("h"))
    cache.add_usage((used(("h",), 3), used(("h",), 1, "unknown")), 1)
    assert (free(cache, "h"), free(cache, "h", flavor="g")) == (1000, 4000)
    cache.add_usage((used(("h",), 3),), -1)
    assert free(cache, "h") == 4000


def test_who_stands_there_counts_in_a_tree_that_is_built_anew():
    cache = cache_of()
    cache.put_node(node("h"))
    ReservedDomains(cache, (used(("h",), 3),))
    cache.put_flavor(Flavor(name="g", topology="racks"))
    cache.remove_topology("racks")
    assert cache.trees == {}
    cache.put_topology(RACKS)
    assert (free(cache, "h"), free(cache, "h", flavor="g")) == (1000, 1000)


def test_another_topology_leaves_the_trees_of_the_first():
    cache = cache_of()
    tree = cache.trees["f"]
    cache.put_topology(Topology("other", ("zone",)))
    assert cache.trees == {"f": tree}


def test_a_flavor_without_topology_has_no_tree():
    cache = cache_of()
    cache.put_flavor(Flavor(name="f"))
    assert (cache.trees, cache.flavors) == ({}, {})


@pytest.mark.parametrize(
    ("usage", "fits"),
    [
        (used(("h",), 4), True),
        (used(("h",), 5), False),
        (used(("gone",), 1), False),
        (used(("h",), 1, "unknown"), False),
        (DomainUsage("f", ("h",), {"pods": 1}, 1), False),
        (DomainUsage("f", ("h",), {"cpu": 1000, "pods": 99}, 1), True),
        (DomainUsage("f", ("h",), {"cpu": 1000, "gpu": 0}, 4), True),
        (DomainUsage("f", ("h",), {"cpu": 1000, "gpu": 1}, 1), False),
    ],
)
def test_each_leaf_must_have_what_is_taken_of_it_but_for_the_number_of_pods(
    usage, fits
):
    cache = cache_of()
    cache.put_node(node("h"))
    assert cache.fits((usage,)) is fits
    assert cache.fits((used(("h",), 1), usage)) is fits


def test_a_node_that_gets_other_labels_moves_to_their_domain():
    cache = cache_of()
    cache.put_node(node("a", rack="r1"))
    cache.put_node(node("b", rack="r1"))
    assert cache.put_node(node("a", rack="r2")) == ["f"]
    tree = cache.trees["f"]
    paths = [domain.path for domain in tree.level(1)]
    assert paths == [("r1", "b"), ("r2", "a")]
    assert [domain.path for domain in tree.level(0)] == [("r1",), ("r2",)]


@pytest.mark.parametrize("first", [{}, {"kind": "x"}])
def test_hosts_with_like_amounts_count_where_their_labels_are_asked_for(first):
    cache = cache_of()
    for name, kind in (("a", "x"), ("b", "y"), ("c", "x")):
        cache.put_node(node(name, kind=kind))
    found = []
    for selector in (first, {"kind": "y"}, {"kind": "x"}):
        needs = PlacementNeeds(
            {
                "containers": [{"resources": {"requests": {"cpu": "4"}}}],
                "nodeSelector": selector,
            }
        )
        asks = TopologyRequest(unconstrained=True)
        part = PodSetToPlace("main", 2, needs, asks)
        placement = PodSetPlacement(cache.searches, cache.gates)
        found.append(placement.place(cache.trees["f"], [part])["main"])
    assert isinstance(found[1], str)
    assert not isinstance(found[0], str)
    assert [domain.values for domain in found[2].domains] == [("a",), ("c",)]
