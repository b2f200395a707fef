"""The ends of a what-if: it becomes the run, or it is put away."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.sessions import EditSession, edit_session
from sandbox.actions.undo import rewind
from sandbox.base.absences import Absent
from sandbox.base.errors import ConflictError, NotFoundError
from sandbox.base.refusals import Refused
from sandbox.models import KeptWhatIf, Revision, Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.rows.transport import KEY
from sandbox.world import lineage, operations
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Several
from scheduler.words.edits import Edited


def do_keep(
    user: User, sandbox_id: str, number: int
) -> tuple[RevisionDiff, Sandbox | None]:
    """Make a what-if the run, from its tick on; what came after is kept as a fork.

    Returns the diff of the changes, and the fork; None where nothing came after. Raises
    ConflictError for one that is not open, or whose past this run has left.
    """
    with edit_session(user, sandbox_id) as session, transaction.atomic():
        row = _found(session.sandbox, number, KeptWhatIf.OPEN)
        operation = operations.from_document(row.operation)
        if not isinstance(operation, Several):
            raise TypeError(f"{operation!r} is not the changes of a what-if")
        kept = _at_its_begin(user, session, row)
        said = Edited.KEEPS.said(who=user.get_username(), number=number)
        line = session.edit_event(
            user,
            "WhatIf",
            KEY,
            said,
            after=row.changes,
        )
        session.do(operation)
        step = session.commit(
            CommitRequest(operation=operation, who=user.pk, summary=said, edits=[line])
        )
        KeptWhatIf.objects.filter(pk=row.pk).update(state=KeptWhatIf.KEPT)
        return step, kept


def _at_its_begin(user: User, session: EditSession, row: KeptWhatIf) -> Sandbox | None:
    """Bring the run back to the revision that it begins at; return what is kept."""
    sandbox = session.sandbox
    past = lineage.rows(Revision, sandbox, whole=True)
    if not past.filter(number=row.revision).exists():
        raise ConflictError(
            Refused.OTHER_PAST.said(number=row.pk, revision=row.revision)
        )
    since = past.filter(number__gt=row.revision)
    if not since.exclude(kind=Revision.TRANSPORT).exists():
        return None  # play, pause and speed leave the world as it was
    return rewind(user, session, row.revision, tick=row.tick)[1]


def do_discard(user: User, sandbox_id: str, number: int) -> None:
    """Discard a what-if that is open or still runs; the run stays as it is."""
    with edit_session(user, sandbox_id, of_world=False) as session:
        row = _found(session.sandbox, number, KeptWhatIf.OPEN, KeptWhatIf.RUNNING)
        KeptWhatIf.objects.filter(pk=row.pk).update(state=KeptWhatIf.DISCARDED)


def _found(sandbox: Sandbox, number: int, *states: str) -> KeptWhatIf:
    row = KeptWhatIf.objects.filter(sandbox=sandbox, pk=number).first()
    if row is None:
        raise NotFoundError(Absent.WHAT_IF.said(number=number, sandbox=sandbox.pk))
    if row.state not in states:
        raise ConflictError(Refused.NOT_OPEN.said(number=number, state=row.state))
    return row
