"""A measure at untried settings by those that were run: a Gaussian process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.analysis.advice.space import Point
from scheduler.analysis.advice.surrogates.kernels import LENGTHS, Array, Kernels, Places

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
