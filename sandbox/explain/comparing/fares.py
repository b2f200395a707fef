"""Who fares differently: earlier, later, never, or only in the other branch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sandbox.explain.comparing.branches import Branch
from sandbox.explain.comparing.fates import Life, Lives
from sandbox.explain.comparing.shapes import (
    Counts,
    Fare,
    Verdict,
)


def fares(branches: Sequence[Branch], lives: Sequence[Lives]) -> list[Fare]:
    """Return the workloads that differ, those by the longest time first."""
    first, *others = lives
    end_ms = min(branch.end_ms for branch in branches)
    found: list[tuple[int, Fare]] = []
    for subject in _subjects(lives):
        ours = first.get(subject)
        verdicts = [verdict(ours, other.get(subject)) for other in others]
        if all(v == "same" for v in verdicts) and not _evicted(subject, lives):
            continue
        fates = [one.get(subject) for one in lives]
        fare = Fare(
            subject=subject,
            verdicts=verdicts,
            fates=[life.fate() if life is not None else None for life in fates],
        )
        found.append((_apart(fates, end_ms), fare))
    return [fare for _, fare in sorted(found, key=lambda f: (-f[0], f[1].subject))]


def counts(lives: Sequence[Lives]) -> list[Counts]:
    """Return how many fare how, per other branch."""
    first, *others = lives
    subjects = _subjects(lives)
    return [
        _counts(Counter(verdict(first.get(s), other.get(s)) for s in subjects))
        for other in others
    ]


def _counts(found: Counter[Verdict]) -> Counts:
    return Counts(
        same=found["same"],
        earlier=found["earlier"],
        later=found["later"],
        never=found["never"],
        only=found["only"],
    )


def _subjects(lives: Sequence[Lives]) -> list[str]:
    return list(dict.fromkeys(subject for one in lives for subject in one))


def _evicted(subject: str, lives: Sequence[Lives]) -> bool:
    """Tell whether it was evicted in one branch more often than in another."""
    return len({one[subject].evictions for one in lives if subject in one}) > 1


def verdict(ours: Life | None, theirs: Life | None) -> Verdict:
    """Return how it fares there, by the start that holds."""
    one = None if ours is None else ours.started_ms
    other = None if theirs is None else theirs.started_ms
    if one == other:
        return "same"
    if other is None:
        return "never"
    if one is None:
        return "only"
    return "earlier" if other < one else "later"


def _apart(lives: Sequence[Life | None], end_ms: int) -> int:
    """Return how far the starts lie apart; who does not run starts at the end."""
    starts = [
        end_ms if life is None or life.started_ms is None else life.started_ms
        for life in lives
    ]
    return max(starts) - min(starts)
