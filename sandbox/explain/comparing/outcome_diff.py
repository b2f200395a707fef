"""Whose outcome differs: earlier, later, never, or only in the other branch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sandbox.explain.comparing.branches import Branch
from sandbox.explain.comparing.shapes import (
    OutcomeCounts,
    OutcomeDiff,
)
from sandbox.explain.comparing.timelines import TimelineBuilder, Timelines
from scheduler.analysis.measures.verdict import StartVerdict, start_verdict


def outcome_diffs(
    branches: Sequence[Branch], timelines: Sequence[Timelines]
) -> list[OutcomeDiff]:
    """Return the workloads that differ, largest time difference first."""
    first, *others = timelines
    end_ms = min(branch.end_ms for branch in branches)
    found: list[tuple[int, OutcomeDiff]] = []
    for subject in _subjects(timelines):
        ours = first.get(subject)
        verdicts = [verdict(ours, other.get(subject)) for other in others]
        if all(v == "same" for v in verdicts) and not _evicted(subject, timelines):
            continue
        builders = [branch.get(subject) for branch in timelines]
        diff = OutcomeDiff(
            subject=subject,
            verdicts=verdicts,
            timelines=[one.built() if one is not None else None for one in builders],
        )
        found.append((_apart(builders, end_ms), diff))
    return [diff for _, diff in sorted(found, key=lambda f: (-f[0], f[1].subject))]


def counts(timelines: Sequence[Timelines]) -> list[OutcomeCounts]:
    """Return how many outcomes of each kind there are, per other branch."""
    first, *others = timelines
    subjects = _subjects(timelines)
    return [
        _counts(Counter(verdict(first.get(s), other.get(s)) for s in subjects))
        for other in others
    ]


def _counts(found: Counter[StartVerdict]) -> OutcomeCounts:
    return OutcomeCounts(
        same=found["same"],
        earlier=found["earlier"],
        later=found["later"],
        never=found["never"],
        only=found["only"],
    )


def _subjects(timelines: Sequence[Timelines]) -> list[str]:
    return list(dict.fromkeys(subject for one in timelines for subject in one))


def _evicted(subject: str, timelines: Sequence[Timelines]) -> bool:
    """Return whether it was evicted in one branch more often than in another."""
    return len({one[subject].evictions for one in timelines if subject in one}) > 1


def verdict(
    ours: TimelineBuilder | None, theirs: TimelineBuilder | None
) -> StartVerdict:
    """Return its outcome there, by the start that holds."""
    one = None if ours is None else ours.started_ms
    other = None if theirs is None else theirs.started_ms
    return start_verdict(one, other)


def _apart(timelines: Sequence[TimelineBuilder | None], end_ms: int) -> int:
    """Return how far the starts lie apart; who does not run starts at the end."""
    starts = [
        end_ms if one is None or one.started_ms is None else one.started_ms
        for one in timelines
    ]
    return max(starts) - min(starts)
