"""Forecasts corrected by their own recent errors, so that bands hold what they say.

Two corrections, both online: quantiles move by the quantile of the recent errors in
logarithms (conformal; what still waits counts as longer than it waited), and the level
at which errors are read follows the share of hits (adaptive conformal inference).
Sources: Romano, Patterson and Candès, Conformalized Quantile Regression, 2019,
<https://arxiv.org/abs/1905.03222>; Gibbs and Candès, Adaptive Conformal Inference
Under Distribution Shift, 2021, <https://arxiv.org/abs/2106.00170>
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.forecast.scores import LEVELS

#: Errors below it count alike: nobody waits for the second.
GRAIN_MS = 60_000.0
MOST = 600
#: With fewer forecasts nothing is corrected, and a record says "not enough history".
LEAST = 20
DOUBT = 10.0
FADE = 0.997
#: A correction is at most this factor (a logarithm).
MOST_SHIFT = 1.0
STEP = 0.05
MOST_LEVEL_SHIFT = 0.3


@dataclass(slots=True)
class Made:
    """A forecast that was made: as quantiles at LEVELS, of the rest of the wait."""

    at_ms: int
    weight: float
    logs: list[float]
    given: list[float]
    start_ms: int | None = None  # when it came
    judged: int = 0  # so many of its levels, in order of their ends


@dataclass(slots=True)
class Conformal:
    """The recent forecasts and how they came out."""

    made: deque[Made] = field(default_factory=lambda: deque(maxlen=MOST))
    shifts: list[float] = field(default_factory=lambda: [0.0] * len(LEVELS))
    _open: list[Made] = field(default_factory=list)
    _corrections: list[float] | None = None

    def corrected(self, raw: Sequence[float]) -> list[float]:
        """Return the quantiles (ms from now) as the recent errors correct them."""
        by = self._corrections or [0.0] * len(LEVELS)
        moved = sorted(
            _log(value) + shift for value, shift in zip(raw, by, strict=True)
        )
        return [max(math.exp(value) - GRAIN_MS, 0.0) for value in moved]

    def note(
        self, now_ms: int, raw: Sequence[float], given: Sequence[float], weight: float
    ) -> Made:
        """Remember a forecast; set `start_ms` of what is returned when it is known."""
        made = Made(now_ms, weight, [_log(value) for value in raw], list(given))
        self.made.append(made)
        self._open.append(made)
        return made

    def learn(self, now_ms: int) -> None:
        """Take in what came until now. Cost: O(MOST x levels)."""
        self._follow(now_ms)
        known = list(self.made)
        if len(known) < LEAST:
            return
        weights = [made.weight * FADE**age for age, made in enumerate(reversed(known))][
            ::-1
        ]
        came = [_came(made, now_ms) for made in known]
        trust = len(known) / (len(known) + DOUBT)
        self._corrections = [
            _clamp(
                trust
                * _error_at(
                    [
                        (log - made.logs[k], ended, weight)
                        for (log, ended), made, weight in zip(
                            came, known, weights, strict=True
                        )
                    ],
                    min(max(level + self.shifts[k], 0.01), 0.99),
                ),
                MOST_SHIFT,
            )
            for k, level in enumerate(LEVELS)
        ]

    def _follow(self, now_ms: int) -> None:
        """Judge each level when it is known: when it came, or the quantile has passed."""
        for made in self._open:
            rest = math.inf if made.start_ms is None else made.start_ms - made.at_ms
            while made.judged < len(LEVELS):
                k = made.judged
                hit = rest <= made.given[k]
                if made.at_ms + min(rest, made.given[k]) > now_ms:
                    break
                step = STEP * made.weight * (LEVELS[k] - hit)
                self.shifts[k] = _clamp(self.shifts[k] + step, MOST_LEVEL_SHIFT)
                made.judged += 1
        self._open = [made for made in self._open if made.judged < len(LEVELS)]


def _came(made: Made, now_ms: int) -> tuple[float, bool]:
    """Return the logarithm of the rest of the wait, and whether that was all of it."""
    if made.start_ms is None:
        return _log(now_ms - made.at_ms), False
    return _log(made.start_ms - made.at_ms), True


def _error_at(errors: list[tuple[float, bool, float]], level: float) -> float:
    """Return a quantile of errors of which some are only known to be larger.

    Source: Kaplan and Meier, Nonparametric Estimation from Incomplete
    Observations, 1958, <https://doi.org/10.2307/2281868>
    """
    errors.sort()
    right = sum(weight for _, _, weight in errors)
    beyond = 1.0
    for error, ended, weight in errors:
        if ended:
            beyond *= 1.0 - weight / right
            if 1.0 - beyond >= level:
                return error
        right -= weight
        if right <= 1e-12:
            break
    return errors[-1][0]


def _log(value: float) -> float:
    return math.log(max(value, 0.0) + GRAIN_MS)


def _clamp(value: float, most: float) -> float:
    return min(max(value, -most), most)
