"""What an archive holds, made and checked: nothing in a file is believed.

1. The world is read, and its hash is that of the file.
2. The page of the present is made of the world. So is each page where a past begins anew:
   the first that is kept, and where a rewind, an undo or a redo goes on.
3. Every diff is held to the rows' types and leads from one page to the next; the last
   page is that of the world. Pages of checkpoints are those on the way.
4. Samples are those of the diffs. Events are held to the decisions' types and say what
   the diffs say. Revisions are held to their operations.
5. Columns that decide are checked as any input is.

What is not as the writer wrote it raises ValueError or LookupError, with what is wrong.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from sandbox.base import library
from sandbox.base.library import read_script
from sandbox.models import Sandbox
from sandbox.models.fields import decode_json, json_text
from sandbox.page import diffs, packing, rows
from sandbox.page.diffs import Page, RevisionDiff, Row
from sandbox.page.events import EventRecord, kept
from sandbox.page.rows.transport import KEY
from sandbox.page.wire import AnyRow, EventLine, Sample
from sandbox.retention.archives import (
    Archive,
    ArchivedCheckpoint,
    ArchivedEvent,
    ArchivedRevision,
    ArchivedTransport,
)
from sandbox.world import operations
from sandbox.world.operations import (
    Begin,
    Observe,
    Put,
    Redo,
    Rewind,
    SetPolicy,
    Several,
    Undo,
)
from sandbox.world.revisions import CommitRequest
from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import decode_world, hash_of
from scheduler.model.decisions import AnyDecision, Decision
from scheduler.model.objects import stored_key
from scheduler.model.policy import read_policy
from scheduler.model.problems import RequestProblem
from scheduler.recorded.qrec.reading import check_object, received_us

#: The largest that a column of the database holds, and then some.
_MOST = 2**62
_TURNS = (Rewind, Undo, Redo)
_KINDS: dict[str, type[msgspec.Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(AnyRow)
}
#: Kind -> a struct of its fields, each of which may be absent.
_PATCHES = {
    name: msgspec.defstruct(
        f"{name}Patch",
        [
            (field.encode_name, field.type | msgspec.UnsetType, msgspec.UNSET)
            for field in msgspec.structs.fields(kind)
            if field.name != "key"
        ],
        forbid_unknown_fields=True,
    )
    for name, kind in _KINDS.items()
}
_DECISIONS: dict[str, type[Decision]] = {
    kind.__name__: kind for kind in get_args(AnyDecision)
}
_COMMON = frozenset(Decision.__struct_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedHistory:
    """What is kept of a past, as the tables hold it."""

    page: Page  # of the present, made of the world
    diffs: list[tuple[int, bytes]]
    samples: list[tuple[int, int, Row]]  # revision, tick
    checkpoints: list[tuple[int, int, bytes, bytes]]  # revision, tick, world, page
    kept_tick: int


def read_world(archive: Archive) -> World:
    """Return the world of an archive, whose hash is that of the file."""
    world = _opened(archive.world)
    if world.hash() != archive.columns.hash:
        raise ValueError(RequestProblem.ANOTHER_HASH.said().text)
    return world


def _opened(data: bytes) -> World:
    """Return a world, each of whose objects is under its own name and time."""
    try:
        world = World.decode(data)
    except Exception as error:  # whatever a made-up world trips over is its fault
        raise ValueError(f"its world cannot be read: {error}") from error
    for key, obj in world.objects.items():
        if stored_key(obj.manifest) != key:
            raise ValueError(f"{key} has the manifest of {stored_key(obj.manifest)}")
        parts = [obj.manifest, obj.status]
        if not all(isinstance(one, dict) for one in parts):
            raise ValueError(f"{key} has a manifest or a status that is no object")
        if decode_json(json_text(parts)) != parts:
            raise ValueError(f"{key} has a value that no JSON has")
    if not (0 <= world.tick <= _MOST and 0 <= world.context.now_ms <= _MOST):
        raise ValueError("its time is out of range")
    return world


def columns_of(archive: Archive, world: World) -> dict[str, Any]:
    """Return the columns of the sandbox's row: given ones checked, the others derived."""
    given = archive.columns
    if not 0 < len(given.title.strip()) <= 200:
        raise ValueError("its title is empty")
    if not math.isfinite(given.speed):
        raise ValueError("its speed is no number")
    read_policy(archive.start_policy)
    if archive.script:
        read_script(archive.script)
    if archive.source is not None:
        received_us(archive.source.start_time)
    # Refuse a text that PostgreSQL does not keep.
    texts = (archive.columns, archive.start_policy, archive.script, archive.source)
    lines = (archive.revisions, archive.left, archive.events)
    if b"\\u0000" in msgspec.json.encode([*texts, *lines]):
        raise ValueError("it has a text with a NUL character")
    return {
        "title": given.title,
        "scenario": given.scenario if given.scenario in library.names() else "",
        "branch": given.branch,
        "revision": given.revision,
        "speed": given.speed,
        "problem": given.problem,
        "keep_ticks": given.keep_ticks,
        "keep_days": given.keep_days,
        "kept_revision": given.kept_revision,
        "start_policy": archive.start_policy,
        "source": msgspec.to_builtins(archive.source) if archive.source else {},
        "script": archive.script,
        **_of_world(world),
    }


