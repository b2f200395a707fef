"""Scores of forecasts against what came: coverage, pinball loss, CRPS."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

#: Every forecast is scored at the same levels, whatever it is made of.
LEVELS = tuple(k / 40 for k in range(1, 40))


def quantiles(
    ordered: Sequence[float], levels: Sequence[float] = LEVELS
) -> list[float]:
    """Return quantiles of an ascending sample, by linear interpolation."""
    last = len(ordered) - 1
    found = []
    for level in levels:
        at = min(max(level * len(ordered) - 0.5, 0.0), float(last))
        low = int(at)
        high = min(low + 1, last)
        found.append(ordered[low] + (ordered[high] - ordered[low]) * (at - low))
    return found


def pinball(level: float, forecast: float, came: float) -> float:
    """Return the pinball loss of one quantile."""
    error = came - forecast
    return level * error if error >= 0 else (level - 1.0) * error


def crps(at_levels: Sequence[float], came: float) -> float:
    """Return the CRPS of a forecast given as quantiles at LEVELS: twice the mean pinball loss.

    Source: Gneiting and Raftery, Strictly Proper Scoring Rules, 2007,
    <https://doi.org/10.1198/016214506000001437>
    """
    total = sum(
        pinball(level, value, came)
        for level, value in zip(LEVELS, at_levels, strict=True)
    )
    return 2.0 * total / len(LEVELS)


# ------------------------------------------------------------------------
# What is forecast without a model: from the last waits in the same queue.


MOST_WAITS = 100
CONFIDENCE = 0.95


def last_waits(waits: Sequence[int], age_ms: int) -> list[float]:
    """Return quantiles of the rest of a wait, as the last waits in the queue were.

    Of them those count that were longer than it has waited; all, where none was.
    """
    return quantiles(_rest(waits, age_ms))


def binomial_bound(waits: Sequence[int], age_ms: int) -> list[float]:
    """Return bounds that the quantiles are below with CONFIDENCE, from order statistics.

    Source: Nurmi, Brevik and Wolski, QBETS: Queue Bounds Estimation from Time
    Series, 2007, <https://doi.org/10.1007/978-3-540-78699-3_5>
    """
    ordered = _rest(waits, age_ms)
    return [ordered[_rank(len(ordered), level)] for level in LEVELS]


def _rest(waits: Sequence[int], age_ms: int) -> list[float]:
    last = waits[-MOST_WAITS:]
    longer = sorted(float(wait - age_ms) for wait in last if wait > age_ms)
    return longer or sorted(float(wait) for wait in last) or [0.0]


@lru_cache(maxsize=8192)
def _rank(count: int, level: float) -> int:
    """Return the index of the order statistic that bounds a quantile from above."""
    below = 0.0
    for k in range(count):
        below += math.comb(count, k) * level**k * (1.0 - level) ** (count - k)
        if below >= CONFIDENCE:
            return k
    return count - 1


# ------------------------------------------------------------------------
# Forecasts corrected by their own recent errors, so that bands hold what they say.


#: Errors below it count alike: nobody waits for the second.
GRAIN_MS = 60_000.0
MOST = 1_000
#: With fewer forecasts nothing is corrected, and a record says "not enough history".
LEAST = 20
FADE = 0.997
#: What adds to the spread of every forecast (a logarithm): futures share what is
#: misjudged of run times and arrivals, so where many are summed they agree too well.
SHARED = 0.4
#: So many forecasts whose errors are as their spread says, times WIDER, count as made.
BEFORE = 25.0
WIDER = 1.25
#: No quantile is further from the median by a correction than this (a logarithm).
MOST_REACH = 2.5
STEP = 0.02
MOST_LEVEL_SHIFT = 0.3

_MIDDLE = len(LEVELS) // 2
_NORMAL = [WIDER * abs(NormalDist().inv_cdf(level)) for level in LEVELS]
_UPPER, _LOWER = LEVELS.index(0.85), LEVELS.index(0.15)
#: Half of the distance of these two levels, in spreads of a normal distribution.
_SPREADS = NormalDist().inv_cdf(0.85)

#: How far it came from the median, in spreads; whether that was all of it; its weight.
_Error = tuple[float, bool, float]


@dataclass(slots=True)
class Made:
    """A forecast that was made: as quantiles at LEVELS, of the rest of the wait."""

    at_ms: int
    weight: float
    middle: float  # its median, a logarithm
    spread: float
    given: list[float]
    start_ms: int | None = None  # when it came
    judged: int = 0  # so many of its levels, in order of their ends

    def error(self, now_ms: int) -> _Error:
        """Return how far from the median it came, or that it came later than now."""
        rest = (now_ms if self.start_ms is None else self.start_ms) - self.at_ms
        off = (_log(rest) - self.middle) / self.spread
        if self.start_ms is None:
            return max(off, 0.0), False, self.weight
        return abs(off), True, self.weight


@dataclass(slots=True)
class Conformal:
    """The recent forecasts and how they came out."""

    made: deque[Made] = field(default_factory=lambda: deque(maxlen=MOST))
    shifts: list[float] = field(default_factory=lambda: [0.0] * len(LEVELS))
    _open: list[Made] = field(default_factory=list)
    _reaches: list[float] | None = None  # by level, in spreads

    def corrected(self, raw: Sequence[float]) -> list[float]:
        """Return the quantiles (ms from now) as the recent errors correct them."""
        if self._reaches is None:
            return sorted(raw)
        logs = [_log(value) for value in raw]
        middle, spread = logs[_MIDDLE], _spread(logs)
        moved = [
            middle + _within(reach * spread, log - middle)
            for reach, log in zip(self._reaches, logs, strict=True)
        ]
        return [max(math.exp(value) - GRAIN_MS, 0.0) for value in sorted(moved)]

    def note(
        self, now_ms: int, raw: Sequence[float], given: Sequence[float], weight: float
    ) -> Made:
        """Remember a forecast; set `start_ms` of what is returned when it is known."""
        logs = [_log(value) for value in raw]
        made = Made(now_ms, weight, logs[_MIDDLE], _spread(logs), list(given))
        self.made.append(made)
        self._open.append(made)
        return made

    def learn(self, now_ms: int) -> None:
        """Take in what came until now. Cost: O(MOST log MOST)."""
        self.follow(now_ms)
        if len(self.made) < LEAST:
            return
        errors: list[_Error] = []
        for age, made in enumerate(reversed(self.made)):
            size, ended, weight = made.error(now_ms)
            errors.append((size, ended, weight * FADE**age))
        share = BEFORE * sum(error[2] for error in errors) / len(errors) / len(LEVELS)
        errors += [(size, True, share) for size in _NORMAL]
        self._reaches = _signed(_quantiles_of(errors, self._shares()))

    def _shares(self) -> list[float]:
        """Return by level which share of errors its reach is to hold: 0 in the middle."""
        last = len(LEVELS) - 1
        found = []
        for k, level in enumerate(LEVELS):
            side = 1.0 if k > _MIDDLE else -1.0
            share = abs(2 * level - 1) + side * (self.shifts[k] - self.shifts[last - k])
            found.append(min(max(share, 0.0), 0.995))
        return found

    def follow(self, now_ms: int) -> None:
        """Judge each level when it is known: when it came, or the quantile has passed.

        `learn` does as much and more. Cost: O(open forecasts).
        """
        for made in self._open:
            rest = math.inf if made.start_ms is None else made.start_ms - made.at_ms
            while made.judged < len(LEVELS):
                k = made.judged
                hit = rest <= made.given[k]
                if made.at_ms + min(rest, made.given[k]) > now_ms:
                    break
                step = STEP * made.weight * (LEVELS[k] - hit)
                shift = self.shifts[k] + step
                self.shifts[k] = min(max(shift, -MOST_LEVEL_SHIFT), MOST_LEVEL_SHIFT)
                made.judged += 1
        self._open = [made for made in self._open if made.judged < len(LEVELS)]


def _quantiles_of(errors: list[_Error], shares: Sequence[float]) -> list[float]:
    """Return quantiles of errors of which some are only known to be larger.

    Source: Kaplan and Meier, Nonparametric Estimation from Incomplete
    Observations, 1958, <https://doi.org/10.2307/2281868>
    """
    errors.sort()
    order = sorted(range(len(shares)), key=lambda k: shares[k], reverse=True)
    found = [errors[-1][0]] * len(shares)
    right = sum(weight for _, _, weight in errors)
    beyond = 1.0
    for size, ended, weight in errors:
        if ended:
            beyond *= 1.0 - weight / right
            while order and 1.0 - beyond >= shares[order[-1]]:
                found[order.pop()] = size
        right -= weight
        if right <= 1e-12 or not order:
            break
    return found


def _signed(reaches: list[float]) -> list[float]:
    """Return the reaches below the median as negative; the median stays."""
    return [
        0.0 if k == _MIDDLE else reach if k > _MIDDLE else -reach
        for k, reach in enumerate(reaches)
    ]


def _within(reach: float, raw: float) -> float:
    """Return the reach, no further than MOST_REACH or than the forecast itself."""
    return max(min(reach, max(MOST_REACH, raw)), min(-MOST_REACH, raw))


def _spread(logs: Sequence[float]) -> float:
    """Return the spread of a forecast, as a normal distribution's, with SHARED."""
    return math.hypot((logs[_UPPER] - logs[_LOWER]) / 2 / _SPREADS, SHARED)


def _log(value: float) -> float:
    return math.log(max(value, 0.0) + GRAIN_MS)
