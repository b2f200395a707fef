"""When workloads start, as bands: p10, p50, p90, and the chance to start within a time."""

from __future__ import annotations

import msgspec

from scheduler.forecast.scores import quantiles

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


class Forecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When each waiting workload starts, and what that rests on."""

    tick: int
    now_ms: int
    seed: str
    asked: int  # futures
    futures: int  # that were run to their end: fewer than asked when time ran out
    horizon_ms: int
    finished: int  # workloads that run times are compared with
    enough: bool  # of them, to go by
    starts: list[StartForecast]


def start_forecast(
    workload: str,
    queue: str,
    starts: list[int],
    *,
    futures: int,
    horizon_ms: int,
    basis: str,
) -> StartForecast:
    """Return the band of a workload that started so late (ms) in some of the futures."""
    ordered = [*map(float, sorted(starts))]
    beyond = [float("inf")] * (futures - len(starts))
    low, middle, high = map(_whole, _quantiles([*ordered, *beyond]))
    within = [*(ms for ms in WITHIN_MS if ms < horizon_ms), horizon_ms]
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
    )


def text_of(found: Forecast) -> str:
    """Return a forecast for people: a line of what it rests on, a line per workload."""
    enough = "" if found.enough else ", not enough history"
    few = found.starts and found.futures < found.asked
    asked = f" of {found.asked}, time ran out" if few else ""
    head = (
        f"at {found.now_ms / 1000:.0f} s: {len(found.starts)} wait; {found.futures} "
        f"futures{asked}, run times like {found.finished} that finished{enough}\n"
    )
    return head + "".join(map(_line, found.starts))


def _line(one: StartForecast) -> str:
    low, middle, high = map(_span, (one.p10_ms, one.p50_ms, one.p90_ms))
    return (
        f"{one.workload} in {one.queue}: starts in {low} to {high}, "
        f"likely {middle} ({one.basis})\n"
    )


def _span(value_ms: int | None) -> str:
    return "more than the horizon" if value_ms is None else f"{value_ms / 1000:.0f} s"


def _quantiles(ordered: list[float]) -> list[float]:
    """Return p10, p50, p90; infinite where the futures next to it are."""
    largest = 1e18
    capped = [min(value, largest) for value in ordered]
    return quantiles(capped, _BAND) if capped else [largest] * len(_BAND)


def _whole(value: float) -> int | None:
    return None if value > 1e14 else round(value)
