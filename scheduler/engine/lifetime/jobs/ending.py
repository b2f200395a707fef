"""What comes after: the end of a job's work, lost pods made again."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.lengths import JobLength
from scheduler.engine.lifetime.jobs.state import pod_sets_of
from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.engine.lifetime.runs import OVERRAN, Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.annotations import ARRIVAL, PREFIX
from scheduler.model.decisions import Edit, PodSetAdmission
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import workload_name
from scheduler.model.kueue.slices import (
    ELASTIC_JOB,
    REPLACEMENT_FOR,
    is_elastic,
    replaced_slice,
)
from scheduler.model.objects import Key, Object
from scheduler.model.problems import GivenUp
from scheduler.model.reasons import (
    BACKOFF_LIMIT_SENTENCE,
    COMPLETIONS_REACHED_SENTENCE,
    EXPIRED,
    JOB_FINISHED_SENTENCE,
    RETIRED,
    RETIRED_DEACTIVATED,
    SUCCEEDED,
    is_true,
)


class JobEnd(JobLength):
    """The end of an owner's work, and the pods that take others' places."""

    def ended(self, owner: Object, run: Run) -> None:
        """Report that an owner's work is done."""
        job = owner_key(owner, frozenset(JOB_KINDS))
        if self.quotas.tries:
            self.quotas.made(self._maker(owner))
        if owner.key.kind == "Workload" and self.host.kueue is not None:
            how = self._finished_condition(job, run)
            self.lifetime.give_back_all(run)
            for key in (owner.key, *self._waiting_slices(owner)):
                self.host.kueue.finish(key, *how)
        else:
            self.lifetime.emit_finish(run.owner, failed=run.failed)
        if job is not None and job in self.host.objects:
            self.lifetime.context.journal.touch(job)
        self.group_over(owner)
        self._expire_later(job or owner.key)
        self.controllers.changed(job or owner.key)

    def _expire_later(self, job: Key) -> None:
        """Let a Job be deleted some time after its end, if it says so.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        found = self.host.objects.get(job)
        if found is None or job.kind != "Job":
            return
        seconds = found.spec.get("ttlSecondsAfterFinished")
        if seconds is not None:
            at = self.lifetime.context.now_ms + 1000 * int(seconds)
            self.lifetime.expire_at(job, at)

    def expire(self, job: Key) -> None:
        """Delete a Job whose time after its end is over, with all that it owns."""
        self._delete(job, EXPIRED)

    def group_over(self, workload: Object) -> None:
        """Let go of what was kept for a group that is over."""

    def _finished_condition(self, job: Key | None, run: Run) -> tuple[str, str]:
        """Return sentence and reason of Finished, which Kueue takes from the job.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        if run.failed:
            of_job = job is not None and job.kind == "Job"
            said = BACKOFF_LIMIT_SENTENCE if of_job else "Job failed"
            if run.why_failed is not None:
                said = run.why_failed[1]
            return (OVERRAN if run.overran else said), "Failed"
        if job is not None and job.kind == "Job":
            return COMPLETIONS_REACHED_SENTENCE, SUCCEEDED
        return JOB_FINISHED_SENTENCE, SUCCEEDED

    def retire(self, workload: Object) -> None:
        """Delete a Workload whose retention is over; for a deactivated one, delete its job.

        Source: docs/semantics/kueue-lifecycle.md#retention.
        """
        finished = is_true(workload.status, "Finished")
        job = owner_key(workload, frozenset(JOB_KINDS))
        key, message = workload.key, RETIRED if finished else RETIRED_DEACTIVATED
        if job is not None and job in self.host.objects:
            self.host.get(job)  # its status is written while there is a run to read
            key = workload.key if finished else job
        self._delete(key, message)

    def _delete(self, key: Key, message: str) -> None:
        """Delete an object for a reason of its own, and say so."""
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

    def recreate(self, pod: Object) -> None:
        """Put a replica in the place of a lost one, under a new name."""
        base = pod.labels.get(PREFIX + "replica-of", pod.key.name)
        ordinal = self.lifetime.next_ordinal(pod.key._replace(name=base))
        again = _afresh(pod, f"{base}-r{ordinal}")
        again.metadata["labels"] = {**again.labels, PREFIX + "replica-of": base}
        self.put_admitted(again)

    def put_admitted(self, made: Object) -> bool:
        """Put what a controller makes; False, and a report, when it is refused."""
        try:
            self.host.put(made)
        except ManifestError as refusal:
            problem = GivenUp.NOT_MADE.said(
                kind=made.key.kind.lower(), name=made.key.path, what=refusal.said
            )
            self.lifetime.context.journal.complain(problem)
            return False
        return True

    def refused_for(self, owner: Object, pod: Object) -> int | None:
        """Return in how many ms a pod is tried again that is refused; None for others.

        A webhook that is down refuses it, or a quota. What webhooks set is set here.
        """
        if why := self.webhooks.admit(pod):
            said = f"Internal error occurred: {why}"
        elif why := self.quotas.beyond(pod):
            said = f'pods "{pod.key.name}" is forbidden: {why}'
        else:
            return None
        return self.quotas.refuse(self._maker(owner), why, said)

    def sync_again(self, controller: Key, at_ms: int) -> None:
        """Let a controller look at what it lacks at this instant."""
        self.controllers.wait(controller, at_ms)

    def has_its_pods(self, owner: Object) -> None:
        """Note that an owner has all the pods that it wants; one that stops wants none."""
        if self.quotas.tries:
            self.quotas.made(self._maker(owner))

    def _maker(self, owner: Object) -> Key:
        """Return whose controller makes the pods of an owner: of a Workload its job."""
        if owner.key.kind != "Workload":
            return owner.key
        return owner_key(owner, frozenset(JOB_KINDS)) or owner.key

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


