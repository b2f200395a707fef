"""Forecasts of a cluster corrected by how its earlier ones came out."""

from __future__ import annotations

from random import Random

from scheduler.analysis.forecast.present import GivenStart
from scheduler.analysis.forecast.scores import LEAST, LEVELS, crps, quantiles
from scheduler.analysis.forecast.starts import (
    StartChance,
    StartForecast,
    corrected_start,
)
from scheduler.analysis.forecast.track_record import Correction, PastForecast

MINUTE = 60_000
HORIZON = 10 * 60 * MINUTE
EVERY = 5 * MINUTE
MODEL = [round(ms) for ms in quantiles([m * MINUTE for m in range(10, 16)])]
WAITS = [round(ms) for ms in quantiles([m * MINUTE for m in range(20, 61)])]


def given(number: int, at: list[int | None]) -> GivenStart:
    return GivenStart(
        workload=f"Workload/ns/w{number}",
        queue="ns/main",
        at=at,
        last_waits=WAITS,
        bound=[],
        raw=list(MODEL),
    )


def played(
    count: int, wait: tuple[float, float], corrected_from: int = 0
) -> list[tuple[list[int | None], int]]:
    """Forecast every five minutes what a model says; return what was shown, what came."""
    random, found = Random(7), []
    past: list[PastForecast] = []
    came: dict[int, int] = {}
    for number in range(count):
        now = number * EVERY
        at: list[int | None] = list(MODEL)
        if number >= corrected_from:
            correction = Correction(past, lambda n, _: came[n], now)
            at, _ = correction.of(given(number, list(MODEL)), HORIZON)
        rest = round(random.uniform(*wait) * MINUTE)
        came[number] = now + rest
        past.append(
            PastForecast(
                at_ms=now, horizon_ms=HORIZON, known_ms=now, starts=[given(number, at)]
            )
        )
        found.append((at, rest))
    return found


def coverage(found: list[tuple[list[int | None], int]]) -> float:
    low, high = LEVELS.index(0.05), LEVELS.index(0.95)
    inside = [(at[low] or 0) <= rest <= (at[high] or HORIZON) for at, rest in found]
    return sum(inside) / len(inside)


def test_too_few_that_came_correct_nothing():
    shown = [at for at, _ in played(LEAST // 2, (20, 60))]
    assert all(at == MODEL for at in shown)


def test_bands_that_were_too_narrow_reach_as_far_as_what_came():
    found = played(210, (20, 60), 150)
    assert coverage([(list(MODEL), rest) for _, rest in found]) < 0.1
    assert coverage(found[150:]) >= 0.85


def test_where_the_model_adds_nothing_history_speaks_and_the_score_is_no_worse():
    found = played(210, (20, 60), 150)
    late = found[150:]
    ours = sum(crps([float(ms or HORIZON) for ms in at], rest) for at, rest in late)
    history = sum(crps([float(ms) for ms in WAITS], rest) for _, rest in late)
    assert ours <= 1.1 * history
    came = {n: n * EVERY + rest for n, (_, rest) in enumerate(found)}
    past = [
        PastForecast(
            at_ms=n * EVERY,
            horizon_ms=HORIZON,
            known_ms=0,
            starts=[given(n, list(MODEL))],
        )
        for n in range(100)
    ]
    correction = Correction(past, lambda n, _: came[n], 140 * EVERY)
    assert correction.of(given(0, list(MODEL)), HORIZON)[1] == "history"


def test_a_model_that_knows_speaks():
    past = [
        PastForecast(
            at_ms=n * EVERY,
            horizon_ms=HORIZON,
            known_ms=0,
            starts=[given(n, list(MODEL))],
        )
        for n in range(100)
    ]
    correction = Correction(past, lambda n, _: n * EVERY + 12 * MINUTE, 120 * EVERY)
    assert correction.of(given(0, list(MODEL)), HORIZON)[1] == "model"


def test_what_came_after_the_instant_of_a_forecast_does_not_correct_it():
    past = [
        PastForecast(
            at_ms=n, horizon_ms=HORIZON, known_ms=0, starts=[given(n, list(MODEL))]
        )
        for n in range(100)
    ]
    correction = Correction(past, lambda n, _: 50 * MINUTE, 1_000)
    assert correction.judged == 0
    assert correction.of(given(0, list(MODEL)), HORIZON) == (MODEL, "model")


def test_chances_follow_the_corrected_band():
    chances = [
        StartChance(within_ms=ms, chance=1.0)
        for ms in (10 * MINUTE, 40 * MINUTE, HORIZON)
    ]
    start = StartForecast(
        workload="w", queue="q", p10_ms=1, p50_ms=2, p90_ms=3, chances=chances, basis=""
    )
    found = corrected_start(start, WAITS, "history")
    assert found.p50_ms == 40 * MINUTE
    assert [round(one.chance, 1) for one in found.chances] == [0.0, 0.5, 1.0]
    assert found.speaks == "history"
