"""How long an owner's work is: endless, in rounds of its pods, within a deadline."""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.continuing import SERVING
from scheduler.engine.lifetime.jobs.starting import (
    ADMISSION_GATE,
    TOPOLOGY_GATE,
    JobStart,
)
from scheduler.engine.lifetime.jobs.state import pod_sets_of
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.lifetime.starting import STATEFUL_SET
from scheduler.model import registry
from scheduler.model.annotations import FROM_DEADLINE, RUNTIME_SOURCE, read_timing
from scheduler.model.jobs import JobKind, completions_of, pods_at_once, waves_of
from scheduler.model.kueue import deadlines
from scheduler.model.kueue.slices import is_elastic
from scheduler.model.objects import Key, Object
from scheduler.model.pod import gang_of
from scheduler.model.reasons import ON_HOLD, condition
from scheduler.model.releases.rules import SETS_ON_HOLD
from scheduler.model.yunikorn.task_groups import (
    TASK_GROUP_NAME,
    TASK_GROUPS,
    members_of,
)

# ------------------------------------------------------------------------
# StatefulSets under Kueue: pods that wait with their gates, and sets scaled to none.


_SETS = frozenset({STATEFUL_SET})
_ON_HOLD = "StatefulSet scaled to zero; workload on hold"


class StatefulSets(JobStart):
    """Brings the Workload and the pods of a StatefulSet in line with its replicas."""

    def is_without_workload(self, stateful_set: Object) -> bool:
        """Return whether a set of no replicas has none: in a release without holds."""
        release = self.host.policy.spec.decides_as()
        return not (_replicas(stateful_set) or SETS_ON_HOLD.holds(release))

    def sync_set(self, stateful_set: Object) -> bool:
        """Let a set with a Workload have it on hold, or back; False for one without."""
        workloads = self._workloads_of(stateful_set.key)
        kueue = self.host.kueue
        if not workloads or kueue is None:
            return False
        [workload, *_] = workloads
        if not _replicas(stateful_set):
            self.lifetime.stop_waiting(workload)
            self.lifetime.stop(workload)
            kueue.hold(workload, _ON_HOLD)
        else:
            self._requeue(workload, stateful_set)
            kueue.unhold(workload)
            self.wait_gated(self.host.objects[workload])
        return True

    def _requeue(self, workload: Key, stateful_set: Object) -> None:
        """Let a Workload be of the queue that its set names now."""
        known = self.host.objects[workload]
        queue = self.kind_of(stateful_set).queue_name(stateful_set.manifest)
        if known.spec.get("queueName") != queue:
            self.rewrite(known, {**known.spec, "queueName": queue})

    def roll_set(self, stateful_set: Object) -> None:
        """Let the pods that run of a set be made anew, of its present template."""
        for owner in (stateful_set.key, *self._workloads_of(stateful_set.key)):
            if (run := self.lifetime.runs.get(owner)) is not None and run.active:
                self.lifetime.roll(run, stateful_set)

    def set_of(self, workload: Object) -> Object | None:
        """Return the StatefulSet of a Workload, if it is of one."""
        key = owner_key(workload, _SETS)
        return None if key is None else self.host.objects.get(key)

    def sized(self, workload: Object, count: int) -> int:
        """Return how many pods a set runs of the count that was admitted."""
        found = self.set_of(workload)
        if found is None:
            return count
        return min(count, _replicas(found))

    def wait_gated(self, workload: Object) -> None:
        """Make the pods of a set that waits: the first one, or all side by side."""
        found = self.set_of(workload)
        if found is None or self.host.kueue is None:
            return
        if not self.lifetime.placement() or _is_held(self.host.get(workload.key)):
            return
        side_by_side = found.spec.get("podManagementPolicy") == "Parallel"
        count = _replicas(found) if side_by_side else min(1, _replicas(found))
        for pod_set in pod_sets_of(workload):
            waiting = {**pod_set, "count": count, "template": _gated(pod_set)}
            self.lifetime.make_waiting(workload, waiting)

    def ungate_waiting(
        self, workload: Object, pods: list[Object], pod_sets: Any
    ) -> None:
        """Let pods that waited for their quota be placed."""
        for pod in pods:
            self._ungate(pod, pod_sets, {})


def _replicas(stateful_set: Object) -> int:
    return int(stateful_set.spec.get("replicas", 1))


def _is_held(workload: Object) -> bool:
    found = condition(workload.status, "QuotaReserved") or {}
    return found.get("status") != "True" and found.get("reason") == ON_HOLD


