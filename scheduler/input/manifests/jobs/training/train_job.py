"""TrainJob: the JobSet that its training runtime makes of it."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob
from scheduler.input.manifests.jobs.job_set import (
    job_spec,
    jobs_ready,
    reclaimable_jobs,
    replicated_pod_sets,
)
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.objects import Key
from scheduler.model.problems import Problem
from scheduler.model.registry import register

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_CONTAINER = "node"
_STATUS = "jobsStatus"


class TrainJob(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#trainjob"""

    served = Served(group="trainer.kubeflow.org", versions=("v1alpha1",))
    shape = Shape(counts=("spec.trainer.numNodes",))
    succeeded = ("Complete",)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the podSets of the runtime's replicated jobs."""
        return replicated_pod_sets(_jobs(manifest, _runtime(manifest, around)))

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return its nodes; the other steps are the runtime's, which is counted itself."""
        trainer = manifest["spec"].get("trainer") or {}
        return "spec.trainer.numNodes", count_of(trainer, "numNodes", 1)

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether each of its jobs is ready or has succeeded."""
        jobs = _jobs(manifest, _runtime(manifest, around))
        return jobs_ready(manifest, _STATUS, jobs)

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return the pods of the steps that succeeded."""
        jobs = _jobs(manifest, _runtime(manifest, around))
        return reclaimable_jobs(manifest, _STATUS, jobs)


def _runtime(manifest: Manifest, around: Surroundings) -> Manifest:
    reference = manifest["spec"].get("runtimeRef") or {}
    kind = reference.get("kind") or "ClusterTrainingRuntime"
    metadata = manifest["metadata"]
    namespace = "" if kind.startswith("Cluster") else metadata.get("namespace", "")
    found = around.runtimes.get(Key(kind, namespace, str(reference.get("name", ""))))
    if found is None:
        raise ManifestError(
            Problem.JOB_ALONE.said(
                name=metadata["name"], kind=kind, other=repr(reference.get("name", ""))
            )
        )
    return found


def _jobs(manifest: Manifest, runtime: Manifest) -> list[Manifest]:
    """Return the runtime's replicated jobs as this TrainJob changes them."""
    spec = runtime["spec"]
    trainer = manifest["spec"].get("trainer") or {}
    nodes = count_of(
        trainer, "numNodes", count_of(spec.get("mlPolicy") or {}, "numNodes", 1)
    )
    return [
        _trainer(job, nodes, trainer) if _step_of(job) == "trainer" else job
        for job in spec["template"]["spec"].get("replicatedJobs") or ()
    ]


def _step_of(job: Manifest) -> str:
    labels = (job["template"].get("metadata") or {}).get("labels") or {}
    return str(labels.get(_STEP, ""))


def _trainer(job: Manifest, nodes: int, trainer: Manifest) -> Manifest:
    spec = dict(job_spec(job))
    template = dict(spec.get("template") or {})
    pod = dict(template.get("spec") or {})
    if trainer.get("resourcesPerNode"):
        pod["containers"] = [
            {**one, "resources": trainer["resourcesPerNode"]}
            if one.get("name") == _CONTAINER
            else one
            for one in pod.get("containers") or ()
        ]
    template["spec"] = pod
    spec |= {"parallelism": nodes, "completions": nodes, "template": template}
    return {**job, "template": {**job["template"], "spec": spec}}


register(
    "job-kind",
    "TrainJob",
    label="TrainJob",
    help="Kubeflow Trainer's TrainJob: the podSets of its runtime's JobSet.",
)(TrainJob())
