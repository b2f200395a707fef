"""A turn: the sandbox held, its world up to date, ready to be changed and committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User

from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleError,
)
from sandbox.models import Event, Sandbox
from sandbox.page.diffs import Step
from sandbox.page.events import Line
from sandbox.world import (
    commits,
    extenders,
    leases,
    operations,
    worlds,
)
from sandbox.world.commits import Work
from sandbox.world.leases import Claim
from sandbox.world.operations import AnyOperation, Transport
from sandbox.world.worlds import Held
from scheduler.errors import SchedulerError

EDIT = "Edit"


@dataclass
class Turn:
    """One holder's time with one sandbox. Its world is loaded when it is asked for."""

    claim: Claim
    sandbox: Sandbox

    @cached_property
    def held(self) -> Held:
        """Return the world, at the sandbox's revision."""
        return worlds.hold(self.sandbox)

    def do(self, operation: AnyOperation) -> AnyOperation:
        """Do it to the world; what the world refuses is an InvalidError.

        Returns it with what extenders answered, to be committed so.
        """
        try:
            world = self.held.world
            return operations.perform(world, operation, live=extenders.live())
        except SchedulerError as error:
            raise InvalidError(
                str(error), causes=[Cause(problem=str(error))]
            ) from error

    def commit(self, work: Work) -> Step:
        """Write what was done and tell everyone."""
        if isinstance(work.operation, Transport):
            return commits.commit_transport(self.sandbox, self.claim, work)
        return commits.commit(self.held, self.sandbox, self.claim, work)

    def line(
        self,
        user: User | None,
        action: str,
        subject: str,
        message: str,
        *,
        before: object = None,
        after: object = None,
    ) -> Line:
        """Return the event of an edit: who, what, before, after."""
        return Line(
            t_ms=self.sandbox.now_ms,
            type=EDIT,
            subject=subject,
            by=f"User//{user.get_username()}" if user else "",
            reason=action,
            message=message,
            data={"action": action, "before": before, "after": after},
        )


def allowed(user: User, sandbox_id: str) -> None:
    """Refuse who may not change the sandbox.

    Raises NotFoundError when they may not even see it, else ForbiddenError.
    """
    if Sandbox.objects.editable_by(user).filter(pk=sandbox_id).exists():
        return
    if Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError("you may look at this sandbox but not change it")
    raise NotFoundError(f"sandbox {sandbox_id} is not there")


@contextmanager
def turn(user: User, sandbox_id: str) -> Iterator[Turn]:
    """Hold the sandbox for `user`; whatever fails in it leaves nothing behind."""
    allowed(user, sandbox_id)
    with leases.claimed(sandbox_id) as claim, holding(claim) as mine:
        yield mine


@contextmanager
def holding(claim: Claim) -> Iterator[Turn]:
    """Bring the claimed sandbox's world up to date, and let go of it on failure."""
    with worlds.door(claim.sandbox_id):
        try:
            yield Turn(claim, _awake(claim.sandbox_id))
        except BaseException:
            # The world may be half changed; rows are what counts.
            worlds.drop(claim.sandbox_id)
            raise


def _awake(sandbox_id: str) -> Sandbox:
    sandbox = Sandbox.objects.select_related("parent").get(pk=sandbox_id)
    if sandbox.archived_at is not None:
        raise ConflictError("the sandbox is archived; open it again first")
    return sandbox


def refuse_stale(sandbox: Sandbox, seen: int | None, subjects: list[str]) -> None:
    """Refuse an edit of something that was edited since `seen`.

    Raises StaleError naming each edit since: revision, who, what.
    """
    if seen is None:
        return
    since = Event.objects.filter(
        sandbox=sandbox, type=EDIT, subject__in=subjects, revision__gt=seen
    ).order_by("revision")[:20]
    causes = [
        Cause(
            problem=f"revision {e.revision}: {e.message} ({e.by.removeprefix('User//')})",
            field=e.subject,
        )
        for e in since
    ]
    if causes:
        raise StaleError(
            f"edited since revision {seen}; look again and repeat", causes=causes
        )
