"""MPIJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "MPIJob",
    label="MPIJob",
    help="kubeflow.org MPIJob: podsets launcher and worker.",
)(RoleJob("mpiReplicaSpecs", ("Launcher", "Worker"), ("v2beta1", "v1")))
