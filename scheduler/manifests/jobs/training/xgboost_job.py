"""XGBoostJob: a podset per role."""

from __future__ import annotations

from scheduler.manifests.jobs.training.roles import RoleJob
from scheduler.registry import register

register(
    "job-kind",
    "XGBoostJob",
    label="XGBoostJob",
    help="kubeflow.org XGBoostJob: podsets master and worker.",
)(RoleJob("xgbReplicaSpecs", ("Master", "Worker")))
