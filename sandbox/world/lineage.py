"""Which revisions make up a sandbox's past: the one law of undo, redo, rewind and fork.

Revisions are only ever added. A fork goes on from a revision of its parent; a rewind, an
undo and a redo are revisions that go on from an earlier one, their `base`, and what lies
between the two is gone from then on: its rows stay for forks that share them and for
redo, and no reader of this sandbox finds them. An undo and a redo make what followed
again, as new revisions, so that everything that is kept of a revision (`KEPT`) is derived
again by the same commit as the first time. Whoever reads what is kept reads `rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from sandbox.base.errors import GoneError
from sandbox.base.refusals import Refused
from sandbox.models import (
    Checkpoint,
    Diff,
    Event,
    KeptForecast,
    Revision,
    Sample,
    Sandbox,
)

#: What is kept of a revision, and the column that has its number. Everything else that
#: is shown of a past (pages, curves, marks, counts, metrics, comparisons, track records)
#: is read of these and of nothing else.
KEPT: dict[type[Model], str] = {
    Revision: "number",
    Event: "revision",
    Diff: "revision",
    Sample: "revision",
    Checkpoint: "revision",
    KeptForecast: "revision",
}
#: SQLite refuses conditions that are nested deeper than 1000; each range nests one deeper.
_AT_ONCE = 100

K = TypeVar("K", bound=Model)


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """A part of a lineage: the revisions of one sandbox in (after, upto]."""

    sandbox_id: str
    after: int
    upto: int


def lineage(
    sandbox: Sandbox, upto: int | None = None, *, whole: bool = False
) -> list[RevisionRange]:
    """Return whose revisions make up the past of a sandbox, or of one at `upto`, oldest first.

    The past of an earlier revision is what it was then, whatever was undone since. From the
    first revision that is kept; with `whole` from the very first: what was done then is
    known for ever. Two queries per generation of forks. Raises GoneError for an archived
    sandbox.
    """
    refuse_archived(sandbox)
    first = 0 if whole else max(0, sandbox.kept_revision - 1)
    end = sandbox.revision if upto is None else min(upto, sandbox.revision)
    ranges: list[RevisionRange] = []
    place: Sandbox | None = sandbox
    while place is not None:
        for number, base in _turns(place, end):
            if first < number <= end:
                ranges.append(RevisionRange(place.pk, max(number - 1, first), end))
                end = base
        begin = place.parent_revision if place.parent_id else 0
        if max(begin, first) < end:
            ranges.append(RevisionRange(place.pk, max(begin, first), end))
        end = min(end, begin)
        place = place.parent if place.parent_id and end > first else None
    return ranges[::-1]


def _turns(sandbox: Sandbox, end: int) -> list[tuple[int, int]]:
    """Return the revisions up to `end` that go on from an earlier one, newest first."""
    found = Revision.objects.filter(
        sandbox=sandbox, kind=Revision.RERUN, base__isnull=False, number__lte=end
    )
    rows = found.order_by("-number").values_list("number", "base")
    return [(number, base) for number, base in rows if base is not None]


def past_changed(sandbox: Sandbox) -> bool:
    """Return whether rows of its past are another's, or gone, since it was read.

    A rewind, an undo or a redo since then, history that was trimmed, or a sandbox that
    was archived or deleted. What only went on has the past that it had. Two queries.
    """
    same = Sandbox.objects.filter(
        pk=sandbox.pk, kept_revision=sandbox.kept_revision, archived_at=None
    )
    turned = Revision.objects.filter(
        sandbox=sandbox, kind=Revision.RERUN, number__gt=sandbox.revision
    )
    return not same.exists() or turned.exists()


def refuse_archived(sandbox: Sandbox) -> None:
    """Raise GoneError for a sandbox whose rows are in a file."""
    if sandbox.archived_at is not None:
        raise GoneError(Refused.ARCHIVED.said())


def within(ranges: list[RevisionRange], field: str) -> Q:
    """Return the condition that picks the rows of a lineage."""
    groups = [ranges[at : at + _AT_ONCE] for at in range(0, len(ranges), _AT_ONCE)]
    condition = Q(pk__in=())
    for group in groups:
        low, high = group[0].after, group[-1].upto
        span = Q(**{f"{field}__gt": low, f"{field}__lte": high})
        condition |= (
            span & _any(group, field) if len(groups) > 1 else _any(group, field)
        )
    return condition


def _any(ranges: list[RevisionRange], field: str) -> Q:
    condition = Q(pk__in=())
    for part in ranges:
        condition |= Q(
            sandbox_id=part.sandbox_id,
            **{f"{field}__gt": part.after, f"{field}__lte": part.upto},
        )
    return condition


def rows(
    model: type[K], sandbox: Sandbox, upto: int | None = None, *, whole: bool = False
) -> QuerySet[K]:
    """Return what is kept of a lineage's revisions, as a query. See `lineage`."""
    return of(model, lineage(sandbox, upto, whole=whole))


def of(model: type[K], ranges: list[RevisionRange]) -> QuerySet[K]:
    """Return what is kept of these revisions, as a query."""
    manager: Any = model._default_manager
    found: QuerySet[K] = manager.filter(within(ranges, KEPT[model]))
    return found
