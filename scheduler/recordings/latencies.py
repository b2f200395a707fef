"""Measured steps as the times of a run: a step takes what it took around then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler import streams
from scheduler.latencies import StepTimes
from scheduler.recordings.recording import Attempts, Recording
from scheduler.recordings.steps import Samples, measure
from scheduler.records.policy import Policy
from scheduler.stage import Context

#: Of how many measured steps, the nearest in time, one is drawn.
NEAREST = 15
FIRSTS = 21  # first decisions, of which the quickest tells a cycle's length
MOST = 2.5  # times the shortest wait: it was one whole cycle at least
_GRID_MS = 1000
_CYCLE = ("scheduling_cycle", "admission")


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
        # With blockAdmission a decision also waits for pods.
        self.measures_cycles = "scheduling_cycle" in self.samples and not blocking
        if not self.measures_cycles:
            self.samples.pop("scheduling_cycle", None)
            self.windows = []
        else:
            firsts = self.samples["scheduling_cycle"]
            self.windows = windows(firsts, recording.attempts)

    def draw(self, step: str, subject: str, n: int = 0) -> int:
        """Return how long (ms) this step takes for the subject's draw `n`."""
        if self.measures_cycles and step in _CYCLE:
            return self._cycle(step)
        found = self.samples.get(step)
        if found is None:
            return super().draw(step, subject, n)
        share = streams.uniform(self.context.seed, f"recorded {step}", subject, n)
        near = _nearest(found, self.context.now_ms, NEAREST)
        return near[int(share * len(near))][1]

    def _cycle(self, step: str) -> int:
        """Return how long a cycle takes now; what follows an admission is in it."""
        if step == "admission":
            return 0
        found = self.samples["scheduling_cycle"]
        return cycle_length(found, self.windows, self.context.now_ms)


def _nearest(
    found: Sequence[tuple[int, int]], now: int, count: int
) -> Sequence[tuple[int, int]]:
    """Return the samples that began nearest to now."""
    middle = bisect_left(found, (now, 0))
    first = max(0, min(middle - count // 2, len(found) - count))
    return found[first : first + count]


def cycle_length(
    firsts: Sequence[tuple[int, int]], windows: Sequence[Window], now: int
) -> int:
    """Return how long (ms) a cycle takes now.

    A workload that comes to an empty queue waits for one cycle, others for more:
    the shortest wait until a first decision, of those around now, in the measure
    of the window.
    """
    window = next((w for w in windows if now <= w.until), None)
    return round(_shortest(firsts, now) * (1.0 if window is None else window.factor))


def _shortest(firsts: Sequence[tuple[int, int]], now: int) -> int:
    return min(took for _, took in _nearest(firsts, now, FIRSTS))


@dataclass(frozen=True, slots=True)
class Window:
    """What Kueue's metrics say of the cycles until an instant (ms)."""

    until: int
    factor: float  # a cycle's length as a part of the shortest wait


def windows(
    firsts: Sequence[tuple[int, int]], attempts: Sequence[tuple[int, Attempts]]
) -> list[Window]:
    """Return the windows between the metrics' instants.

    The factor is such that as many cycles fit into the time that they took
    together as there were.
    """
    found, begin, before = [], 0, Attempts()
    for until, now in attempts:
        seconds, count = _since(before, now)
        if count:
            busy = min(1.0, 1000 * seconds / (until - begin))
            instants = range(begin, until, _GRID_MS)
            fit = sum(_GRID_MS / max(1, _shortest(firsts, at)) for at in instants)
            found.append(Window(until, min(MOST, busy * fit / count)))
        begin, before = until, now
    return found


def _since(before: Attempts, now: Attempts) -> tuple[float, int]:
    """Return the seconds and the number of attempts between two readings."""
    seconds = sum(s for s, _ in now.values()) - sum(s for s, _ in before.values())
    count = sum(n for _, n in now.values()) - sum(n for _, n in before.values())
    return seconds, count