# ------------------------------------------------------------------------
# Elastic jobs: a running job gets fewer pods in place, more by another slice.


Manifest = dict[str, Any]
Counts = dict[str, int]


class JobSlices(JobEnd, JobWorkloads):
    """Makes, shrinks and replaces the slices of elastic jobs; their runs go on."""

    def admitted(self, workload: Object, admissions: Iterable[PodSetAdmission]) -> None:
        """Start the run of a Workload, or let it go on as that of the next slice."""
        if not self._take_over_slice(workload):
            super().admitted(workload, admissions)

    def _give_slices(self, job: Object, made: Manifest) -> None:
        """Let an elastic job have a slice of the size that it asks for now."""
        made["metadata"]["annotations"] = {ELASTIC_JOB: "true"}
        every = self._workloads_of(job.key)
        live = [key for key in every if not self._finished(key)]
        if not every:
            self._give_workloads(job, [made])
        elif len(live) == 1 and self._must_be_replaced(live[0], made):
            self._add_slice(job, live[0], made, every)
        elif live:
            self._change_slice(job, self._newest(live), made, every)

    def _finished(self, workload: Key) -> bool:
        return is_true(self.host.get(workload).status, "Finished")

    def _newest(self, live: list[Key]) -> Key:
        """Return the slice that replaces the other, where there are two."""
        replaced = {replaced_slice(self.host.objects[key]) for key in live}
        return next(key for key in live if key not in replaced)

    def _must_be_replaced(self, workload: Key, made: Manifest) -> bool:
        """Return whether a slice holds quota and any of its podsets is to grow."""
        known = self.host.get(workload)
        had, asked = _counts(known.spec), _counts(made["spec"])
        if not is_true(known.status, "QuotaReserved") or had.keys() != asked.keys():
            return False
        return any(asked[name] > had[name] for name in had)

    def _add_slice(
        self, job: Object, replaced: Key, made: Manifest, every: list[Key]
    ) -> None:
        """Put a slice beside the one that runs; a name belongs to one generation."""
        metadata = made["metadata"]
        generation = int(job.metadata.get("generation") or 1)
        metadata["name"] = workload_name(job.manifest, generation=generation)
        metadata["annotations"][REPLACEMENT_FOR] = replaced.path
        self._give_workload(job, made)
        self._list_slices(job, replaced, [*every, _key_of(made)])

    def _change_slice(
        self, job: Object, workload: Key, made: Manifest, every: list[Key]
    ) -> None:
        """Give a slice other counts where it stands; the pods above them end.

        What was edited in the Workload alone stays, as that it is not active.
        """
        known = self.host.objects[workload]
        made["metadata"]["name"] = workload.name
        kept = {"active": known.spec.get("active", True)}
        made["spec"] = {**known.spec, **made["spec"], **kept}
        made["metadata"]["annotations"] = {
            **{n: v for n, v in known.annotations.items() if n != ARRIVAL},
            **made["metadata"]["annotations"],
        }
        waves = self.waves(known)
        self._give_workload(job, made)
        before = replaced_slice(known)  # it runs until this one is admitted
        if before is None or before not in every or self._finished(before):
            before = workload
        self._list_slices(job, before, every)
        run = self.lifetime.runs.get(workload)
        if run is not None and run.active:
            self._resize(run, waves)

    def _list_slices(self, job: Object, current: Key, every: list[Key]) -> None:
        """Note the slices of a job, the one that runs first."""
        names = dict.fromkeys(key.name for key in (current, *every))
        job.state["job"] = {"workload": current.name, "workloads": list(names)}

    def _take_over_slice(self, workload: Object) -> bool:
        """Let an admitted slice have the run of the one before.

        Returns whether that run goes on: otherwise it is to be started.
        """
        replaced = replaced_slice(workload)
        if replaced is None or replaced not in self.lifetime.runs:
            return False
        waves = self.waves(self.host.get(replaced))
        run = self.lifetime.hand_over(replaced, workload)
        job = owner_key(workload, frozenset(JOB_KINDS))
        if job in self.host.objects:
            found = self.host.objects[job]
            self._list_slices(found, workload.key, self._workloads_of(job))
        if run.active:
            self._resize(run, waves)
        return run.active

    def _resize(self, run: Run, waves: int) -> None:
        """Give a run the pods of its slice; what is left takes as long as they need."""
        owner = self.host.get(run.owner)
        if run.pods or self.lifetime.placement():  # or its nodes are all gone
            self.lifetime.scale(run, owner, self._assigned(owner))
        self.lifetime.stretch(run, waves, self.waves(owner))


def _counts(spec: Manifest) -> Counts:
    return {
        pod_set["name"]: int(pod_set.get("count", 1))
        for pod_set in spec.get("podSets") or []
    }


def _key_of(manifest: Manifest) -> Key:
    metadata = manifest["metadata"]
    return Key("Workload", metadata["namespace"], metadata["name"])
