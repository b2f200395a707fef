"""Arrivals to come: hours of the past resampled, by queue and hour of week.

Work comes in bursts of one user at one size, which rates alone would lose. So an hour
to come is an hour that was: of the same hour of the week where the history is
long enough, else of the same hour of another day.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from scheduler.analysis.forecast.arrivals import HOUR_MS
from scheduler.analysis.forecast.run_times import WorkloadProfile

#: Hours that are taken together, as bursts last longer than one.
BLOCK = 24
MOST_DAYS = 35
_DAY = 24


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """What came so far, in order of time. `hour_ms` is an hour of its calendar."""

    hour_ms: float = HOUR_MS
    times: list[int] = field(default_factory=list)
    works: list[WorkloadProfile] = field(default_factory=list)

    def add(self, work: WorkloadProfile) -> None:
        """Take an arrival into account; they come in order of time."""
        self.times.append(work.submit_ms)
        self.works.append(work)

    def future(
        self, random: Random, now_ms: int, until_ms: float
    ) -> Iterator[tuple[int, WorkloadProfile]]:
        """Yield future arrivals after `now_ms`, in order: the time, and the work to copy."""
        if not self.times:
            return
        length = BLOCK * self.hour_ms
        begin = float(now_ms)
        while begin < until_ms:
            back = self._shift(random, begin, begin + length, now_ms)
            if back is None:
                return
            at = bisect_left(self.times, begin - back)
            while at < len(self.times) and self.times[at] < begin + length - back:
                yield max(round(self.times[at] + back), now_ms + 1), self.works[at]
                at += 1
            begin += length

    def _shift(
        self, random: Random, begin: float, end: float, now_ms: int
    ) -> float | None:
        """Return how far back the block to copy lies."""
        day = _DAY * self.hour_ms
        first = -(-(end - now_ms) // day)
        days = [
            day * k
            for k in range(int(first), int(first) + MOST_DAYS)
            if begin - day * k >= self.times[0]
        ]
        if not days:
            span = now_ms - self.times[0]
            if span < 2 * (end - begin):
                return None
            return begin - self.times[0] - random.random() * (span - (end - begin))
        weights = [4.0 if round(back / day) % 7 == 0 else 1.0 for back in days]
        return random.choices(days, weights)[0]
