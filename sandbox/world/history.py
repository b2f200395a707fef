"""What was: pages and worlds at any revision or tick, across forks.

Whose revisions these are, `lineage.py` says. A page of the past is the newest
checkpoint before it with the diffs since; a world of the past is the checkpoint's
world with the operations done again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model, Q, QuerySet

from sandbox.base.errors import GoneError, NotFoundError
from sandbox.base.refusals import Absent, Refused
from sandbox.models import (
    Checkpoint,
    Diff,
    Event,
    KeptForecast,
    Revision,
    Sample,
    Sandbox,
)
from sandbox.page import diffs, rows
from sandbox.page.diffs import Page, Patch, RevisionDiff
from sandbox.page.packing import unpack_page, unpack_patch, unpack_step, unpack_world
from sandbox.page.rows.transport import KEY, until_text
from sandbox.world import manifests, operations
from sandbox.world.kept import Kept
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused

logger = logging.getLogger(__name__)

#: So many revisions cost about as much to do again as their world to be read.
REVISIONS_PER_READ = 20


def revision_at(sandbox: Sandbox, tick: int) -> int:
    """Return the last revision at or before the tick.

    Raises NotFoundError for a tick that has not been, GoneError for one that is
    no longer kept.
    """
    if tick > sandbox.tick:
        raise NotFoundError(Absent.FUTURE_TICK.said(tick=tick, now=sandbox.tick))
    if sandbox.kept_revision and tick < sandbox.kept_tick:
        raise GoneError(Absent.OLD_TICK.said(tick=tick, first=sandbox.kept_tick))
    found = (
        rows_of(Revision, sandbox)
        .filter(tick__lte=tick)
        .order_by("-number")
        .values_list("number", flat=True)
        .first()
    )
    if found is None:
        raise GoneError(Absent.TICK.said(tick=tick))
    return found


def steps_since(
    sandbox: Sandbox, revision: int, *, most: int
) -> list[RevisionDiff] | None:
    """Return the diffs above a revision, or None when they do not join up."""
    if sandbox.revision - revision > most:
        return None
    bodies = (
        of(Diff, since(lineage(sandbox), revision))
        .order_by("revision")
        .values_list("body", flat=True)
    )
    steps = [unpack_step(bytes(body)) for body in bodies]
    at = revision
    for step in steps:
        if step.from_revision != at:
            return None
        at = step.revision
    return steps if at == sandbox.revision else None


#: Pages of the recent past, by revision, so that the next one is a few diffs away. They
#: have 200,000 rows at most; each counts for 6,000 more, so there are at most 33.
_pages = Kept[Page](200_000, weigh=lambda page: len(page) + 6_000)


def page_at(sandbox: Sandbox, revision: int) -> Page:
    """Return every row as it was at a revision.

    Raises GoneError when its checkpoint is no longer kept. Cost: opening one
    checkpoint and at most 64 diffs.
    """
    ranges = lineage(sandbox, revision)
    at, page = _start(ranges, revision)
    bodies = (
        of(Diff, since(ranges, at)).order_by("revision").values_list("body", flat=True)
    )
    with gc_paused():
        for body in bodies:
            patch = unpack_patch(bytes(body))
            diffs.apply(page, patch)
            at = patch.revision
    if at != revision:
        raise GoneError(Absent.REVISION.said(revision=revision))
    if ranges:
        _pages.put(dict(page), ranges[-1].sandbox_id, revision)
    return _as_of(page, sandbox, revision)


def steps_from(sandbox: Sandbox, revision: int) -> tuple[Page, Iterator[Patch]]:
    """Return the page at a revision, and what changed since, oldest first.

    Before the first that is kept, and at 0, it is the first page that is kept.
    """
    ranges = lineage(sandbox)
    known = of(Checkpoint, ranges).order_by("revision")
    first = known.values_list("revision", flat=True).first()
    if first is None:
        raise GoneError(Absent.REVISION.said(revision=revision))
    start = max(first, revision)
    bodies = of(Diff, since(ranges, start)).order_by("revision")
    found = bodies.values_list("body", flat=True).iterator()
    return page_at(sandbox, start), (unpack_patch(bytes(body)) for body in found)


def is_past(sandbox: Sandbox, revision: int) -> bool:
    """Return whether a revision is one of those that are kept of a sandbox's past."""
    return any(one.after < revision <= one.upto for one in lineage(sandbox))


def _start(ranges: list[RevisionRange], revision: int) -> tuple[int, Page]:
    checkpoint = _checkpoint(ranges, revision)
    low = checkpoint.revision
    known = [
        key
        for key in _pages.keys_of(ranges[-1].sandbox_id)
        if low <= key[1] <= revision
    ]
    near = _pages.get(*max(known)) if known else None
    if near is not None:
        return max(known)[1], dict(near)
    page = Checkpoint.objects.values_list("page", flat=True).get(pk=checkpoint.pk)
    with gc_paused():
        return low, unpack_page(bytes(page))


def _checkpoint(ranges: list[RevisionRange], revision: int) -> Checkpoint:
    found = (
        of(Checkpoint, ranges)
        .filter(revision__lte=revision)
        .defer("world", "page")
        .order_by("-revision")
        .first()
    )
    if found is None:
        raise GoneError(Absent.REVISION.said(revision=revision))
    return found


