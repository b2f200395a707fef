"""Decisions to rows, events and the next revisions, in one transaction.

A commit names the revision it started from and the fence it holds. When
either has moved on, nothing is written and OvertakenError is raised.
Ticks that nobody waits for one by one may share a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from sandbox.base import counters
from sandbox.base.database_time import DatabaseTime
from sandbox.base.denials import NotNow
from sandbox.base.errors import OvertakenError
from sandbox.models import Checkpoint, Revision, Sandbox
from sandbox.models.sandbox import carried_out
from sandbox.page import diffs, rows
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import records_of
from sandbox.page.packing import pack_page, pack_world
from sandbox.page.rows.tally import WorkloadTally
from sandbox.world import (
    broadcast,
    worlds,
)
from sandbox.world.leases import LEASE_S, Claim
from sandbox.world.revisions import CommitRequest as CommitRequest
from sandbox.world.revisions import MadeRevision, insert_history, store_objects
from sandbox.world.worlds import LoadedSandbox
from scheduler.engine.worlds.objects import Changes

CHECKPOINT_EVERY = 64
#: An edit gets a checkpoint too, but not when the last is this near.
CHECKPOINT_APART = 8


def commit(
    held: LoadedSandbox, sandbox: Sandbox, claim: Claim, request: CommitRequest
) -> RevisionDiff:
    """Commit the changes of `held.world`; return the diff that is sent to all pages.

    `sandbox` is the row at the held revision; it is brought forward too.
    A fixed number of statements, plus one per table with changed objects.
    Raises OvertakenError; the caller then drops the held world.
    """
    made = make_revision(held, sandbox, request)
    write(held, sandbox, claim, [made])
    return made.step


def make_revision(
    held: LoadedSandbox, sandbox: Sandbox, request: CommitRequest
) -> MadeRevision:
    """Make the next revision of what was done to `held.world`, in memory alone.

    Brings the page and the sandbox's row forward; `write` stores it, with those
    before it if there are any.
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
    due = _checkpoint_due(sandbox, request)
    if request.kind == Revision.TICK:
        step.samples = [
            rows.sample_of(sandbox, held.page, held.tally, lines, changes.searched)
        ]
    else:
        held.tally = WorkloadTally.of(held.page)
    checkpoint = (pack_world(held.world), pack_page(held.page)) if due else None
    return MadeRevision(
        request=request,
        step=step,
        lines=lines,
        changes=changes,
        t_ms=sandbox.now_ms,
        at=timezone.now(),
        checkpoint=checkpoint,
    )


def write(
    held: LoadedSandbox,
    sandbox: Sandbox,
    claim: Claim,
    made: Sequence[MadeRevision],
    *,
    sent: Sequence[RevisionDiff] | None = None,
) -> None:
    """Write revisions that follow one another in one transaction: all of them or none.

    Every diff is sent, unless others say the same or nobody watches: `sent` then. Whoever
    misses one sees the gap. Raises OvertakenError, and then nothing is written.
    """
    sandbox.header = worlds.header_bytes(held.world)
    with transaction.atomic():
        _claim_revision(sandbox, claim, made[0].step.from_revision)
        store_objects(held, made)
        insert_history(sandbox.pk, made)
        held.revision = sandbox.revision
        texts = {id(one.step): one.text for one in made}
        for step in [one.step for one in made] if sent is None else sent:
            broadcast.after_commit(sandbox.pk, step, texts.get(id(step)))
    counters.count(f"commits_{made[-1].request.kind}", len(made))


def ends_batch(sandbox: Sandbox) -> bool:
    """Return whether a checkpoint is due at this revision: nothing is added to it."""
    return sandbox.revision % CHECKPOINT_EVERY == 0


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
    made = MadeRevision(
        request=request,
        step=step,
        lines=request.edits,
        changes=Changes(touched=[], removed=[], decisions=[]),
        t_ms=sandbox.now_ms,
        at=timezone.now(),
    )
    with transaction.atomic():
        _claim_revision(sandbox, claim, before)
        insert_history(sandbox.pk, [made])
        broadcast.after_commit(sandbox.pk, step, made.text)
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
        raise OvertakenError(NotNow.MOVED_ON.said(sandbox=sandbox.pk, revision=before))
    carried_out()


def _checkpoint_due(sandbox: Sandbox, request: CommitRequest) -> bool:
    if request.kind == Revision.RERUN or ends_batch(sandbox):
        return True
    if request.kind != Revision.EDIT or request.origin is not None:
        return False
    near = Checkpoint.objects.filter(
        sandbox=sandbox, revision__gt=sandbox.revision - CHECKPOINT_APART
    )
    return not near.exists()
