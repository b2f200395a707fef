"""Admission cycles that wait for pods, and what Kueue's metrics say of cycles."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from scheduler.recorded.recording import Attempts

#: A cycle of more than so many usual ones is several, which had nothing to write.
PATIENCE = 6
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
            return length if length <= PATIENCE * self.usual else self.usual
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
