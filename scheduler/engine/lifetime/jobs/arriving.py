"""What a Job, Workload or Pod becomes when it arrives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from scheduler.engine.kueue.queries import is_running, is_stopping
from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.ending import JobSlices
from scheduler.engine.lifetime.jobs.groups import PodGroups
from scheduler.engine.lifetime.jobs.starting import PodAdmission
from scheduler.engine.lifetime.jobs.state import OWNERS, PodSets, pod_sets_of
from scheduler.engine.lifetime.jobs.workloads import JobWorkloads
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.lifetime.starting import STATEFUL_SET
from scheduler.model.amounts import parse
from scheduler.model.durations import stamp_us
from scheduler.model.jobs import prebuilt_name
from scheduler.model.objects import Key, Object
from scheduler.model.pod import default_container
from scheduler.model.podset_template import read_pod
from scheduler.model.reasons import OUT_OF_SYNC, PREBUILT_OUT_OF_SYNC, has_ended

# ------------------------------------------------------------------------
# Jobs that name a Workload that is there already, or comes: they adopt it.


#: How long a controller waits before it tries again; each time twice as long.
FIRST_RETRY_MS = 5
LONGEST_RETRY_MS = 1_000_000


class PrebuiltWorkloads(JobWorkloads):
    """Lets a job have the Workload that its label names, and no other."""

    def prebuilt_of(self, job: Object) -> Key | None:
        """Return the Workload that a job names; None where one is made for it."""
        name = prebuilt_name(job.manifest)
        if not name or self.host.kueue is None:
            return None
        return Key("Workload", job.key.namespace, name)

    def adopt_prebuilt(self, job: Object, key: Key) -> None:
        """Take the Workload that a job names, once it is there and nobody else's.

        One that asks for other pods than the job is finished, as out of sync.
        """
        workload = self.host.objects.get(key)
        if workload is None or _controller(workload) not in ("", job.uid):
            self.awaited[key] = job.key
            if workload is not None:
                self._look_again(job)
            job.spec["suspend"] = True
            self.lifetime.context.journal.touch(job.key)
            return
        if not _controller(workload):
            self._control(job, workload)
        kind, around = self.kind_of(job), self.surroundings()
        made = self._made(job, lambda: kind.workloads(job.manifest, around))
        if made is None or self.host.kueue is None:
            return
        runs = key in self.lifetime.runs
        if runs:
            self.lifetime.stop(key)  # it was admitted, and nobody made its pods
        if self._differs(made[0]["spec"], workload.spec):
            self.host.kueue.finish(key, PREBUILT_OUT_OF_SYNC, OUT_OF_SYNC)
            job.spec["suspend"] = True
            return
        job.state["job"] = {"workload": key.name, "prebuilt": True}
        self._give_annotations(job, key)
        self.lifetime.context.journal.touch(job.key)
        if runs:
            self.resume(self.host.objects[key])

    def _come(self, workload: Key) -> None:
        """Let the job that waits for a Workload look for it again.

        It does so when its controller tries again, which takes twice as long each time;
        meanwhile the Workload may be admitted.
        """
        job = self.awaited.pop(workload)
        if job in self.host.objects:
            self._look_again(self.host.objects[job])

    def _await(self, job: Object) -> None:
        """Note that a job, also one that was stored, waits for what it names."""
        if job.key.kind not in JOB_KINDS or job.state.get("job"):
            return
        key = self.prebuilt_of(job)
        if key is not None and key not in self.host.objects:
            self.awaited[key] = job.key

    def _look_again(self, job: Object) -> None:
        now = self.lifetime.context.now_ms
        since_us = stamp_us(str(job.metadata["creationTimestamp"]))
        waited = max(0, now - (since_us - self.lifetime.context.us(0)) // 1000)
        tries = (waited // FIRST_RETRY_MS + 1).bit_length()
        at = now - waited + FIRST_RETRY_MS * (2**tries - 1)
        self.controllers.wait(job.key, min(at, now + LONGEST_RETRY_MS))

    def _differs(self, asked: dict[str, Any], given: dict[str, Any]) -> bool:
        """Return whether a Workload is out of sync with what its job asks for.

        A job's containers have the defaults of the API server, which gives a Workload
        none.
        """
        return _pods(asked, default_container) != _pods(given, lambda _: None)

    def _control(self, job: Object, workload: Object) -> None:
        """Let a Workload be controlled by a job, as its reference and label say."""
        reference = {
            "apiVersion": job.manifest["apiVersion"],
            "kind": job.key.kind,
            "name": job.key.name,
            "uid": job.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        metadata = workload.metadata
        owners = metadata.get("ownerReferences") or []
        metadata["ownerReferences"] = [*owners, reference]
        labels = {**workload.labels, "kueue.x-k8s.io/job-uid": job.uid}
        metadata["labels"] = labels
        self.given.add(workload)
        self.lifetime.context.journal.touch(workload.key)


def _controller(workload: Object) -> str:
    """Return the uid of who controls a Workload; "" for nobody."""
    references = workload.metadata.get("ownerReferences") or ()
    return next(
        (str(one.get("uid")) for one in references if one.get("controller")), ""
    )


def _shape(spec: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Return what two lists of podsets have to agree in."""
    return [
        (
            one["name"],
            int(one.get("count", 1)),
            read_pod((one.get("template") or {}).get("spec") or {}).identity,
        )
        for one in spec.get("podSets") or ()
    ]


