"""ProvisioningRequests: Kueue's check asks, the autoscaler answers, all or nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.analysis.explain.workloads import explain
from scheduler.assembly import InputError
from scheduler.engine.provisioning.request import merged, request_name
from scheduler.engine.tick import advance, simulate
from scheduler.engine.world import World
from scheduler.input.manifests.load import load
from scheduler.model.decisions import Admit, Evict, NodeChange
from scheduler.model.objects import Key, Object
from tests.builders import assembled, job, node, small_cluster, world_of
from tests.scheduler.autoscaling.test_node_groups import SOON, group

ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
CHECK = "check-capacity.autoscaling.x-k8s.io"
KUEUE = "kueue.x-k8s.io/v1beta2"


def config(class_name: str = ATOMIC, **spec: Any) -> dict:
    return {
        "apiVersion": KUEUE,
        "kind": "ProvisioningRequestConfig",
        "metadata": {"name": "nodes"},
        "spec": {"provisioningClassName": class_name, **spec},
    }


def checked(**queue: Any) -> list[dict]:
    """A ClusterQueue whose workloads need the check `capacity`."""
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "capacity"},
        "spec": {
            "controllerName": "kueue.x-k8s.io/provisioning-request",
            "parameters": {
                "apiGroup": "kueue.x-k8s.io",
                "kind": "ProvisioningRequestConfig",
                "name": "nodes",
            },
        },
    }
    flavor, main, local = small_cluster(cpu=64, **queue)
    main["spec"]["admissionChecksStrategy"] = {
        "admissionChecks": [{"name": "capacity"}]
    }
    return [flavor, check, main, local]


def asking(*more: dict, given: dict | None = None, **simulation: Any) -> World:
    """A world with the check, a group of nodes of 4 cpu, and more."""
    simulation.setdefault("autoscaler", SOON)
    extra = [] if any(one["kind"] == "NodeGroup" for one in more) else [group()]
    return world_of(*checked(), given or config(), *extra, *more, simulation=simulation)


def said(decisions: list) -> list[tuple[int, str]]:
    return [
        (d.at_ms, d.reason)
        for d in decisions
        if isinstance(d, NodeChange) and d.subject.kind == "ProvisioningRequest"
    ]


def the(world: World, kind: str) -> Object:
    """The only object of this kind."""
    (key,) = world.keys(kind)
    return world.get(key)


def state(world: World) -> dict[str, Any]:
    return the(world, "Workload").status["admissionChecks"][0]


def run(world: World, until_ms: int) -> list:
    return simulate(world, until_ms=until_ms).decisions


def test_a_group_grows_for_the_whole_request_and_the_workload_is_admitted():
    world = asking(job("work", queue="main", cpu=4, parallelism=3, runtime="60s"))
    decisions = run(world, 60_000)
    assert said(decisions) == [
        (0, "ProvisioningRequestCreated"),
        (10_000, "CapacityIsProvisioned"),
    ]
    (admitted,) = [d for d in decisions if isinstance(d, Admit)]
    assert admitted.at_ms == 10_000
    assert len(world.autoscaling.groups["g"].ordered) == 3
    found = state(world)
    assert (found["state"], found["message"]) == (
        "Ready",
        "Capacity is provisioned in the cluster.",
    )
    (update,) = found["podSetUpdates"]
    name = "autoscaling.x-k8s.io/consume-provisioning-request"
    workload = the(world, "Workload").key.name
    assert update["annotations"][name] == f"{workload}-capacity-1"


def test_nothing_is_ordered_for_a_request_that_no_group_takes_whole():
    world = asking(job("work", queue="main", cpu=4, parallelism=5))
    decisions = run(world, 300_000)
    assert not [d for d in decisions if isinstance(d, Admit)]
    assert world.autoscaling.groups["g"].ordered == {}
    found = state(world)
    assert (found["state"], found["message"]) == (
        "Pending",
        "Capacity is not found, CA will try to find it later.",
    )


def test_nodes_that_boot_for_an_admitted_workload_are_not_found_for_another():
    works = [
        job(n, queue="main", cpu=4, parallelism=2, arrival=f"{i + 1}s")
        for i, n in enumerate("ab")
    ]
    world = asking(*works, group(maxNodes=3))
    decisions = run(world, 60_000)
    assert [d.at_ms for d in decisions if isinstance(d, Admit)] == [10_000]
    assert len(world.autoscaling.groups["g"].ordered) == 2


def test_an_explanation_names_no_rule_for_a_check_that_requests_answer():
    world = asking(job("work", queue="main", cpu=4, parallelism=5))
    run(world, 60_000)
    (row,) = explain(world, the(world, "Workload").key).checks
    assert (row.state, row.answers_ms) == ("Pending", None)


def test_pods_are_made_with_what_the_request_and_its_class_add():
    keys = [{"key": "zone", "valueFromProvisioningClassDetail": "Zone"}]
    wanted = config(podSetUpdates={"nodeSelector": keys})
    here, there = (node(n, zone=n) for n in ("here", "there"))
    world = asking(job("work", queue="main", cpu=4), here, there, given=wanted)
    advance(world, 5_000)
    request = the(world, "ProvisioningRequest")
    request.status["provisioningClassDetails"] = {"Zone": "there"}
    run(world, 20_000)
    (pod,) = world.keys("Pod")
    assert world.get(pod).spec["nodeSelector"] == {"zone": "there"}
    assert world.get(pod).spec["nodeName"] == "there"
    name = "autoscaling.x-k8s.io/consume-provisioning-request"
    assert world.get(pod).annotations[name] == request.key.name


def test_a_request_that_is_too_old_fails_and_is_made_again_until_the_limit():
    once = config(
        parameters={"ValidUntilSeconds": "0"},
        retryStrategy={"backoffLimitCount": 1, "backoffBaseSeconds": 60},
    )
    world = asking(job("work", queue="main", cpu=4, parallelism=5), given=once)
    decisions = run(world, 65_000)
    assert state(world)["state"] == "Retry"
    assert state(world)["requeueAfterSeconds"] == 60
    assert state(world)["message"].startswith("Retrying after failure: ")
    decisions += run(world, 3_600_000)
    evicted = [(d.at_ms, d.reason) for d in decisions if isinstance(d, Evict)]
    assert evicted == [
        (70_000, "AdmissionCheck"),
        (80_000, "DeactivatedDueToAdmissionCheck"),
    ]
    assert said(decisions) == [
        (0, "ProvisioningRequestCreated"),
        (10_000, "CapacityIsNotFound"),
        (70_000, "ProvisioningRequestCreated"),
        (80_000, "CapacityIsNotFound"),
    ]
    assert the(world, "Workload").spec["active"] is False
    assert world.keys("ProvisioningRequest") == []
    assert world.keys("PodTemplate") == []


def test_capacity_that_is_there_is_found_and_kept_for_the_first():
    world = asking(
        node("n", cpu=4),
        job("a", queue="main", cpu=3, arrival="1s", runtime="25s"),
        job("b", queue="main", cpu=3, arrival="2s", runtime="10s"),
        given=config(CHECK),
    )
    decisions = run(world, 200_000)
    found = [(at, why) for at, why in said(decisions) if why == "CapacityIsFound"]
    # b asks again a minute after the first answer.
    assert found == [(10_000, "CapacityIsFound"), (80_000, "CapacityIsFound")]
    assert world.autoscaling.groups["g"].ordered == {}


def test_a_booking_expires_while_another_check_is_pending():
    world = asking(
        node("n", cpu=4),
        *second_check(),
        job("work", queue="both", cpu=3),
        given=config(CHECK),
        admissionChecks=[{"check": "hand", "byHand": True}],
    )
    decisions = run(world, 611_000)
    assert said(decisions)[-1] == (610_000, "CapacityReservationTimeExpired")
    assert state(world)["message"].startswith("Retrying after booking expired: ")


def second_check() -> list[dict]:
    """An AdmissionCheck that a person answers; edits the ClusterQueue to name it."""
    check = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "hand"},
        "spec": {"controllerName": "example.com/hand"},
    }
    queue = checked()[2]
    names = [{"name": "capacity"}, {"name": "hand"}]
    queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": names}
    queue["metadata"]["name"] = "both"
    local = {**checked()[3], "metadata": {"name": "both", "namespace": "default"}}
    local["spec"] = {"clusterQueue": "both"}
    return [check, queue, local]


def test_capacity_that_is_revoked_rejects_a_workload_that_runs():
    world = asking(job("work", queue="main", cpu=4, runtime="1h"))
    run(world, 150_000)
    revoked = {"type": "CapacityRevoked", "status": "True", "message": "taken back"}
    request = the(world, "ProvisioningRequest")
    given = Object(
        key=request.key,
        manifest=request.manifest,
        status={"conditions": [*request.status["conditions"], revoked]},
    )
    world.put(given)
    decisions = run(world, 160_000)
    (evicted,) = [d for d in decisions if isinstance(d, Evict)]
    assert "taken back" in evicted.message


def test_what_names_no_managed_resource_needs_no_request():
    world = asking(
        job("work", queue="main", cpu=1), given=config(managedResources=["gpu"])
    )
    decisions = run(world, 5_000)
    assert said(decisions) == []
    assert state(world)["message"] == "the provisioning request is not needed"


def test_a_rule_of_the_policy_answers_instead():
    world = asking(
        job("work", queue="main", cpu=1),
        admissionChecks=[{"check": "capacity", "answer": "Ready", "after": "30s"}],
    )
    decisions = run(world, 60_000)
    (admitted,) = [d for d in decisions if isinstance(d, Admit)]
    assert admitted.at_ms == 30_000
    assert world.keys("ProvisioningRequest") == []


def test_the_request_says_what_its_flavor_and_the_workload_add():
    work = job("work", queue="main", cpu=1)
    flavor, *rest = checked()
    flavor["spec"] = {"nodeLabels": {"pool": "a"}}
    world = world_of(
        flavor,
        *rest,
        config(parameters={"speed": "high"}),
        group(labels={"pool": "a"}),
        work,
        simulation={"autoscaler": SOON},
    )
    run(world, 1_000)
    request = the(world, "ProvisioningRequest")
    assert request.spec["parameters"] == {"speed": "high"}
    template = the(world, "PodTemplate")
    (part,) = request.spec["podSets"]
    assert part == {"podTemplateRef": {"name": template.key.name}, "count": 1}
    assert template.manifest["template"]["spec"]["nodeSelector"] == {"pool": "a"}


def test_alike_pod_sets_are_one_of_the_request():
    spec = {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}
    labelled = {"metadata": {"labels": {"role": "worker"}}, "spec": spec}
    sets = [
        {"name": "a", "count": 2, "template": {"spec": spec}},
        {"name": "b", "count": 3, "template": labelled},
    ]
    assert len(merged(sets, "")) == 2
    assert len(merged(sets, "IdenticalPodTemplates")) == 2
    (one,) = merged(sets, "IdenticalWorkloadSchedulingRequirements")
    assert (one["name"], one["count"]) == ("a", 5)


def test_a_long_name_is_cut_and_ends_in_digits_of_its_hash():
    name = request_name("w" * 300, "capacity", 2)
    assert len(name) == 247 + 6
    assert name != request_name("w" * 301, "capacity", 2)


@pytest.mark.parametrize("at", [0, 9_999, 10_000, 15_000, 75_000, 130_000])
def test_a_copy_at_any_time_ends_as_the_world_itself(at):
    works = [
        job(f"w{i}", queue="main", cpu=4, parallelism=1 + i % 3, runtime="2m")
        for i in range(5)
    ]
    world = asking(*works, group(scaleDownDelay="1m"), config())
    advance(world, at)
    again = world.copy()
    for one in (world, again):
        advance(one, 1_500_000)
    assert again.hash() == world.hash()
    assert again.autoscaling.cost() == world.autoscaling.cost()


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"podSetMergePolicy": "All"}, "spec.podSetMergePolicy: expected one of"),
        ({"retryStrategy": {"backoffLimitCount": -1}}, "spec.retryStrategy.backoff"),
        ({"managed": []}, "managed"),
        ({"provisioningClassName": ""}, "spec.provisioningClassName"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(spec, problem):
    with pytest.raises(InputError) as refused:
        assembled(config(**spec))
    assert problem in str(refused.value)


def without_config() -> World:
    """A world whose config was deleted while a request was open."""
    world = asking(job("work", queue="main", cpu=9, runtime="60s"))
    advance(world, 15_000)
    assert world.keys("ProvisioningRequest")
    world.delete(Key("ProvisioningRequestConfig", "", "nodes"))
    return world


def test_a_check_whose_config_is_deleted_is_inactive_until_it_is_back():
    world = without_config()
    again = world.copy()
    for one in (world, again):
        run(one, 90_000)
        found = state(one)
        assert (found["state"], found["message"]) == (
            "Pending",
            "the check is not active",
        )
        (active,) = the(one, "AdmissionCheck").status["conditions"]
        assert (active["status"], active["reason"]) == ("False", "BadParametersRef")
        main = one.get(Key("ClusterQueue", "", "main")).status["conditions"]
        assert [c["reason"] for c in main] == ["AdmissionCheckInactive"]
    assert again.hash() == world.hash()
    (text,) = [("config.yaml", msgspec.json.encode(config()).decode())]
    world.put(load([text]).objects[0])
    run(world, 200_000)
    (active,) = the(world, "AdmissionCheck").status["conditions"]
    assert active["status"] == "True"


def test_a_request_goes_with_its_workload_though_no_check_asks_any_more():
    world = without_config()
    world.delete(Key("Job", "default", "work"))
    run(world, 20_000)
    assert world.keys("ProvisioningRequest") == []


@pytest.mark.parametrize("answered", [True, False])
def test_a_check_without_its_config_is_reported(answered):
    rule = {"admissionChecks": [{"check": "capacity"}]} if answered else {}
    world = world_of(*checked(), group(), simulation=rule)
    found = [line.text for line in features_of(world) if "AdmissionCheck" in line.text]
    assert bool(found) is not answered
    assert all("no ProvisioningRequestConfig nodes here" in line for line in found)
