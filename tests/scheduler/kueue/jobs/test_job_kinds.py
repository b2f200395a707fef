"""Job kinds in a world: whose Workload they have, when they get one, when they end."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scheduler.engine.tick import advance, simulate
from scheduler.input.manifests.jobs.role_hash import role_hash
from scheduler.input.manifests.load import load
from scheduler.model import registry
from scheduler.model.decisions import Admit, Fail, Finish
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key
from scheduler.model.reasons import is_true
from tests.builders import job, node, small_cluster, workload_priority, world_of
from tests.conformance import jobs, vectors

VECTORS = Path(__file__).parents[3] / "vectors" / "kueue" / "jobs.jsonl.gz"


@pytest.mark.parametrize(
    "vector", list(vectors(VECTORS)), ids=lambda vector: vector["id"]
)
def test_each_kind_becomes_the_workload_that_kueue_makes_of_it(vector):
    assert jobs.run(vector) == []


def template(cpu: int = 1) -> dict:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"spec": {"containers": [container]}}


def of_kind(kind: str, version: str, name: str = "j", **spec: object) -> dict:
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": labels,
        "uid": f"u-{name}",
    }
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("cpu", "named"), [(1, "4b0469f7"), ("2000m", "c3465716"), (0.5, "d1d3a926")]
)
def test_a_role_of_a_pod_group_has_the_hash_that_kueue_gives_it(cpu, named):
    # Recorded of pods without anything else: tests/truth/records/pod-group.json.
    assert role_hash(template(cpu)["spec"]) == named


def workloads(world) -> list[str]:
    return sorted(key.name for key in world.objects if key.kind == "Workload")


def decided(world, kind: type, until_ms: int = 600_000) -> list:
    outcome = simulate(world, until_ms=until_ms)
    return [one for one in outcome.decisions if isinstance(one, kind)]


def test_a_ray_job_is_admitted_whole_and_ends():
    head = {"rayStartParams": {}, "template": template()}
    group = {
        "groupName": "w",
        "replicas": 2,
        "rayStartParams": {},
        "template": template(),
    }
    cluster = {"headGroupSpec": head, "workerGroupSpecs": [group]}
    submitter = template()
    ray = of_kind(
        "RayJob", "ray.io/v1", rayClusterSpec=cluster, submitterPodTemplate=submitter
    )
    world = world_of(*small_cluster(), ray)
    outcome = simulate(world, until_ms=600_000)
    (admit,) = [one for one in outcome.decisions if isinstance(one, Admit)]
    counts = [(part.name, part.count) for part in admit.pod_sets]
    assert counts == [("head", 1), ("w", 2), ("submitter", 1)]
    assert len([one for one in outcome.decisions if isinstance(one, Finish)]) == 1


def test_a_serving_kind_never_ends_by_itself():
    service = of_kind("StatefulSet", "apps/v1", replicas=2, template=template())
    world = world_of(*small_cluster(), service)
    assert decided(world, Finish, until_ms=10**9) == []


def test_each_replica_of_a_deployment_is_admitted_alone():
    web = of_kind("Deployment", "apps/v1", replicas=6, template=template())
    world = world_of(*small_cluster(cpu=4), web)
    assert len(decided(world, Admit)) == 4
    assert len(workloads(world)) == 6


def test_a_deployment_scaled_down_loses_the_workloads_of_the_pods_that_go():
    web = of_kind("Deployment", "apps/v1", replicas=4, template=template())
    world = world_of(*small_cluster(cpu=4), web)
    simulate(world, until_ms=1_000)
    obj = next(o for o in world.objects.values() if o.key.kind == "Deployment")
    smaller = {**obj.manifest, "spec": {**obj.spec, "replicas": 1}}
    world.put(type(obj)(key=obj.key, manifest=smaller))
    simulate(world, until_ms=2_000)
    assert len(workloads(world)) == 1


def test_a_job_that_names_no_class_gets_its_workload_once_the_class_arrives():
    labelled = job("j", queue="main")
    labelled["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "prod"
    world = world_of(*small_cluster(), labelled)
    (refusal,) = decided(world, Fail)
    assert refusal.reason == "ErrWorkloadCompose"
    assert "there is no WorkloadPriorityClass 'prod'" in refusal.message
    assert workloads(world) == []
    prod = load([("p.yaml", yaml.safe_dump(workload_priority("prod", 9)))])
    world.put(prod.objects[0])
    (admit,) = decided(world, Admit)
    assert admit.subject.name in workloads(world)


def grouped_pod(name: str, **labels: str) -> dict:
    marks = {
        "kueue.x-k8s.io/queue-name": "main",
        "kueue.x-k8s.io/pod-group-name": "g",
        **labels,
    }
    total = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    metadata = {"name": name, "labels": marks, "annotations": total}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **template()}


def test_a_pod_group_that_names_no_class_waits_for_it_too():
    label = {"kueue.x-k8s.io/priority-class": "prod"}
    pods = [grouped_pod("a", **label), grouped_pod("b", **label)]
    world = world_of(*small_cluster(), *pods)
    (refusal,) = decided(world, Fail)
    assert "there is no WorkloadPriorityClass 'prod'" in refusal.message
    prod = load([("p.yaml", yaml.safe_dump(workload_priority("prod", 9)))])
    world.put(prod.objects[0])
    (admit,) = decided(world, Admit)
    assert (admit.subject.name, workloads(world)) == ("g", ["g"])


def test_a_train_job_without_its_runtime_says_so_where_nobody_manages_it():
    train = of_kind(
        "TrainJob", "trainer.kubeflow.org/v1alpha1", runtimeRef={"name": "r"}
    )
    world = world_of(node("n1"), train, stack="kube")
    (refusal,) = decided(world, Fail)
    assert "there is no ClusterTrainingRuntime 'r'" in refusal.message


def test_a_job_that_came_with_its_workload_gets_no_second_one():
    given = job("j", queue="main")
    given["metadata"]["uid"] = "u-j"
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u-j"}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "job-j-from-the-cluster",
            "namespace": "default",
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {
            "queueName": "main",
            "podSets": [{"name": "main", "count": 1, "template": template()}],
        },
    }
    world = world_of(*small_cluster(), given, workload)
    simulate(world, until_ms=600_000)
    assert workloads(world) == ["job-j-from-the-cluster"]


def test_a_job_that_a_job_set_made_gets_no_workload():
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set"}
    child = job("set-w-0", queue="main")
    child["metadata"]["ownerReferences"] = [
        {**owner, "uid": "u-set", "controller": True}
    ]
    inner = {"spec": {"parallelism": 1, "template": template()}}
    parent = of_kind(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        "set",
        replicatedJobs=[{"name": "w", "replicas": 1, "template": inner}],
    )
    world = world_of(*small_cluster(), parent, child)
    simulate(world, until_ms=1_000)
    assert len(workloads(world)) == 1


def test_a_job_kind_says_which_field_is_wrong():
    broken = of_kind("RayCluster", "ray.io/v1", workerGroupSpecs=[])
    loaded = load([("ray.yaml", yaml.safe_dump(broken))])
    (error,) = loaded.errors
    assert "spec.headGroupSpec" in str(error)


def test_a_train_job_without_its_runtime_says_which_runtime_it_lacks():
    kind = registry.lookup("job-kind", "TrainJob")
    train = of_kind(
        "TrainJob", "trainer.kubeflow.org/v1alpha1", runtimeRef={"name": "r"}
    )
    with pytest.raises(ManifestError, match="no ClusterTrainingRuntime 'r'"):
        kind.workloads(train, jobs.Surroundings())


def unlabelled(one: dict) -> dict:
    return {**one, "metadata": {**one["metadata"], "labels": {}}}


def managing(*manifests: dict, frameworks: list[str] | None = None):
    integrations = {"frameworks": frameworks} if frameworks else {}
    free = {"matchExpressions": [{"key": "free", "operator": "DoesNotExist"}]}
    namespace = {"metadata": {"name": "free", "labels": {"free": "yes"}}}
    return world_of(
        *small_cluster(),
        {"apiVersion": "v1", "kind": "Namespace", **namespace},
        *manifests,
        kueue={
            "manageJobsWithoutQueueName": True,
            "managedJobsNamespaceSelector": free,
            "integrations": integrations,
        },
    )


def test_a_job_without_a_queue_waits_where_all_jobs_are_managed():
    world = managing(job("a"))
    assert decided(world, Admit) == []
    [workload] = [one for one in world.objects.values() if one.key.kind == "Workload"]
    assert "queueName" not in workload.spec


@pytest.mark.parametrize("queue", ["", "main"])
def test_a_job_in_a_namespace_that_is_not_managed_runs_beside_kueue(queue):
    world = managing(node("n", cpu=8), job("a", namespace="free", queue=queue))
    assert [one.subject.name for one in decided(world, Finish)] == ["a"]
    assert workloads(world) == []


def test_only_jobs_of_the_integrations_that_are_on_are_managed():
    serving = of_kind("Deployment", "apps/v1", "d", replicas=1, template=template())
    assert workloads(managing(unlabelled(serving))) == []
    world = managing(unlabelled(serving), frameworks=["pod", "deployment"])
    decided(world, Admit)
    assert len(workloads(world)) == 1


def test_pods_of_a_deployment_ask_for_the_queue_of_their_template():
    labelled = template() | {
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "main"}}
    }
    serving = of_kind("Deployment", "apps/v1", "d", replicas=2, template=labelled)
    world = world_of(*small_cluster(), unlabelled(serving))
    assert len(decided(world, Admit)) == 2


def test_a_job_whose_workload_is_deleted_gets_another_and_runs_again():
    world = world_of(*small_cluster(), node("n", cpu=8), job("a", queue="main"))
    advance(world, 1_000)
    [name] = workloads(world)
    before = world.get(Key("Workload", "default", name)).uid
    world.delete(Key("Workload", "default", name))
    advance(world, 2_000)
    again = world.get(Key("Workload", "default", name))
    assert again.uid != before
    assert is_true(again.status, "Admitted")
    assert world.get(Key("Job", "default", "a")).spec["suspend"] is False


def test_a_finished_job_whose_workload_is_deleted_stays_without():
    finite = job("a", queue="main", runtime="1s")
    world = world_of(*small_cluster(), node("n", cpu=8), finite)
    advance(world, 5_000)
    [name] = workloads(world)
    world.get(Key("Workload", "default", name))
    world.delete(Key("Workload", "default", name))
    advance(world, 9_000)
    assert workloads(world) == []
