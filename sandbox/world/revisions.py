"""What a commit writes: the objects of its revisions as they are, and their history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from sandbox.base import bulk
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample
from sandbox.models.fields import json_text
from sandbox.page.diffs import RevisionDiff, encode_step
from sandbox.page.events import EventRecord, kept
from sandbox.page.packing import pack_step
from sandbox.world import manifests, operations
from sandbox.world.operations import (
    AnyOperation,
    Begin,
    Delete,
    Lose,
    Observe,
    Put,
    Redo,
    Rewind,
    SetPolicy,
    Settle,
    Several,
    Tick,
    Transport,
    Undo,
)
from sandbox.world.worlds import LoadedSandbox
from scheduler.engine.worlds.objects import Changes
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import Sentence, plain

NOTHING = plain("")


@dataclass(slots=True, kw_only=True)
class CommitRequest:
    """What is to be committed: the operation on the held world, and its user."""

    operation: AnyOperation
    who: int | None = None  # user id; None = the clock
    summary: Sentence = NOTHING
    edits: list[EventRecord] = field(default_factory=list)  # events of the edit itself
    columns: dict[str, Any] = field(default_factory=dict)  # of the sandbox's row
    whole: bool = False  # the world is another one: write every object
    base: int | None = None  # the revision that it goes on from; None = the one before
    origin: int | None = None  # the revision that it does again

    @property
    def kind(self) -> str:
        """Return the revision's kind."""
        match self.operation:
            case Tick() | Observe():
                return Revision.TICK
            case Transport():
                return Revision.TRANSPORT
            case Begin() | Rewind() | Undo() | Redo():
                return Revision.RERUN
            case Put() | Delete() | SetPolicy() | Lose() | Settle() | Several():
                return Revision.EDIT


@dataclass(slots=True, kw_only=True)
class MadeRevision:
    """A revision that was made in memory and is not written yet."""

    request: CommitRequest
    step: RevisionDiff
    lines: list[EventRecord]
    changes: Changes
    t_ms: int
    at: datetime
    checkpoint: tuple[bytes, bytes] | None = None  # world and page, where one is due
    text: bytes = b""  # the diff as it is sent and, compressed, stored

    def __post_init__(self) -> None:
        self.text = encode_step(self.step)


def store_objects(held: LoadedSandbox, made: Sequence[MadeRevision]) -> None:
    """Write the objects that the revisions touched, each once, as they are now."""
    sandbox_id, last = held.sandbox_id, made[-1]
    if any(one.request.whole for one in made):
        manifests.clear(sandbox_id)
        objects = [(obj, last.step.revision) for obj in held.world.objects.values()]
        manifests.store(sandbox_id, objects)
        return
    touched: dict[Key, tuple[Object, int]] = {}
    removed: dict[Key, None] = {}
    for one in made:
        for key in one.changes.removed:
            touched.pop(key, None)
            removed[key] = None
        for obj in one.changes.touched:
            touched[obj.key] = obj, one.step.revision
            removed.pop(obj.key, None)
    manifests.store(sandbox_id, touched.values())
    manifests.remove(sandbox_id, removed)


def insert_history(sandbox_id: str, made: Sequence[MadeRevision]) -> None:
    """Write the revisions with their events, diffs, samples and checkpoints; a statement each."""
    bulk.insert(Revision, _REVISION, [_revision(sandbox_id, one) for one in made])
    bulk.insert(
        Event,
        ("sandbox_id", "revision", "tick", "seq", *EventRecord.COLUMNS),
        [
            (sandbox_id, one.step.revision, one.step.tick, n, *line.values())
            for one in made
            for n, line in enumerate(one.lines)
        ],
    )
    bulk.insert(
        Diff,
        ("sandbox_id", "revision", "body"),
        [
            (sandbox_id, one.step.revision, pack_step(one.step, one.text))
            for one in made
        ],
    )
    bulk.insert(
        Sample,
        ("sandbox_id", "revision", "tick", "body"),
        [
            (sandbox_id, one.step.revision, one.step.tick, json_text(sample))
            for one in made
            for sample in one.step.samples
        ],
    )
    bulk.insert(
        Checkpoint,
        ("sandbox_id", "revision", "tick", "world", "page"),
        [
            (sandbox_id, one.step.revision, one.step.tick, *one.checkpoint)
            for one in made
            if one.checkpoint is not None
        ],
    )


_REVISION = (
    "sandbox_id",
    "number",
    "tick",
    "t_ms",
    "kind",
    "operation",
    "summary",
    "said",
    "who_id",
    "base",
    "origin",
    "at",
)


def _revision(sandbox_id: str, made: MadeRevision) -> tuple[Any, ...]:
    request = made.request
    said = kept(request.summary)
    return (
        sandbox_id,
        made.step.revision,
        made.step.tick,
        made.t_ms,
        request.kind,
        json_text(operations.to_document(request.operation)),
        request.summary.text[:300],
        None if said is None else json_text(said),
        request.who,
        request.base,
        request.origin,
        connection.ops.adapt_datetimefield_value(made.at),
    )
