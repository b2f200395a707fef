"""A whole sandbox as one file: world, policy, history and all; and back.

The file is a line that names it and its format, then compressed msgpack. A
fork takes the past that it shares along, so the file stands alone.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from sandbox import bulk, history, manifests, operations, worlds
from sandbox.errors import Cause, InvalidError
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample, Sandbox
from sandbox.models.fields import json_text
from sandbox.packing import pack_page, pack_world, unpack_page, unpack_patch
from scheduler.errors import SchedulerError
from scheduler.world import World

FORMAT = 1
MAGIC = b"quotalab sandbox "
#: What an archive may come to when it is opened.
MOST_BYTES = 1 << 30

_COLUMNS = (
    "title",
    "scenario",
    "branch",
    "stack",
    "seed",
    "revision",
    "tick",
    "now_ms",
    "tick_ms",
    "speed",
    "hash",
)


class _Line(msgspec.Struct, array_like=True):
    number: int
    tick: int
    t_ms: int
    kind: str
    operation: dict[str, Any]
    summary: str
    undone: bool


class _Event(msgspec.Struct, array_like=True):
    revision: int
    seq: int
    tick: int
    t_ms: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    data: dict[str, Any]


class _Sample(msgspec.Struct, array_like=True):
    revision: int
    tick: int
    body: dict[str, Any]


class _Checkpoint(msgspec.Struct, array_like=True):
    revision: int
    tick: int
    world: bytes
    page: bytes


class Archive(msgspec.Struct, kw_only=True):
    """What the file holds."""

    columns: dict[str, Any]
    start_policy: dict[str, Any]
    world: bytes
    page: dict[str, dict[str, Any]]
    revisions: list[_Line]
    events: list[_Event]
    diffs: list[tuple[int, bytes]]
    samples: list[_Sample]
    checkpoints: list[_Checkpoint]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Archive).decode


def write(sandbox: Sandbox) -> bytes:
    """Return the sandbox as a file. O(its history)."""
    past = history.lineage(sandbox)
    revisions = Revision.objects.filter(history.within(past, "number"))
    with worlds.looking_at(sandbox) as world:
        body = world.encode()
    archive = Archive(
        columns={name: getattr(sandbox, name) for name in _COLUMNS},
        start_policy=sandbox.start_policy,
        world=body,
        page=history.page_at(sandbox, sandbox.revision),
        revisions=[
            _Line(*values)
            for values in revisions.order_by("number").values_list(
                *_Line.__struct_fields__
            )
        ],
        events=[_Event(*row) for row in _rows(Event, past, _Event.__struct_fields__)],
        diffs=[(n, bytes(body)) for n, body in _rows(Diff, past, ("revision", "body"))],
        samples=[
            _Sample(*row) for row in _rows(Sample, past, _Sample.__struct_fields__)
        ],
        checkpoints=[
            _Checkpoint(revision, tick, bytes(world), bytes(page))
            for revision, tick, world, page in _rows(
                Checkpoint, past, _Checkpoint.__struct_fields__
            )
        ],
    )
    head = MAGIC + str(FORMAT).encode() + b"\n"
    return head + zlib.compress(_encode(archive), 1)


def _rows(model: Any, past: list[history.Stretch], columns: tuple[str, ...]) -> Any:
    found = model.objects.filter(history.within(past, "revision"))
    return found.order_by("revision", "pk").values_list(*columns)


def read(user: User, data: bytes) -> Sandbox:
    """Make a sandbox of a file; its world has the hash that was written.

    Raises InvalidError for what is no archive, is cut off, or does not fit
    together; then nothing is made.
    """
    archive = _open(data)
    world = _world(archive)
    sandbox = Sandbox(
        owner=user,
        header=worlds.header_bytes(world),
        start_policy=archive.start_policy,
        **{name: archive.columns[name] for name in _COLUMNS},
    )
    with transaction.atomic():
        sandbox.save(force_insert=True)
        manifests.store(sandbox.pk, world.objects.values(), sandbox.revision)
        _insert(sandbox, archive)
    return sandbox


def _open(data: bytes) -> Archive:
    head, _, rest = data.partition(b"\n")
    if not head.startswith(MAGIC):
        raise _wrong("expected a sandbox that was exported as a file")
    if head != MAGIC + str(FORMAT).encode():
        given = head.removeprefix(MAGIC)[:20].decode("ascii", "replace")
        raise _wrong(f"expected format {FORMAT}, got {given!r}; update this program")
    opener = zlib.decompressobj()
    try:
        body = opener.decompress(rest, MOST_BYTES)
        if opener.unconsumed_tail:
            raise _wrong(f"over {MOST_BYTES} bytes when opened")
        if not opener.eof:
            raise _wrong("the file is cut off")
        archive = _decode(body)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise _wrong(f"the file is damaged: {error}") from error
    _check(archive)
    return archive


def _check(archive: Archive) -> None:
    """Refuse what would break later: every part is opened once."""
    missing = [name for name in _COLUMNS if name not in archive.columns]
    if missing:
        raise _wrong(f"the file says nothing of {', '.join(missing)}")
    try:
        for line in archive.revisions:
            operations.from_document(line.operation)
        for _, body in archive.diffs:
            unpack_patch(body)
        for checkpoint in archive.checkpoints:
            unpack_page(checkpoint.page)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise _wrong(f"the file is damaged: {error}") from error


def _world(archive: Archive) -> World:
    try:
        world = World.decode(archive.world)
    except (SchedulerError, msgspec.MsgspecError, LookupError, TypeError) as error:
        raise _wrong(f"its world cannot be read: {error}") from error
    if world.hash() != archive.columns["hash"]:
        raise _wrong("its world is not the one that was exported: the hash differs")
    return world


def _wrong(problem: str) -> InvalidError:
    return InvalidError(problem, causes=[Cause(problem=problem)])


def _insert(sandbox: Sandbox, archive: Archive) -> None:
    pk, now = sandbox.pk, timezone.now()
    Revision.objects.bulk_create(
        [
            Revision(
                sandbox=sandbox,
                at=now,
                **{name: getattr(line, name) for name in _Line.__struct_fields__},
            )
            for line in archive.revisions
        ],
        batch_size=500,
    )
    bulk.insert(
        Event,
        ("sandbox_id", *_Event.__struct_fields__),
        [
            (pk, *msgspec.structs.astuple(event)[:-1], json_text(event.data))
            for event in archive.events
        ],
    )
    bulk.insert(
        Diff, ("sandbox_id", "revision", "body"), [(pk, *row) for row in archive.diffs]
    )
    bulk.insert(
        Sample,
        ("sandbox_id", "revision", "tick", "body"),
        [(pk, row.revision, row.tick, json_text(row.body)) for row in archive.samples],
    )
    bulk.insert(
        Checkpoint,
        ("sandbox_id", "revision", "tick", "world", "page"),
        [(pk, *msgspec.structs.astuple(row)) for row in archive.checkpoints],
    )
    _insert_present(sandbox, archive)


def _insert_present(sandbox: Sandbox, archive: Archive) -> None:
    """Keep the present as a checkpoint too, unless it is one."""
    if any(row.revision == sandbox.revision for row in archive.checkpoints):
        return
    world = World.decode(archive.world)
    bulk.insert(
        Checkpoint,
        ("sandbox_id", "revision", "tick", "world", "page"),
        [
            (
                sandbox.pk,
                sandbox.revision,
                sandbox.tick,
                pack_world(world),
                pack_page(archive.page),
            )
        ],
    )
