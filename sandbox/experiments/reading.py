"""Experiments as they are looked at: progress, table, verdicts, runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import ne
from typing import Any, NamedTuple

import msgspec
from django.db.models import QuerySet

from sandbox.base import csv_text
from sandbox.models import Experiment, Run
from sandbox.models.fields import Sayings
from scheduler.analysis.advice.advisor import derived
from scheduler.analysis.advice.goal import Goal, Numbers, SearchStanding, standings
from scheduler.analysis.experiments.assertions import judge
from scheduler.analysis.experiments.document import ExperimentSpec, read_experiment
from scheduler.analysis.experiments.results import (
    AssertionVerdict,
    VariantMeasure,
    VariantResult,
    table,
)
from scheduler.analysis.experiments.variants import axes_of
from scheduler.analysis.measures import flat
from scheduler.model.problems.forms import joined
from scheduler.model.sentence import plain

_OF_RUN = ("seed", "state", "hash", "tick")


class ExperimentOutcome(NamedTuple):
    """What the runs so far come to."""

    lines: list[VariantResult]
    verdicts: list[AssertionVerdict]
    standings: list[SearchStanding]  # of a search: its settings, the best first


def outcome(experiment: Experiment) -> ExperimentOutcome:
    """Return table and verdicts of the runs that ended so far.

    Verdicts may still change while runs are missing. O(runs), kept until
    another run ends.
    """
    return _outcome(experiment.pk, experiment.done, experiment.total)


@lru_cache(maxsize=32)
def _outcome(experiment_id: str, done: int, total: int) -> ExperimentOutcome:
    experiment = Experiment.objects.defer("base").get(pk=experiment_id)
    spec = read_experiment(experiment.document).spec
    names = variants_of(experiment)
    cells = cells_of(experiment_id, done)
    lines = table(cells, len(names), spec.objectives)
    verdicts = judge(spec.assertions, names, lines, cells, experiment.files)
    found = _standings(experiment, spec, cells) if experiment.points else []
    return ExperimentOutcome(lines, verdicts, found)


def _standings(
    experiment: Experiment, spec: ExperimentSpec, cells: list[VariantMeasure]
) -> list[SearchStanding]:
    """Return the settings of a search that have every seed of the search."""
    seeds, horizon_ms = experiment.plan["seeds"], experiment.plan["horizon_ms"]
    runs: list[list[Numbers]] = [[] for _ in experiment.points]
    for cell in cells:
        if cell.seed in seeds:
            runs[cell.variant].append(derived(cell.numbers, horizon_ms))
    base = experiment.points[0]
    edits = [sum(map(ne, base, point)) for point in experiment.points]
    return standings(Goal.of(spec), runs, edits, len(seeds))


def variants_of(experiment: Experiment) -> list[str]:
    """Return the names of the variants, by index."""
    return [str(variant["name"]) for variant in experiment.plan["variants"]]


def cells_of(experiment_id: str, done: int) -> list[VariantMeasure]:
    """Return the numbers of the first `done` runs that ended, in the plan's order."""
    found = Run.objects.filter(
        experiment_id=experiment_id, state=Run.DONE, ended__lte=done
    ).order_by("number")
    rows = found.values_list("variant", "seed", "result")
    return [
        VariantMeasure(variant=variant, seed=seed, numbers=flat(result["summary"]))
        for variant, seed, result in rows.iterator()
    ]


def runs_after(experiment: Experiment, ended: int, most: int) -> list[Run]:
    """Return the runs that ended after the `ended`th, in the order of their ends."""
    found: QuerySet[Run] = Run.objects.filter(experiment=experiment, ended__gt=ended)
    return list(found.order_by("ended")[:most])


def run_row(run: Run) -> dict[str, Any]:
    """Return a run as it travels; `measures` are empty when it failed."""
    result = run.result or {}
    return {
        "number": run.number,
        "variant": run.variant,
        "seed": str(run.seed),
        "state": run.state,
        "ended": run.ended,
        "hash": run.hash,
        "tick": result.get("tick"),
        "endMs": result.get("endMs"),
        "settled": result.get("settled"),
        **_problems(run.error, result.get("problems", [])),
        "measures": flat(result["summary"]) if result else {},
    }


def _problems(error: str, problems: Sequence[Any]) -> dict[str, Any]:
    """Return why a run failed and what its engine gave up on, with their codes."""
    return {
        "problems": [one["text"] for one in problems],
        "problemsSaid": problems,
        "error": str(error),
        "said": said_of(error),
    }


def said_of(text: str) -> dict[str, Any]:
    """Return a stored text as one sentence as it travels; without a code where it has none."""
    said = Sayings.of(text).said
    found: dict[str, Any] = msgspec.to_builtins(joined(said) if said else plain(""))
    return found


def failures(experiment: Experiment) -> list[str]:
    """Return a sentence per run that failed."""
    names = variants_of(experiment)
    failed = Run.objects.filter(experiment=experiment, state=Run.FAILED)
    return [
        f"run {run.number} ({names[run.variant]}, seed {run.seed}): {run.error}"
        for run in failed.order_by("number")
    ]


def write_csv(experiment: Experiment) -> str:
    """Return the results as tidy CSV: a line per run and measure, a column per axis.

    A run without measures, one that failed or has not ended, is one line.
    """
    names = variants_of(experiment)
    places = axes_of(read_experiment(experiment.document).spec)
    axes = list(dict.fromkeys(name for place in places for name in place))
    head = ("run", "variant", *(f"axis.{axis}" for axis in axes), *_OF_RUN)
    lines: list[Sequence[Any]] = [(*head, "error", "measure", "value")]
    for row in map(run_row, _all(experiment)):
        place = places[row["variant"]] if row["variant"] < len(places) else {}
        line = [
            row["number"],
            names[row["variant"]],
            *(place.get(axis, "") for axis in axes),
            *(row[name] for name in _OF_RUN),
            row["error"],
        ]
        measures = row["measures"].items() or [("", "")]
        lines += [[*line, name, value] for name, value in measures]
    return csv_text.write(lines)


def _all(experiment: Experiment) -> Iterator[Run]:
    return Run.objects.filter(experiment=experiment).order_by("number").iterator()
