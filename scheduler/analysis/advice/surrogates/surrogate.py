"""A measure at untried settings by those that were run: a Gaussian process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scheduler.analysis.advice.space import Dimension, Point, Space

#: The length scale to begin with, as a place in LENGTHS.
USUAL_LENGTH = 2
_NOISE = 1e-3
#: Beyond what a standardised measure comes to in any direction of its covariance.
_FAR = 1e9


class Surrogate:
    """The posterior of one measure.

    Length scales are those of the greatest marginal likelihood, one dimension after
    the other, so that the wait of a queue may depend on its own quota alone. `start`
    has the places in LENGTHS to begin with. Cost: a Cholesky factor per dimension and
    length scale.
    """

    def __init__(
        self, kernels: Kernels, values: Sequence[float], start: Places | None = None
    ) -> None:
        self.kernels = kernels
        given: Array = np.asarray(values, dtype=float)
        self.mean, self.deviation = float(given.mean()), float(given.std()) or 1.0
        self.target = (given - self.mean) / self.deviation
        usual = np.full(len(kernels.counts), USUAL_LENGTH)
        self.lengths = self._fitted(usual if start is None else start)

    def predict(self, points: Sequence[Point]) -> Posterior:
        """Return what is expected of each setting, before any of them is run."""
        kernel = self.kernels.of_run(self.lengths)
        kernel[np.diag_indices_from(kernel)] += _NOISE
        factor = np.linalg.cholesky(kernel)
        other = self.kernels.to(points, self.lengths)
        solved = np.linalg.solve(factor, np.column_stack([self.target, other]))
        return Posterior(self, points, solved[:, 1:], solved[:, 0])

    def _fitted(self, start: Places) -> Places:
        """Return the length scales under which what was run is likeliest."""
        found = start.copy()
        for _ in range(2):
            before = found.copy()
            for at in range(len(found)):
                likely = self._likelihoods(found, at)
                if likely.max() > likely[found[at]] + 1e-9:
                    found[at] = int(likely.argmax())
            if (found == before).all():
                break
        return found

    def _likelihoods(self, lengths: Places, at: int) -> Array:
        """Return the log marginal likelihood with each length scale of one dimension.

        The target is one more row of the covariance, so that the last row of its
        Cholesky factor is the target in the factor's terms.
        """
        kernel = self.kernels.with_each(lengths, at)
        count = len(self.target)
        bordered: Array = np.empty((len(LENGTHS), count + 1, count + 1))
        bordered[:, :count, :count] = kernel + _NOISE * np.eye(count)
        bordered[:, count, :count] = bordered[:, :count, count] = self.target
        bordered[:, count, count] = _FAR
        factors = np.linalg.cholesky(bordered)
        half = factors[:, count, :count]
        diagonals = np.diagonal(factors, axis1=1, axis2=2)[:, :count]
        found: Array = -0.5 * np.square(half).sum(axis=1)
        found -= np.log(diagonals).sum(axis=1)
        return found


class Posterior:
    """Mean and deviation at some settings, narrowed as some of them are chosen."""

    def __init__(
        self, of: Surrogate, points: Sequence[Point], solved: Array, target: Array
    ) -> None:
        self.of, self.points, self.solved = of, list(points), solved
        self.mean: Array = of.mean + of.deviation * (solved.T @ target)
        self.variance: Array = np.maximum(1.0 - np.square(solved).sum(axis=0), 1e-9)

    @property
    def deviation(self) -> Array:
        """Return the deviation at each setting."""
        found: Array = self.of.deviation * np.sqrt(self.variance)
        return found

    def condition(self, at: int) -> None:
        """Go on as if a setting had come to its mean, which no other mean is changed by."""
        kernels, lengths = self.of.kernels, self.of.lengths
        prior = kernels.between([self.points[at]], self.points, lengths)[0]
        own = self.variance[at] + _NOISE
        row = (prior - self.solved[:, at] @ self.solved) / np.sqrt(own)
        self.solved = np.vstack([self.solved, row])
        self.variance = np.maximum(self.variance - np.square(row), 1e-9)


# ------------------------------------------------------------------------
# How alike settings are: what each dimension does by itself, and all together.


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
