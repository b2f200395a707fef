"""What was: pages and worlds at any revision or tick, across forks.

Whose revisions these are, `lineage.py` says. A page of the past is the newest
checkpoint before it with the diffs since; a world of the past is the checkpoint's
world with the operations done again.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from sandbox.base.absences import Absent
from sandbox.base.errors import GoneError, NotFoundError
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample, Sandbox
from sandbox.page import diffs, rows
from sandbox.page.diffs import Page, RevisionDiff
from sandbox.page.packing import (
    unpack_page,
    unpack_patch,
    unpack_step,
    unpack_world,
)
from sandbox.page.rows.transport import KEY, until_text
from sandbox.world import lineage, operations
from sandbox.world.lineage import RevisionRange
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused

logger = logging.getLogger(__name__)


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
        lineage.rows(Revision, sandbox)
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
        lineage.rows(Diff, sandbox)
        .filter(revision__gt=revision)
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


class _Pages:
    """Pages of the recent past, kept so that the next one is a few diffs away."""

    MOST_ROWS = 200_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: OrderedDict[tuple[str, int], Page] = OrderedDict()

    def nearest(self, sandbox_id: str, low: int, high: int) -> tuple[int, Page] | None:
        with self._lock:
            found = [
                key
                for key in self._pages
                if key[0] == sandbox_id and low <= key[1] <= high
            ]
            if not found:
                return None
            best = max(found)
            self._pages.move_to_end(best)
            return best[1], dict(self._pages[best])

    def keep(self, sandbox_id: str, revision: int, page: Page) -> None:
        with self._lock:
            self._pages[sandbox_id, revision] = page
            total = sum(map(len, self._pages.values()))
            while (total > self.MOST_ROWS or len(self._pages) > 32) and len(
                self._pages
            ) > 1:
                _, oldest = self._pages.popitem(last=False)
                total -= len(oldest)


_pages = _Pages()


def page_at(sandbox: Sandbox, revision: int) -> Page:
    """Return every row as it was at a revision.

    Raises GoneError when its checkpoint is no longer kept. Cost: opening one
    checkpoint and at most 64 diffs.
    """
    ranges = lineage.lineage(sandbox, revision)
    at, page = _start(ranges, revision)
    bodies = (
        lineage.of(Diff, ranges)
        .filter(revision__gt=at, revision__lte=revision)
        .order_by("revision")
        .values_list("body", flat=True)
    )
    with gc_paused():
        for body in bodies:
            patch = unpack_patch(bytes(body))
            diffs.apply(page, patch)
            at = patch.revision
    if at != revision:
        raise GoneError(Absent.REVISION.said(revision=revision))
    if ranges:
        _pages.keep(ranges[-1].sandbox_id, revision, dict(page))
    return _as_of(page, sandbox, revision)


def _start(ranges: list[RevisionRange], revision: int) -> tuple[int, Page]:
    checkpoint = _checkpoint(ranges, revision)
    low = checkpoint.revision
    near = _pages.nearest(ranges[-1].sandbox_id, low, revision)
    if near is not None:
        return near
    page = Checkpoint.objects.values_list("page", flat=True).get(pk=checkpoint.pk)
    with gc_paused():
        return low, unpack_page(bytes(page))


def _checkpoint(ranges: list[RevisionRange], revision: int) -> Checkpoint:
    found = (
        lineage.of(Checkpoint, ranges)
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
    ranges = lineage.lineage(sandbox, revision, whole=True)
    checkpoint = _checkpoint(ranges, revision)
    body = Checkpoint.objects.values_list("world", flat=True).get(pk=checkpoint.pk)
    done = list(
        lineage.of(Revision, ranges)
        .filter(number__gt=checkpoint.revision, number__lte=revision)
        .order_by("number")
        .values_list("operation", "tick")
    )
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
        lineage.of(Diff, ranges)
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
    return lineage.rows(Event, sandbox)


def newest_events(
    sandbox: Sandbox, revision: int, most: int, *, without: Collection[str] = ()
) -> list[Event]:
    """Return the last events up to a revision, oldest first, but for types in `without`."""
    found = (
        lineage.rows(Event, sandbox, revision)
        .exclude(type__in=without)
        .defer("data")
        .order_by("-revision", "-seq")[:most]
    )
    return list(found)[::-1]


def newest_samples(sandbox: Sandbox, revision: int, most: int) -> list[Sample]:
    """Return the last samples up to a revision, oldest first."""
    found = lineage.rows(Sample, sandbox, revision)
    return list(found.order_by("-revision")[:most])[::-1]
