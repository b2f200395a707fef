"""Decisions to rows, events and the next revision, in one transaction.

A commit names the revision it started from and the fence it holds. When
either has moved on, nothing is written and OvertakenError is raised.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandbox.base import bulk
from sandbox.base.errors import OvertakenError
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample, Sandbox
from sandbox.models.fields import json_text
from sandbox.page import diffs, rows
from sandbox.page.diffs import Step
from sandbox.page.events import Line, lines_of
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
from sandbox.world.worlds import Held
from scheduler.world import Changes

CHECKPOINT_EVERY = 64
#: An edit gets a checkpoint too, but not when the last is this near.
CHECKPOINT_APART = 8


@dataclass(slots=True, kw_only=True)
class Work:
    """What is to be committed: what was done to the held world, by whom."""

    operation: AnyOperation
    who: int | None = None  # user id; None = the clock
    summary: str = ""
    edits: list[Line] = field(default_factory=list)  # events of the edit itself
    columns: dict[str, Any] = field(default_factory=dict)  # of the sandbox's row
    whole: bool = False  # the world is another one: write every object

    @property
    def kind(self) -> str:
        """Return the revision's kind."""
        match self.operation:
            case Tick():
                return Revision.TICK
            case Transport():
                return Revision.TRANSPORT
            case Begin() | Rewind() | Undo() | Redo():
                return Revision.RERUN
            case Put() | Delete() | SetPolicy() | Lose() | Settle() | Several():
                return Revision.EDIT


def commit(held: Held, sandbox: Sandbox, claim: Claim, work: Work) -> Step:
    """Write what was done to `held.world`; return the diff that everyone gets.

    `sandbox` is the row at the held revision; it is brought forward too.
    A fixed number of statements, plus one per table with changed objects.
    Raises OvertakenError; the caller then drops the held world.
    """
    changes = held.world.take()
    before = sandbox.revision
    _bring_forward(sandbox, held, work)
    step = _step(held, sandbox, changes, work, before)
    lines = [*work.edits, *lines_of(changes.decisions)]
    step.events = [
        line.row(step.revision, step.tick, n) for n, line in enumerate(lines)
    ]
    diffs.apply(held.page, step)
    if work.kind != Revision.TICK:
        held.tally = Tally.of(held.page)
    if work.kind == Revision.TICK:
        step.samples = [rows.sample_of(sandbox, held.page, held.tally, lines)]
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        _store(held, sandbox, changes, work)
        _insert_history(sandbox, work, step, lines)
        held.revision = sandbox.revision
        _insert_checkpoint(held, sandbox, work)
        broadcast.after_commit(sandbox.pk, step)
    return step


def commit_transport(sandbox: Sandbox, claim: Claim, work: Work) -> Step:
    """Write a turn of the transport: the world stays as it is and is not needed.

    Raises OvertakenError.
    """
    before = sandbox.revision
    for name, value in work.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    step = Step(
        from_revision=before,
        revision=sandbox.revision,
        tick=sandbox.tick,
        updated={rows.SANDBOX_KEY: rows.transport_of(sandbox)},
        events=[
            line.row(sandbox.revision, sandbox.tick, n)
            for n, line in enumerate(work.edits)
        ],
    )
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        _insert_history(sandbox, work, step, work.edits)
        broadcast.after_commit(sandbox.pk, step)
    worlds.bring_page_forward(sandbox.pk, step)
    return step


def _bring_forward(sandbox: Sandbox, held: Held, work: Work) -> None:
    world = held.world
    for name, value in work.columns.items():
        setattr(sandbox, name, value)
    sandbox.revision += 1
    sandbox.tick = world.tick
    sandbox.now_ms = world.context.now_ms
    sandbox.stack = world.policy.spec.stack
    sandbox.tick_ms = world.policy.spec.simulation.tick_ms
    sandbox.header = worlds.header_bytes(world)
    sandbox.hash = world.hash()


def _step(
    held: Held, sandbox: Sandbox, changes: Changes, work: Work, before: int
) -> Step:
    if work.kind == Revision.TICK:
        delta = rows.delta_of(held.world, sandbox, held.page, held.tally, changes)
    else:
        delta = diffs.between(held.page, rows.page_of(held.world, sandbox))
    return Step(
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
    mine = Sandbox.objects.filter(pk=sandbox.pk, revision=before, fence=claim.fence)
    held_until = time.time() + LEASE_S
    if mine.update(lease_until=held_until, changed_at=timezone.now(), **changed) != 1:
        raise OvertakenError(f"{sandbox.pk} has moved on from revision {before}")


def _store(held: Held, sandbox: Sandbox, changes: Changes, work: Work) -> None:
    if work.whole:
        manifests.clear(sandbox.pk)
        manifests.store(sandbox.pk, held.world.objects.values(), sandbox.revision)
        return
    manifests.store(sandbox.pk, changes.touched, sandbox.revision)
    manifests.remove(sandbox.pk, changes.removed)


def _insert_history(
    sandbox: Sandbox, work: Work, step: Step, lines: list[Line]
) -> None:
    revision = Revision(
        sandbox=sandbox,
        number=step.revision,
        tick=sandbox.tick,
        t_ms=sandbox.now_ms,
        kind=work.kind,
        operation=operations.to_document(work.operation),
        summary=work.summary[:300],
        who_id=work.who,
        at=timezone.now(),
    )
    revision.save(force_insert=True)
    place = (sandbox.pk, step.revision)
    bulk.insert(
        Event,
        ("sandbox_id", "revision", "tick", "seq", *Line.COLUMNS),
        [(*place, step.tick, n, *line.values()) for n, line in enumerate(lines)],
    )
    bulk.insert(Diff, ("sandbox_id", "revision", "body"), [(*place, pack_step(step))])
    bulk.insert(
        Sample,
        ("sandbox_id", "revision", "tick", "body"),
        [(*place, step.tick, json_text(sample)) for sample in step.samples],
    )


def _insert_checkpoint(held: Held, sandbox: Sandbox, work: Work) -> None:
    if not _due(sandbox, work):
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


def _due(sandbox: Sandbox, work: Work) -> bool:
    if work.kind == Revision.RERUN or sandbox.revision % CHECKPOINT_EVERY == 0:
        return True
    if work.kind != Revision.EDIT:
        return False
    near = Checkpoint.objects.filter(
        sandbox=sandbox, revision__gt=sandbox.revision - CHECKPOINT_APART
    )
    return not near.exists()
