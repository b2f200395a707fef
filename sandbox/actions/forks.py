"""Forks: another sandbox that goes on from any tick of this one."""

from __future__ import annotations

from django.contrib.auth.models import User

from sandbox.actions.sandboxes import begin
from sandbox.base.absences import Absent
from sandbox.base.errors import ForbiddenError, NotFoundError
from sandbox.base.refusals import Refused
from sandbox.live import limits
from sandbox.models import Sandbox
from sandbox.twins import ticks as twins
from sandbox.world import history, leases, worlds
from scheduler.engine.world import World
from scheduler.recorded.twin.going_on import go_on

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def do_fork(
    user: User, sandbox_id: str, *, tick: int | None = None, title: str = ""
) -> Sandbox:
    """Make a sandbox that was this one up to `tick` (now when None); paused.

    A fork of a real cluster's sandbox runs on by itself, with what is known to have
    arrived afterwards. Whoever may see a sandbox may fork it, unless they see it by a link that is
    only to look; the fork is theirs.
    """
    _check_forkable(user, sandbox_id)
    limits.check_sandboxes(user)
    # A rewind gives revisions away: they must be the parent's until the fork is there.
    with leases.lineage_claimed(sandbox_id):
        parent = Sandbox.objects.select_related("parent").get(pk=sandbox_id)
        world, revision = _world(parent, tick)
        if parent.is_real:
            world = go_on(world, twins.after(parent, revision))
        return fork_of(user, parent, world, revision, title or parent.title)


def _check_forkable(user: User, sandbox_id: str) -> None:
    if not Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
        raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
    if not Sandbox.objects.forkable_by(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError(Refused.NO_FORK_BY_LINK.said())


def fork_of(
    user: User, parent: Sandbox, world: World, revision: int, title: str
) -> Sandbox:
    """Make a sandbox that goes on from a revision of its parent, with this world."""
    return begin(
        user,
        world,
        title=title,
        scenario=parent.scenario,
        script=parent.script,
        parent=parent,
        parent_revision=revision,
        revision=revision,
        branch=branch_for(parent),
        speed=parent.speed,
        keep_ticks=parent.keep_ticks,
        keep_days=parent.keep_days,
        kept_revision=parent.kept_revision,
        kept_tick=parent.kept_tick,
    )


def _world(parent: Sandbox, tick: int | None) -> tuple[World, int]:
    if tick is None or tick == parent.tick:
        world, row = worlds.copy_of(parent.pk)
        return world, row.revision
    revision = history.revision_at(parent, tick)
    return history.world_at(parent, revision), revision


def branch_for(parent: Sandbox) -> str:
    """Return the first letter that no branch of the family has."""
    root = parent
    while root.parent is not None:
        root = root.parent
    taken, rank = {root.branch}, [root.pk]
    while rank:
        children = list(Sandbox.objects.filter(parent_id__in=rank))
        taken.update(child.branch for child in children)
        rank = [child.pk for child in children]
    for n in range(1, 1000):
        letter = _LETTERS[n % 26] + (str(n // 26) if n >= 26 else "")
        if letter not in taken:
            return letter
    return "?"
