"""A backtest: forecast at past instants, correct by what came since, score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scheduler.analysis.forecast.backtest.instants import instants_of, wanted_of
from scheduler.analysis.forecast.backtest.log import Log
from scheduler.analysis.forecast.backtest.models import Model
from scheduler.analysis.forecast.backtest.past import Past
from scheduler.analysis.forecast.baselines import binomial_bound, last_waits
from scheduler.analysis.forecast.conformal import Conformal, Made
from scheduler.analysis.forecast.pool import Pool
from scheduler.analysis.forecast.scores import LEVELS, crps, pinball

_BANDS = {50: (0.25, 0.75), 90: (0.05, 0.95)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One forecast and what came: times in ms from `at_ms`."""

    at_ms: int
    ident: int
    came_ms: int
    given: Sequence[float]  # at LEVELS
    raw: Sequence[float]  # before its correction
    baselines: tuple[float, float]  # their CRPS, ms

    def inside(self, band: int) -> bool:
        """Return whether the outcome lies within the band of a given percentage."""
        low, high = _BANDS[band]
        return (
            self.given[LEVELS.index(low)]
            <= self.came_ms
            <= self.given[LEVELS.index(high)]
        )


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The scores of a backtest; its text is the command's closing line."""

    scored: list[Scored] = field(default_factory=list)

    def coverage(self, band: int) -> float:
        """Return the share that came within the band."""
        return _mean(scored.inside(band) for scored in self.scored)

    def crps_s(self) -> float:
        """Return the mean CRPS in seconds."""
        return _mean(crps(one.given, one.came_ms) for one in self.scored) / 1000

    def raw_crps_s(self) -> float:
        """Return the mean CRPS of the forecasts before their correction."""
        return _mean(crps(one.raw, one.came_ms) for one in self.scored) / 1000

    def pinball_s(self, level: float) -> float:
        """Return the mean pinball loss of one quantile in seconds."""
        at = LEVELS.index(level)
        losses = (pinball(level, one.given[at], one.came_ms) for one in self.scored)
        return _mean(losses) / 1000

    def baseline_s(self, number: int) -> float:
        """Return the mean CRPS of the last waits (0) or the binomial bound (1)."""
        return _mean(one.baselines[number] for one in self.scored) / 1000

    def __str__(self) -> str:
        return (
            f"coverage50 {self.coverage(50):.3f}, coverage90 {self.coverage(90):.3f}, "
            f"crps {self.crps_s():.1f}, "
            f"baselines {self.baseline_s(0):.1f} {self.baseline_s(1):.1f}"
        )


def backtest(
    log: Log,
    models: Sequence[Model],
    *,
    instants: int,
    seed: int,
) -> BacktestResult:
    """Forecast at several instants of `log` with the knowledge of that time, and score.

    Several models are pooled by how well each did so far.
    """
    times = instants_of(log, instants, seed)
    return BacktestResult(list(_walk(log, times, models, seed)))


def _walk(
    log: Log,
    times: Sequence[int],
    models: Sequence[Model],
    seed: int,
) -> Iterator[Scored]:
    past, conformal, pool = Past(log), Conformal(), Pool(len(models))
    open_: dict[int, list[Made]] = {}
    for now in times:
        for ident in past.advance(now):
            for made in open_.pop(ident, ()):
                made.start_ms = log.starts[ident]
                pool.learn(made)
        conformal.learn(now)
        wanted = wanted_of(list(past.waiting), now, seed)
        found = [model(past, wanted) for model in models]
        for ident in wanted:
            parts = [rests[ident] for rests in found]
            raw = pool.mix(parts)
            given = conformal.corrected(raw)
            made = conformal.note(now, raw, given, 1.0 / len(wanted))
            pool.note(made, parts)
            open_.setdefault(ident, []).append(made)
            yield _scored(past, ident, raw, given)


def _scored(
    past: Past, ident: int, raw: Sequence[float], given: Sequence[float]
) -> Scored:
    work = past.log.works[ident]
    waits, age = past.waits[work.queue], past.now_ms - work.submit_ms
    came = past.log.starts[ident] - past.now_ms
    return Scored(
        at_ms=past.now_ms,
        ident=ident,
        came_ms=came,
        given=given,
        raw=raw,
        baselines=(
            crps(last_waits(waits, age), came),
            crps(binomial_bound(waits, age), came),
        ),
    )


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
