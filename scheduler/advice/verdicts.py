"""What an answer claims: one word, and a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.advice.answer import ConstraintResult, Edit, Verdict
from scheduler.advice.proof import Proof
from scheduler.experiments.intervals import Interval


def verdict_of(
    proof: Proof, gain: Interval | None, constraints: Sequence[ConstraintResult]
) -> Verdict:
    """Return whether the held-out seeds show that the setting is better."""
    ledger = proof.ledger
    if ledger.violation(proof.point, proof.seeds) > 0:
        return "unmet"
    if proof.point == ledger.space.base or not all(c.held_after for c in constraints):
        return "no improvement found"
    if not all(c.held_before for c in constraints):
        return "improved"
    sure = gain is not None and (gain.mean if gain.high is None else gain.high) < 0
    return "improved" if sure else "no improvement found"


def summary_of(
    verdict: Verdict,
    edits: Sequence[Edit],
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
