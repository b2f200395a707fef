"""All that a plan came to: what changed, what was measured, what holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from scheduler.analysis.measures.capacity import read_capacity
from scheduler.analysis.measures.lives import POLICY
from scheduler.analysis.measures.verdict import ChangeVerdict, StartVerdict, verdict
from scheduler.analysis.plan.assertions import Assertion, nearest
from scheduler.analysis.plan.changes import Change, changes
from scheduler.analysis.plan.counterexample import Counterexample
from scheduler.analysis.plan.faults import Fault, FaultsError
from scheduler.analysis.plan.judging import (
    Comparison,
    Pair,
    Verdict,
    compare,
    queues_of,
)
from scheduler.analysis.plan.measuring import RunNumbers
from scheduler.analysis.plan.sides import PLAIN, Joined
from scheduler.model.errors import SourceLocation
from scheduler.model.objects import Key
from scheduler.words.gaps import of_proposal

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


class Starts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the starts of one seed come out on the changed side, in counts.

    `only` starts on the changed side alone, `never` on the base alone. `waiting` never
    started, on the base and on the changed side. The changes of start are of those
    that start on both sides, in ms.
    """

    seed: int
    earlier: int
    later: int
    never: int
    only: int
    waiting: tuple[int, int]
    earlier_median_ms: float | None
    earlier_most_ms: int | None
    later_median_ms: float | None
    later_most_ms: int | None


class Outcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a plan. Equal input gives equal bytes.

    `verdict`: who comes out otherwise with the first seed, by team, and why.
    """

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
    starts: list[Starts]
    verdict: ChangeVerdict
    counterexamples: list[Counterexample] = []
    proposals: list[str] = []  # that decide on the base, and on the changed side
    assumed: list[str] = []  # of run times that nobody gave, of the first seed


def outcome_of(
    joined: Joined,
    verdicts: Sequence[Verdict],
    pairs: Sequence[Pair],
    seeds: Sequence[int],
    horizon_ms: int,
    counterexamples: Sequence[Counterexample] = (),
) -> Outcome:
    """Return the outcome over the runs of the seeds, in their order."""
    whole = pairs[0][1].whole
    left_out = dict(joined.base.left_out)
    for kind, count in joined.changed.left_out.items():
        left_out[kind] = left_out.get(kind, 0) + count
    edited = frozenset(_edited(joined))
    found = [
        verdict(base.lives, changed.lives._replace(changed=edited))
        for base, changed in pairs
    ]
    names = [*MEASURES, *(n for n in whole if n.startswith("utilisation."))]
    return Outcome(
        holds=all(verdict.holds for verdict in verdicts),
        verdicts=list(verdicts),
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
        starts=[
            _starts(seed, one, pair)
            for seed, one, pair in zip(seeds, found, pairs, strict=True)
        ],
        verdict=found[0],
        counterexamples=list(counterexamples),
        proposals=list(_proposals(joined, seeds[0])),
        assumed=joined.bases[0].assumed(seeds[0]),
    )


def _proposals(joined: Joined, seed: int) -> Iterator[str]:
    for side, base in zip(("base", "changed side"), joined.bases, strict=True):
        for said in of_proposal(base.world(PLAIN, seed).policy.spec):
            yield f"On the {side} {said.text}"


def _edited(joined: Joined) -> Iterator[Key]:
    """Yield the objects that differ between the sides, and the policy where it does."""
    before, after = joined.base.objects, joined.changed.objects
    for key in before.keys() | after.keys():
        one, other = before.get(key), after.get(key)
        if one is None or other is None or one.manifest != other.manifest:
            yield key
    if joined.base.policy != joined.changed.policy:
        yield POLICY


def _starts(seed: int, found: ChangeVerdict, pair: Pair) -> Starts:
    def moved(start: StartVerdict) -> list[int]:
        return sorted(
            abs((one.changed.started_ms or 0) - (one.without.started_ms or 0))
            for one in found.workloads
            if one.start == start and one.changed and one.without
        )

    earlier, later = moved("earlier"), moved("later")
    counts = Counter(one.start for one in found.workloads)
    return Starts(
        seed=seed,
        earlier=len(earlier),
        later=len(later),
        never=counts["never"],
        only=counts["only"],
        waiting=(_waiting(pair[0]), _waiting(pair[1])),
        earlier_median_ms=median(earlier) if earlier else None,
        earlier_most_ms=earlier[-1] if earlier else None,
        later_median_ms=median(later) if later else None,
        later_most_ms=later[-1] if later else None,
    )


def _waiting(run: RunNumbers) -> int:
    return int(run.whole.get("waiting", 0))


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
