"""The answer of a search and its proof, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.analysis.advice.answer import (
    AdviceAnswer,
    AdviceEdit,
    AdviceNear,
    AdviceRow,
    FrontPoint,
)
from scheduler.analysis.advice.goal import Numbers, mean_of
from scheduler.analysis.advice.ledger import RunLedger
from scheduler.analysis.advice.proof import Proof
from scheduler.analysis.advice.search import Search
from scheduler.analysis.advice.space import Point, shown
from scheduler.analysis.advice.verdicts import (
    constraints_of,
    differences,
    gain_of,
    summary_of,
    verdict_of,
)
from scheduler.analysis.experiments.intervals import Interval, interval
from scheduler.analysis.measures import better

#: What every table has, beside what the goal names.
USUAL = (
    "workloads.meanMs",
    "workloads.p95Ms",
    "preemptions",
    "workLostMs",
    "slowdownRatio",
    "finished",
)
_MOST_QUEUES = 12
_MOST_FRONT = 50


def answer_of(search: Search, proof: Proof, *, patches: str, undo: str) -> AdviceAnswer:
    """Return the answer. Every run that it reads has been made."""
    ledger, point = search.ledger, proof.point
    constraints, gain = constraints_of(proof), gain_of(proof)
    verdict = verdict_of(proof, gain, constraints)
    edits = [_edit(proof, at) for at in ledger.space.edited(point)]
    summary = summary_of(verdict, edits, gain, len(proof.held_out), constraints)
    unrunnable = _unrunnable(search)
    return AdviceAnswer(
        verdict=verdict,
        summary=summary + _without(unrunnable, len(search.tried)),
        edits=edits,
        rows=[_row(proof, name) for name in _measures(ledger)],
        constraints=constraints,
        sensitivity=[_near(ledger, point, at, other) for at, other in proof.near],
        front=_front(search),
        gain=gain if ledger.goal.objectives else None,
        trail=_trail(search),
        settings=ledger.space.count(),
        tried=len(search.tried),
        dropped=search.dropped,
        unrunnable=unrunnable,
        runs=search.spent,
        proof_runs=len(ledger.known) - search.spent,
        point=list(point),
        seeds=list(ledger.seeds),
        held_out=list(proof.held_out),
        patches=patches,
        undo=undo,
    )


def _unrunnable(search: Search) -> int:
    """Return how many of the settings that were tried could not be run."""
    ledger = search.ledger
    return sum(1 for p in search.tried if ledger.runs(p, ledger.ran(p)) is None)


def _without(unrunnable: int, tried: int) -> str:
    if not unrunnable:
        return ""
    return f" {unrunnable} of {tried} settings that were tried could not be run."


def _measures(ledger: RunLedger) -> list[str]:
    names = [objective.measure for objective in ledger.goal.objectives]
    names += [bound.measure for bound in ledger.bounds]
    there = ledger.base_mean(ledger.seeds)
    queues = [n for n in there if n.startswith("queues.") and n.endswith(".meanMs")]
    wanted = [*names, *USUAL, *queues[:_MOST_QUEUES]]
    return [name for name in dict.fromkeys(wanted) if name in there]


def _values(
    ledger: RunLedger, point: Point, seeds: Sequence[int], name: str
) -> list[float]:
    return [run[name] for run in ledger.runs(point, seeds) or [] if name in run]


def _row(proof: Proof, name: str) -> AdviceRow:
    ledger, base = proof.ledger, proof.ledger.space.base
    held_before = _values(ledger, base, proof.held_out, name)
    held_after = _values(ledger, proof.point, proof.held_out, name)
    return AdviceRow(
        measure=name,
        better=better(name) or "",
        before=interval(_values(ledger, base, ledger.seeds, name)),
        after=interval(_values(ledger, proof.point, ledger.seeds, name)),
        held_before=interval(held_before),
        held_after=interval(held_after),
        held_difference=differences(held_after, held_before),
    )


def _edit(proof: Proof, at: int) -> AdviceEdit:
    ledger, space = proof.ledger, proof.ledger.space
    dimension, fewer = space.dimensions[at], proof.left_out.get(at)
    effect: dict[str, Interval] = {}
    if fewer is not None:
        for name in _measures(ledger):
            pair = (
                _values(ledger, fewer, ledger.seeds, name),
                _values(ledger, proof.point, ledger.seeds, name),
            )
            found = differences(*pair)
            if found is not None:
                effect[name] = found
    return AdviceEdit(
        object=dimension.object,
        field=dimension.field,
        before=shown(dimension.values[dimension.now]),
        after=shown(dimension.values[proof.point[at]]),
        left_out="; ".join(space.texts(fewer)) if fewer is not None else "",
        effect=effect,
        needed=fewer is None or _misses(ledger, fewer, proof.point),
    )


def _misses(ledger: RunLedger, fewer: Point, point: Point) -> bool:
    """Return whether a setting misses more of the bounds than another."""
    missed = ledger.violation(fewer, ledger.seeds)
    return missed > ledger.violation(point, ledger.seeds)


def _near(ledger: RunLedger, point: Point, at: int, other: Point) -> AdviceNear:
    dimension, seeds = ledger.space.dimensions[at], ledger.seeds
    change = ledger.objective(other, seeds) - ledger.objective(point, seeds)
    return AdviceNear(
        text=f"{dimension.name}: {shown(dimension.values[other[at]])}",
        change=change,
        holds=ledger.violation(other, seeds) == 0,
    )


def _front(search: Search) -> list[FrontPoint]:
    ledger = search.ledger
    names = [objective.measure for objective in ledger.goal.objectives]
    done = [
        p
        for p in search.tried
        if ledger.complete(p) and ledger.violation(p, ledger.seeds) == 0
    ]
    losses = {point: tuple(ledger.losses(point, ledger.seeds)) for point in done}
    best = [p for p in done if not any(_beats(o, losses[p]) for o in losses.values())]
    best.sort(key=lambda point: (losses[point], ledger.space.size(point)))
    return [
        FrontPoint(
            name=ledger.space.variant(point).name,
            edits=ledger.space.texts(point),
            values=_only(mean_of(ledger.runs(point, ledger.seeds) or []), names),
        )
        for point in best[:_MOST_FRONT]
    ]


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _only(numbers: Numbers, names: Sequence[str]) -> dict[str, float]:
    return {name: numbers[name] for name in names if name in numbers}


def _trail(search: Search) -> list[tuple[int, float, float]]:
    ledger, seeds = search.ledger, search.ledger.seeds
    steps = [*search.trail, (search.spent, search.trail[-1][1])]
    return [
        (runs, ledger.violation(point, seeds), ledger.objective(point, seeds))
        for runs, point in steps
    ]