def _of_world(world: World) -> dict[str, Any]:
    """Return the columns that a commit takes from the world."""
    return {
        "stack": world.policy.spec.stack,
        "seed": world.context.seed,
        "tick": world.tick,
        "now_ms": world.context.now_ms,
        "tick_ms": world.policy.spec.simulation.tick_ms,
        "hash": world.hash(),
    }


# -- history


def check_history(archive: Archive, world: World, sandbox: Sandbox) -> CheckedHistory:
    """Return the past, where every page is made of a world or led to from one."""
    _check_sequence(archive)
    for line in (*archive.revisions, *archive.left):
        _check_revision(line)
    _check_left(archive)
    if archive.revisions[-1].tick != world.tick:
        raise ValueError(f"its last revision is not of tick {world.tick}")
    walked = _Walk(archive, sandbox)
    page = _page_of(world, sandbox)
    if _without_transport(walked.page) != _without_transport(page):
        raise ValueError("its history leads to another page than that of its world")
    if world.hash() != archive.columns.hash:  # what was shown has been settled
        raise ValueError(RequestProblem.ANOTHER_HASH.said().text)
    return CheckedHistory(
        page=page,
        diffs=walked.diffs,
        samples=walked.samples,
        checkpoints=walked.checkpoints,
        kept_tick=walked.first.tick if archive.columns.kept_revision else 0,
    )


#: What a page says of the sandbox itself that is no part of its world.
_OWN = frozenset(
    (
        *("id", "title", "branch", "parent", "firstTick"),
        *("source", "sourceName", "sourceStart", "lastTick"),
        *ArchivedTransport.__struct_encode_fields__,
    )
)


def _without_transport(page: Page) -> Page:
    own = {name: value for name, value in page[KEY].items() if name not in _OWN}
    return page | {KEY: own}


def _check_sequence(archive: Archive) -> None:
    """Refuse a history with holes in what is kept of it.

    Numbers count up by one, but over what a rewind, an undo or a redo left behind: its
    own revision follows, and begins with a checkpoint.
    """
    last, first = archive.columns.revision, archive.columns.kept_revision
    marks = {c.revision for c in archive.checkpoints if first <= c.revision <= last}
    if len({c.revision for c in archive.checkpoints}) < len(archive.checkpoints):
        raise ValueError("it has a checkpoint twice")
    if not marks:
        raise ValueError(f"it has no checkpoint from revision {first} on")
    numbers = [line.number for line in archive.revisions]
    if not numbers or numbers[-1] != last:
        raise ValueError(f"its revisions do not count up to {last}")
    if not {c.revision for c in archive.checkpoints}.issubset(numbers):
        raise ValueError("it has a checkpoint of no revision")
    for before, line in itertools.pairwise(archive.revisions):
        if line.number != before.number + 1:
            operation = operations.from_document(line.operation)
            if before.number >= line.number or not isinstance(operation, _TURNS):
                raise ValueError(f"there is a gap before revision {line.number}")
            if line.number >= first and line.number not in marks:
                raise ValueError(
                    f"the checkpoint of what goes on at {line.number} is missing"
                )
        if line.base not in (None, before.number):
            raise ValueError(f"revision {line.number} goes on from another one")
    if missing := {n for n in numbers if n > min(marks)} - {
        n for n, _ in archive.diffs
    }:
        raise ValueError(f"the diff of revision {min(missing)} is missing")


