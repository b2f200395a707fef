"""TFJob: a podset per role."""

from __future__ import annotations

from scheduler.input.manifests.jobs.training.roles import RoleJob
from scheduler.model.registry import register

register(
    "job-kind",
    "TFJob",
    label="TFJob",
    help="kubeflow.org TFJob: podsets chief, master, ps, worker, evaluator.",
)(RoleJob("tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")))
