"""Labels that a new job gets under Kueue: the queue and the priority class `default`."""

from __future__ import annotations

from collections.abc import Collection

from scheduler.manifests.jobs.making import PRIORITY_CLASS, QUEUE
from scheduler.records.objects import Key, Object

DEFAULT = "default"
#: Kueue leaves the jobs of these namespaces alone.
_SYSTEM = ("kube-system", "kueue-system")


def give_default_labels(job: Object, present: Collection[Key]) -> None:
    """Label a new job for the LocalQueue and WorkloadPriorityClass named `default`.

    Only where they exist, and only what is missing. A job with a status was
    created elsewhere and stays as it is. `present` are the keys of all objects;
    whether something manages the job's owner is for the caller to know.
    Source: docs/semantics/kueue-lifecycle.md#default-localqueue.
    """
    namespace = job.key.namespace
    if job.status or namespace in _SYSTEM:
        return
    labels = dict(job.labels)
    if Key("LocalQueue", namespace, DEFAULT) in present:
        labels.setdefault(QUEUE, DEFAULT)
    if QUEUE in labels and Key("WorkloadPriorityClass", "", DEFAULT) in present:
        labels.setdefault(PRIORITY_CLASS, DEFAULT)
    if labels != job.labels:
        job.metadata["labels"] = labels
