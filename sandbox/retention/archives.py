"""A whole sandbox as one file: world, policy, history and all; and back.

The file is a line that names it and its format, then compressed msgpack. What can be made
of something else in it is not in it: pages, curves, times. `checking.py` says how the rest
is held to be what was written. A fork takes the past that it shares along, so the file stands alone; its own forks are
sandboxes, and files, of their own. `docs/decisions/stored-formats.md` describes how
formats follow one another.
"""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from django.contrib.auth.models import User
from django.db.models import QuerySet

from sandbox.base.errors import BusyError, Cause, InvalidError
from sandbox.base.refusals import NotNow
from sandbox.models import Checkpoint, Diff, Event, RecordedTick, Revision, Sandbox
from sandbox.models.fields import text_alone
from sandbox.page.packing import unpack_page
from sandbox.page.rows.transport import KEY
from sandbox.process import watchdog
from sandbox.world import history, worlds
from scheduler.input.files.inflating import inflated_size, most_values
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.sentence import Sentence, plain

FORMAT = 1
MAGIC = b"quotalab sandbox "
#: What an archive that was written here may come to when it is opened.
LARGEST = 1 << 34
#: Bytes of an archive for each value in it; those that were written have 9 or more.
BYTES_PER_VALUE = 8

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
_MANY = msgspec.Meta(max_length=10_000_000)


def _text(most: int) -> Any:
    return msgspec.Meta(max_length=most)


class ArchiveColumns(msgspec.Struct, kw_only=True):
    """Of the sandbox's own row what its world does not say."""

    title: Annotated[str, _text(200)]
    scenario: Annotated[str, _text(100)]
    branch: Annotated[str, _text(40)]
    revision: _Count
    speed: Annotated[float, msgspec.Meta(ge=0, le=1000)]
    hash: Annotated[str, _text(64)]
    problem: str
    keep_ticks: _Count
    keep_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)]
    kept_revision: _Count


class ArchivedRevision(msgspec.Struct, array_like=True):
    """A revision."""

    number: _Count
    tick: _Count
    t_ms: _Count
    kind: Annotated[str, _text(9)]
    operation: dict[str, Any]
    summary: Annotated[str, _text(300)]
    at_us: int  # wall time, since 1970
    who: str  # a user's name
    base: _Count | None  # of a rewind, undo or redo: what it goes on from
    origin: _Count | None  # the revision that it does again
    said: Sentence | None  # the summary with its code


class ArchivedEvent(msgspec.Struct, array_like=True):
    """An event."""

    revision: _Count
    seq: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    tick: _Count
    t_ms: _Count
    type: Annotated[str, _text(16)]
    subject: Annotated[str, _text(400)]
    by: Annotated[str, _text(400)]
    reason: Annotated[str, _text(128)]
    message: str
    data: dict[str, Any]
    said: Sentence | None  # the message with its code


class ArchivedTransport(msgspec.Struct, frozen=True, rename="camel"):
    """Of the sandbox's own row on a page what no world says: how it was played."""

    playing: bool
    speed: Annotated[float, msgspec.Meta(ge=0, le=1000)]
    until: Annotated[str, _text(1_000)]
    problem: str
    problem_said: list[Sentence]
    lag_ms: _Count


class ArchivedCheckpoint(msgspec.Struct, array_like=True):
    """A checkpoint: its world as `sandbox.page.packing` packs it; the page is made of it."""

    revision: _Count
    world: bytes
    transport: ArchivedTransport


class ArchivedSource(msgspec.Struct, kw_only=True, rename="camel"):
    """Which recording of a real cluster the sandbox shows."""

    kind: Literal["recording"]
    name: Annotated[str, _text(200)]
    start_time: Annotated[str, _text(40)]
    last_tick: _Count


