"""What most job kinds do alike; a kind overrides where it differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.input.manifests.jobs.making import (
    make_workload,
    pod_template,
    queue_name,
)
from scheduler.input.manifests.jobs.topology import topology_request
from scheduler.model.jobs import (
    Finish,
    Manifest,
    Served,
    Shape,
    Surroundings,
    count_of,
    workload_name,
)
from scheduler.model.reasons import is_true, true_condition


class QueuedJob:
    """One Workload per object, suspended by a field, ended by a condition.

    Source: docs/semantics/kueue-jobs.md#what-all-kinds-share
    """

    endless = False
    served: Served | None = None
    shape: Shape | None = None
    suspend_path: tuple[str, ...] = ("spec", "suspend")
    succeeded: tuple[str, ...] = ("Succeeded",)
    failed: tuple[str, ...] = ("Failed",)
    ready: tuple[str, ...] = ("Running",)

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for."""
        return queue_name(manifest)

    def suspended(self, manifest: Manifest) -> bool:
        """Return the value of spec.suspend."""
        return bool(at_path(manifest, self.suspend_path))

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Return whether it is suspended with no queue to wake it."""
        return self.suspended(manifest) and not self.queue_name(manifest)

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return the pods of its podSets."""
        found = self.pod_sets(manifest, Surroundings())
        return "spec", sum(one["count"] for one in found)

    def waves(self, manifest: Manifest) -> int:
        """Return 1: all pods run together."""
        return 1

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its podSets."""
        raise NotImplementedError

    def pod_class(
        self, manifest: Manifest, pod_sets: list[dict[str, Any]]
    ) -> str | None:
        """Return its own PriorityClass; None where its podSets decide."""
        return None

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its one Workload."""
        pod_sets = self.pod_sets(manifest, around)
        workload = make_workload(
            manifest,
            around,
            name=workload_name(manifest),
            pod_sets=pod_sets,
            pod_class=self.pod_class(manifest, pod_sets),
        )
        return [workload]

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, by its conditions."""
        if self.endless:
            return None
        condition = true_condition(
            manifest.get("status"), *self.succeeded, *self.failed
        )
        if condition is None:
            return None
        message = str(condition.get("message") or "")
        return Finish(success=condition["type"] in self.succeeded, message=message)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether a condition of its status says so."""
        return is_true(manifest.get("status"), *self.ready)

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return nothing: this kind does not report pods that ended."""
        return {}


class ServingJob(QueuedJob):
    """It serves: gated by its pods, ready by its replicas, never at its end.

    Source: docs/semantics/kueue-jobs.md#serving-kinds
    """

    endless = True
    shape: Shape | None = Shape(
        templates=("spec.template!",), counts=("spec.replicas",)
    )

    def suspended(self, manifest: Manifest) -> bool:
        """Return False: its pods are gated, it has no field."""
        return False

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return its replicas."""
        return "spec.replicas", replicas_of(manifest)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether all its replicas are ready."""
        ready = count_of(manifest.get("status") or {}, "readyReplicas", 0)
        return ready >= replicas_of(manifest)

    def workload_per_replica(
        self, manifest: Manifest, around: Surroundings, pod_sets: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return a Workload with these podSets for each of its replicas."""
        name = manifest["metadata"]["name"]
        return [
            make_workload(
                manifest,
                around,
                name=workload_name(manifest, name=f"{name}-{ordinal}"),
                pod_sets=pod_sets,
                queue=self.queue_name(manifest),
            )
            for ordinal in range(replicas_of(manifest))
        ]


def replicas_of(manifest: Manifest) -> int:
    """Return its spec.replicas; 1 where it is left out."""
    return count_of(manifest["spec"], "replicas", 1)


def pod_set(
    name: str,
    count: int,
    template: Manifest,
    *,
    index: str = "",
    sub_group: str = "",
    sub_groups: int | None = None,
) -> dict[str, Any]:
    """Return a podset with what its template asks of topology."""
    found: dict[str, Any] = {
        "name": name.lower(),
        "count": count,
        "template": pod_template(template),
    }
    topology = topology_request(
        template, index=index, sub_group=sub_group, sub_groups=sub_groups
    )
    if topology is not None:
        found["topologyRequest"] = topology
    return found


def at_path(manifest: Manifest, path: tuple[str, ...]) -> Any:
    """Return the value at a path of keys; None where it ends early."""
    value: Any = manifest
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
