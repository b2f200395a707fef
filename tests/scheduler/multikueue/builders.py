"""A manager and its workers, every default named."""

from __future__ import annotations

from typing import Any

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from tests.builders import Manifest, job, small_cluster, world_of
from tests.invariants import check

KUEUE = "kueue.x-k8s.io/v1beta2"
LOST = {"type": "Active", "status": "False", "reason": "ClientConnectionFailed"}
FOUND = {"type": "Active", "status": "True", "reason": "Active"}


def in_cluster(name: str, *manifests: Manifest) -> list[Manifest]:
    """Return the manifests as objects of a worker cluster."""
    for manifest in manifests:
        metadata = manifest["metadata"]
        given = metadata.get("annotations") or {}
        metadata["annotations"] = {**given, "quotalab.dev/cluster": name}
    return list(manifests)


def worker(name: str, **queue: Any) -> list[Manifest]:
    """Return a worker with the usual queues, and its MultiKueueCluster."""
    cluster = {
        "apiVersion": KUEUE,
        "kind": "MultiKueueCluster",
        "metadata": {"name": name},
        "spec": {"kubeConfig": {"locationType": "Secret", "location": name}},
    }
    return [cluster, *in_cluster(name, *small_cluster(**queue))]


def check_of(*clusters: str) -> list[Manifest]:
    """Return the check `mk` and its config of these clusters."""
    config = {
        "apiVersion": KUEUE,
        "kind": "MultiKueueConfig",
        "metadata": {"name": "mk"},
        "spec": {"clusters": list(clusters)},
    }
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig"}
    one = {
        "apiVersion": KUEUE,
        "kind": "AdmissionCheck",
        "metadata": {"name": "mk"},
        "spec": {
            "controllerName": "kueue.x-k8s.io/multikueue",
            "parameters": {**parameters, "name": "mk"},
        },
    }
    return [config, one]


def manager(**queue: Any) -> list[Manifest]:
    """Return the usual queues with the check `mk`."""
    manifests = small_cluster(**{"cpu": "100", **queue})
    for manifest in manifests:
        if manifest["kind"] == "ClusterQueue":
            manifest["spec"]["admissionChecksStrategy"] = {
                "admissionChecks": [{"name": "mk"}]
            }
    return manifests


def linked(
    *manifests: Manifest,
    workers: dict[str, dict[str, Any]] | None = None,
    asks: tuple[str, ...] | None = None,
    seed: int = 1,
    kueue: dict[str, Any] | None = None,
    **simulation: Any,
) -> World:
    """Return a manager with workers `a` and `b` of 4 cpu each, or those given.

    The check's config names these, or the clusters of `asks`.
    """
    given = {"a": {}, "b": {}} if workers is None else workers
    everything = [*manager(), *check_of(*(given if asks is None else asks))]
    for name, queue in given.items():
        everything += worker(name, **queue)
    return world_of(
        *everything,
        *manifests,
        seed=seed,
        kueue={"multiKueue": kueue or {}},
        simulation=simulation,
    )


def a_job(name: str = "x", **given: Any) -> Manifest:
    """Return a job of the manager's queue that works for a minute."""
    return job(name, **{"queue": "main", "runtime": "60s", **given})


def change(called: str, at: str, patch: dict[str, Any], **target: str) -> Manifest:
    """Return a Change that patches an object at a time."""
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": called, "annotations": {"quotalab.dev/arrival": at}},
        "spec": {"target": target, "patch": patch},
    }


def losing(cluster: str, at: str, condition: dict[str, Any] = LOST) -> Manifest:
    """Return the Change after which the manager does not reach a cluster."""
    called = f"{cluster}-{condition['status'].lower()}"
    patch = {"status": {"conditions": [condition]}}
    return change(called, at, patch, kind="MultiKueueCluster", name=cluster)


def run(world: World, until: int) -> list:
    """Advance to a second; everything that must hold does."""
    found = simulate(world, until_ms=until * 1000).decisions
    check(world)
    return found


def workload(world: World, name: str = "x", cluster: str = "") -> Any:
    """Return the Workload of a job, in the manager or in a worker; None without one."""
    for key in sorted(key for key in world.objects if key.kind == "Workload"):
        mine, _, inside = key.name.rpartition(":")
        if mine == cluster and inside.startswith(f"job-{name}-"):
            return world.get(key)
    return None


def state_of(world: World, name: str = "x") -> tuple[str, str]:
    """Return state and message of a Workload's check."""
    one = workload(world, name).status["admissionChecks"][0]
    return one["state"], one["message"]


def where(world: World, name: str = "x") -> list[str]:
    """Return the workers that have a copy of a job's Workload."""
    workers = sorted(
        {key.name.partition(":")[0] for key in world.objects if ":" in key.name}
    )
    return [one for one in workers if workload(world, name, one) is not None]