def _check_revision(line: ArchivedRevision) -> None:
    operation = operations.from_document(line.operation)
    what = f"revision {line.number}"
    if line.kind != CommitRequest(operation=operation).kind:
        raise ValueError(f"{what} is no {line.kind}")
    if line.base is not None and not isinstance(operation, _TURNS):
        raise ValueError(f"{what} goes on from no other one")
    if line.said is not None and line.said.text[:300] != line.summary:
        raise ValueError(f"{what} says something else than its sentence")
    at = line.tick, line.t_ms
    if isinstance(operation, Observe) and (operation.tick, operation.now_ms) != at:
        raise ValueError(f"{what} is of another time than what was seen in it")
    parts = operation.parts if isinstance(operation, Several) else [operation]
    for part in parts:
        if isinstance(part, SetPolicy):
            read_policy(part.document)
        elif isinstance(part, Put):
            for manifest in part.manifests:
                check_object(manifest)


def _check_left(archive: Archive) -> None:
    """Refuse a revision that was left behind, and is one of the past or after it."""
    numbers = [line.number for line in archive.left]
    past = {line.number for line in archive.revisions}
    if len(set(numbers)) < len(numbers) or not past.isdisjoint(numbers):
        raise ValueError("it has a revision twice")
    for line in archive.left:
        if line.number > archive.columns.revision or (line.base or 0) >= line.number:
            raise ValueError(f"revision {line.number} is none that was left behind")


