"""Scores of forecasts against what came: coverage, pinball loss, CRPS."""

from __future__ import annotations

from collections.abc import Sequence

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