def _as_of(page: Page, sandbox: Sandbox, revision: int) -> Page:
    """Show a parent's past as the fork's own: its id, title and branch."""
    row = {
        **page[KEY],
        "id": sandbox.pk,
        "title": sandbox.title,
        "branch": sandbox.branch,
        "parent": sandbox.parent_id,
        "firstTick": sandbox.kept_tick,
    }
    if revision == sandbox.revision:
        row |= {"playing": sandbox.playing, "until": until_text(sandbox.until)}
    page[KEY] = row
    return page


def world_at(sandbox: Sandbox, revision: int) -> World:
    """Return the world as it was at a revision: run again from a checkpoint.

    Also before the first revision that is kept, for edits to be undone: what was
    done stays known, and some checkpoints stay to begin from. Raises GoneError when
    an update of this program decides differently from then, or cannot do it again.
    """
    ranges = lineage(sandbox, revision, whole=True)
    checkpoint = _checkpoint(ranges, revision)
    body = Checkpoint.objects.values_list("world", flat=True).get(pk=checkpoint.pk)
    done = list(
        of(Revision, since(ranges, checkpoint.revision))
        .order_by("number")
        .values_list("operation", "tick")
    )
    manifests.leave_large(sandbox.pk, times=1 + len(done) / REVISIONS_PER_READ)
    try:
        world = _run_again(bytes(body), [document for document, _ in done])
    except Exception as error:  # it came in a file, and is done nowhere
        logger.exception("not run again", extra={"sandbox": sandbox.pk})
        tick = done[-1][1] if done else checkpoint.tick
        raise GoneError(Absent.NO_GOING_ON.said(tick=tick)) from error
    _refuse_another(sandbox, ranges, revision, world)
    return world


def _run_again(body: bytes, documents: list[dict[str, Any]]) -> World:
    """Return the world of a checkpoint, after these operations were done to it."""
    world = unpack_world(body)
    for document in documents:
        operations.perform(world, operations.from_document(document))
        world.take()
    return world


def _refuse_another(
    sandbox: Sandbox, ranges: list[RevisionRange], revision: int, world: World
) -> None:
    """Refuse a world that shows something else than was shown.

    What the schedulers remember may differ from one version to the next; what
    they decided may not.
    """
    body = (
        of(Diff, ranges)
        .filter(revision=revision)
        .values_list("body", flat=True)
        .first()
    )
    shown_hash = (
        unpack_patch(bytes(body)).updated.get(KEY, {}).get("hash") if body else None
    )
    if shown_hash is None or shown_hash == world.hash()[: len(shown_hash)]:
        return
    shown = page_at(sandbox, revision)
    delta = diffs.between(shown, rows.page_of(world, sandbox))
    delta.updated.pop(KEY, None)
    if delta.added or delta.removed or delta.updated:
        raise GoneError(Absent.NO_GOING_ON.said(tick=world.tick))


def events(sandbox: Sandbox) -> QuerySet[Event]:
    """Return the events of the whole lineage, as a query."""
    return rows_of(Event, sandbox)


def newest_events(
    sandbox: Sandbox,
    revision: int,
    most: int,
    *,
    without: Collection[str] = (),
    whole: bool = False,
) -> list[Event]:
    """Return the last events up to a revision, oldest first, but for types in `without`.

    Their `data` is read with them where they are wanted `whole`.
    """
    found = rows_of(Event, sandbox, revision).exclude(type__in=without)
    found = found if whole else found.defer("data")
    return list(found.order_by("-revision", "-seq")[:most])[::-1]


def newest_samples(sandbox: Sandbox, revision: int, most: int) -> list[Sample]:
    """Return the last samples up to a revision, oldest first."""
    found = rows_of(Sample, sandbox, revision)
    return list(found.order_by("-revision")[:most])[::-1]


# ------------------------------------------------------------------------
# Which revisions make up a sandbox's past: the one law of undo, redo, rewind and
# fork.


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


def since(ranges: Sequence[RevisionRange], revision: int) -> list[RevisionRange]:
    """Return the part of a lineage after a revision.

    A further condition on the rows would not do: of two lower bounds SQLite looks up the
    first in its index, and reads all that is above it.
    """
    return [
        replace(one, after=max(one.after, revision))
        for one in ranges
        if one.upto > revision
    ]


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
    """Return the revisions up to `end` that go on from an earlier one, newest first.

    Written out: every look at a past asks, and to put the query together costs more.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT number, base FROM {Revision._meta.db_table} WHERE sandbox_id = %s"
            " AND kind = %s AND base IS NOT NULL AND number <= %s ORDER BY number DESC",
            [sandbox.pk, Revision.RERUN, end],
        )
        return list(cursor.fetchall())


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


def rows_of(
    model: type[K], sandbox: Sandbox, upto: int | None = None, *, whole: bool = False
) -> QuerySet[K]:
    """Return what is kept of a lineage's revisions, as a query. See `lineage`."""
    return of(model, lineage(sandbox, upto, whole=whole))


def of(model: type[K], ranges: list[RevisionRange]) -> QuerySet[K]:
    """Return what is kept of these revisions, as a query."""
    manager: Any = model._default_manager
    found: QuerySet[K] = manager.filter(within(ranges, KEPT[model]))
    return found
