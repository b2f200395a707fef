"""What a search comes to, as plain records that travel and are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from scheduler.analysis.advice.goal import Numbers, mean_of
from scheduler.analysis.advice.ledger import RunLedger
from scheduler.analysis.advice.proof import Proof
from scheduler.analysis.advice.search import Search
from scheduler.analysis.advice.space import Point, shown
from scheduler.analysis.experiments.document import Constraint
from scheduler.analysis.experiments.results import Interval, interval
from scheduler.analysis.measures import better

#: `improved`: better on seeds that the search did not use, and the interval says so.
#: `unmet`: no setting that keeps every constraint was found, on the search's seeds or others.
Verdict = Literal["improved", "no improvement found", "unmet"]


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all parts of an answer."""


class AdviceEdit(Part, frozen=True, kw_only=True):
    """One edit, and what it does: how each measure differs when it alone is left out."""

    object: str
    field: str
    before: str
    after: str
    left_out: str  # what the setting is then, in words; totals are kept
    effect: dict[str, Interval]  # measure -> left out less answer, seed by seed
    needed: bool  # a constraint is missed without it


class AdviceRow(Part, frozen=True, kw_only=True):
    """One measure before and after; on seeds that the search used, and on others."""

    measure: str
    better: str  # "low", "high" or ""
    before: Interval | None
    after: Interval | None
    held_before: Interval | None
    held_after: Interval | None
    held_difference: Interval | None


class ConstraintResult(Part, frozen=True, kw_only=True):
    """One constraint on seeds that the search did not use."""

    text: str
    constraint: Constraint  # the same in numbers, of one measure
    before: float | None
    after: float | None
    held_before: bool
    held_after: bool


class AdviceNear(Part, frozen=True, kw_only=True):
    """A setting next to the answer: whether the goal is as good there."""

    text: str
    change: float  # of the objectives, as a share of the base's; above 0 = worse
    holds: bool  # every constraint


class FrontPoint(Part, frozen=True, kw_only=True):
    """A setting that no other one beats in every objective."""

    name: str
    edits: list[str]
    values: dict[str, float]


class AdviceAnswer(Part, frozen=True, kw_only=True):
    """What to set, and why to believe it."""

    verdict: Verdict
    summary: str
    edits: list[AdviceEdit]
    rows: list[AdviceRow]
    constraints: list[ConstraintResult]
    sensitivity: list[AdviceNear]
    front: list[FrontPoint]
    gain: Interval | None  # of the objectives, on held-out seeds; below 0 = better
    trail: list[tuple[int, float, float]]  # (runs, missed bounds, objectives)
    settings: int  # that there are
    tried: int
    dropped: int  # of these, stopped before their last seed
    unrunnable: int  # of those tried
    runs: int  # of the search
    proof_runs: int  # beside the search
    point: list[int]
    seeds: list[int]
    held_out: list[int]
    patches: str = ""  # what `kubectl apply -f` takes; nothing where nothing is shown
    undo: str = ""  # the same objects as they are


# ------------------------------------------------------------------------
# What an answer claims: one word, and a sentence or two.


def verdict_of(
    proof: Proof, gain: Interval | None, constraints: Sequence[ConstraintResult]
) -> Verdict:
    """Return whether the held-out seeds show that the setting is better.

    What misses a bound there is the nearest that was found where the base misses more;
    where it does not, it is no improvement.
    """
    ledger = proof.ledger
    if ledger.violation(proof.point, proof.seeds) > 0:
        return "unmet"
    if proof.point == ledger.space.base:
        return "no improvement found"
    if not all(c.held_after for c in constraints):
        return "unmet" if nearer(proof) else "no improvement found"
    if not all(c.held_before for c in constraints):
        return "improved"
    sure = gain is not None and (gain.mean if gain.high is None else gain.high) < 0
    return "improved" if sure else "no improvement found"


def to_set(proof: Proof) -> Point:
    """Return what should be set by the held-out seeds: the base where nothing is shown."""
    verdict = proven(proof)
    shown = verdict == "improved" or (verdict == "unmet" and nearer(proof))
    return proof.point if shown else proof.ledger.space.base


