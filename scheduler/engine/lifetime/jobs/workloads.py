"""The Workloads of a job: made of it, or come with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.state import JobState
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.annotations import ADMISSION_GATED_BY, ARRIVAL, PREFIX
from scheduler.model.errors import ManifestError
from scheduler.model.kueue.slices import is_elastic
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import is_true

_PRIORITY = ("priority", "priorityClassRef")
#: While one of these holds, no other queue name of a job reaches its Workload.
_FIXED_QUEUE = ("QuotaReserved", "Evicted", "Finished")
WORKLOAD_CLASS = "WorkloadPriorityClass"


class JobWorkloads(JobState):
    """Makes, adopts and replaces the Workloads of jobs, pods and pod groups."""

    def _made(
        self, job: Object, make: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]] | None:
        """Return what is made of a job; None, with an event, when it cannot be.

        A job that names a class or runtime that does not exist is tried again when
        that arrives. Source: docs/semantics/kueue-jobs.md#priority-of-the-workload
        """
        try:
            found = make()
        except ManifestError as error:
            self.refused[job.key] = None
            job.state["job"] = {"refused": True}
            self.lifetime.emit_refused(job.key, str(error))
            return None
        if self.refused.pop(job.key, False) is None:
            job.state.pop("job", None)
        return found

    def _adopt_workloads(self, job: Object) -> bool:
        """Take the Workloads that came with a job as its own; False if none did.

        Their own annotations for its time are those of the job.
        """
        if self._workloads_of(job.key):
            return False
        found = self.given.workloads_of(job)
        names = [key.name for key in found if key in self.host.objects]
        if names:
            job.state["job"] = {"workload": names[0], "workloads": names}
        for name in names:
            self._give_annotations(job, Key("Workload", job.key.namespace, name))
        return bool(names)

    def _give_annotations(self, job: Object, workload: Key) -> None:
        ours = _ours(job)
        metadata = self.host.objects[workload].metadata
        if ours:
            given = metadata.get("annotations") or {}
            metadata["annotations"] = {**ours, **given}

    def _give_workloads(self, job: Object, manifests: list[dict[str, Any]]) -> None:
        """Put the Workloads of a job; those of a smaller edit of it go."""
        before = set(self._workloads_of(job.key))
        for manifest in manifests:
            self._give_workload(job, manifest)
        names = [manifest["metadata"]["name"] for manifest in manifests]
        if len(names) != 1:
            job.state["job"] = {"workload": "", "workloads": names}
        kept = {Key("Workload", job.key.namespace, name) for name in names}
        for key in sorted(before - kept):
            self.host.delete(key)

    def _give_workload(self, job: Object, manifest: dict[str, Any]) -> None:
        """Put the Workload of a job (or pod group); again when the job was edited."""
        metadata = manifest["metadata"]
        if ours := _ours(job):
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **ours}
        key = Key("Workload", job.key.namespace, metadata["name"])
        job.state["job"] = {"workload": key.name}
        known = self.host.objects.get(key)
        if known is not None and self._is_reconciled(job, known):
            asked, had = _counts(manifest["spec"]), _counts(known.spec)
            if asked == self._admitted_counts(known):
                manifest["spec"]["podSets"] = known.spec["podSets"]
            elif asked != had:
                self.host.delete(key)  # the job is stopped and gets another one
                return
        if known is None and (delay := self.lifetime.creation(key)):
            due = f"{self.lifetime.context.now_ms + delay}ms"
            metadata.setdefault("annotations", {})[ARRIVAL] = due
        if known is not None:
            manifest["spec"] = self._brought_in_line(known, manifest["spec"])
        made = Object(key=key, manifest=manifest)
        if known is None or known.spec != made.spec or _gate(known) != _gate(made):
            self.host.put(made)

    def _brought_in_line(
        self, workload: Object, asked: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the spec of a Workload after its job was looked at again.

        One of the same pods takes from its job the queue, unless it is evicted, and the
        priority when the label names another class: what a person wrote there stays
        otherwise. One of other pods is written anew, but stays active or not.
        Source: docs/semantics/kueue-lifecycle.md#a-job-that-is-edited.
        """
        had = workload.spec
        kept = {"active": had["active"]} if "active" in had else {}
        if _compared(had) != _compared(asked):
            return {**asked, **kept}
        taken: dict[str, Any] = {}
        if not is_true(self.host.get(workload.key).status, "Evicted"):
            taken["queueName"] = asked.get("queueName", "")
        if self._follows_class(workload, asked):
            taken |= {name: asked.get(name) for name in _PRIORITY}
        spec = {**had, **taken}
        return {name: value for name, value in spec.items() if value is not None}

    def _follows_class(self, workload: Object, asked: dict[str, Any]) -> bool:
        """Return whether a Workload gets the class that its job's label names now."""
        before = workload.spec.get("priorityClassRef") or {}
        after = asked.get("priorityClassRef") or {}
        if not before:
            status = self.host.get(workload.key).status
            return bool(after) and not is_true(status, "QuotaReserved")
        return before.get("kind") == WORKLOAD_CLASS and before != after

    def follow_job(self, workload: Object) -> None:
        """Let a Workload that waits, and is not evicted, be of its job's queue.

        Source: docs/semantics/kueue-lifecycle.md#a-job-that-is-edited.
        """
        if self.host.kueue is None:
            return
        owner = owner_key(workload, frozenset({*JOB_KINDS, "Pod"}))
        job = self.host.objects.get(owner) if owner is not None else None
        if job is None or not self.manages(job):
            return
        status = self.host.get(workload.key).status
        queue = self.kind_of(job).queue_name(job.manifest)
        held = any(is_true(status, name) for name in _FIXED_QUEUE)
        if not held and queue and workload.spec.get("queueName") != queue:
            self.rewrite(workload, {**workload.spec, "queueName": queue})

    def class_changed(self, found: Object) -> None:
        """Give every Workload of a WorkloadPriorityClass that changed the new priority.

        Source: docs/semantics/kueue-jobs.md#priority-of-the-workload.
        """
        if self.host.kueue is None:
            return
        name, value = found.key.name, self.workload_classes[found.key.name]
        for key in sorted(self.host.kueue.cluster.workloads):
            workload = self.host.objects.get(key)
            if workload is None or workload.spec.get("priority") == value:
                continue
            reference = workload.spec.get("priorityClassRef") or {}
            if (reference.get("kind"), reference.get("name")) == (WORKLOAD_CLASS, name):
                self.rewrite(workload, {**workload.spec, "priority": value})

    def _is_reconciled(self, job: Object, workload: Object) -> bool:
        """Return whether a Workload that holds quota must be of what its job asks for.

        Source: docs/semantics/kueue-lifecycle.md#a-job-that-is-changed-while-it-runs.
        """
        kueue = self.host.kueue
        if kueue is None or job.key.kind == "Pod":
            return False
        status = self.host.get(workload.key).status
        held = is_true(status, "QuotaReserved") and not is_true(status, "Finished")
        return held and not is_elastic(workload)

    def _admitted_counts(self, workload: Object) -> dict[str, int]:
        """Return the pods that a Workload was admitted with, perhaps in part."""
        admission = self.host.get(workload.key).status.get("admission") or {}
        given = {
            one["name"]: int(one.get("count") or 0)
            for one in admission.get("podSetAssignments") or ()
        }
        return {**_counts(workload.spec), **given}


