"""Measured steps as the times of a run: each takes what it took, or near it."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler import streams
from scheduler.latencies import StepTimes
from scheduler.lifetime.stage import Lifetime
from scheduler.recordings.cycles import CycleClock, nearest
from scheduler.recordings.recording import Recording
from scheduler.recordings.steps import Job, Samples, Stopwatch, measure
from scheduler.records.objects import Key
from scheduler.records.policy import Policy
from scheduler.stage import Context

#: Of how many measured steps, the nearest in time, one is drawn.
NEAREST = 15
_OF_PODS = ("pod_start", "termination")


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
        self.places: dict[str, tuple[str, int]] = {}
        self.samples: Samples = {
            step: watch.samples[step] for step in self.spans if watch.samples.get(step)
        }
        self.cycles = _clock(watch, recording, blocking=blocking)

    def draw(self, step: str, subject: str, n: int = 0) -> int:
        """Return how long (ms) this step takes for the subject's draw `n`."""
        if step == "scheduling_cycle" and self.cycles is not None:
            return self.cycles.length(self.begin + self.context.now_ms)
        if step == "admission" and self.cycles is not None and step not in self.samples:
            return 0  # it is in the cycle
        known = self._known(step, subject, n)
        if known is not None:
            return known
        found = self.samples.get(step)
        if found is None:
            return super().draw(step, subject, n)
        share = streams.uniform(self.context.seed, f"recorded {step}", subject, n)
        near = nearest(found, self.begin + self.context.now_ms, NEAREST)
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
            found = self.places[subject] = str(run.owner), run.pods.index(pod)
        return found


def _clock(
    watch: Stopwatch, recording: Recording, *, blocking: bool
) -> CycleClock | None:
    """Return the clock of the recorded cycles.

    With blockAdmission first decisions wait for pods, as the metrics' cycles do:
    only the shortest tells of a cycle.
    """
    firsts = watch.samples.get("scheduling_cycle", [])
    if not firsts:
        return None
    if blocking:
        shortest = min(took for _, took in firsts)
        firsts = [(at, shortest) for at, _ in firsts]
    return CycleClock(watch.decided, firsts, () if blocking else recording.attempts)