def _pods(
    spec: dict[str, Any], complete: Callable[[dict[str, Any]], None]
) -> list[tuple[Any, ...]]:
    """Return what Kueue compares of podsets; quantities by value, empty as absent."""
    found = []
    for one in spec.get("podSets") or ():
        inner = copy.deepcopy((one.get("template") or {}).get("spec") or {})
        for name in _CONTAINERS:
            for container in inner.get(name) or ():
                complete(container)
        parts = (_compared(inner.get(name)) for name in (*_CONTAINERS, "tolerations"))
        count = int(one.get("count", 1))
        found.append((count, int(one.get("minCount", -1)), *parts))
    return found


def _compared(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        if name in _QUANTITIES:
            return {one: parse(amount) for one, amount in value.items()} or None
        within = {one: _compared(part, one) for one, part in value.items()}
        return {one: part for one, part in within.items() if part is not None} or None
    if isinstance(value, list):
        return [_compared(part) for part in value] or None
    return value


_CONTAINERS = ("containers", "initContainers")
_QUANTITIES = ("requests", "limits")


# ------------------------------------------------------------------------
# What a Job, Workload or Pod becomes when it arrives.


class JobArrival(JobSlices, PodGroups, PrebuiltWorkloads):
    """Takes up what arrives: a Workload for it, or a run where nothing manages it."""

    def take_up(self, obj: Object, *, first: bool) -> None:
        """Make the Workload of an object that arrives, or begin its run."""
        if obj.key.kind in JOB_KINDS:
            self._take_up_job(obj)
        elif obj.key.kind == "Workload":
            self._take_up_workload(obj)
            if not first:
                self.follow_job(obj)
        elif obj.key.kind == "Pod" and (first or obj.key in self.refused):
            self._take_up_pod(obj)
        elif obj.key.kind == "Pod":
            self._follow_pod(obj)

    def _follow_pod(self, pod: Object) -> None:
        """Let an edit of a pod reach its Workload, or its group that has none yet.

        One that is said to have ended ends.
        """
        if has_ended(pod.status) and pod.key in self.lifetime.owners:
            self.lifetime.end_reported(pod)
            return
        for workload in self._workloads_of(pod.key):
            self.follow_job(self.host.objects[workload])
        group = self.group_of(pod.key)
        if group is not None and Key("Workload", *group) not in self.host.objects:
            self.sync_group(group)

    def _take_up_job(self, job: Object) -> None:
        kind = self.kind_of(job)
        if owner_key(job, OWNERS) in self.host.objects:
            return  # what made it has the Workload, or the run
        if self.is_deployed(job) or self.controllers.sets_of(job):
            self.controllers.deploy(job, managed=self.manages(job))
        if self.controllers.hand_on(job):
            return
        if self._adopt_workloads(job) or self._is_over(job):
            return
        if job.key.kind == STATEFUL_SET and self.manages(job):
            if self.is_without_workload(job):
                self._give_workloads(job, [])
                return
            if self.sync_set(job):
                return
        around = self.surroundings()
        managed = self.manages(job)
        prebuilt = self.prebuilt_of(job) if managed else None
        if prebuilt is not None:
            if not self._workloads_of(job.key):
                self.adopt_prebuilt(job, prebuilt)
        elif managed:
            made = self._made(job, lambda: kind.workloads(job.manifest, around))
            if made is not None and self.is_elastic(job, made):
                self._give_slices(job, made[0])
            elif made is not None:
                self._give_workloads(job, made)
        elif kind.suspended_by_user(job.manifest):
            self.lifetime.stop(job.key)
        elif self.lifetime.placement():
            pod_sets = self._made(job, lambda: kind.pod_sets(job.manifest, around))
            if pod_sets is not None:
                self._start_or_scale(job, pod_sets)

    def resume_suspended(self, job: Object) -> None:
        """Make the pods of an admitted Job anew that a person suspends.

        Kueue resumes it at once.
        Source: docs/semantics/kueue-lifecycle.md#suspended-by-a-person.
        """
        kueue = self.host.kueue
        if kueue is None or not job.spec.get("suspend"):
            return
        for workload in self._workloads_of(job.key):
            run, owner = self.lifetime.runs.get(workload), self.host.objects[workload]
            if run is not None and run.active and run.pods:
                self.lifetime.make_anew(run, owner, self._assigned(owner))
            elif run is not None and run.active and run.ready_ms is not None:
                kueue.pods_ready(workload, False)
                kueue.pods_ready(workload, True)

    def resume_waiting(self, job: Object) -> None:
        """Make pods of a Job that a person resumes without quota; Kueue stops it again.

        Source: docs/semantics/kueue-lifecycle.md#suspended-by-a-person.
        """
        for workload in self._workloads_of(job.key):
            owner = self.host.objects[workload]
            self.lifetime.run_in_vain(owner, pod_sets_of(owner))

    def is_deployed(self, job: Object) -> bool:
        """Return whether the pods of a Deployment are each admitted as they are made."""
        return (
            job.key.kind == "Deployment"
            and self.manages(job)
            and self.lifetime.placement()
            and not self._workloads_of(job.key)
        )

    def _start_or_scale(self, job: Object, pod_sets: PodSets) -> None:
        """Start what nobody manages; what serves already gets its new replicas.

        What came with its pods goes on with them.
        """
        run = self.lifetime.runs.get(job.key)
        if run is not None and run.active and self.kind_of(job).endless:
            self.lifetime.scale(run, job, pod_sets)
            return
        if run is not None and run.active and job.key.kind == "Job":
            self.lifetime.follow_parallelism(run, job, pod_sets)
            return
        pods = []
        if run is None or not run.attempt:
            pods = self._not_taken_up(self.given.pods_of(job.key, job.key))
        standing = [
            pod
            for pod in pods
            if not (has_ended(pod.status) or pod.metadata.get("deletionTimestamp"))
        ]
        ended = [pod for pod in pods if pod.status.get("phase") == "Succeeded"]
        if standing or ended:
            self.lifetime.resume(job, pod_sets, standing, ended)
        else:
            self.lifetime.start(job, pod_sets)

    def _is_over(self, job: Object) -> bool:
        """Return whether a job came with a status that says it has ended."""
        if job.key in self.lifetime.runs or self._workloads_of(job.key):
            return False
        manifest = {**job.manifest, "status": job.status}
        return self.kind_of(job).finish(manifest) is not None

    def _take_up_workload(self, workload: Object) -> None:
        kueue = self.host.kueue
        if kueue is None:
            if owner_key(workload, frozenset(JOB_KINDS)) not in self.host.objects:
                self.lifetime.start(workload, pod_sets_of(workload))
        elif kueue.variants is not None and is_variant(workload):
            return  # the run is its parent's
        elif is_running(kueue, workload.key):
            pod_sets = self._assigned(workload)
            self._report_contradictions(workload, pod_sets)
            pods = self._pods_given_to(workload)
            ended = [pod for pod in pods if pod.status.get("phase") == "Succeeded"]
            standing = [pod for pod in pods if not has_ended(pod.status)]
            self.lifetime.resume(workload, pod_sets, standing, ended)
        elif is_stopping(kueue, workload.key):
            self.lifetime.resume_stop(workload, self._pods_given_to(workload))
        elif self.stateful_sets:
            self.wait_gated(workload)

    def _pods_given_to(self, workload: Object) -> list[Object]:
        """Return the pods that came with a Workload and were not taken up yet."""
        owner = owner_key(workload, frozenset({*JOB_KINDS, "Pod"}))
        keys = self.given.pods_of(workload.key, owner)
        if owner is not None and owner.kind == "Pod":
            keys = [pod.key for pod in self._given_pods(workload.key)]
        return self._not_taken_up(keys)

    def _not_taken_up(self, keys: Iterable[Key]) -> list[Object]:
        pods = [self.host.objects[key] for key in keys if key in self.host.objects]
        return [pod for pod in pods if pod.key not in self.lifetime.owners]

    def _take_up_pod(self, pod: Object) -> None:
        if has_ended(pod.status):
            return
        if (maker := self.lifetime.owners.get(pod.key)) is not None:
            if pod.key not in self.lifetime.placed:  # its template names a node
                self._adopt(self.lifetime.runs[maker], pod)
                self.lifetime.note_bound(pod)
            return
        if pod.metadata.get("deletionTimestamp"):
            self.lifetime.resume_termination(pod)
            return
        owner = self.given.workload_of(pod) or owner_key(pod, OWNERS)
        if owner in self.host.objects:
            run = self.lifetime.run_of(self._runner(owner))
            self.lifetime.attach(run, pod.key)
            self._adopt(run, pod)
        elif self.manages(pod):
            self._take_up_group(pod)
        else:
            self.lifetime.resume_pod(self.lifetime.run_of(pod.key), pod)
        self.lifetime.note_bound(pod)

    def _runner(self, owner: Key) -> Key:
        """Return who runs for this owner: a managed job's Workload, else itself."""
        workloads = self._workloads_of(owner)
        return workloads[0] if workloads else owner

    def _adopt(self, run: Run, pod: Object) -> None:
        """Take a pod that came with a node as bound there."""
        node = pod.spec.get("nodeName")
        if node and run.active and not has_ended(pod.status):
            self.lifetime.bound_on(run, pod.key, node)

    def _take_up_lone_pod(self, pod: Object) -> None:
        if self._adopt_workloads(pod):
            return
        kind, around = self.kind_of(pod), self.surroundings()
        made = self._made(pod, lambda: kind.workloads(pod.manifest, around))
        if made is not None:
            self._give_workloads(pod, made)

    def _take_up_group(self, pod: Object) -> None:
        name = self._group(pod)[0]
        if name:
            self.sync_group((pod.key.namespace, name))
        else:
            self._take_up_lone_pod(pod)


# ------------------------------------------------------------------------
# All that a lifetime asks about jobs.


class Jobs(JobArrival, PodAdmission):
    """Job kinds to Workloads and runs, from arrival to end."""
