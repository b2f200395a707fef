"""Whose the objects are that came together: pods and Workloads of running jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from scheduler.engine.lifetime.controllers.deployments import SUSPENDED_BY
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object, namespace_labels

#: On the pods that Kueue started.
#: Source: <https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/>
WORKLOAD_NAME = "kueue.x-k8s.io/workload"
_OWNED = frozenset({"Workload", "Pod", *JOB_KINDS})


class GivenObjects:
    """Owners by the references of what they own; kept as objects come and go.

    A uid decides where both sides have one, so that a job of a name that was used
    before does not take what the earlier one left.
    """

    def __init__(self) -> None:
        self._owned: dict[Key, dict[Key, str]] = defaultdict(dict)
        self._named: dict[Key, dict[Key, None]] = defaultdict(dict)

    def add(self, obj: Object) -> None:
        """Note the owners of a Workload, a pod or a job; other kinds have none here."""
        if obj.key.kind not in _OWNED:
            return
        for owner, uid in _owners(obj):
            self._owned[owner][obj.key] = uid
        workload = self.workload_of(obj)
        if workload is not None:
            self._named[workload][obj.key] = None

    def remove(self, key: Key) -> None:
        """Forget an object and which Workloads it owned."""
        self._owned.pop(key, None)
        self._named.pop(key, None)

    def workloads_of(self, job: Object) -> list[Key]:
        """Return the Workloads whose owner is this job, sorted."""
        found = self._owned.get(job.key, {})
        return sorted(
            key
            for key, uid in found.items()
            if key.kind == "Workload" and (not uid or not job.uid or uid == job.uid)
        )

    def pods_of(self, workload: Key, job: Key | None) -> list[Key]:
        """Return the pods of a Workload: those that name it, else its own, or its job's.

        Its own are those of a recorded sandbox. Its job's are those of the jobs that
        its job made, too, as a JobSet's Jobs, unless each of several Workloads has a
        part of them.
        """
        named = self._named.get(workload)
        if named:
            return sorted(named)
        own = {key for key in self._owned.get(workload, {}) if key.kind == "Pod"}
        return sorted(own or set(self._pods_under(job or workload)))

    def _pods_under(self, job: Key) -> Iterator[Key]:
        seen, owners = {job}, [job]
        while owners:
            found = self._owned.get(owners.pop(), {})
            several = sum(key.kind == "Workload" for key in found) > 1
            yield from (key for key in found if key.kind == "Pod")
            made = {key for key in found if key.kind in JOB_KINDS} - seen
            if not several:
                seen |= made
                owners += sorted(made)

    def workload_of(self, pod: Object) -> Key | None:
        """Return the Workload that a pod names; None when it names none."""
        name = pod.annotations.get(WORKLOAD_NAME) if pod.key.kind == "Pod" else None
        return Key("Workload", pod.key.namespace, name) if name else None


def _owners(obj: Object) -> Iterator[tuple[Key, str]]:
    for reference in obj.metadata.get("ownerReferences") or []:
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        yield Key(kind, obj.key.namespace, name), str(reference.get("uid") or "")


# ------------------------------------------------------------------------
# Labels that a new job gets under Kueue: the queue and the priority class `default`.


DEFAULT = "default"


def is_covered(
    namespace: str, settings: Settings, objects: Mapping[Key, Object]
) -> bool:
    """Return whether the managedJobsNamespaceSelector takes jobs of a namespace.

    Source: docs/semantics/kueue-lifecycle.md#default-localqueue.
    """
    found = objects.get(Key("Namespace", "", namespace))
    labels = namespace_labels(namespace, found.labels if found is not None else {})
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
