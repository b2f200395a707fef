"""Labels that a new job gets under Kueue: the queue and the priority class `default`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from scheduler.engine.lifetime.controllers.deployments import SUSPENDED_BY
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object

DEFAULT = "default"
_NAME = "kubernetes.io/metadata.name"


def is_covered(
    namespace: str, settings: Settings, objects: Mapping[Key, Object]
) -> bool:
    """Return whether the managedJobsNamespaceSelector takes jobs of a namespace.

    Source: docs/semantics/kueue-lifecycle.md#default-localqueue.
    """
    found = objects.get(Key("Namespace", "", namespace))
    labels = {**(found.labels if found is not None else {}), _NAME: namespace}
    return settings.managed_namespaces.matches(labels)


def is_integrated(job: Object, settings: Settings, *, unasked: bool) -> bool:
    """Return whether the integration of a job's kind is on.

    Where the Configuration names none, that of batch/v1 Jobs is, and any whose job
    asks for a queue (it is not `unasked`): whoever gives the label has it on.
    Source: docs/semantics/kueue-lifecycle.md#jobs-without-a-queue.
    """
    if not settings.frameworks:
        return not unasked or job.key.kind == "Job"
    answers = job.annotations.get(SUSPENDED_BY) or _framework(job)
    return answers in settings.frameworks


def _framework(job: Object) -> str:
    """Return how integrations.frameworks spells a kind."""
    group, _, _ = str(job.manifest.get("apiVersion") or "").rpartition("/")
    kind = job.key.kind.lower()
    return kind if group in ("", "apps") else f"{group}/{kind}"


def give_default_labels(
    job: Object, present: Collection[Key], *, classes: bool
) -> None:
    """Label a new job or pod for the LocalQueue named `default`, and with `classes`
    for the WorkloadPriorityClass of that name.

    Only where they exist, and only what is missing. A job with a status was
    created elsewhere and stays as it is. `present` are the keys of all objects;
    whether something manages the job's owner is for the caller to know.
    Source: docs/semantics/kueue-lifecycle.md#default-localqueue.
    """
    namespace = job.key.namespace
    if job.status:
        return
    labels = dict(job.labels)
    if Key("LocalQueue", namespace, DEFAULT) in present:
        labels.setdefault(QUEUE, DEFAULT)
    if (
        classes
        and QUEUE in labels
        and Key("WorkloadPriorityClass", "", DEFAULT) in present
    ):
        labels.setdefault(PRIORITY_CLASS, DEFAULT)
    if labels != job.labels:
        job.metadata["labels"] = labels
