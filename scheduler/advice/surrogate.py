"""A guess at the loss of a setting from those that were run, to order what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scheduler.advice.space import Dimension, Point, Space

#: Of the way from the best loss to the middle one: differences below count for little.
_FLOOR = 0.1
_RIDGE = 0.05

Array = npt.NDArray[np.float64]


class Surrogate:
    """A ridge regression on each dimension by itself: value, square and logarithm.

    Choices without an order have a weight each. Cost: one small linear system.
    """

    def __init__(self, space: Space, losses: Mapping[Point, float]) -> None:
        self.space = space
        found = self._features(list(losses))
        target: Array = np.asarray(list(losses.values()), dtype=np.float64)
        least, span = float(target.min()), float(np.median(target) - target.min())
        # In logarithms: what is among the best is distinguished as what is far off is.
        scaled: Array = np.log(target - least + _FLOOR * (span or 1.0))
        self.mean = float(scaled.mean())
        square = found.T @ found + _RIDGE * np.eye(found.shape[1])
        self.weights = np.linalg.solve(square, found.T @ (scaled - self.mean))

    def order(self, points: Sequence[Point]) -> list[Point]:
        """Return settings by their guessed loss, lowest first; ties as they came."""
        if not points:
            return []
        guessed = self._features(points) @ self.weights
        return [points[at] for at in np.argsort(np.round(guessed, 9), kind="stable")]

    def _features(self, points: Sequence[Point]) -> Array:
        columns = [np.ones(len(points))]
        for at, dimension in enumerate(self.space.dimensions):
            indices = np.asarray([point[at] for point in points], dtype=np.float64)
            columns += _columns(dimension, indices)
        return np.stack(columns, axis=1)


def _columns(dimension: Dimension, indices: Array) -> list[Array]:
    count = len(dimension.values)
    if not dimension.ordered:
        return [(indices == n).astype(np.float64) for n in range(count)]
    share = indices / max(1, count - 1)
    return [share, share * share, np.log1p(indices) / np.log1p(count)]
