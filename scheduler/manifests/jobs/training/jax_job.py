"""JAXJob: a podset per role."""

from __future__ import annotations

from scheduler.manifests.jobs.training.roles import RoleJob
from scheduler.registry import register

register(
    "job-kind",
    "JAXJob",
    label="JAXJob",
    help="kubeflow.org JAXJob: one podset, worker.",
)(RoleJob("jaxReplicaSpecs", ("Worker",)))
