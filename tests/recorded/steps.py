"""How long each kind of step took, measured from the watch events of a recording."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from scheduler.model.annotations import READY_AFTER, RUNTIME
from scheduler.model.durations import NEVER, read_span
from scheduler.model.errors import QuantityError
from scheduler.model.reasons import WAITING_FOR_PODS_READY
from tests.recorded.recording import Event, Item, Recording

Samples = dict[str, list[tuple[int, int]]]  # step -> (began at, took), ms
Job = tuple[str, str]  # namespace, name
#: Job, step, attempt from 1 on, number of the pod in it -> took, ms
Steps = dict[tuple[Job, str, int, int], int]

#: Reasons of QuotaReserved that no admission cycle writes.
_NOT_ITS = (None, "PendingEvaluation", "Pending")


@dataclass(slots=True)
class WorkloadSteps:
    """What was seen of one workload since it got its quota; ms since t=0."""

    number: int = 1  # of the attempts that started
    reserved: int | None = None
    evicted: int | None = None
    started: int | None = None  # its last pod appeared
    ready: int | None = None  # its last pod got ready
    reported: int | None = None  # PodsReady said so
    deleted: int | None = None  # its first pod was deleted
    ended: int | None = None  # its last pod failed
    released: int | None = None
    pods: dict[str, PodTimes] = field(default_factory=dict)

    def next_number(self) -> int:
        """Return the number of the attempt that comes after this one."""
        return self.number + (self.started is not None)

    def has_stopped(self) -> bool:
        """Return whether it was evicted and none of its pods goes on."""
        over = (pod.has_stopped() for pod in self.pods.values())
        return self.evicted is not None and all(over)


@dataclass(slots=True)
class PodTimes:
    """What was seen of one pod; ms since t=0."""

    number: int  # among the pods of its attempt
    added: int
    unschedulable: bool = False  # it waited for a node
    bound: int | None = None
    ready: int | None = None
    deleted: int | None = None
    ended: int | None = None
    succeeded: int | None = None
    reclaimed: bool = False  # its Workload says that it needs no quota

    def has_stopped(self) -> bool:
        """Return whether it failed or succeeded, at whatever instant."""
        return self.ended is not None or self.succeeded is not None


@dataclass(slots=True)
class Writes:
    """When (ms since t=0) Kueue's scheduler was seen to write what it decided."""

    verdicts: list[int] = field(default_factory=list)  # that leave a workload waiting
    admissions: dict[Job, list[int]] = field(default_factory=lambda: defaultdict(list))
    evictions: dict[Job, list[int]] = field(default_factory=lambda: defaultdict(list))

    def note(self, at: int, job: Job, *, reserved: bool) -> None:
        """Note a verdict on a job's workload."""
        (self.admissions[job] if reserved else self.verdicts).append(at)


