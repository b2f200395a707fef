"""An edit session: the sandbox leased, its world up to date, ready to be changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import msgspec
from django.contrib.auth.models import User

from sandbox.base.absences import Absent
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleError,
)
from sandbox.base.refusals import Refused
from sandbox.models import Event, Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord, kept
from sandbox.world import (
    commits,
    extenders,
    leases,
    lineage,
    operations,
    worlds,
)
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import AnyOperation, Transport
from sandbox.world.worlds import LoadedSandbox
from scheduler.model.errors import SchedulerError
from scheduler.model.problems.requests import RequestProblem
from scheduler.model.sentence import Sentence

EDIT = "Edit"


@dataclass
class EditSession:
    """One holder's time with one sandbox. Its world is loaded when it is asked for."""

    claim: Claim
    sandbox: Sandbox

    @cached_property
    def loaded(self) -> LoadedSandbox:
        """Return the world, at the sandbox's revision."""
        return worlds.load(self.sandbox)

    def do(self, operation: AnyOperation) -> AnyOperation:
        """Do it to the world; what the world refuses is an InvalidError.

        Returns it with what extenders answered, to be committed so.
        """
        try:
            world = self.loaded.world
            return operations.perform(world, operation, live=extenders.live())
        except SchedulerError as error:
            raise InvalidError(
                error.said, causes=[Cause(problem=error.said)]
            ) from error

    def commit(self, request: CommitRequest) -> RevisionDiff:
        """Commit the edit and send its diff to every page."""
        if isinstance(request.operation, Transport):
            return commits.commit_transport(self.sandbox, self.claim, request)
        return commits.commit(self.loaded, self.sandbox, self.claim, request)

    def edit_event(
        self,
        user: User | None,
        action: str,
        subject: str,
        said: Sentence,
        *,
        before: object = None,
        after: object = None,
    ) -> EventRecord:
        """Return the event of an edit: who, what, before, after."""
        return EventRecord(
            t_ms=self.sandbox.now_ms,
            type=EDIT,
            subject=subject,
            by=f"User//{user.get_username()}" if user else "",
            reason=action,
            message=said.text,
            said=kept(said),
            data={"action": action, "before": before, "after": after},
        )


def allowed(user: User, sandbox_id: str) -> None:
    """Refuse a person who may not change the sandbox.

    Raises NotFoundError when they may not even see it, else ForbiddenError.
    """
    if Sandbox.objects.editable_by(user).filter(pk=sandbox_id).exists():
        return
    if Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError(Refused.LOOK_ONLY.said())
    raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))


@contextmanager
def edit_session(
    user: User, sandbox_id: str, *, of_world: bool = True
) -> Iterator[EditSession]:
    """Hold the sandbox for `user`; whatever fails in it leaves nothing behind.

    `of_world=False` is for what leaves the world as it is: title, play and pause. All
    else is refused of a sandbox that shows a real cluster, with ForbiddenError.
    """
    allowed(user, sandbox_id)
    with leases.claimed(sandbox_id) as claim, open_session(claim) as session:
        allowed(user, sandbox_id)  # it took its time until nobody else wrote
        if of_world:
            refuse_real(session.sandbox)
        yield session


def refuse_real(sandbox: Sandbox) -> None:
    """Refuse an edit of what shows a real cluster. Raises ForbiddenError."""
    if sandbox.is_real:
        raise ForbiddenError(Refused.REAL.said(title=sandbox.title))


@contextmanager
def open_session(claim: Claim) -> Iterator[EditSession]:
    """Bring the claimed sandbox's world up to date; drop it from memory on failure."""
    with worlds.lock(claim.sandbox_id):
        session = EditSession(claim, _not_archived(claim.sandbox_id))
        try:
            yield session
        except BaseException:
            if "loaded" in vars(session):
                # The world may be half changed; rows are what counts.
                worlds.drop(claim.sandbox_id)
            raise


def _not_archived(sandbox_id: str) -> Sandbox:
    # Written out, as the statements of a lease are.
    found = Sandbox.objects.raw(
        f"SELECT * FROM {Sandbox._meta.db_table} WHERE id = %s", [sandbox_id]
    )
    sandbox = next(iter(found), None)
    if sandbox is None:
        raise Sandbox.DoesNotExist
    if sandbox.archived_at is not None:
        raise ConflictError(Refused.ARCHIVED.said())
    return sandbox


def refuse_stale(sandbox: Sandbox, seen: int | None, subjects: list[str]) -> None:
    """Refuse an edit of something that was edited since `seen`.

    Raises StaleError naming each edit since: revision, who, what.
    """
    if seen is None:
        return
    edits = lineage.rows(Event, sandbox).filter(type=EDIT, subject__in=subjects)
    since = edits.filter(revision__gt=seen).order_by("revision")[:20]
    causes = [
        Cause(
            problem=RequestProblem.EDITED.said(
                revision=e.revision,
                edit=e.message if e.said is None else msgspec.convert(e.said, Sentence),
                name=e.by.removeprefix("User//"),
            ),
            field=e.subject,
        )
        for e in since
    ]
    if causes:
        raise StaleError(Refused.STALE.said(revision=seen), causes=causes)
