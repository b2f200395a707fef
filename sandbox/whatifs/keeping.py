"""The ends of a what-if: it becomes the run, or it is put away."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.sessions import edit_session, refuse_stale
from sandbox.actions.undo import rewind
from sandbox.base.errors import ConflictError, NotFoundError
from sandbox.base.refusals import Absent, Refused
from sandbox.models import KeptWhatIf, Revision, Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.rows.transport import KEY
from sandbox.whatifs.asking import find
from sandbox.world import history, operations
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Several
from scheduler.words.edits import Edited


def do_keep(
    user: User, sandbox_id: str, number: int, *, seen: int | None = None
) -> tuple[RevisionDiff, Sandbox | None]:
    """Make a what-if the run, from its tick on; what came after is kept as a fork.

    Where only edits came after, they stay and its changes are made of what there is.
    Returns the diff of the changes, and the fork; None where there is none. Raises
    ConflictError for one that is not open, or whose past this run has left, and
    StaleError where it would undo or overwrite what a person changed since `seen`.
    """
    with edit_session(user, sandbox_id) as session, transaction.atomic():
        row = find(session.sandbox, number, KeptWhatIf.OPEN)
        operation = operations.from_document(row.operation)
        if not isinstance(operation, Several):
            raise TypeError(f"{operation!r} is not the changes of a what-if")
        # Whether time went on since it began; another past is a conflict.
        past = history.rows_of(Revision, session.sandbox, whole=True)
        if not past.filter(number=row.revision).exists():
            raise ConflictError(
                Refused.OTHER_PAST.said(number=row.pk, revision=row.revision)
            )
        goes_back = past.filter(number__gt=row.revision, kind=Revision.TICK).exists()
        changed = None if goes_back else operations.subjects_of(operation)
        refuse_stale(session.sandbox, seen, changed)
        kept = None
        if goes_back:
            kept = rewind(user, session, row.revision, tick=row.tick)[1]
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


def do_discard(
    user: User, sandbox_id: str, number: int, *, replaced_by: int | None = None
) -> None:
    """Discard a what-if that is open or still runs; the run stays as it is.

    `replaced_by` is a later one of the sandbox that takes its place: who asks for this one
    is told of that. Raises NotFoundError where there is none.
    """
    with edit_session(user, sandbox_id, of_world=False) as session:
        row = find(session.sandbox, number, KeptWhatIf.OPEN, KeptWhatIf.RUNNING)
        if replaced_by is not None and replaced_by <= row.pk:
            raise NotFoundError(
                Absent.WHAT_IF.said(number=replaced_by, sandbox=session.sandbox.pk)
            )
        if replaced_by is not None:
            find(session.sandbox, replaced_by)
        KeptWhatIf.objects.filter(pk=row.pk).update(
            state=KeptWhatIf.DISCARDED, replaced_by=replaced_by
        )
