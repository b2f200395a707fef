"""All that a check came to: what changed, what was measured, what holds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scheduler.analysis.check.assertions import Assertion
from scheduler.analysis.check.changes import Change, changes
from scheduler.analysis.check.faults import Fault, FaultsError
from scheduler.analysis.check.joining import PLAIN, Joined
from scheduler.analysis.check.judging import (
    Comparison,
    Pair,
    Verdict,
    compare,
    judge,
    queues_of,
)
from scheduler.analysis.check.terms import nearest
from scheduler.analysis.measures.capacity import read_capacity
from scheduler.model.errors import SourceLocation

#: The rows of the table of the whole run, where there is anything to say.
MEASURES = (
    "waitMean",
    "waitP50",
    "waitP95",
    "waitMax",
    "waiting",
    "preemptionsPerHour",
    "evictionsPerHour",
    "workLost",
    "jain",
    "shareError",
)
BY_QUEUE = ("waitMean", "waitP50", "waitP95", "waitMax", "waiting")


class Outcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a check. Equal input gives equal bytes."""

    holds: bool
    verdicts: list[Verdict]
    changes: list[Change]
    measures: list[Comparison]
    queues: list[Comparison]
    seeds: list[int]
    horizon_ms: int
    arrived: int  # workloads of the first seed
    unfinished: int  # runs in which something would still happen at the horizon
    same: bool  # every run of the changed side is that of the base, bit for bit
    left_out: dict[str, int]  # work in the folders of policy, by kind
    hashes: list[tuple[str, str]]


def outcome_of(
    joined: Joined,
    assertions: Sequence[Assertion],
    pairs: Sequence[Pair],
    seeds: Sequence[int],
    horizon_ms: int,
) -> Outcome:
    """Return what the runs of the seeds come to, in their order."""
    verdicts = judge(assertions, pairs)
    whole = pairs[0][1].whole
    left_out = dict(joined.base.left_out)
    for kind, count in joined.changed.left_out.items():
        left_out[kind] = left_out.get(kind, 0) + count
    names = [*MEASURES, *(n for n in whole if n.startswith("utilisation."))]
    return Outcome(
        holds=all(verdict.holds for verdict in verdicts),
        verdicts=verdicts,
        changes=changes(joined.base, joined.changed),
        measures=[compare(name, "", pairs) for name in names],
        queues=[compare(n, q, pairs) for q in queues_of(pairs) for n in BY_QUEUE],
        seeds=list(seeds),
        horizon_ms=horizon_ms,
        arrived=int(whole.get("arrived", 0)),
        unfinished=sum(not run.settled for pair in pairs for run in pair),
        same=all(base.hash == changed.hash for base, changed in pairs),
        left_out=dict(sorted(left_out.items())),
        hashes=[(base.hash, changed.hash) for base, changed in pairs],
    )


def check_queues(
    joined: Joined, assertions: Sequence[Assertion], seed: int, pairs: Sequence[Pair]
) -> None:
    """Refuse assertions about queues that are nowhere. Raises FaultsError.

    Without pairs, before any run, only where queues are objects.
    """
    known = set(queues_of(pairs))
    for base in joined.bases:
        known |= set(read_capacity(base.world(PLAIN, seed)).queues)
    if not known:
        return
    wrong = [a for a in assertions if a.queue not in ("", "*") and a.queue not in known]
    if wrong:
        raise FaultsError(_unknown(a, sorted(known)) for a in wrong)


def _unknown(assertion: Assertion, known: list[str]) -> Fault:
    names = ", ".join(known[:20]) + (" …" if len(known) > 20 else "")
    hint = nearest(assertion.queue, known)
    return Fault(
        SourceLocation(file=assertion.file, line=assertion.line),
        f"no queue {assertion.queue!r}; known: {names}{hint}",
    )
