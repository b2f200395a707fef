"""Which settings to try next: Optuna's samplers, asked and then given what came out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.analysis.advice.space import Point, Space, repair
from scheduler.analysis.experiments.goals import Sampler
from scheduler.model import streams

if TYPE_CHECKING:
    import optuna

#: How often a sampler is asked before its answers, all known, are given up.
_TRIES = 8


class Proposer(Protocol):
    """What proposes settings and learns how they did."""

    def ask(self) -> Point:
        """Return a setting to try; it may be one that was tried before."""

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn the losses of a setting, one per objective."""


def proposer(sampler: Sampler, space: Space, seed: int, objectives: int) -> Proposer:
    """Return the proposer of a name. Optuna takes a second to import."""
    if sampler == "random":
        return RandomProposer(space, seed)
    return OptunaProposer(sampler, space, seed, objectives)


class RandomProposer:
    """Draws each dimension alike; totals are mended."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space = space
        self.seed = seed
        self.drawn = 0

    def ask(self) -> Point:
        """Return a setting drawn at random."""
        while True:
            self.drawn += 1
            point = tuple(
                streams.choose(
                    self.seed, "advice", d.name, self.drawn, among=len(d.values)
                )
                for d in self.space.dimensions
            )
            mended = repair(self.space, point)
            if mended is not None:
                return mended

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn nothing."""


class OptunaProposer:
    """TPE, or NSGA-II where several objectives are kept apart.

    Every setting that was run is added as a trial, whoever proposed it; what was
    asked for and not run stays open, which no sampler reads.
    """

    def __init__(
        self, sampler: Sampler, space: Space, seed: int, objectives: int
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.optuna = optuna
        self.space = space
        self.asked: dict[Point, optuna.Trial] = {}
        one = optuna.study.StudyDirection.MINIMIZE
        directions = [one] * (objectives if sampler == "nsga2" else 1)
        self.study = optuna.create_study(
            sampler=_sampler(sampler, seed), directions=directions
        )

    def ask(self) -> Point:
        """Return the sampler's setting, its totals mended."""
        for _ in range(_TRIES):
            trial = self.study.ask()
            point = tuple(self._suggest(trial, at) for at in range(self._dimensions()))
            mended = repair(self.space, point)
            if mended == point and point not in self.asked:
                self.asked[point] = trial
                return point
            if mended is not None:
                return mended
        return self.space.base

    def learn(self, point: Point, losses: Sequence[float]) -> None:
        """Learn the losses of a setting, asked for or not."""
        values = list(losses[: len(self.study.directions)])
        trial = self.asked.pop(point, None)
        kept: dict[str, Any] = {}
        if trial is not None:  # NSGA-II's generations are kept there
            asked = self.study.get_trials(deepcopy=False)[trial.number]
            kept = dict(asked.system_attrs)
        names = [str(at) for at in range(self._dimensions())]
        shapes = {name: self._shape(at) for at, name in enumerate(names)}
        params = dict(zip(names, point, strict=True))
        self.study.add_trial(
            self.optuna.trial.create_trial(
                params=params, distributions=shapes, values=values, system_attrs=kept
            )
        )

    def _dimensions(self) -> int:
        return len(self.space.dimensions)

    def _suggest(self, trial: optuna.Trial, at: int) -> int:
        dimension = self.space.dimensions[at]
        if dimension.ordered:
            return trial.suggest_int(str(at), 0, len(dimension.values) - 1)
        return int(trial.suggest_categorical(str(at), range(len(dimension.values))))

    def _shape(self, at: int) -> Any:
        dimension = self.space.dimensions[at]
        if dimension.ordered:
            return self.optuna.distributions.IntDistribution(
                0, len(dimension.values) - 1
            )
        choices = list(range(len(dimension.values)))
        return self.optuna.distributions.CategoricalDistribution(choices)


def _sampler(sampler: Sampler, seed: int) -> Any:
    from optuna.samplers import NSGAIISampler, TPESampler

    seed %= 2**32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is new in Optuna says so
        if sampler == "nsga2":
            return NSGAIISampler(seed=seed, population_size=16)
        return TPESampler(seed=seed, multivariate=True, n_startup_trials=8)
