"""PaddleJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "PaddleJob",
    label="PaddleJob",
    help="kubeflow.org PaddleJob: podsets master and worker.",
)(RoleJob("paddleReplicaSpecs", ("Master", "Worker")))
