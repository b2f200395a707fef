"""What comes after: the end of a job's work, lost pods made again."""

from __future__ import annotations

import copy
from typing import Any

from scheduler import registry
from scheduler.decisions import Edit
from scheduler.errors import ManifestError
from scheduler.kueue.workload.slices import is_elastic
from scheduler.lifetime.continuing import SERVING
from scheduler.lifetime.jobs.starting import JobStart
from scheduler.lifetime.jobs.state import pod_sets_of
from scheduler.lifetime.pods import owner_key
from scheduler.lifetime.runs import OVERRAN, Run
from scheduler.lifetime.runtime_state import JOB_KINDS
from scheduler.manifests import deadlines
from scheduler.manifests.jobs import JobKind
from scheduler.reasons import (
    JOB_FINISHED,
    JOB_FINISHED_SENTENCE,
    RETIRED,
    RETIRED_DEACTIVATED,
)
from scheduler.records.annotations import ARRIVAL, FROM_DEADLINE, PREFIX, RUNTIME_SOURCE
from scheduler.records.conditions import is_true
from scheduler.records.objects import Key, Object

_POD = frozenset({"Pod"})
#: A Job admitted with fewer pods also does that much less work.
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"


class JobEnd(JobStart):
    """How long an owner's work is, its end, and the pods that take others' places."""

    def serves(self, owner: Object) -> bool:
        """Return whether it never ends by itself: a service, not a job."""
        pod = owner_key(owner, _POD) if owner.key.kind == "Workload" else owner.key
        if pod is not None and pod.kind == "Pod":
            found = self.host.objects.get(pod)
            return found is not None and owner_key(found, SERVING) is not None
        job = owner.key
        if owner.key.kind == "Workload":
            job = owner_key(owner, frozenset(JOB_KINDS)) or owner.key
        if job.kind not in JOB_KINDS:
            return False
        kind: JobKind = registry.lookup("job-kind", job.kind)
        return kind.endless

    def waves(self, owner: Object) -> int:
        """Return how many times the pods of this owner run one after another."""
        job = owner
        if owner.key.kind == "Workload":
            found = owner_key(owner, frozenset(JOB_KINDS))
            if found is None or found not in self.host.objects:
                return 1
            job = self.host.objects[found]
        if job.key.kind not in JOB_KINDS:
            return 1
        manifest = self._narrowed(owner, job.manifest)
        return max(1, self.kind_of(job).waves(manifest))

    def deadline_of(self, owner: Object) -> int | None:
        """Return how long (s) its Job may be active; None for as long as it takes.

        A run time that was taken from the deadline does not break it.
        """
        job = self.host.objects.get(owner_key(owner, deadlines.KINDS) or owner.key)
        if job is None:
            return None
        sources = (one.annotations.get(RUNTIME_SOURCE) for one in (owner, job))
        return None if FROM_DEADLINE in sources else deadlines.deadline_of(job.manifest)

    def _narrowed(self, owner: Object, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job as it was started: with the parallelism it was admitted with.

        Source: docs/semantics/kueue.md#partial-admission.
        """
        pod_sets = owner.spec.get("podSets") or []
        partial = any("minCount" in p for p in pod_sets)
        if self.host.kueue is None or job["kind"] != "Job":
            return job
        if is_elastic(owner):  # the Job may ask for more than this slice has
            at_once = int(pod_sets[0].get("count", 1))
            return {**job, "spec": {**job["spec"], "parallelism": at_once}}
        if not partial:
            return job
        admission = self.host.get(owner.key).status.get("admission") or {}
        given = admission.get("podSetAssignments") or [{}]
        spec = {**job["spec"], "parallelism": given[0].get("count", 1)}
        annotations = job["metadata"].get("annotations") or {}
        if annotations.get(EQUAL_COMPLETIONS) == "true":
            spec["completions"] = spec["parallelism"]
        return {**job, "spec": spec}

    def ended(self, owner: Object, run: Run) -> None:
        """Report that an owner's work is done."""
        if owner.key.kind == "Workload" and self.host.kueue is not None:
            how = (JOB_FINISHED_SENTENCE, JOB_FINISHED)
            if run.failed:
                how = (OVERRAN if run.overran else "Job failed"), "Failed"
            for key in (owner.key, *self._waiting_slices(owner)):
                self.host.kueue.finish(key, *how)
        else:
            self.lifetime.emit_finish(run)
        job = owner_key(owner, frozenset(JOB_KINDS))
        if job is not None and job in self.host.objects:
            self.lifetime.context.journal.touch(job)
        self.controllers.changed(job or owner.key)

    def retire(self, workload: Object) -> None:
        """Delete a Workload whose retention is over; of one that Kueue gave up, its job.

        Source: docs/semantics/kueue-lifecycle.md#retention.
        """
        finished = is_true(workload.status, "Finished")
        job = owner_key(workload, frozenset(JOB_KINDS))
        key, message = workload.key, RETIRED if finished else RETIRED_DEACTIVATED
        if job is not None and job in self.host.objects:
            self.host.get(job)  # its status is written while there is a run to read
            key = workload.key if finished else job
        self.lifetime.context.journal.emit(
            Edit(
                at_ms=self.lifetime.context.now_ms,
                subject=key,
                reason="Deleted",
                message=message,
                action="Delete",
            )
        )
        self.host.delete(key)

    def _waiting_slices(self, owner: Object) -> list[Key]:
        """Return the slice that waits to replace this one; [] for other jobs."""
        job = owner_key(owner, frozenset(JOB_KINDS))
        if job is None or not is_elastic(owner):
            return []
        return [
            key
            for key in self._workloads_of(job)
            if key != owner.key and not is_true(self.host.get(key).status, "Finished")
        ]

    def is_given(self, pod: Object) -> bool:
        """Return whether a person gave this pod, rather than a run made it."""
        return "job" in pod.state

    def give_again(self, pod: Object) -> None:
        """Put an evicted given pod back, gated, as its controller would."""
        self.put_admitted(_afresh(pod, pod.key.name))

    def recreate(self, pod: Object) -> None:
        """Put a replica in the place of a lost one, under a new name."""
        base = pod.labels.get(PREFIX + "replica-of", pod.key.name)
        ordinal = self.lifetime.next_ordinal(pod.key._replace(name=base))
        again = _afresh(pod, f"{base}-r{ordinal}")
        again.metadata["labels"] = {**again.labels, PREFIX + "replica-of": base}
        self.put_admitted(again)

    def put_admitted(self, pod: Object) -> bool:
        """Put a pod that a controller makes; False, and a report, when it is refused."""
        try:
            self.host.put(pod)
        except ManifestError as refusal:
            self.lifetime.context.journal.complain(
                f"pod {pod.key.path} cannot be made: {refusal}"
            )
            return False
        return True

    def replace_pods(self, owner: Object, run: Run) -> None:
        """Make up for the pods that a running owner lost."""
        if owner.key.kind == "Workload":
            pod_sets = self._assigned(owner) if self.host.kueue else pod_sets_of(owner)
        else:
            pod_sets = self.kind_of(owner).pod_sets(owner.manifest, self.surroundings())
        self.lifetime.fill_up(run, owner, pod_sets)


def _afresh(pod: Object, name: str) -> Object:
    """Return the pod as its maker would make it again: no node, no identity."""
    manifest = copy.deepcopy(pod.manifest)
    metadata = manifest["metadata"]
    metadata["name"] = name
    for field in ("uid", "creationTimestamp", "generation", "deletionTimestamp"):
        metadata.pop(field, None)
    annotations = metadata.get("annotations") or {}
    annotations.pop(ARRIVAL, None)
    manifest.get("spec", {}).pop("nodeName", None)
    return Object(key=pod.key._replace(name=name), manifest=manifest)
