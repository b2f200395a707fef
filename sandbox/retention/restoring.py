"""An archive back to rows: checked as a whole first, then written at once."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import DatabaseError, transaction

from sandbox.base import bulk
from sandbox.models import (
    Checkpoint,
    Diff,
    Event,
    RecordedTick,
    Revision,
    Sample,
    Sandbox,
)
from sandbox.models.fields import json_text
from sandbox.page import packing
from sandbox.retention import archives, checking
from sandbox.retention.archives import Archive, wrong
from sandbox.retention.checking import CheckedHistory
from sandbox.world import manifests, seen, worlds
from scheduler.engine.world import World
from scheduler.input.files.inflating import inflated_size, inflated_values
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.recorded.qrec.reading import check_object

_DAMAGE = (
    zlib.error,
    msgspec.MsgspecError,
    packing.FormatError,
    SchedulerError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    AssertionError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class Restored:
    """An archive of which every part was made or checked."""

    sandbox: Sandbox  # with the columns of the file, not saved
    archive: Archive
    world: World
    history: CheckedHistory


def check(archive: Archive, most: int, sandbox: Sandbox) -> Restored:
    """Return what an archive comes to as the rows of `sandbox`, which gets its columns.

    Refuses what would break later, with InvalidError: parts that cannot be read,
    that come to over `most` bytes, that do not join up, or that say something else than
    the worlds they are of. Cost: the worlds of the present and of each past that is gone
    on from are built, the other parts are read once.
    """
    try:
        _check_sizes(archive, most)
        world = checking.read_world(archive)
        for name, value in checking.columns_of(archive, world).items():
            setattr(sandbox, name, value)
        sandbox.header = worlds.header_bytes(world)
        found = checking.check_history(archive, world, sandbox)
        sandbox.kept_tick = found.kept_tick
    except _DAMAGE as error:
        raise wrong(RequestProblem.DAMAGED.said(problem=error)) from error
    return Restored(sandbox, archive, world, found)


def _check_sizes(archive: Archive, most: int) -> None:
    """Refuse what is too large when opened, before any of it is."""
    values = most // archives.BYTES_PER_VALUE
    bodies = [body for _, body in archive.diffs]
    for body in (*bodies, *(mark.world for mark in archive.checkpoints)):
        most -= packing.opened_size(body, most)
        values -= packing.opened_values(body, values)
    for body in checking.seen_bodies(archive):
        most -= inflated_size(body, most)
        values -= inflated_values(body, values)
        if most < 0 or values < 0:
            raise wrong("what was seen of the cluster is too much when opened")
        for change in seen.unpack(body):
            check_object(change.object)


def insert(found: Restored, *, people: Mapping[str, int], after: int = 0) -> None:
    """Write the objects, and the history above revision `after`: all or nothing.

    Revisions are credited to `people` (user name -> id) and to nobody else: what a
    name in a file stood for where it was written, nobody here knows.
    """
    sandbox = found.sandbox
    try:
        with transaction.atomic():
            objects = [(obj, sandbox.revision) for obj in found.world.objects.values()]
            manifests.store(sandbox.pk, objects)
            _insert_revisions(sandbox, found.archive, people, after)
            _insert_lines(found, after)
            _insert_checkpoints(found, after)
    except (DatabaseError, OverflowError) as error:
        raise wrong(f"it does not fit into the database: {error}") from error


def _insert_revisions(
    sandbox: Sandbox, archive: Archive, people: Mapping[str, int], after: int
) -> None:
    Revision.objects.bulk_create(
        [
            Revision(
                sandbox=sandbox,
                number=line.number,
                tick=line.tick,
                t_ms=line.t_ms,
                kind=line.kind,
                operation=line.operation,
                summary=line.summary,
                said=line.said,
                base=line.base,
                origin=line.origin,
                at=archives.moment(line),
                who_id=people.get(line.who),
            )
            for line in (*archive.revisions, *archive.left)
            if line.number > after
        ],
        batch_size=500,
    )


def _insert_lines(found: Restored, after: int) -> None:
    pk = found.sandbox.pk
    bulk.insert(
        Event,
        ("sandbox_id", *archives.ArchivedEvent.__struct_fields__),
        [
            (
                pk,
                *msgspec.structs.astuple(event)[:-2],
                json_text(event.data),
                None if event.said is None else json_text(event.said),
            )
            for event in found.archive.events
            if event.revision > after
        ],
    )
    _insert(found, Diff, ("revision", "body"), found.history.diffs, after)
    _insert(found, RecordedTick, ("tick", "body"), found.archive.recorded, 0)
    samples = [(n, tick, json_text(row)) for n, tick, row in found.history.samples]
    _insert(found, Sample, ("revision", "tick", "body"), samples, after)


def _insert(
    found: Restored, model: Any, columns: tuple[str, ...], lines: Any, after: int
) -> None:
    """Write lines above `after`, the first value of each."""
    pk = found.sandbox.pk
    values = [(pk, *line) for line in lines if line[0] > after or not after]
    bulk.insert(model, ("sandbox_id", *columns), values)


def _insert_checkpoints(found: Restored, after: int) -> None:
    """Keep the present as a checkpoint too: its page is made of its world."""
    sandbox = found.sandbox
    lines = [one for one in found.history.checkpoints if one[0] != sandbox.revision]
    parts = packing.pack_world(found.world), packing.pack_page(found.history.page)
    lines.append((sandbox.revision, sandbox.tick, *parts))
    _insert(found, Checkpoint, ("revision", "tick", "world", "page"), lines, after)
