"""Workload slices of elastic jobs: the annotations that make them.

Source: docs/semantics/kueue-elastic-jobs.md.
"""

from __future__ import annotations

from scheduler.model.objects import Key, Object

ELASTIC_JOB = "kueue.x-k8s.io/elastic-job"
#: Whose integrations know workload slices.
ELASTIC_KINDS = ("Job", "RayCluster", "RayJob", "RayService")
REPLACEMENT_FOR = "kueue.x-k8s.io/workload-slice-replacement-for"


def is_elastic(obj: Object) -> bool:
    """Return whether a job, or the Workload of one, is marked as elastic."""
    return obj.annotations.get(ELASTIC_JOB) == "true"


def replaced_slice(workload: Object) -> Key | None:
    """Return the slice that a Workload is to replace, if it names one."""
    reference = workload.annotations.get(REPLACEMENT_FOR)
    if not reference:
        return None
    namespace, _, name = reference.rpartition("/")
    return Key("Workload", namespace, name)