class Archive(msgspec.Struct, kw_only=True):
    """What the file holds."""

    columns: ArchiveColumns
    start_policy: dict[str, Any]
    world: bytes
    revisions: list[ArchivedRevision]
    events: list[ArchivedEvent]
    diffs: Annotated[list[tuple[_Count, bytes]], _MANY]
    checkpoints: Annotated[list[ArchivedCheckpoint], _MANY]
    source: ArchivedSource | None
    #: Edits that were undone and what undid them, for redo; no part of its past.
    left: list[ArchivedRevision]
    #: Ticks of the recording, with what was seen in each as `sandbox.world.seen` packs it.
    recorded: Annotated[list[tuple[_Count, bytes]], _MANY]
    #: Its lesson, as `sandbox.base.library` keeps one; empty without.
    script: dict[str, Any]


class _Values(msgspec.Struct):
    """The parts of the file that are not bytes of their own, not yet read."""

    columns: msgspec.Raw
    start_policy: msgspec.Raw
    world: msgspec.Raw
    revisions: msgspec.Raw
    events: msgspec.Raw
    left: msgspec.Raw
    script: msgspec.Raw


_encode = msgspec.msgpack.Encoder(enc_hook=text_alone).encode
_decode = msgspec.msgpack.Decoder(Archive).decode
_decode_values = msgspec.msgpack.Decoder(_Values).decode


def write(sandbox_id: str) -> bytes:
    """Return the sandbox, as committed last, as a file. O(its history): a worker's.

    Raises NotFoundError, and GoneError when it is archived.
    """
    watchdog.leave_to_worker()
    for _ in range(5):
        body, sandbox = worlds.encoded(sandbox_id)
        archive = _archive(sandbox, body)
        # What was deleted meanwhile would be missing.
        still = Sandbox.objects.filter(pk=sandbox_id)
        if still.filter(kept_revision=sandbox.kept_revision).exists():
            return seal(archive)
    raise BusyError(NotNow.TOO_FAST.said())


def whole(sandbox: Sandbox) -> bytes:
    """Return the sandbox as a file, whether it is open or archived."""
    if sandbox.archived_at is not None:
        return bytes(sandbox.stored.body)
    return write(sandbox.pk)


def seal(archive: Archive) -> bytes:
    """Return an archive as the bytes of its file."""
    head = MAGIC + str(FORMAT).encode() + b"\n"
    return head + zlib.compress(_encode(archive), 1)


