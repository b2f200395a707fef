"""Branches side by side: where they part, whose outcome differs, curves, sums.

From the tick that the branches have in common up to one that all of them reached:
decisions and samples are history's rows, lives those of the branches run again. The
first branch is what the others are held against: a delta is theirs minus its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sandbox.base.errors import BusyError, NotFoundError
from sandbox.base.refusals import Absent, NotNow
from sandbox.explain.comparing.branches import Branch, read_branches
from sandbox.explain.comparing.shapes import Comparison
from sandbox.explain.comparing.totals import (
    counts,
    first_difference,
    outcome_diffs,
    preemptions,
    rows_between,
    series,
    totals,
)
from sandbox.models import Sandbox
from sandbox.world.history import past_changed

#: More branches than these do not fit on a page.
MOST_BRANCHES = 8
MOST_LISTED = 500
MOST_POINTS = 600
#: How often a past is read that changes meanwhile.
MOST_READS = 3


def compare(
    sandboxes: Sequence[Sandbox],
    to_tick: int | None = None,
    *,
    points: int = MOST_POINTS,
) -> Comparison:
    """Return what differs between two or more sandboxes.

    Curves are thinned out to `points`, the list of workloads cut after
    MOST_LISTED, those that lose most first. Cost: each branch run again, and a fixed
    number of queries. Where a past changes meanwhile (a rewind, history that is trimmed) all is read again. Raises
    BusyError when that goes on, and NotFoundError for a sandbox that is gone.
    """
    for _ in range(MOST_READS):
        end = min([s.tick for s in sandboxes] + ([] if to_tick is None else [to_tick]))
        branches = read_branches(sandboxes, end)
        if not any(map(past_changed, sandboxes)):
            found = side_by_side(branches, end, points=points)
            first = max(sandbox.kept_tick for sandbox in sandboxes)
            return msgspec.structs.replace(found, history_from=first)
        sandboxes = [_read_again(sandbox) for sandbox in sandboxes]
    raise BusyError(NotNow.TOO_FAST.said())


def _read_again(sandbox: Sandbox) -> Sandbox:
    rows = Sandbox.objects.select_related("owner", "parent").filter(pk=sandbox.pk)
    found = rows.first()
    if found is None:
        raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox.pk))
    return found


def side_by_side(
    branches: Sequence[Branch], end: int, *, points: int = MOST_POINTS
) -> Comparison:
    """Return what differs between branches that were read up to a tick."""
    kinds = {branch.subject_kind for branch in branches}
    first, *others = branches
    # A Workload and a Pod of two stacks are not the same thing that waits.
    rows = rows_between(branches) if len(kinds) == 1 else []
    workloads = outcome_diffs(branches, rows)
    return Comparison(
        branches=[branch.line for branch in branches],
        from_tick=first.begin_tick,
        to_tick=end,
        same_subjects=len(kinds) == 1,
        differences=[first_difference(first, other) for other in others],
        counts=counts(branches, rows),
        workloads=workloads[:MOST_LISTED],
        more_workloads=max(0, len(workloads) - MOST_LISTED),
        preemptions=[preemptions(first, other) for other in others],
        series=series(branches, points),
        totals=totals(branches),
    )


__all__ = ["MOST_BRANCHES", "MOST_POINTS", "compare", "side_by_side"]
