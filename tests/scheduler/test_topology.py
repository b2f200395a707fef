"""Topology in a world: pods stand where their assignment says, and move with it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.assembly import InputError
from scheduler.engine.kueue.topology.replacement import RankedPod, domains_for
from scheduler.engine.lifetime.changes import changed_node
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Evict, Replace
from scheduler.model.objects import Key
from scheduler.model.sentence import plain
from scheduler.model.topology import (
    DomainCount,
    TopologyAssignment,
    TopologyRequest,
)
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    world_of,
)

HOST = "kubernetes.io/hostname"
GROUP = "kueue.x-k8s.io/pod-group"
Manifest = dict[str, Any]


def topology(*levels: str, name: str = "racks") -> Manifest:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": name},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def host(name: str, rack: str, cpu: int = 4) -> Manifest:
    made = node(name, cpu=cpu, rack=rack, pool="main")
    made["metadata"]["labels"][HOST] = name
    return made


def asking(level: str, kind: str = "required", **fields: Any) -> Manifest:
    made = job("train", queue="main", arrival="1s", runtime="1h", **fields)
    annotations = {f"kueue.x-k8s.io/podset-{kind}-topology": level}
    made["spec"]["template"]["metadata"] = {"annotations": annotations}
    return made


def racks(*more: Manifest) -> World:
    return world_of(
        topology("rack", HOST),
        {
            **flavor(),
            "spec": {"nodeLabels": {"pool": "main"}, "topologyName": "racks"},
        },
        cluster_queue("main", cpu=100),
        local_queue("main", cluster_queue="main"),
        host("a1", "ra"),
        host("a2", "ra"),
        host("b1", "rb"),
        host("b2", "rb"),
        *more,
    )


def places(world: World) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in world.keys("Pod"):
        name = world.get(key).spec.get("nodeName")
        if name:
            found[name] = found.get(name, 0) + 1
    return found


def assigned(world: World) -> dict[str, int]:
    (key,) = world.keys("Workload")
    held = world.kueue.cluster.workloads[key].admission if world.kueue else None
    assert held is not None
    return {
        domain.values[-1]: domain.pods
        for part in held.pod_sets
        if part.topology is not None
        for domain in part.topology.domains
    }


def fail(world: World, name: str) -> None:
    world.put(changed_node(world.get(Key("Node", "", name)), "fail"))
    world.lifetime.lose_node(name, plain("it failed"))


def test_pods_are_bound_to_the_domains_of_their_assignment():
    world = racks(asking("rack", parallelism=6))
    simulate(world, until_ms=5_000)
    assert places(world) == assigned(world) == {"a1": 4, "a2": 2}


def test_a_pod_that_no_assignment_stands_for_takes_its_place_from_a_leaf():
    other = job("other", cpu=3, runtime="1h")
    world = racks(other, asking("rack", parallelism=8))
    simulate(world, until_ms=5_000)
    (taken,) = {world.get(k).spec["nodeName"] for k in world.keys("Pod")
                if k.name.startswith("other")}  # fmt: skip
    assert taken not in assigned(world)


def test_pods_of_a_failed_node_go_elsewhere_and_the_others_stay():
    world = racks(asking("rack", "preferred", parallelism=8))
    simulate(world, until_ms=5_000)
    fail(world, "a1")
    decisions = simulate(world, until_ms=9_000).decisions
    assert [type(d) for d in decisions if isinstance(d, Replace)] == [Replace]
    assert places(world) == assigned(world) == {"a2": 4, "b1": 4}


def test_a_job_that_has_to_stay_in_its_rack_is_evicted_when_a_node_of_it_fails():
    world = racks(asking("rack", parallelism=8))
    simulate(world, until_ms=5_000)
    fail(world, "a1")
    decisions = simulate(world, until_ms=9_000).decisions
    evicted = [d for d in decisions if isinstance(d, Evict) and d.subject.kind != "Pod"]
    assert [d.reason for d in evicted] == ["NodeFailures"]
    assert "no replacement for unhealthy node(s): a1" in evicted[0].message
    assert places(world) == {"b1": 4, "b2": 4}


def test_a_node_that_is_well_again_in_time_keeps_its_pods_places():
    world = racks(asking("rack", parallelism=8))
    simulate(world, until_ms=5_000)
    fail(world, "a1")
    world.put(changed_node(world.get(Key("Node", "", "a1")), "recover"))
    decisions = simulate(world, until_ms=9_000).decisions
    assert not [d for d in decisions if isinstance(d, Replace | Evict) and d.reason
                == "NodeFailures"]  # fmt: skip
    assert assigned(world) == {"a1": 4, "a2": 4}


@pytest.mark.parametrize("at_s", [3, 5])
def test_a_world_read_back_decides_as_the_one_that_went_on(at_s):
    def run(*, again: bool) -> tuple[list[str], dict[str, int]]:
        world = racks(asking("rack", "preferred", parallelism=8))
        simulate(world, until_ms=2_000)
        fail(world, "a1")
        world.take()
        simulate(world, until_ms=2_500)
        if again:
            world = World.decode(world.encode())
        found = simulate(world, until_ms=at_s * 1000).decisions
        return [repr(d) for d in found if isinstance(d, Bind | Replace)], places(world)

    assert run(again=True) == run(again=False)


def test_ranks_go_to_domains_in_the_order_of_the_assignment():
    assignment = TopologyAssignment(
        (HOST,), (DomainCount(("x",), 2), DomainCount(("y",), 1))
    )
    pods = [RankedPod(name, {"index": n}) for name, n in zip("abc", "201", strict=True)]
    request = TopologyRequest(index_label="index")
    assert domains_for(pods, assignment, request) == {
        "a": ("y",), "b": ("x",), "c": ("x",)
    }  # fmt: skip


def test_an_offset_of_the_template_is_taken_off_the_index():
    group = {"kueue.x-k8s.io/queue-name": "main", f"{GROUP}-name": "g"}
    annotations = {
        f"{GROUP}-total-count": "2",
        "kueue.x-k8s.io/pod-index-offset": "10",
        "kueue.x-k8s.io/podset-required-topology": "rack",
    }
    members = []
    for name, index in (("p", "11"), ("q", "10")):
        made = pod(name, cpu=3, labels={**group, f"{GROUP}-pod-index": index})
        made["metadata"]["annotations"] = annotations
        members.append(made)
    world = racks(*members)
    simulate(world, until_ms=2_000)
    at = {key.name: world.get(key).spec["nodeName"] for key in world.keys("Pod")}
    assert at == {"q": "a1", "p": "a2"}


def test_pods_without_ranks_fill_domains_in_order_beside_those_that_stand():
    assignment = TopologyAssignment(
        (HOST,), (DomainCount(("x",), 2), DomainCount(("y",), 1))
    )
    pods = [RankedPod("a", {}, ("x",)), RankedPod("b", {}), RankedPod("c", {})]
    assert domains_for(pods, assignment) == {"b": ("x",), "c": ("y",)}


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ((), "expected 1 to 16 levels"),
        (("rack", "rack"), "rack is a level already"),
        ((HOST, "rack"), "as the last level only"),
    ],
)
def test_a_topology_with_wrong_levels_is_refused(levels, problem):
    with pytest.raises(InputError, match=problem):
        world_of(topology(*levels))


def test_a_template_asks_for_one_kind_of_topology():
    made = asking("rack")
    annotations = made["spec"]["template"]["metadata"]["annotations"]
    annotations["kueue.x-k8s.io/podset-preferred-topology"] = "rack"
    with pytest.raises(InputError, match="expected one of them"):
        racks(made)


def test_a_queue_whose_topology_is_missing_is_inactive():
    named = {
        **flavor(),
        "spec": {"nodeLabels": {"pool": "main"}, "topologyName": "racks"},
    }
    queue = local_queue("main", cluster_queue="main")
    world = world_of(named, cluster_queue("main", cpu=100), queue, asking("rack"))
    simulate(world, until_ms=3_000)
    condition = world.get(Key("ClusterQueue", "", "main")).status["conditions"][0]
    assert (condition["reason"], condition["status"]) == ("TopologyNotFound", "False")