class _Walk:
    """The pages of a past, from the first that is kept to the last."""

    def __init__(self, archive: Archive, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._marks = {mark.revision: mark for mark in archive.checkpoints}
        self._diffs = dict(archive.diffs)
        self._events = _events_by_revision(archive)
        self.page: Page = {}
        self.diffs: list[tuple[int, bytes]] = []
        self.samples: list[tuple[int, int, Row]] = []
        self.checkpoints: list[tuple[int, int, bytes, bytes]] = []
        kept_revision = archive.columns.kept_revision
        past = [line for line in archive.revisions if line.number >= kept_revision]
        self.first = next(line for line in past if line.number in self._marks)
        self._keep_older(archive.revisions)
        for line in past[past.index(self.first) :]:
            self._go_on(line)

    def _keep_older(self, lines: Iterable[ArchivedRevision]) -> None:
        """Keep worlds from before the first page; nothing is shown of them."""
        for line in itertools.takewhile(lambda line: line is not self.first, lines):
            if (mark := self._marks.get(line.number)) is not None:
                decode_world(packing.world_bytes(mark.world))
                parts = (mark.world, packing.pack_page({}))
                self.checkpoints.append((line.number, line.tick, *parts))

    def _go_on(self, line: ArchivedRevision) -> None:
        mark = self._marks.get(line.number)
        step = self._step(line)
        turns = isinstance(operations.from_document(line.operation), (Begin, *_TURNS))
        if mark is not None and (turns or line is self.first):
            self.page = self._begin(line, mark)
        elif step is None:
            raise ValueError(f"revision {line.number} is led to by nothing")
        else:
            for key in step.updated:
                if key not in self.page:
                    raise ValueError(f"revision {step.revision} changes no row: {key}")
            diffs.apply(self.page, step)
        shown = self.page[KEY]
        if (shown["tick"], shown["tMs"]) != (line.tick, line.t_ms):
            raise ValueError(f"the page of revision {line.number} is of another time")
        if mark is not None:
            self._check_world(mark, str(shown["hash"]))
            parts = (mark.world, packing.pack_page(self.page))
            self.checkpoints.append((line.number, line.tick, *parts))

    def _step(self, line: ArchivedRevision) -> RevisionDiff | None:
        """Return the diff of a revision, which says what its row and its events say."""
        body = self._diffs.get(line.number)
        if body is None:
            return None
        step = packing.unpack_step(body)
        steps = step.from_revision, step.revision, step.tick
        if step.type != "diff" or steps != (line.number - 1, line.number, line.tick):
            raise ValueError(f"the diff of revision {line.number} leads elsewhere")
        _check_rows(step.added)
        for key, patch in step.updated.items():
            msgspec.convert(patch, _PATCHES[key.partition("/")[0]])
        msgspec.convert(step.events, list[EventLine])
        if step.events != self._events.get(line.number, []):
            raise ValueError(f"the events of revision {line.number} are others")
        for sample in msgspec.convert(step.samples, list[Sample]):
            if sample.tick != line.tick:
                raise ValueError(f"a sample of tick {line.tick} is of {sample.tick}")
        self.diffs.append((line.number, body))
        self.samples += [(line.number, line.tick, one) for one in step.samples[:1]]
        return step

    def _begin(self, line: ArchivedRevision, mark: ArchivedCheckpoint) -> Page:
        """Return the page of a checkpoint's world, as somebody played it then."""
        world = _opened(packing.world_bytes(mark.world))
        then = Sandbox(
            id=self._sandbox.pk,
            title=self._sandbox.title,
            branch=self._sandbox.branch,
            source=self._sandbox.source,
            start_policy=self._sandbox.start_policy,
            revision=line.number,
            **_of_world(world),
        )
        page = _page_of(world, then)
        page[KEY] = page[KEY] | msgspec.to_builtins(mark.transport)
        return page

    def _check_world(self, mark: ArchivedCheckpoint, shown: str) -> None:
        header, objects = decode_world(packing.world_bytes(mark.world))
        found = hash_of(header, objects)
        if header.tick != self.page[KEY]["tick"] or not found.startswith(shown[:16]):
            raise ValueError(f"the checkpoint of revision {mark.revision} is another's")


def _page_of(world: World, sandbox: Sandbox) -> Page:
    """Return the page of a world, each row as a writer makes one."""
    try:
        page = rows.page_of(world, sandbox)
    except Exception as error:  # as above
        raise ValueError(f"its world cannot be shown: {error}") from error
    _check_rows(page.values())
    return page


def _check_rows(found: Iterable[Row]) -> None:
    """Refuse rows that no writer makes."""
    for row in found:
        msgspec.convert(row, AnyRow)
        if not row["key"].startswith(f"{row['kind']}/"):
            raise ValueError(f"a {row['kind']} has the key {row['key']}")


# -- events


def _events_by_revision(archive: Archive) -> dict[int, list[Row]]:
    """Return the lines of all events, each checked, by their revisions."""
    found: dict[int, list[Row]] = {}
    left = {line.number for line in archive.left}
    past = {line.number: line.tick for line in archive.revisions}
    for event in sorted(archive.events, key=lambda one: (one.revision, one.seq)):
        _check_event(event)
        if event.revision in left and event.type == "Edit":
            continue
        if past.get(event.revision) != event.tick:
            raise ValueError(f"an event is of no revision: {event.revision}")
        record = EventRecord(
            t_ms=event.t_ms,
            type=event.type,
            subject=event.subject,
            by=event.by,
            reason=event.reason,
            message=event.message,
            said=None if event.said is None else kept(event.said),
        )
        found.setdefault(event.revision, []).append(
            record.row(event.revision, event.tick, event.seq)
        )
    return found


def _check_event(event: ArchivedEvent) -> None:
    """Refuse an event that no decision makes."""
    kind = _DECISIONS.get(event.type)
    if kind is None:
        raise ValueError(f"there are no events of type {event.type}")
    own = [name for name in kind.__struct_fields__ if name not in _COMMON]
    if set(event.data) - set(own):
        raise ValueError(f"an event of type {event.type} has other data")
    msgspec.convert(
        {"type": event.type, "at_ms": event.t_ms, "subject": ["a", "", "a"]}
        | event.data,
        kind,
    )
    for key in (event.subject, event.by):
        if key and key.count("/") < 2:
            raise ValueError(f"an event names {key}, which is no key")
    said = event.said
    if said is not None and (not said.code or said.text != event.message):
        raise ValueError("an event says something else than its sentence")


def seen_bodies(archive: Archive) -> Iterator[bytes]:
    """Yield what was seen of a real cluster, tick by tick: shown already, and recorded."""
    for line in archive.revisions:
        operation = operations.from_document(line.operation)
        if isinstance(operation, operations.Observe) and operation.seen:
            yield operation.seen
    ticks = [tick for tick, _ in archive.recorded]
    if ticks != sorted(set(ticks)):
        raise ValueError("the ticks of its recording do not count up")
    yield from (body for _, body in archive.recorded)
