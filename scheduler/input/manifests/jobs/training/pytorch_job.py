"""PyTorchJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "PyTorchJob",
    label="PyTorchJob",
    help="kubeflow.org PyTorchJob: podsets master and worker.",
)(RoleJob("pytorchReplicaSpecs", ("Master", "Worker")))
