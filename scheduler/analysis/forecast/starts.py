"""When workloads start, as bands: p10, p50, p90, and the chance to start within a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from scheduler.analysis.forecast.present import CurveBands
from scheduler.analysis.forecast.scores import LEVELS, quantiles

WITHIN_MS = (60_000, 300_000, 900_000, 3_600_000)
_BAND = (0.1, 0.5, 0.9)


class StartChance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How likely it is that a workload starts within a time."""

    within_ms: int
    chance: float


class StartForecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When one workload starts, in virtual ms from now; None is beyond the horizon."""

    workload: str
    queue: str
    p10_ms: int | None
    p50_ms: int | None
    p90_ms: int | None
    chances: list[StartChance]  # none beyond the horizon; the last is the horizon's
    basis: str  # which finished work its own run time is compared with
    message: str = ""  # of a submission that no future lets in: what it waits for
    last_waits_ms: int | None = None  # median, as the last waits in its queue were
    bound_ms: int | None = None  # QBETS: with 95% confidence 95% of them are below
    speaks: Literal["model", "history"] = "model"  # who has more say in the band


class Forecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When each waiting workload starts, and what that rests on."""

    tick: int
    now_ms: int
    seed: str
    asked: int  # futures
    futures: int  # that were run to their end: fewer than asked when time ran out
    horizon_ms: int
    finished: int  # workloads that run times are compared with
    arrivals: Literal["known", "continued"]  # nothing else comes, or as it came
    came: int  # batches of the past that arrivals are continued by; 0 when known
    enough: bool  # history to go by; without it the bands are guesses
    starts: list[StartForecast]
    corrected_by: int = 0  # earlier starts that correct the bands; 0 = none
    revision: int = 0  # of the sandbox: two edits of one tick differ in it
    curves: CurveBands = CurveBands()  # shares and utilisation on the way


class SubmissionForecast(Forecast, frozen=True, kw_only=True, rename="camel"):
    """When work would start that does not exist yet: one of `starts` per queue.

    They are in order, the soonest first; `queue` is the LocalQueue with its namespace.
    Each queue has futures of its own, so there are no `curves`.
    """

    soonest: str | None  # by its median; None when no future lets it in


def start_forecast(
    workload: str,
    queue: str,
    starts: list[int],
    *,
    futures: int,
    horizon_ms: int,
    basis: str,
    within_ms: Sequence[int] = (),
    message: str = "",
    baselines: tuple[int, int] | None = None,
) -> StartForecast:
    """Return the band of a workload that started so late (ms) in some of the futures.

    `within_ms` are times to give the chance of beside the usual ones; `baselines`
    the median of the last waits, and the bound on them.
    """
    last, bound = baselines or (None, None)
    ordered = [*map(float, sorted(starts))]
    beyond = [float("inf")] * (futures - len(starts))
    low, middle, high = map(_whole, _quantiles([*ordered, *beyond]))
    asked = {ms for ms in (*WITHIN_MS, *within_ms) if ms < horizon_ms}
    within = [*sorted(asked), horizon_ms]
    return StartForecast(
        workload=workload,
        queue=queue,
        p10_ms=low,
        p50_ms=middle,
        p90_ms=high,
        chances=[
            StartChance(
                within_ms=ms, chance=sum(at <= ms for at in starts) / max(futures, 1)
            )
            for ms in within
        ],
        basis=basis,
        message=message,
        last_waits_ms=last,
        bound_ms=bound,
    )


def corrected_start(
    start: StartForecast, at: Sequence[int | None], speaks: Literal["model", "history"]
) -> StartForecast:
    """Return the forecast with corrected quantiles at LEVELS, its chances by them."""
    low, middle, high = (at[LEVELS.index(level)] for level in _BAND)
    chances = [
        msgspec.structs.replace(one, chance=_chance(at, one.within_ms))
        for one in start.chances
    ]
    return msgspec.structs.replace(
        start, p10_ms=low, p50_ms=middle, p90_ms=high, chances=chances, speaks=speaks
    )


def _chance(at: Sequence[int | None], within_ms: int) -> float:
    """Return the share below a time, between levels by interpolation."""
    known = [
        (0.0, 0),
        *((k, ms) for k, ms in zip(LEVELS, at, strict=True) if ms is not None),
    ]
    below = [(level, ms) for level, ms in known if ms <= within_ms]
    above = next(((level, ms) for level, ms in known if ms > within_ms), None)
    level, ms = below[-1]
    if above is None:
        return level if len(below) <= len(LEVELS) else 1.0
    return level + (above[0] - level) * (within_ms - ms) / (above[1] - ms)


def text_of(found: Forecast) -> str:
    """Return a forecast for people: a line of what it rests on, a line per workload."""
    head = f"at {found.now_ms / 1000:.0f} s: {len(found.starts)} wait; {_rests(found)}"
    return head + "".join(_line(one, found) for one in found.starts)


def submission_text_of(found: SubmissionForecast) -> str:
    """Return a forecast of a submission for people: the queues, the soonest first."""
    head = f"submitted at {found.now_ms / 1000:.0f} s: {_rests(found)}"
    lines = "".join(_line(one, found) for one in found.starts)
    last = f"soonest in {found.soonest}" if found.soonest else "not within the horizon"
    return f"{head}{lines}{last}\n"


def _rests(found: Forecast) -> str:
    enough = "" if found.enough else ", not enough history: the times are guesses"
    few = found.starts and found.futures < found.asked
    asked = f" of {found.asked}, time ran out" if few else ""
    come = "nothing else comes"
    if found.arrivals == "continued":
        come = f"arrivals go on like {found.came} of the past"
    return (
        f"{found.futures} futures{asked}, run times like {found.finished} that "
        f"finished, {come}{enough}\n"
    )


def _line(one: StartForecast, found: Forecast) -> str:
    low, middle, high = map(_span, (one.p10_ms, one.p50_ms, one.p90_ms))
    if not found.enough:
        return f"{one.workload} in {one.queue}: a guess, {low} to {high}{_why(one)}\n"
    last = one.chances[-1]
    return (
        f"{one.workload} in {one.queue}: starts in {low} to {high}, likely {middle}, "
        f"{last.chance:.0%} within {_span(last.within_ms)} ({one.basis}){_why(one)}\n"
    )


def _why(one: StartForecast) -> str:
    return f": {one.message}" if one.message else ""


def _span(value_ms: int | None) -> str:
    return "more than the horizon" if value_ms is None else f"{value_ms / 1000:.0f} s"


def _quantiles(ordered: list[float]) -> list[float]:
    """Return p10, p50, p90; infinite where the futures next to it are."""
    largest = 1e18
    capped = [min(value, largest) for value in ordered]
    return quantiles(capped, _BAND) if capped else [largest] * len(_BAND)


def _whole(value: float) -> int | None:
    return None if value > 1e14 else round(value)
