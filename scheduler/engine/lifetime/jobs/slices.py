"""Elastic jobs: a running job gets fewer pods in place, more by another slice.

Source: docs/semantics/kueue-elastic-jobs.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.lifetime.jobs.ending import JobEnd
from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.engine.lifetime.pods import owner_key
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.model.annotations import ARRIVAL
from scheduler.model.conditions import is_true
from scheduler.model.decisions import PodSetAdmission
from scheduler.model.jobs import workload_name
from scheduler.model.kueue.slices import ELASTIC_JOB, REPLACEMENT_FOR, replaced_slice
from scheduler.model.objects import Key, Object

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
