"""A track record: what was forecast at past instants, scored against what came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

import msgspec

from scheduler.analysis.forecast.present import GivenStart
from scheduler.analysis.forecast.scores import LEAST, LEVELS, Conformal, Made, crps
from scheduler.analysis.forecast.starts import Forecast, corrected_start

#: With fewer forecasts whose outcome is known a record says "not enough history".
LEAST_JUDGED = 20

_HALF = (LEVELS.index(0.25), LEVELS.index(0.75))
_NINETY = (LEVELS.index(0.05), LEVELS.index(0.95))
_MIDDLE = LEVELS.index(0.5)


class PastForecast(msgspec.Struct, frozen=True, kw_only=True):
    """A forecast that was made: from when, how far, of which workloads."""

    at_ms: int
    horizon_ms: int
    known_ms: int  # until when what came of it is known
    starts: Sequence[GivenStart]


class TrackRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How past forecasts came out; None where nothing is judged yet."""

    forecasts: int  # instants
    judged: int  # starts whose outcome is known
    open: int  # that are not known yet
    enough: bool  # judged to go by
    coverage50: float | None  # share within the band from p25 to p75
    coverage90: float | None  # from p5 to p95
    median_error_ms: int | None  # of the medians
    crps_s: float | None
    last_waits_s: float | None  # CRPS of the last waits in the same queue
    bound_s: float | None  # of the binomial bound on them (QBETS)


class _Judged(msgspec.Struct, frozen=True, kw_only=True):
    inside: tuple[bool, bool]  # of the 50% and the 90% band
    error_ms: int | None  # None where the median was beyond the horizon
    crps: float
    baselines: tuple[float, float] | None


def track_record(
    past: Sequence[PastForecast], came: Callable[[int, str], int | None]
) -> TrackRecord:
    """Score forecasts by what came.

    `came` gets the number of a forecast and a workload, and returns when (ms) it
    started after it; None = not yet. What has not started counts as soon as its p95
    or the horizon has passed. Times are cut off at the horizon for the CRPS, the
    baselines' too, which is of the starts that have a baseline.
    """
    judged: list[_Judged] = []
    still = 0
    for number, one in enumerate(past):
        for given in one.starts:
            found = _judge(one, given, came(number, given.workload))
            if found is None:
                still += 1
            else:
                judged.append(found)
    return _record(len(past), judged, still)


def _judge(
    one: PastForecast, given: GivenStart, start_ms: int | None
) -> _Judged | None:
    horizon = one.horizon_ms
    at = [horizon if ms is None else min(ms, horizon) for ms in given.at]
    rest = (one.known_ms if start_ms is None else start_ms) - one.at_ms
    if start_ms is None and rest < at[_NINETY[1]]:
        return None
    within = [_inside(given.at, band, rest, horizon) for band in (_HALF, _NINETY)]
    cut = min(max(rest, 0), horizon)
    middle = given.at[_MIDDLE]
    pairs = [given.last_waits, given.bound]
    return _Judged(
        inside=(within[0], within[1]),
        error_ms=None if middle is None else abs(cut - middle),
        crps=crps(at, cut),
        baselines=None if not all(pairs) else _pair(pairs, cut, horizon),
    )


def _inside(
    at: Sequence[int | None], band: tuple[int, int], rest: int, horizon: int
) -> bool:
    """Return whether it came within a band; a side beyond the horizon is open."""
    low, high = at[band[0]], at[band[1]]
    if low is None:
        return rest >= horizon
    return low <= rest and (high is None or rest <= high)


def _pair(
    baselines: Sequence[Sequence[int]], cut: int, horizon: int
) -> tuple[float, float]:
    first, second = (
        crps([min(ms, horizon) for ms in given], cut) for given in baselines
    )
    return first, second


def _record(forecasts: int, judged: Sequence[_Judged], still: int) -> TrackRecord:
    errors = [one.error_ms for one in judged if one.error_ms is not None]
    against = [one.baselines for one in judged if one.baselines is not None]
    return TrackRecord(
        forecasts=forecasts,
        judged=len(judged),
        open=still,
        enough=len(judged) >= LEAST_JUDGED,
        coverage50=_mean([one.inside[0] for one in judged]),
        coverage90=_mean([one.inside[1] for one in judged]),
        median_error_ms=round(median(errors)) if errors else None,
        crps_s=_seconds([one.crps for one in judged]),
        last_waits_s=_seconds([one[0] for one in against]),
        bound_s=_seconds([one[1] for one in against]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _seconds(values: Sequence[float]) -> float | None:
    mean = _mean(values)
    return None if mean is None else mean / 1000


# ------------------------------------------------------------------------
# Forecasts of one cluster corrected by how its earlier ones came out.


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
        self, one: PastForecast, number: int, came: Callable[[int, str], int | None]
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


# ------------------------------------------------------------------------
# Several models in one forecast: each counts by how well it did so far.

#: The better a model, the more it counts: its mean CRPS to this power.
POWER = 4
_FADE = 0.995
_START_MS = 1000.0


class Pool:
    """The mean quantiles of some models, weighted by their recent CRPS."""

    def __init__(self, models: int) -> None:
        self._losses = [_START_MS] * models
        self.judged = 0
        self._open: dict[int, list[list[float]]] = {}

    def mix(self, parts: Sequence[Sequence[float]]) -> list[float]:
        """Return the quantiles of the pool: the weighted mean at each level."""
        weights = [loss**-POWER for loss in self._losses]
        total = sum(weights)
        return [
            sum(w * v for w, v in zip(weights, values, strict=True)) / total
            for values in zip(*parts, strict=True)
        ]

    def best(self) -> int:
        """Return the number of the model that counts most."""
        return min(range(len(self._losses)), key=lambda n: self._losses[n])

    def note(self, made: Made, parts: Sequence[Sequence[float]]) -> None:
        """Remember what each model said."""
        self._open[id(made)] = [list(part) for part in parts]

    def learn(self, made: Made) -> None:
        """Take in how each model did in a forecast whose start is known."""
        parts = self._open.pop(id(made))
        if made.start_ms is None or len(parts) < 2:
            return
        self.judged += 1
        came = made.start_ms - made.at_ms
        for number, part in enumerate(parts):
            loss = self._losses[number] * _FADE + made.weight * crps(part, came)
            self._losses[number] = loss
