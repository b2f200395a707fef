"""Forecasts of one cluster corrected by how its earlier ones came out.

What the futures say is pooled with what the last waits in the queue say, each by how
well it did; the pooled band reaches as far as the recent errors did. Both know what was
known at the instant of the forecast, and nothing that came later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from scheduler.analysis.forecast.conformal import LEAST, Conformal, Made
from scheduler.analysis.forecast.given import GivenStart
from scheduler.analysis.forecast.pool import Pool
from scheduler.analysis.forecast.starts import Forecast, corrected_start
from scheduler.analysis.forecast.track_record import PastForecast

#: Who has the greater say: futures of the policy, or the last waits of the queue.
Speaker = Literal["model", "history"]
Quantiles = list[int | None]
#: What is beyond the horizon counts as so many of it.
_BEYOND = 4


class Correction:
    """What the track record says of a forecast that is made at an instant."""

    def __init__(
        self,
        past: Sequence[PastForecast],
        came: Callable[[int, str], int | None],
        now_ms: int,
    ) -> None:
        """Learn from the forecasts before `now_ms`; `came` as `track_record` takes it.

        Cost: O(forecasts x workloads of one x log).
        """
        self._conformal = Conformal()
        self._all, self._pools = Pool(2), defaultdict[str, Pool](lambda: Pool(2))
        self._open: list[
            tuple[int, Made, str | None]
        ] = []  # when it started, its queue
        order = sorted(range(len(past)), key=lambda n: past[n].at_ms)
        for number in order:
            if past[number].at_ms < now_ms:
                self._take(past[number], number, came)
        self._take_in(now_ms)
        self._conformal.learn(now_ms)

    @property
    def judged(self) -> int:
        """Return how many starts it rests on; 0 while there are too few."""
        ended = sum(made.start_ms is not None for made in self._conformal.made)
        return ended if ended >= LEAST else 0

    def of(self, given: GivenStart, horizon_ms: int) -> tuple[Quantiles, Speaker]:
        """Return the corrected quantiles at LEVELS, and which source weighs more."""
        if not self.judged:
            return given.at, "model"
        raw, speaker = self._pooled(_filled(given.at, horizon_ms), given)
        found = self._conformal.corrected(raw)
        return [None if ms > horizon_ms else round(ms) for ms in found], speaker

    def _take(
        self,
        one: PastForecast,
        number: int,
        came: Callable[[int, str], int | None],
    ) -> None:
        self._take_in(one.at_ms)
        self._conformal.follow(one.at_ms)
        weight = 1.0 / max(len(one.starts), 1)
        for given in one.starts:
            model = _filled(given.raw or given.at, one.horizon_ms)
            raw, _ = self._pooled(model, given)
            shown = _filled(given.at, one.horizon_ms)
            made = self._conformal.note(one.at_ms, raw, shown, weight)
            queue = given.queue if given.last_waits else None
            if queue is not None:
                for pool in (self._all, self._pools[queue]):
                    pool.note(made, [model, _whole(given)])
            start = came(number, given.workload)
            if start is not None:
                self._open.append((start, made, queue))

    def _pooled(
        self, model: list[float], given: GivenStart
    ) -> tuple[list[float], Speaker]:
        """Return the mean of both, each by how well it did in the queue, or anywhere."""
        if not given.last_waits:
            return model, "model"
        own = self._pools.get(given.queue, self._all)
        pool = own if own.judged >= LEAST else self._all
        speaker: Speaker = "history" if pool.best() == 1 else "model"
        return pool.mix([model, _whole(given)]), speaker

    def _take_in(self, now_ms: int) -> None:
        """Take in what started until now."""
        for start, made, queue in self._open:
            if start <= now_ms:
                made.start_ms = start
                if queue is not None:
                    self._all.learn(made)
                    self._pools[queue].learn(made)
        self._open = [one for one in self._open if one[0] > now_ms]


def corrected(
    forecast: Forecast, given: Sequence[GivenStart], correction: Correction
) -> tuple[Forecast, list[GivenStart]]:
    """Return both as the track record corrects them."""
    if not correction.judged:
        return forecast, list(given)
    starts, shown = {one.workload: one for one in forecast.starts}, []
    for one in given:
        at, speaks = correction.of(one, forecast.horizon_ms)
        shown.append(msgspec.structs.replace(one, at=at, raw=one.at))
        starts[one.workload] = corrected_start(starts[one.workload], at, speaks)
    by = correction.judged
    changed = [starts[one.workload] for one in forecast.starts]
    return msgspec.structs.replace(forecast, starts=changed, corrected_by=by), shown


def _whole(given: GivenStart) -> list[float]:
    return [float(ms) for ms in given.last_waits]


def _filled(at: Sequence[int | None], horizon_ms: int) -> list[float]:
    return [float(_BEYOND * horizon_ms if ms is None else ms) for ms in at]
