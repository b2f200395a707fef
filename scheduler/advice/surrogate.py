"""A guess at a number of settings from those that were run: a Gaussian process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scheduler.advice.space import Point, Space

#: How far a step is felt in each dimension, as a share of it; the last = hardly at all.
_REACHES = (0.12, 0.3, 0.8, 2.0, 8.0)
_USUAL = 2  # of these, to begin with
#: Share of the effect that each dimension has by itself.
_ALONE = 0.5
_NOISE = 1e-3

Array = npt.NDArray[np.float64]


class Surrogate:
    """One measure over settings: what each dimension does by itself, and all together.

    How far a step is felt is chosen for each dimension, so that the wait of a queue
    may depend on its own quota alone. Cost: some Cholesky factors per dimension.
    """

    def __init__(
        self, space: Space, points: Sequence[Point], values: Sequence[float]
    ) -> None:
        counts = [len(dimension.values) for dimension in space.dimensions]
        self.spans: Array = np.asarray([max(1, n - 1) for n in counts], dtype=float)
        self.ordered = np.asarray([d.ordered for d in space.dimensions])
        self.rows: Array = np.asarray(points, dtype=float)
        given: Array = np.asarray(values, dtype=float)
        self.mean, self.deviation = float(given.mean()), float(given.std()) or 1.0
        self.target = (given - self.mean) / self.deviation
        self.squares = self._squares(self.rows, self.rows)
        self.reaches = self._reaches()

    def guess(self, points: Sequence[Point]) -> tuple[Array, Array]:
        """Return mean and deviation of what is guessed of each setting."""
        squares = self._squares(self.rows, np.asarray(points, dtype=float))
        factor = self._factor(self.reaches)
        near = np.linalg.solve(factor, _alike(squares, self.reaches))
        mean: Array = near.T @ np.linalg.solve(factor, self.target)
        variance: Array = np.maximum(1.0 - np.square(near).sum(axis=0), 1e-9)
        return self.mean + self.deviation * mean, self.deviation * np.sqrt(variance)

    def believe(self, point: Point) -> None:
        """Go on as if this setting had come to what is guessed of it."""
        value = (self.guess([point])[0][0] - self.mean) / self.deviation
        self.rows = np.vstack([self.rows, np.asarray([point], dtype=float)])
        self.target = np.append(self.target, value)
        self.squares = self._squares(self.rows, self.rows)

    def _reaches(self) -> Array:
        """Return the reaches by which what was run is likeliest, one at a time."""
        found: Array = np.full(len(self.spans), _REACHES[_USUAL])
        likely = self._likelihood(found)
        for _ in range(2):
            for at in range(len(found)):
                for reach in _REACHES:
                    other = found.copy()
                    other[at] = reach
                    if (better := self._likelihood(other)) > likely + 1e-9:
                        found, likely = other, better
        return found

    def _likelihood(self, reaches: Array) -> float:
        factor = self._factor(reaches)
        half = np.linalg.solve(factor, self.target)
        return float(-0.5 * half @ half - np.log(np.diag(factor)).sum())

    def _factor(self, reaches: Array) -> Array:
        alike = _alike(self.squares, reaches)
        found: Array = np.asarray(
            np.linalg.cholesky(alike + _NOISE * np.eye(len(alike))), dtype=np.float64
        )
        return found

    def _squares(self, one: Array, other: Array) -> Array:
        """Return squared distances per dimension, as shares of its whole length."""
        apart = np.abs(one[:, None, :] - other[None, :, :])
        share = np.where(self.ordered, apart / self.spans, apart > 0)
        found: Array = np.moveaxis(np.square(share), 2, 0)
        return found


def _alike(squares: Array, reaches: Array) -> Array:
    """Return how much settings are alike, 0 to 1."""
    scaled = squares / np.square(reaches)[:, None, None]
    found: Array = _ALONE * np.exp(-0.5 * scaled).mean(axis=0)
    found += (1 - _ALONE) * np.exp(-0.5 * scaled.sum(axis=0))
    return found