@dataclass(slots=True)
class Stopwatch:
    """Follows every workload through its steps."""

    samples: Samples = field(default_factory=lambda: defaultdict(list))
    steps: Steps = field(default_factory=dict)
    attempts: dict[Job, WorkloadSteps] = field(default_factory=dict)
    pods: dict[str, tuple[PodTimes, WorkloadSteps]] = field(default_factory=dict)
    jobs: dict[Job, int] = field(default_factory=dict)
    finished: set[Job] = field(default_factory=set)
    #: of attempts before this one
    reclaimed_before: dict[Job, int] = field(default_factory=lambda: defaultdict(int))
    undecided: dict[Job, int] = field(default_factory=dict)
    verdicts: dict[Job, tuple[str, ...]] = field(default_factory=dict)
    decided: list[tuple[int, Job]] = field(default_factory=list)  # at, of which queue
    writes: Writes = field(default_factory=lambda: Writes())
    blocked: set[Job] = field(default_factory=set)  # by pods that are not ready
    unblocked: int | None = None  # when pods were last said to be ready, or gone

    def see(self, at: int, event: Event) -> None:
        """Take one event into account."""
        obj = event.object
        kind = obj["kind"]
        owner = job_of(obj)
        if kind == "Job" and event.type == "ADDED":
            self.jobs.setdefault(_name(obj), at)
        elif kind == "Workload" and owner:
            self._workload(at, event, (obj["metadata"].get("namespace", ""), owner))
        elif kind == "Pod" and owner:
            self._pod(at, obj, (obj["metadata"].get("namespace", ""), owner))

    def _workload(self, at: int, event: Event, job: Job) -> None:
        obj = event.object
        if event.type == "ADDED":
            self.undecided[job] = at
            if job in self.jobs:
                self._note(at, "workload_creation", at - self.jobs[job])
        conditions = {c["type"]: c for c in _status(obj).get("conditions") or ()}
        now = self.attempts.setdefault(job, WorkloadSteps())
        reserved = _is(conditions, "QuotaReserved")
        if "QuotaReserved" in conditions and job in self.undecided:
            self._note(at, "scheduling_cycle", at - self.undecided.pop(job))
        self._block(at, job, conditions)
        self._decide(at, obj, job, conditions)
        if reserved and now.reserved is None:
            now = self.attempts[job] = WorkloadSteps(now.next_number(), reserved=at)
        if reserved and _is(conditions, "Evicted") and now.evicted is None:
            now.evicted = at
            self.writes.evictions[job].append(at)
        if (
            _is(conditions, "PodsReady")
            and now.reported is None
            and now.ready is not None
        ):
            now.reported = self.unblocked = at
            self._step(at, "readiness", at - now.ready, job, now)
        self._reclaimed(at, obj, job, now)
        if _is(conditions, "Finished") and job not in self.finished:
            self.finished.add(job)
            self._finished(at, obj, job, now)
        if not reserved and now.reserved is not None:
            self.reclaimed_before[job] += sum(p.reclaimed for p in now.pods.values())
            self._released(at, job, now)
            self.attempts[job] = WorkloadSteps(now.next_number())

    def _decide(
        self, at: int, workload: Item, job: Job, conditions: dict[str, Any]
    ) -> None:
        """Note when the scheduler wrote a new verdict, and of whose queue."""
        verdict = conditions.get("QuotaReserved", {})
        words = tuple(str(verdict.get(k)) for k in ("status", "reason", "message"))
        if words != self.verdicts.get(job) and verdict.get("reason") not in _NOT_ITS:
            queue = job[0], str(workload["spec"].get("queueName"))
            self.decided.append((at, queue))
            self.writes.note(at, job, reserved=verdict.get("status") == "True")
        self.verdicts[job] = words

    def _block(self, at: int, job: Job, conditions: dict[str, Any]) -> None:
        """Note how long an admission took that had waited for others' pods."""
        if conditions.get("QuotaReserved", {}).get("reason") == WAITING_FOR_PODS_READY:
            self.blocked.add(job)
        elif job in self.blocked:
            self.blocked.discard(job)
            if self.unblocked is not None and _is(conditions, "QuotaReserved"):
                self._note(at, "admission", at - self.unblocked)
                self.unblocked = None  # one is admitted for each end of a wait

    def _reclaimed(self, at: int, workload: Item, job: Job, now: WorkloadSteps) -> None:
        """Note the pods that a Workload says have ended: the first to do so."""
        said = sum(p["count"] for p in _status(workload).get("reclaimablePods") or ())
        over = _is_over(workload)
        ended = sorted(
            (pod for pod in now.pods.values() if pod.succeeded is not None),
            key=lambda pod: pod.succeeded or 0,
        )
        for number, pod in enumerate(ended, start=self.reclaimed_before[job] + 1):
            if not pod.reclaimed and (over or number <= said):
                pod.reclaimed = True
                length = at - (pod.succeeded or at) + over
                self._step(at, "reclaim", length, job, now, pod.number)

    def _finished(self, at: int, workload: Item, job: Job, now: WorkloadSteps) -> None:
        length = _runtime(workload)
        if now.ready is not None and length is not None:
            self._step(at, "completion", at - now.ready - length, job, now)

    def _released(self, at: int, job: Job, now: WorkloadSteps) -> None:
        """Note the release; pods that have not ended by then no longer count."""
        self._started(job, now)
        now.released = self.unblocked = at
        going = [pod for pod in now.pods.values() if pod.deleted and not pod.ended]
        for pod in going:
            if now.deleted is not None:
                self._step(at, "termination", at - now.deleted, job, now, pod.number)
        ended = at if going else now.ended
        if ended is not None:
            self._step(at, "release", at - ended, job, now)

    def _started(self, job: Job, now: WorkloadSteps) -> None:
        if now.started is not None and now.reserved is not None:
            length = now.started - now.reserved
            self._step(now.started, "job_start", length, job, now)

    def _pod(self, at: int, pod: Item, job: Job) -> None:
        uid = pod["metadata"]["uid"]
        if uid not in self.pods:
            now = self.attempts.setdefault(job, WorkloadSteps())
            self.pods[uid] = PodTimes(len(now.pods), at), now
            now.pods[uid] = self.pods[uid][0]
            if now.reserved is not None:
                now.started = at
        seen, now = self.pods[uid]
        conditions = {c["type"]: c for c in _status(pod).get("conditions") or ()}
        scheduled = conditions.get("PodScheduled", {})
        seen.unschedulable |= scheduled.get("reason") == "Unschedulable"
        if pod["spec"].get("nodeName") and seen.bound is None:
            seen.bound = at
            self._note(at, "binding", at - seen.added)
        if _is(conditions, "Ready") and seen.ready is None:
            seen.ready = now.ready = at
            self._pod_started(at, pod, job)
        self._pod_ends(at, pod, job)

    def _pod_started(self, at: int, pod: Item, job: Job) -> None:
        """Note the start of a pod; waiting for a node is no part of it."""
        seen, now = self.pods[pod["metadata"]["uid"]]
        if seen.bound is not None:
            begin = seen.bound if seen.unschedulable else seen.added
            length = at - begin - _ready_after(pod)
            self._step(at, "pod_start", length, job, now, seen.number)

    def _pod_ends(self, at: int, pod: Item, job: Job) -> None:
        seen, now = self.pods[pod["metadata"]["uid"]]
        if pod["metadata"].get("deletionTimestamp") and seen.deleted is None:
            seen.deleted = at
            if now.evicted is not None and now.deleted is None:
                now.deleted = at
                self._step(at, "suspension", at - now.evicted, job, now)
        if _status(pod).get("phase") == "Succeeded" and seen.succeeded is None:
            seen.succeeded = at
        if _status(pod).get("phase") == "Failed" and seen.ended is None:
            seen.ended = now.ended = at
            if seen.deleted is not None and now.released is None:
                begin = seen.deleted if now.deleted is None else now.deleted
                self._step(at, "termination", at - begin, job, now, seen.number)

    def _step(
        self, at: int, step: str, ms: int, job: Job, now: WorkloadSteps, number: int = 0
    ) -> None:
        """Note a step of this attempt (of this pod of it) that was over at `at`."""
        self._note(at, step, ms)
        self.steps[job, step, now.number, number] = max(0, ms)

    def _note(self, at: int, step: str, ms: int) -> None:
        """Note that a step of this length was over at `at`."""
        ms = max(0, ms)
        self.samples[step].append((at - ms, ms))

    def close(self) -> None:
        """Note what is known of the attempts that go on at the end."""
        for job, attempt in self.attempts.items():
            self._started(job, attempt)
        for found in self.samples.values():
            found.sort()


