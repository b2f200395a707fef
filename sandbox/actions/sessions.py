"""An edit session: the sandbox leased, its world up to date, ready to be changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from django.contrib.auth.models import User
from django.db.models import Q

from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleError,
)
from sandbox.base.refusals import Absent, Refused
from sandbox.models import Event, Revision, Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord, kept
from sandbox.world import commits, extenders, history, leases, operations, worlds
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import AnyOperation, Redo, Rewind, Transport, Undo
from sandbox.world.worlds import LoadedSandbox
from scheduler.model.errors import SchedulerError
from scheduler.model.problems.requests import RequestProblem
from scheduler.model.sentence import Sentence

EDIT = "Edit"
#: Edits that one refusal names.
_MOST_CAUSES = 20


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
        """Commit the edit and send its diff to every page. Raises OvertakenError."""
        if isinstance(request.operation, Transport):
            return commits.commit_transport(self.sandbox, self.claim, request)
        made = commits.make_revision(self.loaded, self.sandbox, request)
        commits.write(self.loaded, self.sandbox, self.claim, [made])
        return made.step

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
    if Sandbox.objects.may_edit(user, sandbox_id):
        return
    if Sandbox.objects.seen_by(user, sandbox_id):
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
    sandbox = Sandbox.objects.row(sandbox_id)
    if sandbox is None:
        raise Sandbox.DoesNotExist
    if sandbox.archived_at is not None:
        raise ConflictError(Refused.ARCHIVED.said())
    return sandbox


def refuse_stale(
    sandbox: Sandbox, seen: int | None, subjects: Iterable[str] | None
) -> None:
    """Refuse an edit of something that a person changed since `seen`, in whatever way.

    None for subjects is whatever there is. A tick changes nothing so. Raises StaleError
    naming each edit since: revision, who, what. Cost: it reads the operations of the
    edits since then.
    """
    if seen is None:
        return
    wanted = None if subjects is None else set(subjects)
    since = (
        Cause(
            problem=RequestProblem.EDITED.said(
                revision=made.number,
                edit=made.sentence,
                name=made.who.get_username() if made.who else "",
            ),
            field=min(found),
        )
        for made in _edits_since(sandbox, seen)
        if (changed := _changed_by(sandbox, made))
        and (found := changed if wanted is None else wanted & changed)
    )
    if causes := list(islice(since, _MOST_CAUSES)):
        raise StaleError(Refused.STALE.said(revision=seen), causes=causes)


def _edits_since(sandbox: Sandbox, seen: int) -> Iterator[Revision]:
    """Yield the revisions since `seen` that a person made, also those that are gone."""
    kinds = (Revision.EDIT, Revision.RERUN)
    past = history.within(history.lineage(sandbox, whole=True), "number")
    made = Revision.objects.filter(
        past | Q(sandbox=sandbox), number__gt=seen, kind__in=kinds, origin=None
    )
    yield from made.select_related("who").order_by("number").iterator()


def _changed_by(sandbox: Sandbox, made: Revision) -> set[str]:
    """Return what an edit changed; of an undo, a redo or a rewind what it takes or brings."""
    match operations.from_document(made.operation):
        case Undo(revision=number) | Redo(revision=number):
            edits = Revision.objects.filter(sandbox=made.sandbox_id, number=number)
        case Rewind(revision=number):
            past = history.rows_of(Revision, sandbox, made.number - 1, whole=True)
            edits = past.filter(number__gt=number, kind=Revision.EDIT)
        case operation:
            events = Event.objects.filter(
                sandbox=made.sandbox_id, revision=made.number, type=EDIT
            )
            named = set(events.values_list("subject", flat=True))
            return named | set(operations.subjects_of(operation))
    return {subject for edit in edits for subject in _changed_by(sandbox, edit)}