def nearer(proof: Proof) -> bool:
    """Return whether less of the bounds is missed than by the base, on held-out seeds."""
    ledger, held_out = proof.ledger, proof.held_out
    runs = ledger.runs(ledger.space.base, held_out) or []
    bounds = ledger.goal.bounds(runs)
    after, before = (
        ledger.violation(point, held_out, bounds)
        for point in (proof.point, ledger.space.base)
    )
    return after < before


def summary_of(
    verdict: Verdict,
    edits: Sequence[AdviceEdit],
    gain: Interval | None,
    seeds: int,
    constraints: Sequence[ConstraintResult],
) -> str:
    """Return the answer in a sentence or two."""
    missed = [one.text for one in constraints if not one.held_after]
    if verdict == "unmet":
        return _unmet(missed)
    if not edits:
        return (
            "No improvement found: nothing that was tried is better than what is set."
        )
    count = "1 edit" if len(edits) == 1 else f"{len(edits)} edits"
    if missed:
        return (
            f"No improvement found: {count} kept every constraint in the search, but "
            f"not on {seeds} other seeds: {'; '.join(missed)}. More seeds in the "
            "search make its answer surer."
        )
    if verdict == "no improvement found":
        return (
            f"No improvement found: {count} did better in the search, but {seeds} "
            "seeds that it did not use do not show it."
        )
    if gain is None or not gain.mean:
        word = "keeps" if len(edits) == 1 else "keep"
        return f"{count} {word} every constraint on {seeds} seeds that the search did not use."
    way = "better" if gain.mean < 0 else "worse"
    return (
        f"{count}: objectives {abs(gain.mean):.1%} {way}{_between(gain)} on {seeds} "
        "seeds that the search did not use."
    )


def _unmet(missed: Sequence[str]) -> str:
    which = f" Missed on other seeds too: {'; '.join(missed)}." if missed else ""
    return (
        "No setting was found that keeps every constraint; the nearest is shown."
        f"{which} Loosen a constraint, let more change, or give the search more runs."
    )


def _between(gain: Interval) -> str:
    if gain.low is None or gain.high is None:
        return ""
    return f" (95% interval of the change {gain.low:+.1%} to {gain.high:+.1%})"


def proven(proof: Proof) -> Verdict:
    """Return what the held-out runs of a proof show."""
    return verdict_of(proof, gain_of(proof), constraints_of(proof))


def gain_of(proof: Proof) -> Interval | None:
    """Return how the objectives differ from the base's on held-out seeds."""
    goal, base = proof.ledger.goal, proof.ledger.space.base
    return differences(
        [goal.objective(n, b) for n, b in _paired(proof, proof.point)],
        [goal.objective(n, b) for n, b in _paired(proof, base)],
    )


def _paired(proof: Proof, point: Point) -> list[tuple[Numbers, Numbers]]:
    """Return (numbers, mean of the base) per held-out seed; shares are of the mean."""
    mean = proof.ledger.base_mean(proof.held_out)
    return [(n, mean) for n in proof.ledger.runs(point, proof.held_out) or []]


def differences(one: Sequence[float], other: Sequence[float]) -> Interval | None:
    """Return the mean of the differences and its interval; None for no values."""
    pairs = zip(one, other, strict=len(one) == len(other))
    return interval([a - b for a, b in pairs])


def constraints_of(proof: Proof) -> list[ConstraintResult]:
    """Return what each constraint comes to on held-out seeds, before and after."""
    ledger = proof.ledger
    before = ledger.runs(ledger.space.base, proof.held_out) or []
    after = ledger.runs(proof.point, proof.held_out) or []
    found = []
    for bound in ledger.goal.bounds(before):
        was, now = bound.of(before), bound.of(after)
        found.append(
            ConstraintResult(
                text=bound.text,
                constraint=bound.constraint,
                before=was,
                after=now,
                held_before=bound.violation(was) == 0,
                held_after=bound.violation(now) == 0,
            )
        )
    return found


# ------------------------------------------------------------------------
# The answer of a search and its proof, in numbers.


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
