"""How long admission cycles took, from what was written and from Kueue's metrics."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.recordings.recording import Attempts

FIRSTS = 21  # first decisions, of which the quickest tells a cycle's length
MOST = 2.5  # times the shortest wait: it was one whole cycle at least
#: A cycle of more than so many usual ones is several, which had nothing to write.
PATIENCE = 6
_GRID_MS = 1000
#: Of one cycle (ms); the shortest that gives as many cycles as the metrics count.
_GAPS = (50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2500)
_NEVER = 1 << 60
Queue = tuple[str, str]  # namespace and name of the LocalQueue
Readings = Sequence[tuple[int, Attempts]]  # metrics by some instants (ms)


class CycleClock:
    """Lets each cycle last until the recorded scheduler wrote its next verdicts.

    `decided` is when (ms) it wrote one, and of whose queue; `firsts` when a
    workload came and how long it waited for its first.
    """

    def __init__(
        self,
        decided: Sequence[tuple[int, Queue]],
        firsts: Sequence[tuple[int, int]],
        readings: Readings,
    ) -> None:
        self.firsts = firsts
        self.ends = cycle_ends(decided, readings)
        self.windows = windows(firsts, readings)

    def length(self, now: int) -> int:
        """Return how long (ms) a cycle takes that begins now.

        Where nothing was written for long, the usual length of then.
        """
        usual = cycle_length(self.firsts, self.windows, now)
        following = bisect_left(self.ends, now + usual // 2)
        if following < len(self.ends):
            length = self.ends[following] - now
            return length if length <= PATIENCE * usual else usual
        return usual


def cycle_ends(decided: Sequence[tuple[int, Queue]], readings: Readings) -> list[int]:
    """Return when (ms) each cycle wrote its first verdict.

    A cycle writes one verdict per queue, with gaps between them that are longer
    the busier the API server is: as long as makes the cycles no more than the
    metrics count.
    """
    found: list[int] = []
    begin, before = -1, Attempts()
    for until, now in [*readings, (_NEVER, None)]:
        part = [(at, queue) for at, queue in decided if begin <= at < until]
        count = len(part) if now is None else _since(before, now)[1]
        found += next(
            (ends for gap in _GAPS if len(ends := _grouped(part, gap)) <= count),
            _grouped(part, _GAPS[-1]),
        )
        begin, before = until, now or before
    return found


def _grouped(decided: Sequence[tuple[int, Queue]], gap: int) -> list[int]:
    """Return the first instants of groups: one verdict per queue, no long gap."""
    found: list[int] = []
    queues: set[Queue] = set()
    last = -_NEVER
    for at, queue in decided:
        if queue in queues or at - last > gap:
            queues = set()
            found.append(at)
        queues.add(queue)
        last = at
    return found


def cycle_length(
    firsts: Sequence[tuple[int, int]], windows: Sequence[Window], now: int
) -> int:
    """Return how long (ms) a cycle usually takes now.

    A workload that comes to an empty queue waits for one cycle, others for more:
    the shortest wait until a first decision, of those around now, in the measure
    of the window.
    """
    window = next((w for w in windows if now <= w.until), None)
    return round(_shortest(firsts, now) * (1.0 if window is None else window.factor))


def nearest(
    found: Sequence[tuple[int, int]], now: int, count: int
) -> Sequence[tuple[int, int]]:
    """Return the samples that began nearest to now."""
    middle = bisect_left(found, (now, 0))
    first = max(0, min(middle - count // 2, len(found) - count))
    return found[first : first + count]


def _shortest(firsts: Sequence[tuple[int, int]], now: int) -> int:
    return min(took for _, took in nearest(firsts, now, FIRSTS))


@dataclass(frozen=True, slots=True)
class Window:
    """What Kueue's metrics say of the cycles until an instant (ms)."""

    until: int
    factor: float  # a cycle's length as a part of the shortest wait


def windows(firsts: Sequence[tuple[int, int]], readings: Readings) -> list[Window]:
    """Return the windows between the metrics' instants.

    The factor is such that as many cycles fit into the time that they took
    together as there were.
    """
    found, begin, before = [], 0, Attempts()
    for until, now in readings:
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