def unseal(data: bytes, most: int) -> Archive:
    """Return what a file holds; at most `most` bytes when opened. A worker's.

    A file that is larger inside is refused before any of it is kept in memory.
    Raises InvalidError for what is no archive, of a later format, cut off or
    damaged.
    """
    watchdog.leave_to_worker()
    head, _, rest = data.partition(b"\n")
    if not head.startswith(MAGIC):
        raise wrong(expected(Wanted.EXPORTED))
    given = head.removeprefix(MAGIC)[:20].decode("ascii", "replace")
    if given != str(FORMAT):
        raise wrong(RequestProblem.UPDATE.said(known=FORMAT, given=repr(given)))
    opener = zlib.decompressobj()
    try:
        if inflated_size(rest, most) > most:
            raise wrong(RequestProblem.OPENED.said(most=most))
        body = opener.decompress(rest, most)
        if not opener.eof:
            raise wrong(RequestProblem.CUT_OFF.said())
        if opener.unused_data:
            raise wrong(f"{len(opener.unused_data)} bytes follow its end")
        _refuse_values(body, most // BYTES_PER_VALUE)
        return _decode(body)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise wrong(RequestProblem.DAMAGED.said(problem=error)) from error


def _refuse_values(body: bytes, most: int) -> None:
    """Refuse more values than `most`: each may take a hundred times its bytes in memory."""
    parts = msgspec.structs.astuple(_decode_values(body))
    if sum(most_values(bytes(part)) for part in parts) > most:
        raise wrong(RequestProblem.OPENED_VALUES.said(most=most))


def wrong(problem: Sentence | str) -> InvalidError:
    """Return the refusal of a file."""
    said = problem if isinstance(problem, Sentence) else plain(problem)
    return InvalidError(said, causes=[Cause(problem=said)])


def _archive(sandbox: Sandbox, world: bytes) -> Archive:
    past = history.lineage(sandbox)
    left = _left(sandbox)
    return Archive(
        columns=ArchiveColumns(
            **{
                name: getattr(sandbox, name)
                for name in ArchiveColumns.__struct_fields__
            }
        ),
        start_policy=sandbox.start_policy,
        world=world,
        revisions=_revisions(history.rows_of(Revision, sandbox, whole=True)),
        left=_revisions(left),
        events=[
            ArchivedEvent(*row)
            for rows in (history.of(Event, past), _said_of(sandbox, left))
            for row in _values(rows, ArchivedEvent.__struct_fields__)
        ],
        diffs=[
            (n, bytes(body))
            for n, body in _values(history.of(Diff, past), ("revision", "body"))
        ],
        checkpoints=[
            ArchivedCheckpoint(revision, bytes(world), _transport(bytes(page)))
            for revision, world, page in _values(
                history.rows_of(Checkpoint, sandbox, whole=True),
                ("revision", "world", "page"),
            )
        ],
        source=_source(sandbox),
        recorded=[
            (tick, bytes(body))
            for tick, body in RecordedTick.objects.filter(sandbox=sandbox)
            .order_by("tick")
            .values_list("tick", "body")
        ],
        script=sandbox.script,
    )


_NOT_PLAYED = ArchivedTransport(False, 1.0, "", "", [], 0)


def _transport(page: bytes) -> ArchivedTransport:
    row = unpack_page(page).get(KEY)
    return _NOT_PLAYED if row is None else msgspec.convert(row, ArchivedTransport)


def _source(sandbox: Sandbox) -> ArchivedSource | None:
    """Return its recording; a file of a cluster that is followed follows none."""
    if sandbox.source.get("kind") != "recording":
        return None
    return msgspec.convert(sandbox.source, ArchivedSource)


_FIELDS = (
    *("number", "tick", "t_ms", "kind", "operation", "summary", "base", "origin"),
    "said",
)


def _left(sandbox: Sandbox) -> QuerySet[Revision]:
    """Return what a redo needs that is no part of the past: edits, and what undid them."""
    past = history.rows_of(Revision, sandbox, whole=True)
    made = Revision.objects.filter(
        sandbox=sandbox, kind__in=(Revision.EDIT, Revision.RERUN)
    )
    return made.exclude(pk__in=past.values("pk"))


def _said_of(sandbox: Sandbox, edits: QuerySet[Revision]) -> QuerySet[Event]:
    return Event.objects.filter(
        sandbox=sandbox, type="Edit", revision__in=edits.values("number")
    )


def _revisions(rows: QuerySet[Revision]) -> list[ArchivedRevision]:
    found = rows.order_by("number").values_list(*_FIELDS, "at", "who__username")
    return [
        ArchivedRevision(
            number=row[0],
            tick=row[1],
            t_ms=row[2],
            kind=row[3],
            operation=row[4],
            summary=row[5],
            at_us=_micros(row[9]),
            who=row[10] or "",
            base=row[6],
            origin=row[7],
            said=row[8],
        )
        for row in found
    ]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros(at: datetime) -> int:
    gone = at - _EPOCH
    return (gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds


def moment(line: ArchivedRevision) -> datetime:
    """Return when a revision was made."""
    try:
        return _EPOCH + timedelta(microseconds=line.at_us)
    except OverflowError as error:
        raise wrong(f"revision {line.number}: no such time: {line.at_us}") from error


def _values(rows: QuerySet[Any], columns: tuple[str, ...]) -> Any:
    return rows.order_by("revision", "pk").values_list(*columns)


def people_of(archive: Archive) -> dict[str, int]:
    """Return the ids of this installation's users that the archive names."""
    names = {line.who for line in archive.revisions if line.who}
    found: dict[str, int] = {}
    for start in range(0, len(names), 500):  # SQLite binds a bounded number
        some = sorted(names)[start : start + 500]
        users = User.objects.filter(username__in=some)
        found |= dict(users.values_list("username", "pk"))
    return found
