"""What an answer claims: one word, and a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.analysis.advice.answer import AdviceEdit, ConstraintResult, Verdict
from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.proof import Proof
from scheduler.analysis.advice.space import Point
from scheduler.analysis.experiments.intervals import Interval, interval


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
