"""Moves: a Workload to another queue, a ClusterQueue or Cohort under another cohort."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from sandbox.actions.sessions import edit_session, refuse_stale
from sandbox.base.errors import ConflictError, NotFoundError
from sandbox.base.refusals import Refused
from sandbox.page.diffs import RevisionDiff
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import (
    Edit,
    Put,
    Settle,
    Several,
)
from scheduler.analysis.explain.changes import move
from scheduler.analysis.explain.sentences import meant
from scheduler.analysis.explain.shapes import Change
from scheduler.analysis.explain.shapes import Edit as Patch
from scheduler.assembly import merge
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.words.edits import Edited


def do_move(
    user: User, sandbox_id: str, subject: Key, target: Key, *, seen: int | None = None
) -> RevisionDiff:
    """Move an object under another; a Workload with quota is evicted first.

    A Job's name stands for its Workload's.

    Raises NotFoundError for what does not exist, ConflictError when it cannot move.
    """
    with edit_session(user, sandbox_id) as session:
        world = session.loaded.world
        subject = meant(world, subject) or subject
        refuse_stale(session.sandbox, seen, [str(subject)])
        change = change_of(world, subject, target)
        operation = operation_of(world, change)
        patch = change.edits[-1].patch
        before = {name: world.objects[subject].spec.get(name) for name in patch["spec"]}
        summary = Edited.MOVES.said(
            who=user.get_username(), object=subject.path, target=str(target)
        )
        line = session.edit_event(
            user, "Move", str(subject), summary, before=before, after=patch["spec"]
        )
        done = session.do(operation)
        return session.commit(
            CommitRequest(operation=done, who=user.pk, summary=summary, edits=[line])
        )


def change_of(world: World, subject: Key, target: Key) -> Change:
    """Return the patches of a move. Raises as `do_move`."""
    for key in (subject, target):
        # A cohort need not be declared; a LocalQueue is looked up by namespace.
        loose = key.kind in ("Cohort", "LocalQueue")
        if key not in world.objects and not loose:
            raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    if world.kueue is not None:
        world.kueue.settle()
    try:
        return move(world, subject, target)
    except SchedulerError as error:
        raise ConflictError(error.said) from error


def operation_of(world: World, change: Change) -> Edit:
    """Return a change as the operation that does it."""
    put = Put(manifests=[_patched(world, patch) for patch in change.edits])
    if not change.pause:
        return put
    first = Put(manifests=[_patched(world, patch) for patch in change.pause])
    return Several([first, Settle(), put])


def _patched(world: World, patch: Patch) -> dict[str, Any]:
    key = Key(patch.kind, patch.namespace, patch.name)
    if key not in world.objects:
        raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    return merge(world.objects[key].manifest, patch.patch)
