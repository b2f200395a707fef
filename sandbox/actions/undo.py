"""Rewind, undo and redo: going on from another past, with nothing thrown away."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model

from sandbox.actions.forks import branch_for
from sandbox.actions.sessions import EditSession, edit_session
from sandbox.base.errors import ConflictError
from sandbox.base.refusals import Refused
from sandbox.models import (
    ALL_TABLES,
    Checkpoint,
    Diff,
    Event,
    Revision,
    Sample,
    Sandbox,
)
from sandbox.page.diffs import RevisionDiff
from sandbox.page.rows.transport import KEY
from sandbox.world import (
    extenders,
    history,
    operations,
)
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import (
    Redo,
    Rewind,
    Undo,
)
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.words.edits import Edited
from scheduler.words.reading import read_event
from scheduler.words.refusals import said_of

_COPIED = (
    "owner_id",
    "scenario",
    "stack",
    "seed",
    "revision",
    "tick",
    "now_ms",
    "tick_ms",
    "header",
    "start_policy",
    "hash",
    "speed",
    "keep_ticks",
    "keep_days",
    "kept_revision",
    "kept_tick",
)
_PAST: tuple[tuple[type[Model], str], ...] = (
    (Revision, "number"),
    (Event, "revision"),
    (Diff, "revision"),
    (Sample, "revision"),
    (Checkpoint, "revision"),
)


def do_rewind(
    user: User, sandbox_id: str, *, tick: int
) -> tuple[RevisionDiff, Sandbox]:
    """Go on from an earlier tick; what came after is kept as a fork.

    Returns the diff and the fork.
    """
    with edit_session(user, sandbox_id) as session, transaction.atomic():
        sandbox = session.sandbox
        revision = history.revision_at(sandbox, tick)
        if revision == sandbox.revision:
            raise ConflictError(Refused.AT_TICK.said(tick=tick))
        world = history.world_at(sandbox, revision)
        loaded = session.loaded  # reads rows, which the fork takes away below
        kept = _keep_as_fork(sandbox, revision)
        loaded.world = world
        summary = Edited.REWINDS.said(who=user.get_username(), tick=tick).text
        line = session.edit_event(
            user, "Rewind", KEY, summary, before=sandbox.tick, after=world.tick
        )
        step = session.commit(
            CommitRequest(
                operation=Rewind(revision),
                who=user.pk,
                summary=summary,
                edits=[line],
                columns={"playing": False, "until": {}},
                whole=True,
            )
        )
        return step, kept


def _keep_as_fork(sandbox: Sandbox, revision: int) -> Sandbox:
    """Give what came after a revision, and the present rows, to a new fork.

    The sandbox writes its own rows anew. Forks that were made of what is given
    away follow it.
    """
    inherited = revision < sandbox.parent_revision
    fork = Sandbox(
        title=f"{sandbox.title} (to tick {sandbox.tick})"[:200],
        parent=sandbox.parent if inherited else sandbox,
        parent_revision=sandbox.parent_revision if inherited else revision,
        branch=branch_for(sandbox),
        **{name: getattr(sandbox, name) for name in _COPIED},
    )
    fork.save(force_insert=True)
    for model, field in _PAST:
        after = {f"{field}__gt": revision}
        model._default_manager.filter(sandbox=sandbox, **after).update(sandbox=fork)
    for table in ALL_TABLES:
        table._default_manager.filter(sandbox=sandbox).update(sandbox=fork)
    children = Sandbox.objects.filter(parent=sandbox, parent_revision__gt=revision)
    children.exclude(pk=fork.pk).update(parent=fork)
    if inherited:
        sandbox.parent_revision = revision
        Sandbox.objects.filter(pk=sandbox.pk).update(parent_revision=revision)
    return fork


def _again(world: World, revision: Revision) -> None:
    """Do a revision again; questions that it did not ask before are asked now.

    Their answers join those of the revision, for the next time.
    """
    operation = operations.from_document(revision.operation)
    try:
        done = operations.perform(world, operation, live=extenders.live())
    except SchedulerError as error:
        what = read_event(revision.summary) or revision.summary or revision.kind
        raise ConflictError(
            Refused.NOT_THEN.said(
                revision=revision.number, what=what, problem=said_of(error)
            )
        ) from error
    if done != operation:
        document = operations.to_document(done)
        Revision.objects.filter(pk=revision.pk).update(operation=document)
    world.take()


def do_undo(user: User, sandbox_id: str) -> RevisionDiff:
    """Run again without the last edit, up to the present tick."""
    with edit_session(user, sandbox_id) as session:
        edit = _last_edit(session.sandbox, undone=False)
        if edit is None:
            raise ConflictError(Refused.NO_UNDO.said())
        return _rerun(user, session, Undo(edit.number), edit)


def do_redo(user: User, sandbox_id: str) -> RevisionDiff:
    """Run again with the edit that was undone last, in its place."""
    with edit_session(user, sandbox_id) as session:
        edit = _last_undone(session.sandbox)
        if edit is None:
            raise ConflictError(Refused.NO_REDO.said())
        return _rerun(user, session, Redo(edit.number), edit)


def _last_edit(sandbox: Sandbox, *, undone: bool) -> Revision | None:
    """Return the last edit that counts; edits before the fork are the parent's."""
    return (
        Revision.objects.filter(sandbox=sandbox, kind=Revision.EDIT, undone=undone)
        .order_by("-number")
        .first()
    )


def _last_undone(sandbox: Sandbox) -> Revision | None:
    """Return the edit undone last, unless something was edited since."""
    undos = Revision.objects.filter(
        sandbox=sandbox, kind__in=(Revision.RERUN, Revision.EDIT)
    ).order_by("-number")
    redone = 0
    for revision in undos.iterator():
        match operations.from_document(revision.operation):
            case Redo():
                redone += 1
            case Undo() if redone:
                redone -= 1
            case Undo(revision=number):
                return Revision.objects.filter(sandbox=sandbox, number=number).first()
            case _:
                return None
    return None


def _rerun(
    user: User, session: EditSession, operation: Undo | Redo, edit: Revision
) -> RevisionDiff:
    sandbox = session.sandbox
    undoing = isinstance(operation, Undo)
    others = [
        revision
        for revision in history.effective(sandbox, edit.number - 1)
        if revision.number != edit.number
    ]
    ran = others if undoing else sorted([*others, edit], key=lambda r: r.number)
    world = history.world_at(sandbox, edit.number - 1)
    for revision in ran:
        _again(world, revision)
    words = Edited.UNDOES if undoing else Edited.REDOES
    summary = words.said(who=user.get_username(), edit=edit.summary).text
    line = session.edit_event(
        user, "Undo" if undoing else "Redo", KEY, summary, after=edit.number
    )
    session.loaded.world = world
    with transaction.atomic():
        step = session.commit(
            CommitRequest(
                operation=operation,
                who=user.pk,
                summary=summary,
                edits=[line],
                whole=True,
            )
        )
        Revision.objects.filter(pk=edit.pk).update(undone=undoing)
    return step
