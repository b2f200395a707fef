"""Measured steps as the times of a run: each takes what it took, or near it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler.engine.latencies import StepTimes
from scheduler.engine.lifetime.stage import Lifetime
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.decisions import Decision, Preempt, Wait
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy
from tests.recorded.recording import Attempts, Recording
from tests.recorded.steps import Job, Samples, Stopwatch, Writes, job_of, measure

# ------------------------------------------------------------------------
# Measured steps as the times of a run: each takes what it took, or near it.


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


# ------------------------------------------------------------------------
# How long Kueue's scheduler took to write what it decided.


#: A cycle that writes nothing takes next to no time (ms).
IDLE_MS = 2
#: A write that comes so much later (ms) than a decision is of another one.
ADMISSION_MS = 4000
EVICTION_MS = 5000
#: Writes that take so many times the usual are of later cycles.
PATIENCE = 4
SLACK_MS = 200
_USUAL_MS = 200  # of a write, without metrics
_SHORTEST_MS, _LONGEST_MS = 20, 3000


class WriteClock:
    """Gives each decision the time that writing it took in the recording.

    The scheduler writes its verdicts one after the other and begins no cycle before
    it has written the last; a client that is busy or slowed down lengthens cycles
    thus. Admissions are written beside the cycles, the evictions of one preemption
    side by side.
    """

    def __init__(self, writes: Writes, readings: Readings) -> None:
        self.writes = writes
        evicted = [at for times in writes.evictions.values() for at in times]
        self.usual = _usual(sorted([*writes.verdicts, *evicted]), readings)

    def verdicts(self, now: int, count: int) -> int:
        """Return how long (ms) so many verdicts take that are written from now on.

        Until as many were written in the recording; the usual time where it wrote
        none for long.
        """
        usual = count * self._usual_at(now)
        last = bisect_right(self.writes.verdicts, now) + count - 1
        if last < len(self.writes.verdicts):
            length = self.writes.verdicts[last] - now
            if length <= PATIENCE * usual + SLACK_MS:
                return length
        return round(usual)

    def admission(self, now: int, job: Job) -> int:
        """Return after how long (ms) an admission that is decided now is seen.

        As long as usual where the recording has none of this job soon.
        """
        return self._soon(self.writes.admissions.get(job, ()), now, ADMISSION_MS)

    def eviction(self, now: int, job: Job) -> int:
        """Return after how long (ms) an eviction that is decided now is seen."""
        return self._soon(self.writes.evictions.get(job, ()), now, EVICTION_MS)

    def _soon(self, times: Sequence[int], now: int, most: int) -> int:
        """Return how long it is until the next of these, unless that is too long."""
        following = bisect_left(times, now)
        if following < len(times) and times[following] - now <= most:
            return times[following] - now
        return round(self._usual_at(now))

    def _usual_at(self, now: int) -> float:
        """Return how long (ms) one write takes now."""
        later = (usual for until, usual in self.usual if now <= until)
        return next(later, self.usual[-1][1] if self.usual else _USUAL_MS)


def _usual(written: Sequence[int], readings: Readings) -> list[tuple[int, float]]:
    """Return until when one write took how long (ms), by the metrics.

    The attempts' time together is that of their writes: deciding takes none.
    """
    found = []
    begin = 0
    for until, seconds in since(readings):
        count = bisect_left(written, until) - bisect_left(written, begin)
        if count:
            took = 1000 * seconds / count
            found.append((until, max(_SHORTEST_MS, min(_LONGEST_MS, took))))
        begin = until
    return found


# ------------------------------------------------------------------------
# Admission cycles that wait for pods, and what Kueue's metrics say of cycles.


#: A cycle of more than so many usual ones is several, which had nothing to write.
CYCLE_PATIENCE = 6
_GAP_MS = 50  # between the verdicts of one cycle, at most
Queue = tuple[str, str]  # namespace and name of the LocalQueue
Readings = Sequence[tuple[int, Attempts]]  # metrics by some instants (ms)


class CycleClock:
    """Lets each cycle last until the recorded scheduler wrote its next verdicts.

    `decided` is when (ms) it wrote one, and of whose queue; `usual` how long (ms) a
    cycle takes where nothing was written for long.
    """

    def __init__(self, decided: Sequence[tuple[int, Queue]], usual: int) -> None:
        self.ends = cycle_ends(decided)
        self.usual = usual

    def length(self, now: int) -> int:
        """Return how long (ms) a cycle takes that begins now."""
        following = bisect_left(self.ends, now + self.usual // 2)
        if following < len(self.ends):
            length = self.ends[following] - now
            return length if length <= CYCLE_PATIENCE * self.usual else self.usual
        return self.usual


def cycle_ends(decided: Sequence[tuple[int, Queue]]) -> list[int]:
    """Return when (ms) each cycle wrote its first verdict: it writes one per queue."""
    found: list[int] = []
    queues: set[Queue] = set()
    last = 0
    for at, queue in decided:
        if not found or queue in queues or at - last > _GAP_MS:
            queues = set()
            found.append(at)
        queues.add(queue)
        last = at
    return found


def nearest(
    found: Sequence[tuple[int, int]], now: int, count: int
) -> Sequence[tuple[int, int]]:
    """Return the samples that began nearest to now."""
    middle = bisect_left(found, (now, 0))
    first = max(0, min(middle - count // 2, len(found) - count))
    return found[first : first + count]


def since(readings: Readings) -> Iterator[tuple[int, float]]:
    """Yield each reading's instant (ms), and the seconds in attempts since the last."""
    before = 0.0
    for until, attempts in readings:
        now = sum(seconds for seconds, _ in attempts.values())
        yield until, now - before
        before = now
