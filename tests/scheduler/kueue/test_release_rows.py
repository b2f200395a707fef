"""Rows of the ledger of Kueue: a world on the last release before one, and on the first."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.tick import simulate
from scheduler.model.decisions import Admit
from scheduler.model.objects import Key
from scheduler.model.releases.release import UNRELEASED, Release
from tests.builders import job, node, small_cluster, workload_priority, world_of
from tests.scheduler.kueue.rig import Rig
from tests.scheduler.kueue.topology.test_node_failures import Racks
from tests.scheduler.lifetime.test_elastic_jobs import elastic, scaled, slices, usage
from tests.scheduler.lifetime.test_pod_controllers import controller
from tests.scheduler.lifetime.test_pod_groups import member


def racks(release: str) -> Racks:
    return Racks(release=Release(kueue=release))


# ---- topology


@pytest.mark.parametrize(
    ("release", "hosts"),
    [("0.14.8", {"h2": 2, "h3": 2}), ("0.15.0", {"h1": 1, "h2": 2, "h3": 1})],
)
def test_unconstrained_pods_take_the_least_free_hosts_since_0_15(release, hosts):
    made = racks(release)
    made.gang("before", 1)
    made.run(0)
    assert made.hosts("before") == {"h1": 1}
    made.gang("w", 4, unconstrained=True)
    made.run(1)
    assert made.hosts("w") == hosts


@pytest.mark.parametrize(("release", "admits"), [("0.17.8", True), ("0.18.0", False)])
def test_flavors_share_what_is_used_on_their_hosts_since_0_18(release, admits):
    made = racks(release)
    spec = {"topologyName": "racks", "nodeLabels": {"pool": "main"}}
    made.put("ResourceFlavor", "other", spec, namespace="")
    made.gang("fills", 8, preferred="rack")
    made.run(0)
    made.queue("q", 100, flavor="other")
    made.gang("w", 1)
    made.run(1)
    assert bool(made.hosts("w")) is admits


@pytest.mark.parametrize(("release", "admits"), [("0.17.5", 1), ("0.17.6", 2)])
def test_who_lost_its_places_finds_others_in_the_same_cycle_since_0_17_6(
    release, admits
):
    made = racks(release)
    made.queue("beside", 100, flavor="tas")
    made.gang("w", 2)
    pod_sets = made.objects[Key("Workload", "default", "w")].spec["podSets"]
    made.workload("other", "beside", podSets=pod_sets)
    made.controllers()
    made.stage.cycle()
    assert len(made.runs()) == admits


def hosts_of_a_leader_that_quota_charges_nothing(release: str) -> dict[str, int]:
    given = {"resources": {"excludeResourcePrefixes": ["memory"]}}
    made = Racks(given, release=Release(kueue=release))
    labels = {"pool": "main", "rack": "r1", "kubernetes.io/hostname": "h1"}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    made.put("Node", "node-1", {}, namespace="", labels=labels, status=status)
    request = {"required": "kubernetes.io/hostname", "podSetGroupName": "g"}
    pod_sets = []
    for name, asked in (("leader", {"memory": "1Gi"}), ("workers", {"cpu": "2"})):
        template = {"spec": {"containers": [{"resources": {"requests": asked}}]}}
        one = {"name": name, "count": 1, "topologyRequest": request}
        pod_sets.append({**one, "template": template})
    made.workload("w", "q", podSets=pod_sets)
    made.run(0)
    return made.hosts("w")


@pytest.mark.parametrize(("release", "admits"), [("0.19.0", False), ("0.19.1", True)])
def test_a_leader_that_quota_charges_nothing_takes_its_workers_flavor_since_0_19_1(
    release, admits
):
    hosts = hosts_of_a_leader_that_quota_charges_nothing(release)
    assert hosts == ({"h1": 2} if admits else {})


@pytest.mark.parametrize(
    ("release", "hosts"), [("0.17.4", {"h1": 1}), ("0.17.5", {}), ("0.18.0", {"h1": 1})]
)
def test_a_leader_without_a_topology_flavor_is_admitted_without_places_before_0_17_5(
    release, hosts
):
    assert hosts_of_a_leader_that_quota_charges_nothing(release) == hosts


# ---- fair sharing


@pytest.mark.parametrize(
    ("release", "first"), [("0.16.4", "small"), ("0.16.5", "large")]
)
def test_whether_a_cohort_borrows_is_asked_at_each_level_since_0_16_5(release, first):
    made = Rig({"fairSharing": {}}, release=Release(kueue=release))
    for name, cpu in (("left", 2), ("right", 6)):
        quota = {"name": "cpu", "nominalQuota": cpu}
        group = {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "f", "resources": [quota]}],
        }
        made.put(
            "Cohort",
            name,
            {"parentName": "root", "resourceGroups": [group]},
            namespace="",
        )
    made.queue("small", 2, cohort="left")
    made.queue("fills", 0, cohort="left")
    made.queue("large", 0, cohort="right")
    made.workload("before", "fills", 3)
    made.run(0)
    made.workload("small", "small", 2)
    made.workload("large", "large", 5)
    assert next(who for what, who, _ in made.run(1) if what == "Admit") == first


# ---- statuses


@pytest.mark.parametrize(
    ("release", "says"), [("0.19.0", "Ready"), ("0.19.1", "Terminating")]
)
def test_a_queue_that_is_being_deleted_says_so_since_0_19_1(release, says):
    runs = job("runs", queue="main", runtime="1h")
    world = world_of(*small_cluster(), runs, release={"kueue": release})
    simulate(world, until_ms=5_000)
    [key] = world.keys("ClusterQueue")
    world.delete(key)
    simulate(world, until_ms=10_000)
    [condition] = world.get(key).status["conditions"]
    assert condition["reason"] == says


# ---- jobs


@pytest.mark.parametrize(("release", "workloads"), [("0.17.8", 1), ("0.18.0", 2)])
def test_an_elastic_job_is_scaled_while_it_runs_since_0_18(release, workloads):
    world = world_of(
        *small_cluster(cpu=6),
        elastic(2, runtime="60s"),
        scaled("10s", 6),
        release={"kueue": release},
    )
    simulate(world, until_ms=10_000)
    assert len(slices(world)) == workloads


@pytest.mark.parametrize(("release", "priority"), [("0.19.2", 0), (UNRELEASED, 10)])
def test_a_class_named_default_is_that_of_jobs_without_one_in_main(release, priority):
    world = world_of(
        *small_cluster(),
        workload_priority("default", 10),
        job("j", queue="main"),
        release={"kueue": release},
    )
    simulate(world, until_ms=1_000)
    [workload] = [world.get(key) for key in world.keys("Workload")]
    assert workload.spec.get("priority", 0) == priority


def none_left() -> dict[str, Any]:
    target = {"kind": "StatefulSet", "name": "web"}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": "c", "annotations": {"quotalab.dev/arrival": "10s"}},
        "spec": {"target": target, "patch": {"spec": {"replicas": 0}}},
    }


@pytest.mark.parametrize(("release", "kept"), [("0.18.2", False), ("0.18.3", True)])
def test_a_set_of_no_replicas_keeps_its_workload_on_hold_since_0_18_3(release, kept):
    of_queue = controller("StatefulSet", replicas=1)
    of_queue["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    world = world_of(
        *small_cluster(),
        node("n1"),
        of_queue,
        none_left(),
        release={"kueue": release},
    )
    simulate(world, until_ms=60_000)
    assert bool(list(world.keys("Workload"))) is kept


@pytest.mark.parametrize(("release", "held"), [("0.18.4", "2"), ("0.18.5", "1")])
def test_a_failed_index_gives_back_its_quota_since_0_18_5(release, held):
    made = job(
        "j", queue="main", runtime="1h", fails_after="uniform(1s, 90s)", parallelism=2
    )
    indexed = {"completionMode": "Indexed", "backoffLimitPerIndex": 0}
    made["spec"] |= indexed
    world = world_of(*small_cluster(), node("n"), made, release={"kueue": release})
    for at_s in range(1, 90):
        simulate(world, until_ms=at_s * 1000)
        if world.get(Key("Job", "default", "j")).status.get("failed"):
            break
    assert usage(world) == held


@pytest.mark.parametrize(("release", "admitted"), [("0.18.2", True), ("0.18.3", False)])
def test_a_preempted_group_waits_for_its_replacements_since_0_18_3(release, admitted):
    urgent = job("u", queue="main", cpu=4, priority_class="high", runtime="5s",
                 arrival="3s")  # fmt: skip
    world = world_of(
        *small_cluster(within="LowerPriority"),
        node("n", cpu=8),
        workload_priority("high", 10),
        member("p1"),
        member("p2"),
        urgent,
        release={"kueue": release},
    )
    decided = simulate(world, until_ms=30_000).decisions
    again = [one for one in decided if isinstance(one, Admit) and one.at_ms > 3_000]
    assert ("g" in [one.subject.name for one in again]) is admitted
