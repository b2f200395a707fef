"""PyTorchJob: a podset per role."""

from __future__ import annotations

from scheduler.manifests.jobs.training.roles import RoleJob
from scheduler.registry import register

register(
    "job-kind",
    "PyTorchJob",
    label="PyTorchJob",
    help="kubeflow.org PyTorchJob: podsets master and worker.",
)(RoleJob("pytorchReplicaSpecs", ("Master", "Worker")))
