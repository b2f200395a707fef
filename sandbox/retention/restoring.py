"""An archive back to rows: checked as a whole first, then written at once."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Collection, Iterator, Mapping

import msgspec
from django.db import DatabaseError, transaction

from sandbox.base import bulk
from sandbox.base.scripts import read_script
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
from sandbox.retention import archives
from sandbox.retention.archives import Archive, wrong
from sandbox.world import (
    manifests,
    operations,
    seen,
    worlds,
)
from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import decode_world
from scheduler.input.files.inflating import inflated_size, inflated_values
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.recorded.qrec.entries import check_object

_DAMAGE = (
    zlib.error,
    msgspec.MsgspecError,
    packing.FormatError,
    SchedulerError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
)


def check(archive: Archive, most: int) -> World:
    """Return the archive's world, after every part was opened once.

    Refuses what would break later, with InvalidError: parts that cannot be read,
    that come to over `most` bytes, or that do not join up.
    """
    try:
        _check_sequence(archive)
        values = most // archives.BYTES_PER_VALUE
        for body in _bodies(archive):
            most -= packing.opened_size(body, most)
            values -= packing.opened_values(body, values)
        for body in _seen(archive):
            most -= inflated_size(body, most)
            values -= inflated_values(body, values)
            _check_seen(body, most, values)
        for number, body in archive.diffs:
            patch = packing.unpack_patch(body)
            if (patch.from_revision, patch.revision) != (number - 1, number):
                raise wrong(f"the diff of revision {number} leads elsewhere")
        if archive.script:
            read_script(archive.script)
        for checkpoint in archive.checkpoints:
            packing.unpack_page(checkpoint.page)
            decode_world(packing.world_bytes(checkpoint.world))
    except _DAMAGE as error:
        raise wrong(RequestProblem.DAMAGED.said(problem=error)) from error
    return _world(archive)


def _seen(archive: Archive) -> Iterator[bytes]:
    """Yield what was seen of a real cluster, tick by tick: shown already, and recorded."""
    for line in archive.revisions:
        operation = operations.from_document(line.operation)
        if isinstance(operation, operations.Observe) and operation.seen:
            yield operation.seen
    ticks = [tick for tick, _ in archive.recorded]
    if ticks != sorted(set(ticks)):
        raise wrong("the ticks of its recording do not count up")
    yield from (body for _, body in archive.recorded)


def _check_seen(body: bytes, most: int, values: int) -> None:
    if most < 0 or values < 0:
        raise wrong("what was seen of the cluster is too much when opened")
    for change in seen.unpack(body):
        check_object(change.object)


def _bodies(archive: Archive) -> list[bytes]:
    pages = [part for c in archive.checkpoints for part in (c.world, c.page)]
    return [*(body for _, body in archive.diffs), *pages]


def _check_sequence(archive: Archive) -> None:
    """Refuse a history with holes in what is kept of it.

    Numbers count up by one, but over what a rewind, an undo or a redo left behind: its
    own revision follows, and begins with a checkpoint.
    """
    last, kept = archive.columns.revision, archive.columns.kept_revision
    marks = {c.revision for c in archive.checkpoints if kept <= c.revision <= last}
    if not marks:
        raise wrong(f"it has no checkpoint from revision {kept} on")
    numbers = [line.number for line in archive.revisions]
    if not numbers or numbers[-1] != last:
        raise wrong(f"its revisions do not count up to {last}")
    for before, line in itertools.pairwise(archive.revisions):
        if line.number != before.number + 1:
            _check_gap(before, line, marks, kept)
        if line.base not in (None, before.number):
            raise wrong(f"revision {line.number} goes on from another one")
    shown = {number for number in numbers if number > min(marks)}
    missing = shown - {number for number, _ in archive.diffs}
    if missing:
        raise wrong(f"the diff of revision {min(missing)} is missing")


def _check_gap(
    before: archives.ArchivedRevision,
    line: archives.ArchivedRevision,
    marks: Collection[int],
    kept: int,
) -> None:
    operation = operations.from_document(line.operation)
    turns = (operations.Rewind, operations.Undo, operations.Redo)
    if before.number >= line.number or not isinstance(operation, turns):
        raise wrong(f"there is a gap before revision {line.number}")
    if line.number >= kept and line.number not in marks:
        raise wrong(f"the checkpoint of what goes on at {line.number} is missing")


def _world(archive: Archive) -> World:
    try:
        world = World.decode(archive.world)
        found = world.hash()
    except Exception as error:  # whatever a made-up world trips over is its fault
        raise wrong(f"its world cannot be read: {error}") from error
    if found != archive.columns.hash:
        raise wrong(RequestProblem.ANOTHER_HASH.said())
    return world


def columns_of(archive: Archive, world: World) -> dict[str, object]:
    """Return the columns of the sandbox's row."""
    columns = msgspec.to_builtins(archive.columns)
    return {
        **columns,
        "stack": world.policy.spec.stack,
        "header": worlds.header_bytes(world),
        "start_policy": archive.start_policy,
        "source": msgspec.to_builtins(archive.source) if archive.source else {},
        "script": archive.script,
    }


def insert(
    sandbox: Sandbox,
    archive: Archive,
    world: World,
    *,
    people: Mapping[str, int],
    after: int = 0,
) -> None:
    """Write the objects, and the history above revision `after`: all or nothing.

    Revisions are credited to `people` (user name -> id) and to nobody else: what a
    name in a file stood for where it was written, nobody here knows.
    """
    try:
        with transaction.atomic():
            objects = [(obj, sandbox.revision) for obj in world.objects.values()]
            manifests.store(sandbox.pk, objects)
            _insert_revisions(sandbox, archive, people, after)
            _insert_lines(sandbox.pk, archive, after)
            _insert_checkpoints(sandbox, archive, world, after)
    except DatabaseError as error:
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


def _insert_lines(pk: str, archive: Archive, after: int) -> None:
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
            for event in archive.events
            if event.revision > after
        ],
    )
    bulk.insert(
        Diff,
        ("sandbox_id", "revision", "body"),
        [(pk, *row) for row in archive.diffs if row[0] > after],
    )
    bulk.insert(
        RecordedTick,
        ("sandbox_id", "tick", "body"),
        [(pk, *row) for row in archive.recorded],
    )
    bulk.insert(
        Sample,
        ("sandbox_id", "revision", "tick", "body"),
        [
            (pk, row.revision, row.tick, json_text(row.body))
            for row in archive.samples
            if row.revision > after
        ],
    )


def _insert_checkpoints(
    sandbox: Sandbox, archive: Archive, world: World, after: int
) -> None:
    """Keep the present as a checkpoint too, unless it is one."""
    rows = [
        (sandbox.pk, *msgspec.structs.astuple(row))
        for row in archive.checkpoints
        if row.revision > after
    ]
    if not any(row[1] == sandbox.revision for row in rows):
        parts = (packing.pack_world(world), packing.pack_page(archive.page))
        rows.append((sandbox.pk, sandbox.revision, sandbox.tick, *parts))
    columns = ("sandbox_id", "revision", "tick", "world", "page")
    bulk.insert(Checkpoint, columns, rows)
