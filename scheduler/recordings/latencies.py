"""Measured steps as the times of a run: a step takes what it took around then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from scheduler import streams
from scheduler.latencies import StepTimes
from scheduler.recordings.recording import Attempts, Recording
from scheduler.recordings.steps import Samples, measure
from scheduler.records.policy import Policy
from scheduler.stage import Context

#: Of how many measured steps, the nearest in time, one is drawn.
NEAREST = 15
FIRSTS = 9  # first decisions, of which the quickest tells a cycle's length
LINGERS_MS = 20_000
_RESULTS = {"scheduling_cycle": "inadmissible", "admission": "success"}


class RecordedTimes(StepTimes):
    """Draws each step from those of its kind that were measured around now.

    How busy a control plane is changes within minutes, so that one spread for the
    whole recording would be too long at first and too short later. Kinds of steps
    that were never measured keep the policy's length.
    """

    def __init__(
        self, context: Context, policy: Policy, recording: Recording, *, blocking: bool
    ) -> None:
        super().__init__(context, policy)
        samples = measure(recording)
        self.samples: Samples = {
            step: samples[step] for step in self.spans if samples.get(step)
        }
        # With blockAdmission an attempt also waits for pods.
        self.windows = windows(recording.attempts)
        self.measures_cycles = not blocking and bool(
            self.windows or samples.get("scheduling_cycle")
        )
        if blocking:
            self.samples.pop("scheduling_cycle", None)

    def draw(self, step: str, subject: str, n: int = 0) -> int:
        """Return how long (ms) this step takes for the subject's draw `n`."""
        if self.measures_cycles and step in _RESULTS:
            return self._cycle(step)
        found = self.samples.get(step)
        if found is None:
            return super().draw(step, subject, n)
        share = streams.uniform(self.context.seed, f"recorded {step}", subject, n)
        near = _nearest(found, self.context.now_ms, NEAREST)
        return near[int(share * len(near))][1]

    def _cycle(self, step: str) -> int:
        """Return how long a cycle takes now.

        A workload that comes to an empty queue waits for one cycle, others for
        more: the shortest wait until a first decision, of those around now.
        After the last arrival, what Kueue's own metrics say.
        """
        now, found = self.context.now_ms, self.samples.get("scheduling_cycle")
        if found and (now <= found[-1][0] + LINGERS_MS or not self.windows):
            if step == "admission":
                return 0
            return min(took for _, took in _nearest(found, now, FIRSTS))
        means = next((w for w in self.windows if now <= w[0]), self.windows[-1])[1]
        if step == "admission":
            return max(0, means["success"] - means["inadmissible"])
        return means["inadmissible"]


def _nearest(
    found: Sequence[tuple[int, int]], now: int, count: int
) -> Sequence[tuple[int, int]]:
    """Return the samples that began nearest to now."""
    middle = bisect_left(found, (now, 0))
    first = max(0, min(middle - count // 2, len(found) - count))
    return found[first : first + count]


def windows(
    attempts: Sequence[tuple[int, Attempts]],
) -> list[tuple[int, dict[str, int]]]:
    """Return (until ms, result -> mean length in ms) between the metrics' instants."""
    found, before = [], Attempts()
    for until, now in attempts:
        means = {}
        for result in _RESULTS.values():
            seconds, count = now.get(result, (0.0, 0))
            past, counted = before.get(result, (0.0, 0))
            if count > counted:
                means[result] = round(1000 * (seconds - past) / (count - counted))
        if means:
            longest = max(means.values())
            found.append((until, {r: means.get(r, longest) for r in _RESULTS.values()}))
        before = now
    return found
