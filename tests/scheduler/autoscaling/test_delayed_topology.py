"""Topology whose nodes come after the quota: placed in a second pass, then admitted."""

from __future__ import annotations

from typing import Any

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, ReserveQuota
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue, flavor, local_queue, world_of
from tests.scheduler.test_topology import HOST, asking, host, topology

KUEUE = "kueue.x-k8s.io/v1beta2"
READY = {"check": "nodes", "after": "10s"}


def checked(
    *more: dict[str, Any],
    controller: str = "kueue.x-k8s.io/provisioning-request",
    rule: dict[str, Any] | None = None,
) -> World:
    """A flavor with racks, and a check on it that a rule answers after 10 s."""
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "nodes"},
        "spec": {"controllerName": controller},
    }
    main = cluster_queue("main", cpu=100)
    main["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "nodes"}]}
    return world_of(
        topology("rack", HOST),
        {
            **flavor(),
            "spec": {"nodeLabels": {"pool": "main"}, "topologyName": "racks"},
        },
        check,
        main,
        local_queue("main", cluster_queue="main"),
        *more,
        simulation={"admissionChecks": [rule or READY]},
    )


def the_workload(world: World) -> Object:
    (key,) = world.keys("Workload")
    return world.get(key)


def assigned(world: World) -> dict[str, Any]:
    return the_workload(world).status["admission"]["podSetAssignments"][0]


def admitted(world: World) -> dict[str, Any]:
    found = the_workload(world).status["conditions"]
    return next(c for c in found if c["type"] == "Admitted")


def coming(at: str, *names: str) -> list[dict[str, Any]]:
    nodes = [host(name, "ra") for name in names]
    for made in nodes:
        made["metadata"]["annotations"] = {"quotalab.dev/arrival": at}
    return nodes


def test_quota_is_reserved_before_any_node_is_there():
    world = checked(host("far", "rz", cpu=1), asking("rack", parallelism=2, cpu=3))
    outcome = simulate(world, until_ms=5_000)
    assert [type(d) for d in outcome.decisions if isinstance(d, Admit | ReserveQuota)]
    assert assigned(world)["delayedTopologyRequest"] == "Pending"
    assert "topologyAssignment" not in assigned(world)
    assert admitted(world)["reason"] == "UnsatisfiedAdmissionChecks"


def test_it_is_placed_and_admitted_a_second_after_its_checks_are_ready():
    world = checked(*coming("9s", "a1", "a2"), asking("rack", parallelism=2, cpu=3))
    outcome = simulate(world, until_ms=60_000)
    (admit,) = [d for d in outcome.decisions if isinstance(d, Admit)]
    assert admit.at_ms == 12_000
    assert assigned(world)["delayedTopologyRequest"] == "Ready"
    placed = admit.pod_sets[0].topology
    assert placed is not None
    assert [(d.values, d.pods) for d in placed.domains] == [(("a1",), 1), (("a2",), 1)]
    bound = [world.get(key) for key in world.keys("Pod")]
    assert sorted(pod.spec["nodeName"] for pod in bound) == ["a1", "a2"]


def test_without_room_it_keeps_its_quota_and_tries_again_later_and_later():
    world = checked(
        host("far", "rz", cpu=1), *coming("30s", "a1", "a2"),
        asking("rack", parallelism=2, cpu=3),
    )  # fmt: skip
    simulate(world, until_ms=20_000)
    condition = admitted(world)
    assert (condition["reason"], condition["message"]) == (
        "PendingDelayedTopologyRequests",
        "There are pending delayed topology requests",
    )
    again = World.decode(world.encode())
    outcome = simulate(again, until_ms=60_000)
    (admit,) = [d for d in outcome.decisions if isinstance(d, Admit)]
    # Ready at 11 s: tried 1, 2, 4, 8 and 16 s after one another.
    assert admit.at_ms == 42_000


def test_its_checks_choose_among_the_nodes():
    updates = [{"name": "main", "nodeSelector": {"pool": "main", HOST: "a2"}}]
    world = checked(
        host("a1", "ra"), host("a2", "ra"), asking("rack", cpu=1),
        rule={**READY, "podSetUpdates": updates},
    )  # fmt: skip
    outcome = simulate(world, until_ms=60_000)
    (admit,) = [d for d in outcome.decisions if isinstance(d, Admit)]
    assert admit.pod_sets[0].topology is not None
    assert admit.pod_sets[0].topology.domains[0].values == ("a2",)


def test_what_its_checks_choose_is_beside_what_the_pods_choose_themselves():
    pods = asking("rack", cpu=1)
    pods["spec"]["template"]["spec"]["nodeSelector"] = {HOST: "a2"}
    updates = [{"name": "main", "nodeSelector": {"pool": "main"}}]
    world = checked(
        host("a1", "ra"), host("a2", "ra"), pods,
        rule={**READY, "podSetUpdates": updates},
    )  # fmt: skip
    outcome = simulate(world, until_ms=60_000)
    (admit,) = [d for d in outcome.decisions if isinstance(d, Admit)]
    assert admit.pod_sets[0].topology is not None
    assert admit.pod_sets[0].topology.domains[0].values == ("a2",)


def test_another_check_delays_no_places():
    world = checked(host("a1", "ra"), asking("rack", cpu=1), controller="example.com/c")
    simulate(world, until_ms=5_000)
    assert "topologyAssignment" in assigned(world)
    assert "delayedTopologyRequest" not in assigned(world)


def test_places_of_a_second_pass_are_not_given_twice():
    first, second = asking("rack", cpu=3), asking("rack", cpu=3)
    second["metadata"]["name"] = "other"
    world = checked(*coming("9s", "a1"), first, second)
    simulate(world, until_ms=60_000)
    placed = [world.get(key).status for key in world.keys("Workload")]
    held = [
        "topologyAssignment" in one["admission"]["podSetAssignments"][0]
        for one in placed
    ]
    assert sorted(held) == [False, True]
    assert len(world.keys("Pod")) == 1
    assert Key("Node", "", "a1") in world.objects


def test_what_its_checks_add_does_not_replace_what_its_pods_ask_of_nodes():
    updates = [{"name": "main", "nodeSelector": {"pool": "main"}}]
    asks = asking("rack", cpu=1)
    asks["spec"]["template"]["spec"]["nodeSelector"] = {HOST: "a2"}
    world = checked(
        host("a1", "ra"), host("a2", "ra"), asks,
        rule={**READY, "podSetUpdates": updates},
    )  # fmt: skip
    outcome = simulate(world, until_ms=60_000)
    (admit,) = [d for d in outcome.decisions if isinstance(d, Admit)]
    assert admit.pod_sets[0].topology is not None
    assert admit.pod_sets[0].topology.domains[0].values == ("a2",)


def test_a_podset_that_an_edit_renamed_has_no_places():
    world = checked(*coming("9s", "a1"), asking("rack", cpu=1))
    simulate(world, until_ms=10_000)
    work = the_workload(world)
    (part,) = work.spec["podSets"]
    spec = {**work.spec, "podSets": [{**part, "name": "renamed"}]}
    world.put(Object(key=work.key, manifest={**work.manifest, "spec": spec}))
    simulate(world, until_ms=60_000)
    assert assigned(world)["delayedTopologyRequest"] == "Pending"
    assert admitted(world)["reason"] == "PendingDelayedTopologyRequests"
