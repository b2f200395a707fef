"""How alike settings are: what each dimension does by itself, and all together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scheduler.analysis.advice.space import Dimension, Point, Space

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

#: Length scales as shares of a dimension's whole length; under the last it hardly counts.
LENGTHS = (0.12, 0.3, 0.8, 2.0, 8.0)
#: Share of the covariance that is the mean over dimensions; the rest is their product.
_ADDITIVE = 0.5


class Kernels:
    """Covariances of settings that were run, for any length scales; shared by measures.

    Values of a dimension are few, so that each covariance of two of them is computed
    once. `lengths` are places in LENGTHS, one per dimension. Memory: dimensions x
    length scales x square of the settings.
    """

    def __init__(self, space: Space, points: Sequence[Point]) -> None:
        self.tables = [_table(dimension) for dimension in space.dimensions]
        self.counts = [len(dimension.values) for dimension in space.dimensions]
        self.rows: Places = np.asarray(points, dtype=np.intp)
        columns = self.rows.T
        self.factors: Array = np.asarray(
            [
                table[:, column[:, None], column[None, :]]
                for table, column in zip(self.tables, columns, strict=True)
            ]
        )

    def of_run(self, lengths: Places) -> Array:
        """Return the covariances between all that was run."""
        chosen = self.factors[np.arange(len(lengths)), lengths]
        return _mixed(chosen.mean(axis=0), chosen.prod(axis=0))

    def with_each(self, lengths: Places, at: int) -> Array:
        """Return the same with each length scale in turn in one dimension."""
        others = np.delete(np.arange(len(lengths)), at)
        chosen = self.factors[others, lengths[others]]
        mean = (chosen.sum(axis=0) + self.factors[at]) / len(lengths)
        return _mixed(mean, chosen.prod(axis=0) * self.factors[at])

    def to(self, points: Sequence[Point], lengths: Places) -> Array:
        """Return the covariances of what was run with other settings."""
        return self._between(self.rows, np.asarray(points, dtype=np.intp), lengths)

    def between(
        self, some: Sequence[Point], others: Sequence[Point], lengths: Places
    ) -> Array:
        """Return the covariances between two lists of settings."""
        rows, columns = np.asarray(some), np.asarray(others)
        return self._between(rows, columns, lengths)

    def _between(self, rows: Places, columns: Places, lengths: Places) -> Array:
        shape = (len(rows), len(columns))
        total, product = np.zeros(shape), np.ones(shape)
        for at, table in enumerate(self.tables):
            factor = table[lengths[at]][rows[:, at]][:, columns[:, at]]
            total += factor
            product *= factor
        return _mixed(total / len(self.tables), product)


def _mixed(mean: Array, product: Array) -> Array:
    found: Array = _ADDITIVE * mean + (1 - _ADDITIVE) * product
    return found


def _table(dimension: Dimension) -> Array:
    """Return the covariance of each two values of a dimension, per length scale."""
    places = np.arange(len(dimension.values))
    apart = np.abs(places[:, None] - places[None, :])
    span = max(1, len(places) - 1)
    share = apart / span if dimension.ordered else (apart > 0).astype(float)
    scales = np.asarray(LENGTHS)[:, None, None]
    found: Array = np.exp(-0.5 * np.square(share / scales))
    return found
