"""How long Kueue's scheduler took to write what it decided."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from scheduler.recorded.cycles import Readings, since
from scheduler.recorded.steps import Job, Writes

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