def _counts(spec: dict[str, Any]) -> dict[str, int]:
    return {one["name"]: int(one.get("count", 1)) for one in spec.get("podSets") or ()}


def _compared(spec: dict[str, Any]) -> tuple[Any, ...]:
    """Return what two Workloads of the same pods agree in.

    Place, topology and annotations of the pods are not compared.
    Source: docs/semantics/kueue-lifecycle.md#a-job-that-is-edited.
    """
    found = []
    for pod_set in spec.get("podSets") or ():
        pods = (pod_set.get("template") or {}).get("spec") or {}
        asked = [
            [one.get("resources") or {} for one in pods.get(name) or ()]
            for name in ("initContainers", "containers")
        ]
        counts = pod_set.get("count", 1), pod_set.get("minCount")
        found.append((counts, asked, pods.get("tolerations") or []))
    return found, spec.get("maximumExecutionTimeSeconds")


def _gate(obj: Object) -> str:
    return obj.annotations.get(ADMISSION_GATED_BY) or ""


def _ours(job: Object) -> dict[str, str]:
    """Return the annotations that a job's Workload has too: its times, its gate."""
    return {
        name: value
        for name, value in job.annotations.items()
        if name == ADMISSION_GATED_BY or (name.startswith(PREFIX) and name != ARRIVAL)
    }
