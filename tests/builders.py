"""Small worlds from real manifests, every default named."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from scheduler.assembly import Assembled, assemble
from scheduler.engine.world import World
from scheduler.model.latencies import Latencies

Manifest = dict[str, Any]


def flavor(name: str = "default", **labels: str) -> Manifest:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": labels} if labels else {},
    }


def cluster_queue(
    name: str,
    *,
    cohort: str = "",
    cpu: str | int = "4",
    borrowing: str | int | None = None,
    lending: str | int | None = None,
    within: str = "Never",
    reclaim: str = "Never",
    strategy: str = "BestEffortFIFO",
    weight: str | None = None,
    flavor: str = "default",
) -> Manifest:
    quota: Manifest = {"name": "cpu", "nominalQuota": cpu}
    if borrowing is not None:
        quota["borrowingLimit"] = borrowing
    if lending is not None:
        quota["lendingLimit"] = lending
    spec: Manifest = {
        "queueingStrategy": strategy,
        "namespaceSelector": {},
        "preemption": {"withinClusterQueue": within, "reclaimWithinCohort": reclaim},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": flavor, "resources": [quota]}],
            }
        ],
    }
    if cohort:
        spec["cohortName"] = cohort
    if weight is not None:
        spec["fairSharing"] = {"weight": weight}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": spec,
    }


def local_queue(
    name: str, *, cluster_queue: str, namespace: str = "default"
) -> Manifest:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue},
    }


def job(
    name: str,
    *,
    queue: str = "",
    cpu: str | int = "1",
    parallelism: int = 1,
    completions: int | None = None,
    namespace: str = "default",
    priority_class: str = "",
    **annotations: str,
) -> Manifest:
    labels = {}
    if queue:
        labels["kueue.x-k8s.io/queue-name"] = queue
    if priority_class:
        labels["kueue.x-k8s.io/priority-class"] = priority_class
    requests = {"requests": {"cpu": str(cpu)}}
    container = {"name": "main", "image": "example.com/main", "resources": requests}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": _ours(annotations),
        },
        "spec": {
            "parallelism": parallelism,
            "completions": parallelism if completions is None else completions,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def pod(
    name: str,
    *,
    cpu: str | int = "1",
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    **annotations: str,
) -> Manifest:
    requests = {"requests": {"cpu": str(cpu)}}
    container = {"name": "main", "image": "example.com/main", "resources": requests}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels or {},
            "annotations": _ours(annotations),
        },
        "spec": {"containers": [container]},
    }


def node(name: str, *, cpu: str | int = "4", **labels: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"},
        },
    }


def workload_priority(name: str, value: int) -> Manifest:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def queue_tree(*queues: Manifest, submit: str = "*", **partition: Any) -> Manifest:
    """Return YuniKorn's configuration of one partition with these queues below root."""
    root: Manifest = {"name": "root", "queues": list(queues)}
    if submit:
        root["submitacl"] = submit
    return {"partitions": [{"name": "default", **partition, "queues": [root]}]}


def two_leaves(most: int = 6) -> Manifest:
    """Return a tree of `a` with a guaranteed share and `b` with a limit."""
    return queue_tree(
        {"name": "a", "resources": {"guaranteed": {"vcore": "4"}}},
        {"name": "b", "resources": {"max": {"vcore": str(most)}}},
    )


def _ours(annotations: dict[str, str]) -> dict[str, str]:
    """Turn `ready_after="5s"` into `quotalab.dev/ready-after: 5s`."""
    return {f"quotalab.dev/{k.replace('_', '-')}": v for k, v in annotations.items()}


def assembled(*manifests: Manifest, seed: int = 1, **policy: Any) -> Assembled:
    """Return the world of these manifests, read as text as a user's file is.

    Steps take no time but where the policy says so: one claim, one instant. No
    scheduler has a release but where the policy says so.
    """
    text = "\n---\n".join(yaml.safe_dump(manifest) for manifest in manifests)
    simulation = {"latencies": None, **policy.get("simulation", {})}
    if simulation["latencies"] is not None:
        instant = msgspec.to_builtins(Latencies())
        simulation["latencies"] = {**instant, **simulation["latencies"]}
    policy["simulation"] = simulation
    files = [("world.yaml", text)] if manifests else []
    return assemble(files, seed=seed, policy=policy, newest=False)


def world_of(*manifests: Manifest, seed: int = 1, **policy: Any) -> World:
    """Return the world at virtual time 0."""
    return assembled(*manifests, seed=seed, **policy).world


def small_cluster(**queue: Any) -> list[Manifest]:
    """Return a flavor, one ClusterQueue `main` and its LocalQueue `main`."""
    return [
        flavor(),
        cluster_queue("main", **queue),
        local_queue("main", cluster_queue="main"),
    ]
