"""What a Job, Workload or Pod becomes when it arrives."""

from __future__ import annotations

from scheduler.engine.kueue.queries import is_running, is_stopping
from scheduler.engine.kueue.workload.variants import is_variant
from scheduler.engine.lifetime.jobs.groups import PodGroups
from scheduler.engine.lifetime.jobs.prebuilt import PrebuiltWorkloads
from scheduler.engine.lifetime.jobs.slices import JobSlices
from scheduler.engine.lifetime.jobs.state import OWNERS, PodSets, pod_sets_of
from scheduler.engine.lifetime.pods import owner_key
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.lifetime.starting import STATEFUL_SET
from scheduler.model.conditions import has_ended
from scheduler.model.objects import Key, Object


class JobArrival(JobSlices, PodGroups, PrebuiltWorkloads):
    """Takes up what arrives: a Workload for it, or a run where nothing manages it."""

    def take_up(self, obj: Object, *, first: bool) -> None:
        """Begin what this object is there for."""
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
        if self.is_deployed(job):
            self.controllers.deploy(job)
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
        """Let the pods of an admitted Job that a person suspends be ready once more.

        Kueue resumes it at once.
        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        kueue = self.host.kueue
        if kueue is None or not job.spec.get("suspend"):
            return
        for workload in self._workloads_of(job.key):
            run = self.lifetime.runs.get(workload)
            if run is not None and run.active and run.ready_ms is not None:
                kueue.pods_ready(workload, False)
                kueue.pods_ready(workload, True)

    def is_deployed(self, job: Object) -> bool:
        """Return whether the pods of a Deployment are each admitted as they are made."""
        return (
            job.key.kind == "Deployment"
            and self.manages(job)
            and self.lifetime.placement()
            and not self._workloads_of(job.key)
        )

    def _start_or_scale(self, job: Object, pod_sets: PodSets) -> None:
        """Start what nobody manages; what serves already gets its new replicas."""
        run = self.lifetime.runs.get(job.key)
        if run is not None and run.active and self.kind_of(job).endless:
            self.lifetime.scale(run, job, pod_sets)
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
        pods = [self.host.objects[key] for key in keys if key in self.host.objects]
        return [pod for pod in pods if pod.key not in self.lifetime.owners]

    def _take_up_pod(self, pod: Object) -> None:
        if pod.key in self.lifetime.owners or has_ended(pod.status):
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
