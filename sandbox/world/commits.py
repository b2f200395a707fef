"""Decisions to rows, events and the next revision, in one transaction.

A commit names the revision it started from and the fence it holds. When
either has moved on, nothing is written and OvertakenError is raised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandbox.base import bulk, counters
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import OvertakenError
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample, Sandbox
from sandbox.models.fields import json_text
from sandbox.page import diffs, rows
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord, records_of
from sandbox.page.packing import (
    pack_page,
    pack_step,
    pack_world,
)
from sandbox.page.rows.tally import Tally
from sandbox.world import (
    broadcast,
    manifests,
    operations,
    worlds,
)
from sandbox.world.leases import LEASE_S, Claim
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
from scheduler.world import Changes

CHECKPOINT_EVERY = 64
#: An edit gets a checkpoint too, but not when the last is this near.
CHECKPOINT_APART = 8


@dataclass(slots=True, kw_only=True)
class CommitRequest:
    """What is to be committed: what was done to the held world, by whom."""

    operation: AnyOperation
    who: int | None = None  # user id; None = the clock
    summary: str = ""
    edits: list[EventRecord] = field(default_factory=list)  # events of the edit itself
    columns: dict[str, Any] = field(default_factory=dict)  # of the sandbox's row
    whole: bool = False  # the world is another one: write every object

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


def commit(
    held: LoadedSandbox, sandbox: Sandbox, claim: Claim, request: CommitRequest
) -> RevisionDiff:
    """Write what was done to `held.world`; return the diff that everyone gets.

    `sandbox` is the row at the held revision; it is brought forward too.
    A fixed number of statements, plus one per table with changed objects.
    Raises OvertakenError; the caller then drops the held world.
    """
    changes = held.world.take()
    before = sandbox.revision
    _bring_forward(sandbox, held, request)
    step = _step(held, sandbox, changes, request, before)
    lines = [*request.edits, *records_of(changes.decisions)]
    step.events = [
        line.row(step.revision, step.tick, n) for n, line in enumerate(lines)
    ]
    diffs.apply(held.page, step)
    if request.kind != Revision.TICK:
        held.tally = Tally.of(held.page)
    if request.kind == Revision.TICK:
        step.samples = [rows.sample_of(sandbox, held.page, held.tally, lines)]
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        _store(held, sandbox, changes, request)
        _insert_history(sandbox, request, step, lines)
        held.revision = sandbox.revision
        _insert_checkpoint(held, sandbox, request)
        broadcast.after_commit(sandbox.pk, step)
    counters.count(f"commits_{request.kind}")
    return step


def commit_transport(
    sandbox: Sandbox, claim: Claim, request: CommitRequest
) -> RevisionDiff:
    """Write a change of play, pause or speed: the world stays as it is and is not needed.

    Raises OvertakenError.
    """
    before = sandbox.revision
    for name, value in request.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    step = RevisionDiff(
        from_revision=before,
        revision=sandbox.revision,
        tick=sandbox.tick,
        updated={rows.SANDBOX_KEY: rows.transport_of(sandbox)},
        events=[
            line.row(sandbox.revision, sandbox.tick, n)
            for n, line in enumerate(request.edits)
        ],
    )
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        _insert_history(sandbox, request, step, request.edits)
        broadcast.after_commit(sandbox.pk, step)
    counters.count("commits_transport")
    worlds.bring_page_forward(sandbox.pk, step)
    return step


def _bring_forward(
    sandbox: Sandbox, held: LoadedSandbox, request: CommitRequest
) -> None:
    world = held.world
    for name, value in request.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    sandbox.tick = world.tick
    sandbox.now_ms = world.context.now_ms
    sandbox.stack = world.policy.spec.stack
    sandbox.tick_ms = world.policy.spec.simulation.tick_ms
    sandbox.header = worlds.header_bytes(world)
    sandbox.hash = world.hash()


def _step(
    held: LoadedSandbox,
    sandbox: Sandbox,
    changes: Changes,
    request: CommitRequest,
    before: int,
) -> RevisionDiff:
    if request.kind == Revision.TICK:
        delta = rows.delta_of(held.world, sandbox, held.page, held.tally, changes)
    else:
        delta = diffs.between(held.page, rows.page_of(held.world, sandbox))
    return RevisionDiff(
        from_revision=before,
        revision=sandbox.revision,
        tick=sandbox.tick,
        added=delta.added,
        updated=delta.updated,
        removed=delta.removed,
    )


_CARRIED = (
    "revision",
    "tick",
    "now_ms",
    "stack",
    "tick_ms",
    "header",
    "hash",
    "kept_revision",
    "kept_tick",
    "keep_ticks",
    "keep_days",
)


def _claim_revision(sandbox: Sandbox, claim: Claim, before: int) -> None:
    changed = {name: getattr(sandbox, name) for name in _CARRIED}
    for name in ("playing", "speed", "until", "problem", "due_at", "title"):
        changed[name] = getattr(sandbox, name)
    own = Sandbox.objects.filter(pk=sandbox.pk, revision=before, fence=claim.fence)
    held_until = DatabaseTime() + LEASE_S
    if own.update(lease_until=held_until, changed_at=timezone.now(), **changed) != 1:
        counters.count("leases_lost")
        raise OvertakenError(f"{sandbox.pk} has moved on from revision {before}")


def _store(
    held: LoadedSandbox, sandbox: Sandbox, changes: Changes, request: CommitRequest
) -> None:
    if request.whole:
        manifests.clear(sandbox.pk)
        manifests.store(sandbox.pk, held.world.objects.values(), sandbox.revision)
        return
    manifests.store(sandbox.pk, changes.touched, sandbox.revision)
    manifests.remove(sandbox.pk, changes.removed)


def _insert_history(
    sandbox: Sandbox,
    request: CommitRequest,
    step: RevisionDiff,
    lines: list[EventRecord],
) -> None:
    revision = Revision(
        sandbox=sandbox,
        number=step.revision,
        tick=sandbox.tick,
        t_ms=sandbox.now_ms,
        kind=request.kind,
        operation=operations.to_document(request.operation),
        summary=request.summary[:300],
        who_id=request.who,
        at=timezone.now(),
    )
    revision.save(force_insert=True)
    place = (sandbox.pk, step.revision)
    bulk.insert(
        Event,
        ("sandbox_id", "revision", "tick", "seq", *EventRecord.COLUMNS),
        [(*place, step.tick, n, *line.values()) for n, line in enumerate(lines)],
    )
    bulk.insert(Diff, ("sandbox_id", "revision", "body"), [(*place, pack_step(step))])
    bulk.insert(
        Sample,
        ("sandbox_id", "revision", "tick", "body"),
        [(*place, step.tick, json_text(sample)) for sample in step.samples],
    )


def _insert_checkpoint(
    held: LoadedSandbox, sandbox: Sandbox, request: CommitRequest
) -> None:
    if not _due(sandbox, request):
        return
    bulk.insert(
        Checkpoint,
        ("sandbox_id", "revision", "tick", "world", "page"),
        [
            (
                sandbox.pk,
                sandbox.revision,
                sandbox.tick,
                pack_world(held.world),
                pack_page(held.page),
            )
        ],
    )


def _due(sandbox: Sandbox, request: CommitRequest) -> bool:
    if request.kind == Revision.RERUN or sandbox.revision % CHECKPOINT_EVERY == 0:
        return True
    if request.kind != Revision.EDIT:
        return False
    near = Checkpoint.objects.filter(
        sandbox=sandbox, revision__gt=sandbox.revision - CHECKPOINT_APART
    )
    return not near.exists()