def measure(recording: Recording, *, until_ms: int | None = None) -> Stopwatch:
    """Return how long every step took, of every kind and of every attempt.

    A step that goes on at the end of the recording, or at `until_ms` since t=0, is
    left out.
    """
    watch = Stopwatch()
    for event in recording.events:
        at = recording.ms(event.at)
        if until_ms is not None and at > until_ms:
            break
        watch.see(at, event)
    watch.close()
    return watch


def _name(obj: Item) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def job_of(obj: Item) -> str:
    """Return the name of the Job that owns a manifest; "" without one."""
    references = obj["metadata"].get("ownerReferences") or ()
    return next((str(r["name"]) for r in references if r["kind"] == "Job"), "")


def _status(obj: Item) -> Item:
    status: Item = obj.get("status") or {}
    return status


def _is(conditions: dict[str, Any], kind: str) -> bool:
    return bool(kind in conditions and conditions[kind]["status"] == "True")


def _is_over(workload: Item) -> bool:
    conditions = {c["type"]: c for c in _status(workload).get("conditions") or ()}
    return _is(conditions, "Finished")


def _runtime(workload: Item) -> int | None:
    template = workload["spec"]["podSets"][0]["template"]
    return _length(template, RUNTIME)


def _ready_after(pod: Item) -> int:
    return _length(pod, READY_AFTER) or 0


def _length(obj: Item, name: str) -> int | None:
    text = (obj.get("metadata") or {}).get("annotations", {}).get(name)
    try:
        span = None if text is None else read_span(text)
        fixed = span is not None and span.shape == "fixed"
        return span.values[0] if fixed and span.values[0] != NEVER else None
    except QuantityError:
        return None
