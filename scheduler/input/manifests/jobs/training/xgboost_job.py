"""XGBoostJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "XGBoostJob",
    label="XGBoostJob",
    help="kubeflow.org XGBoostJob: podsets master and worker.",
)(RoleJob("xgbReplicaSpecs", ("Master", "Worker")))