def _gated(pod_set: dict[str, Any]) -> dict[str, Any]:
    template = pod_set.get("template") or {}
    spec = {
        **(template.get("spec") or {}),
        "schedulingGates": _gates(),
    }
    return {**template, "spec": spec}


def _gates() -> list[dict[str, str]]:
    return [{"name": ADMISSION_GATE}, dict(TOPOLOGY_GATE)]


# ------------------------------------------------------------------------
# How long an owner's work is: endless, in rounds of its pods, within a deadline.


_POD = frozenset({"Pod"})
_JOB = frozenset({"Job"})
#: A Job admitted with fewer pods also does that much less work.
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"


class JobLength(StatefulSets):
    """What of a job decides how long its run takes."""

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
        job = self._started_job(owner)
        if job is None:
            return 1
        kind: JobKind = registry.lookup("job-kind", job["kind"])
        return max(1, kind.waves(job))

    def pods_of_round(self, owner: Object, *, alone: bool = False) -> int | None:
        """Return how many pods of a Job run for themselves; None where they work together.

        They do in a Job that is elastic for Kueue, whose rounds change with its pods,
        and in a gang that others do not follow, unless they are `alone` already.
        Source: docs/semantics/kueue-lifecycle.md#further-completions.
        """
        elastic = self.host.kueue is not None and is_elastic(owner)
        job = None if elastic else self._started_job(owner)
        if job is None or job["kind"] != "Job":
            return None
        pods, waves = pods_at_once(job["spec"]), waves_of(job["spec"])
        together = waves == 1 and (pods == 1 or self._is_gang(job, pods))
        return None if together and not alone else pods

    def _is_gang(self, job: dict[str, Any], pods: int) -> bool:
        """Return whether a Job says that its `pods` work together, or start together.

        Where its PodGroup or task group starts with fewer, they do not.
        """
        template = job["spec"].get("template") or {}
        metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
        annotations = metadata.get("annotations") or {}
        if read_timing(job["metadata"].get("annotations") or {}).gang:
            return True
        if spec.get("schedulingGroup") or spec.get("workloadRef"):
            return True
        if name := gang_of(metadata.get("labels") or {}):
            namespace = job["metadata"].get("namespace") or "default"
            group = self.host.objects.get(Key("PodGroup", namespace, name))
            return group is None or int(group.spec.get("minMember") or 0) >= pods
        if TASK_GROUPS not in annotations and TASK_GROUP_NAME not in annotations:
            return False
        name = str(annotations.get(TASK_GROUP_NAME))
        least = dict(members_of(annotations) or ()).get(name)
        return least is None or least >= pods

    def completions_of(self, owner: Object) -> int:
        """Return how many pods of a Job have to succeed."""
        return completions_of((self._started_job(owner) or {}).get("spec") or {})

    def _started_job(self, owner: Object) -> dict[str, Any] | None:
        """Return the owner's job as it was started; None where it has none."""
        job: Object | None = owner
        if owner.key.kind == "Workload":
            found = owner_key(owner, frozenset(JOB_KINDS))
            job = self.host.objects.get(found) if found is not None else None
        if job is None or job.key.kind not in JOB_KINDS:
            return None
        return self._narrowed(owner, job.manifest)

    def deadline_of(self, owner: Object) -> int | None:
        """Return how long (s) its Job may be active; None for as long as it takes.

        A run time that was taken from the deadline does not break it.
        """
        job = self.host.objects.get(owner_key(owner, deadlines.KINDS) or owner.key)
        if job is None:
            return None
        sources = (one.annotations.get(RUNTIME_SOURCE) for one in (owner, job))
        return None if FROM_DEADLINE in sources else deadlines.deadline_of(job.manifest)

    def resized(self, owner: Object, *, started: bool) -> None:
        """Give a Job that may be admitted in part its pods, or what it asked for.

        Source: docs/semantics/kueue.md#partial-admission.
        """
        kueue, pod_sets = self.host.kueue, owner.spec.get("podSets") or [{}]
        job = self.host.objects.get(owner_key(owner, _JOB) or owner.key)
        if kueue is None or "minCount" not in pod_sets[0]:
            return
        if job is None or job is owner:
            return
        count = int(pod_sets[0].get("count", 1))
        if started:
            admission = self.host.get(owner.key).status.get("admission") or {}
            [given, *_] = admission.get("podSetAssignments") or [{}]
            count = int(given.get("count", count))
        job.spec["parallelism"] = count
        if job.annotations.get(EQUAL_COMPLETIONS) == "true":
            job.spec["completions"] = count
        self.lifetime.context.journal.touch(job.key)

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
