"""Jobs with a replica spec per role: Kubeflow's training kinds and MPIJob."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path, pod_set
from scheduler.model.jobs import Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.registry import register

REPLICA_INDEX = "training.kubeflow.org/replica-index"


class RoleJob(QueuedJob):
    """A podset per role that is there, in a fixed order.

    Source: docs/semantics/kueue-jobs.md#jobs-with-roles
    """

    suspend_path = ("spec", "runPolicy", "suspend")

    def __init__(
        self, specs: str, roles: tuple[str, ...], versions: tuple[str, ...] = ("v1",)
    ) -> None:
        self.specs = specs
        self.roles = roles
        self.served = Served(group="kubeflow.org", versions=versions)
        self.shape = Shape(
            templates=(f"spec.{specs}!.*.template!",),
            counts=(f"spec.{specs}!.*.replicas",),
        )

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return a podset per role."""
        return [
            pod_set(
                role,
                count_of(spec, "replicas", 1),
                spec.get("template") or {},
                index=REPLICA_INDEX,
            )
            for role, spec in self.present(manifest)
        ]

    def present(self, manifest: Manifest) -> Iterator[tuple[str, Manifest]]:
        """Yield the roles that the job has."""
        specs = manifest["spec"].get(self.specs) or {}
        for role in self.roles:
            if specs.get(role) is not None:
                yield role, specs[role]

    def pod_class(
        self, manifest: Manifest, pod_sets: list[dict[str, Any]]
    ) -> str | None:
        """Return the priority class of the job's schedulingPolicy; None: its roles decide."""
        path = ("spec", "runPolicy", "schedulingPolicy", "priorityClass")
        return at_path(manifest, path) or None


# ------------------------------------------------------------------------
# JAXJob: a podset per role.


register(
    "job-kind",
    "JAXJob",
    label="JAXJob",
    help="kubeflow.org JAXJob: one podset, worker.",
)(RoleJob("jaxReplicaSpecs", ("Worker",)))


# ------------------------------------------------------------------------
# MPIJob: a podset per role.


register(
    "job-kind",
    "MPIJob",
    label="MPIJob",
    help="kubeflow.org MPIJob: podsets launcher and worker.",
)(RoleJob("mpiReplicaSpecs", ("Launcher", "Worker"), ("v2beta1", "v1")))


# ------------------------------------------------------------------------
# PaddleJob: a podset per role.


register(
    "job-kind",
    "PaddleJob",
    label="PaddleJob",
    help="kubeflow.org PaddleJob: podsets master and worker.",
)(RoleJob("paddleReplicaSpecs", ("Master", "Worker")))


# ------------------------------------------------------------------------
# PyTorchJob: a podset per role.


register(
    "job-kind",
    "PyTorchJob",
    label="PyTorchJob",
    help="kubeflow.org PyTorchJob: podsets master and worker.",
)(RoleJob("pytorchReplicaSpecs", ("Master", "Worker")))


# ------------------------------------------------------------------------
# TFJob: a podset per role.


register(
    "job-kind",
    "TFJob",
    label="TFJob",
    help="kubeflow.org TFJob: podsets chief, master, ps, worker, evaluator.",
)(RoleJob("tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")))


# ------------------------------------------------------------------------
# XGBoostJob: a podset per role.


register(
    "job-kind",
    "XGBoostJob",
    label="XGBoostJob",
    help="kubeflow.org XGBoostJob: podsets master and worker.",
)(RoleJob("xgbReplicaSpecs", ("Master", "Worker")))
