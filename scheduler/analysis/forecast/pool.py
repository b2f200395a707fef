"""Several models in one forecast: each counts by how well it did so far."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.analysis.forecast.scores import Made, crps

#: The better a model, the more it counts: its mean CRPS to this power.
POWER = 4
_FADE = 0.995
_START_MS = 1000.0


class Pool:
    """The mean quantiles of some models, weighted by their recent CRPS."""

    def __init__(self, models: int) -> None:
        self._losses = [_START_MS] * models
        self.judged = 0
        self._open: dict[int, list[list[float]]] = {}

    def mix(self, parts: Sequence[Sequence[float]]) -> list[float]:
        """Return the quantiles of the pool: the weighted mean at each level."""
        weights = [loss**-POWER for loss in self._losses]
        total = sum(weights)
        return [
            sum(w * v for w, v in zip(weights, values, strict=True)) / total
            for values in zip(*parts, strict=True)
        ]

    def best(self) -> int:
        """Return the number of the model that counts most."""
        return min(range(len(self._losses)), key=lambda n: self._losses[n])

    def note(self, made: Made, parts: Sequence[Sequence[float]]) -> None:
        """Remember what each model said."""
        self._open[id(made)] = [list(part) for part in parts]

    def learn(self, made: Made) -> None:
        """Take in how each model did in a forecast whose start is known."""
        parts = self._open.pop(id(made))
        if made.start_ms is None or len(parts) < 2:
            return
        self.judged += 1
        came = made.start_ms - made.at_ms
        for number, part in enumerate(parts):
            loss = self._losses[number] * _FADE + made.weight * crps(part, came)
            self._losses[number] = loss
