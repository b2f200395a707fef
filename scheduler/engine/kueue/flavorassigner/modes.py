"""How well a flavor serves a request, and which of two ways is preferred."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Mode(IntEnum):
    """How a request can be served in a flavor; greater is better by default."""

    NO_FIT = 0
    NO_CANDIDATES = 1  # preemption would be needed, and nobody may be preempted
    PREEMPT = 2  # somebody of the same ClusterQueue goes
    RECLAIM = 3  # only workloads of other ClusterQueues go
    FIT = 4


class FlavorFit(NamedTuple):
    """A mode, and how high in the tree the ClusterQueue must borrow for it."""

    mode: Mode
    borrow: int


class Ranking(NamedTuple):
    """How flavors are compared in a release: `scheduler/model/releases/rules.py`."""

    no_candidates_last: bool = True
    preference_as_written: bool = True


BEST = FlavorFit(Mode.FIT, 0)
WORST = FlavorFit(Mode.NO_FIT, 0)

TRY_NEXT = "TryNextFlavor"
LESS_BORROWING = "PreemptionOverBorrowing"


def preferred(
    left: FlavorFit,
    right: FlavorFit,
    preference: str,
    ranking: Ranking = Ranking(),  # noqa: B008 - it cannot change
) -> bool:
    """Return whether `left` is strictly better than `right`.

    Source: docs/semantics/kueue.md#preference-between-flavors.
    """
    if left.mode is Mode.NO_FIT:
        return False
    if right.mode is Mode.NO_FIT:
        return True
    left_stuck = left.mode is Mode.NO_CANDIDATES
    right_stuck = right.mode is Mode.NO_CANDIDATES
    if ranking.no_candidates_last and left_stuck != right_stuck:
        return right_stuck
    by_mode, by_borrow = left.mode - right.mode, right.borrow - left.borrow
    by_borrow_first = preference == LESS_BORROWING
    if preference and not ranking.preference_as_written:
        by_borrow_first = not by_borrow_first
    if by_borrow_first:
        return (by_borrow or by_mode) > 0
    return (by_mode or by_borrow) > 0


def should_try_next(granted: FlavorFit, when_borrow: str, when_preempt: str) -> bool:
    """Return whether the search goes on to the next flavor.

    Source: docs/semantics/kueue.md#when-the-flavor-search-stops.
    """
    if granted.mode <= Mode.NO_CANDIDATES:
        return True
    if granted.mode is not Mode.FIT and when_preempt == TRY_NEXT:
        return True
    return granted.borrow != 0 and when_borrow == TRY_NEXT
