"""A track record: what was forecast at past instants, scored against what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from scheduler.analysis.forecast.given import GivenStart
from scheduler.analysis.forecast.scores import LEVELS, crps

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
    past: Sequence[PastForecast],
    came: Callable[[int, str], int | None],
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
