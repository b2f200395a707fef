"""Measured steps as the times of a run: each takes what it took, or near it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduler.engine.latencies import StepTimes
from scheduler.engine.lifetime.stage import Lifetime
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.decisions import Decision, Preempt, Wait
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy
from scheduler.recorded.cycles import CycleClock, nearest
from scheduler.recorded.recording import Recording
from scheduler.recorded.steps import Job, Samples, Stopwatch, job_of, measure
from scheduler.recorded.writes import IDLE_MS, WriteClock

#: Of how many measured steps, the nearest in time, one is drawn.
NEAREST = 15
_OF_PODS = ("pod_start", "reclaim", "termination")


class RecordedTimes(StepTimes):
    """Takes for each step what that step took, or what its kind took around now.

    A step of an attempt that the recording has as well takes what it took there.
    Other attempts draw from those of their kind that were measured around now: how
    busy a control plane is changes within minutes, so that one spread for the
    whole recording would be too long at first and too short later. Kinds of steps
    that were never measured keep the policy's length.
    """

    def __init__(
        self,
        context: Context,
        policy: Policy,
        recording: Recording,
        lifetime: Lifetime,
        jobs: Mapping[str, Job],
        *,
        begin: int,
        blocking: bool,
    ) -> None:
        super().__init__(context, policy)
        watch = measure(recording)
        self.begin = begin  # of the run, ms since t=0
        self.lifetime, self.jobs, self.steps = lifetime, jobs, watch.steps
        #: pod -> its Workload, and its number among the pods of its attempt
        self.places: dict[str, tuple[str, int]] = {}
        self.pods = watch.pods
        #: Workload and instant (ms) of its admission -> after how long (ms) it is seen
        self.unseen: dict[tuple[str, int], int] = {}
        self.samples: Samples = {
            step: watch.samples[step] for step in self.spans if watch.samples.get(step)
        }
        self.cycles = _clock(watch) if blocking else None
        self.writes = WriteClock(watch.writes, recording.attempts)

    def place(self, pods: Iterable[Object]) -> None:
        """Number the pods that the recording has as well as it does."""
        owners = {job: owner for owner, job in self.jobs.items()}
        for pod in pods:
            owner = owners.get((pod.key.namespace, job_of(pod.manifest)))
            if pod.uid in self.pods and owner is not None:
                self.places[str(pod.key)] = owner, self.pods[pod.uid][0].number

    @property
    def _now(self) -> int:
        """Return the present instant in milliseconds since t=0."""
        return self.begin + self.context.now_ms

    def length(self, decided: Sequence[Decision]) -> int:
        """Return how long (ms) the scheduler writes what a cycle decided.

        Verdicts one after the other, evictions of one preemption side by side;
        admissions are written while cycles go on.
        """
        waits = sum(isinstance(one, Wait) for one in decided)
        lengths = [self.writes.verdicts(self._now, waits)] if waits else [IDLE_MS]
        for one in decided:
            job = self.jobs.get(str(one.subject))
            if isinstance(one, Preempt) and job is not None:
                lengths.append(self.writes.eviction(self._now, job))
        return max(lengths)

    def draw(self, step: str, subject: str, n: int = 0) -> int:
        """Return how long (ms) this step takes for the subject's draw `n`."""
        if step == "scheduling_cycle" and self.cycles is not None:
            return self.cycles.length(self._now)
        if step == "admission" and self.cycles is not None and step not in self.samples:
            return 0  # it is in the cycle
        return self._written(step, subject) + self._taken(step, subject, n)

    def _written(self, step: str, subject: str) -> int:
        """Return after how long (ms) the decision is seen that this step follows."""
        job = self.jobs.get(subject)
        if job is None or self.cycles is not None:
            return 0
        if step == "job_start":
            length = self.writes.admission(self._now, job)
            self.unseen[subject, self.context.now_ms] = length
            return length
        return self.writes.eviction(self._now, job) if step == "suspension" else 0

    def _taken(self, step: str, subject: str, n: int) -> int:
        """Return how long (ms) this step took there, or one of its kind around now."""
        known = self._known(step, subject, n)
        if known is not None:
            return known
        found = self.samples.get(step)
        if found is None:
            return super().draw(step, subject, n)
        share = streams.uniform(self.context.seed, f"recorded {step}", subject, n)
        near = nearest(found, self._now, NEAREST)
        return near[int(share * len(near))][1]

    def _known(self, step: str, subject: str, n: int) -> int | None:
        """Return what this step of the subject's attempt `n` took, where recorded."""
        owner, number = self._place(subject) if step in _OF_PODS else (subject, 0)
        job = self.jobs.get(owner)
        return None if job is None else self.steps.get((job, step, n, number))

    def _place(self, subject: str) -> tuple[str, int]:
        """Return a pod's owner, and its number among the pods of its attempt."""
        found = self.places.get(subject)
        if found is None:
            pod = Key(*subject.split("/", 2))
            run = self.lifetime.runs.get(self.lifetime.owners.get(pod, pod))
            if run is None or pod not in run.pods:
                return subject, 0
            for number, one in enumerate(run.pods):
                self.places.setdefault(str(one), (str(run.owner), number))
            found = self.places[subject]
        return found


def _clock(watch: Stopwatch) -> CycleClock | None:
    """Return the clock of cycles that wait for pods (blockAdmission).

    First decisions wait for pods too: only the shortest tells of a cycle.
    """
    firsts = watch.samples.get("scheduling_cycle", [])
    shortest = min((took for _, took in firsts), default=None)
    return None if shortest is None else CycleClock(watch.decided, shortest)
