"""JAXJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "JAXJob",
    label="JAXJob",
    help="kubeflow.org JAXJob: one podset, worker.",
)(RoleJob("jaxReplicaSpecs", ("Worker",)))
