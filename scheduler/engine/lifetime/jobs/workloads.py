"""The Workloads of a job: made of it, or come with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.lifetime.jobs.state import JobState
from scheduler.model.annotations import ADMISSION_GATED_BY, ARRIVAL, PREFIX
from scheduler.model.conditions import is_true
from scheduler.model.errors import ManifestError
from scheduler.model.kueue.slices import is_elastic
from scheduler.model.objects import Key, Object


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
        made = Object(key=key, manifest=manifest)
        if known is None or known.spec != made.spec or _gate(known) != _gate(made):
            self.host.put(made)

    def _is_reconciled(self, job: Object, workload: Object) -> bool:
        """Return whether a Workload that holds quota must be of what its job asks for.

        Source: docs/semantics/kueue-lifecycle.md#a-job-that-is-changed-while-it-runs.
        """
        kueue = self.host.kueue
        if kueue is None or not kueue.reconciles_jobs or job.key.kind == "Pod":
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


def _gate(obj: Object) -> str:
    return obj.annotations.get(ADMISSION_GATED_BY) or ""


def _ours(job: Object) -> dict[str, str]:
    """Return the annotations that a job's Workload has too: its times, its gate."""
    return {
        name: value
        for name, value in job.annotations.items()
        if name == ADMISSION_GATED_BY or (name.startswith(PREFIX) and name != ARRIVAL)
    }
