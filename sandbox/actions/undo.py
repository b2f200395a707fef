"""Rewind, undo and redo: going on from an earlier revision, with nothing thrown away.

Each is a revision with a `base`: the world is what it was there, and what came after it
is gone (`world/history.py`). An undo and a redo then make again what counts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from sandbox.access import limits
from sandbox.actions.sandboxes import begin
from sandbox.actions.sessions import (
    EDIT,
    EditSession,
    allowed,
    edit_session,
    refuse_real,
    refuse_stale,
)
from sandbox.base.errors import ConflictError, ForbiddenError, NotFoundError
from sandbox.base.refusals import Absent, Refused
from sandbox.models import Event, Member, Revision, Sandbox
from sandbox.page import diffs
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord, kept
from sandbox.page.rows.transport import KEY
from sandbox.twins import ticks as twins
from sandbox.world import commits, extenders, history, leases, operations, worlds
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import AnyOperation, Redo, Rewind, Undo
from sandbox.world.revisions import MadeRevision
from sandbox.world.worlds import LoadedSandbox
from scheduler.engine.world import World, fork
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence
from scheduler.recorded.twin.going_on import go_on
from scheduler.words.edits import Edited

#: Gets how many revisions are made again, and of how many.
Progress = Callable[[int, int], None]


#: Something may come between so often while a run is made again; then it is refused.
MOST_BEGUN = 3


class _Turn(NamedTuple):
    """From which revision it goes on, and what is made again then."""

    operation: Rewind | Undo | Redo
    base: int
    said: Sentence
    again: Sequence[Revision] = ()
    columns: Mapping[str, Any] = {}  # of the row


def _unheard(done: int, of: int) -> None:
    """Hear of no progress."""


def do_rewind(
    user: User, sandbox_id: str, *, tick: int
) -> tuple[RevisionDiff, Sandbox]:
    """Continue from an earlier tick; the later history is kept as a fork.

    Returns the diff and the fork.
    """
    with edit_session(user, sandbox_id) as session, transaction.atomic():
        sandbox = session.sandbox
        revision = history.revision_at(sandbox, tick)
        if revision == sandbox.revision:
            raise ConflictError(Refused.AT_TICK.said(tick=tick))
        return rewind(user, session, revision, tick=tick)


def rewind(
    user: User, session: EditSession, revision: int, *, tick: int
) -> tuple[RevisionDiff, Sandbox]:
    """Go on from a revision of the past, that of a tick; what came after is kept as a fork.

    The fork is of whoever goes back, and counts against their limit; the owner may edit
    it. Raises ForbiddenError where they have as many sandboxes as allowed.
    """
    limits.check_sandboxes(user)
    sandbox = session.sandbox
    title = f"{sandbox.title} (to tick {sandbox.tick})"[:200]
    present = fork(session.loaded.world)
    kept = fork_of(user, sandbox, present, sandbox.revision, title)
    if sandbox.owner_id != user.pk:
        Member.objects.create(sandbox=kept, user=sandbox.owner, role=Member.EDITOR)
    said = Edited.REWINDS.said(who=user.get_username(), tick=tick)
    columns = {"playing": False, "until": {}}
    turn = _Turn(Rewind(revision), revision, said, columns=columns)
    made = _made(session.loaded, sandbox, user, turn)
    return _write(session.loaded, sandbox, session.claim, made), kept


def to_take_back(
    user: User, sandbox: Sandbox, *, redo: bool, seen: int | None = None
) -> int:
    """Return the edit that an undo, or a redo, would be of now, for whoever may do it.

    Raises as `do_undo` does, and StaleError where a person changed anything since
    `seen`. A few queries.
    """
    allowed(user, sandbox.pk)
    refuse_real(sandbox)
    refuse_stale(sandbox, seen, None)
    edit = _last_undone(sandbox) if redo else _last_edit(sandbox)
    if edit is None:
        raise ConflictError((Refused.NO_REDO if redo else Refused.NO_UNDO).said())
    return edit.number


def taken_back(sandbox: Sandbox, operation: Undo | Redo, since: int) -> Revision | None:
    """Return the revision after `since` that already made this undo or redo, or None."""
    rerun = Revision.objects.filter(sandbox=sandbox, kind=Revision.RERUN)
    for revision in rerun.filter(number__gt=since).order_by("-number"):
        if operations.from_document(revision.operation) == operation:
            return revision
    return None


def _check_same(edit: Revision, asked: int | None) -> None:
    if asked not in (None, edit.number):
        raise ConflictError(Refused.STALE.said(revision=asked))


def do_undo(
    user: User,
    sandbox_id: str,
    *,
    asked: int | None = None,
    progress: Progress = _unheard,
) -> RevisionDiff:
    """Undo the last edit: run again without it, up to the present tick.

    Refused where that is no longer the edit that was `asked` for. Edits go on meanwhile,
    ticks wait: the sandbox is held only while what came of it is written. Raises
    ConflictError where something came between `MOST_BEGUN` times. What `progress` raises
    ends it, and nothing is changed.
    """

    def undo(sandbox: Sandbox) -> _Turn:
        edit = _last_edit(sandbox)
        if edit is None:
            raise ConflictError(Refused.NO_UNDO.said())
        _check_same(edit, asked)
        said = Edited.UNDOES.said(who=user.get_username(), edit=edit.sentence)
        again = _made_since(sandbox, edit)
        return _Turn(Undo(edit.number), edit.number - 1, said, again)

    return _take_turn(user, sandbox_id, undo, progress)


def do_redo(
    user: User,
    sandbox_id: str,
    *,
    asked: int | None = None,
    progress: Progress = _unheard,
) -> RevisionDiff:
    """Redo the edit that was undone last: run again with it. Else as `do_undo`."""

    def redo(sandbox: Sandbox) -> _Turn:
        edit = _last_undone(sandbox)
        if edit is None:
            raise ConflictError(Refused.NO_REDO.said())
        _check_same(edit, asked)
        said = Edited.REDOES.said(who=user.get_username(), edit=edit.sentence)
        later = _made_since(sandbox, edit)
        base = later[0].number - 1 if later else sandbox.revision
        return _Turn(Redo(edit.number), base, said, [edit, *later])

    return _take_turn(user, sandbox_id, redo, progress)


def _take_turn(
    user: User, sandbox_id: str, turn_of: Callable[[Sandbox], _Turn], progress: Progress
) -> RevisionDiff:
    """Make the revisions of a turn on a copy, and write them where nothing came between."""
    with leases.without_ticks(sandbox_id):
        for _ in range(MOST_BEGUN):
            allowed(user, sandbox_id)
            held, sandbox = worlds.apart(sandbox_id)
            refuse_real(sandbox)
            seen = _settings_of(sandbox)
            made = _made(held, sandbox, user, turn_of(sandbox), progress=progress)
            with edit_session(user, sandbox_id) as session:
                if _settings_of(session.sandbox) == seen:
                    sandbox.due_at = session.sandbox.due_at
                    step = _write(held, sandbox, session.claim, made)
                    worlds.put(held)
                    return step
    raise ConflictError(Refused.BETWEEN.said(times=MOST_BEGUN))


def _settings_of(sandbox: Sandbox) -> tuple[object, ...]:
    """Return what a commit writes of the row; where it is the same nothing came between."""
    return (
        sandbox.revision,
        sandbox.playing,
        sandbox.speed,
        sandbox.until,
        sandbox.problem,
        sandbox.title,
        sandbox.kept_revision,
        sandbox.keep_ticks,
        sandbox.keep_days,
    )


def _own(sandbox: Sandbox) -> QuerySet[Revision]:
    """Return the sandbox's own revisions of its past; those before a fork are the parent's."""
    return history.rows_of(Revision, sandbox, whole=True).filter(sandbox=sandbox)


def _last_edit(sandbox: Sandbox) -> Revision | None:
    """Return the last edit."""
    return _own(sandbox).filter(kind=Revision.EDIT).order_by("-number").first()


def _last_undone(sandbox: Sandbox) -> Revision | None:
    """Return the edit undone last, unless something was edited since."""
    made = Revision.objects.filter(
        sandbox=sandbox, kind__in=(Revision.RERUN, Revision.EDIT), origin=None
    ).order_by("-number")
    redone = 0
    for revision in made.iterator():
        match operations.from_document(revision.operation):
            case Redo():
                redone += 1
            case Undo() if redone:
                redone -= 1
            case Undo(revision=number) if revision.base is not None:
                return Revision.objects.filter(sandbox=sandbox, number=number).first()
            case _:
                return None
    return None


def _made_since(sandbox: Sandbox, edit: Revision) -> list[Revision]:
    """Return the ticks and edits that come after an edit, in order."""
    own = _own(sandbox).filter(kind__in=(Revision.TICK, Revision.EDIT))
    placed = own.annotate(place=Coalesce("origin", "number"))
    return list(placed.filter(place__gt=_place(edit)).order_by("number"))


def _place(revision: Revision) -> int:
    """Return which revision it was when it was made first: its place among others."""
    return revision.number if revision.origin is None else revision.origin


def _made(
    held: LoadedSandbox,
    sandbox: Sandbox,
    user: User,
    turn: _Turn,
    *,
    progress: Progress = _unheard,
) -> list[MadeRevision]:
    """Return revisions that go on from an earlier one; the one way to another past.

    Raises ConflictError for an edit that is not possible then.
    """
    present = sandbox.tick
    held.world = history.world_at(sandbox, turn.base)
    action = type(turn.operation).__name__
    line = EventRecord(
        t_ms=held.world.context.now_ms,
        type=EDIT,
        subject=KEY,
        by=f"User//{user.get_username()}",
        reason=action,
        message=turn.said.text,
        said=kept(turn.said),
        data={"action": action, "before": present, "after": held.world.tick},
    )
    changed = dict(turn.columns)
    if turn.base < sandbox.kept_revision:
        # What is made again of what was no longer kept can be shown again.
        changed |= {"kept_revision": sandbox.revision + 1, "kept_tick": held.world.tick}
    first = CommitRequest(
        operation=turn.operation,
        who=user.pk,
        summary=turn.said,
        edits=[line],
        columns=changed,
        whole=True,
        base=turn.base,
    )
    made = [commits.make_revision(held, sandbox, first)]
    for count, revision in enumerate(turn.again):
        progress(count, len(turn.again))
        request = CommitRequest(
            operation=_again(held.world, revision),
            who=revision.who_id,
            summary=revision.sentence,
            edits=_lines(revision),
            origin=_place(revision),
        )
        made.append(commits.make_revision(held, sandbox, request))
    return made


def _write(
    held: LoadedSandbox, sandbox: Sandbox, claim: Claim, made: list[MadeRevision]
) -> RevisionDiff:
    """Write them; return what leads there from the present, as one diff."""
    step = diffs.merge([one.step for one in made])
    commits.write(held, sandbox, claim, made, sent=[step])
    return step


def _again(world: World, revision: Revision) -> AnyOperation:
    """Do a revision again; questions that it did not ask before are asked now.

    Returns it with their answers.
    """
    operation = operations.from_document(revision.operation)
    try:
        return operations.perform(world, operation, live=extenders.live())
    except SchedulerError as error:
        what = revision.sentence if revision.summary else revision.kind
        raise ConflictError(
            Refused.NOT_THEN.said(
                revision=revision.number, what=what, problem=error.said
            )
        ) from error


def _lines(revision: Revision) -> list[EventRecord]:
    """Return what is said of an edit by whoever made it; its decisions come anew."""
    if revision.kind != Revision.EDIT:
        return []
    said = Event.objects.filter(
        sandbox=revision.sandbox_id, revision=revision.number, type=EDIT
    )
    return [
        EventRecord(**dict(zip(EventRecord.COLUMNS, row, strict=True)))
        for row in said.order_by("seq").values_list(*EventRecord.COLUMNS)
    ]


# ------------------------------------------------------------------------
# Forks: another sandbox that goes on from any tick of this one.


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def do_fork(
    user: User, sandbox_id: str, *, tick: int | None = None, title: str = ""
) -> Sandbox:
    """Make a sandbox that was this one up to `tick` (now when None); paused.

    A fork of a real cluster's sandbox runs on by itself, with what is known to have
    arrived afterwards. Whoever may see a sandbox may fork it, unless they see it by a link that is
    only to look; the fork is theirs.
    """
    if not Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
        raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
    if not Sandbox.objects.forkable_by(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError(Refused.NO_FORK_BY_LINK.said())
    limits.check_sandboxes(user)
    # A rewind gives revisions away: they must be the parent's until the fork is there.
    with leases.lineage_claimed(sandbox_id):
        parent = Sandbox.objects.select_related("parent").get(pk=sandbox_id)
        world, revision = _world(parent, tick)
        if parent.is_real:
            world = go_on(world, twins.after(parent, revision))
        return fork_of(user, parent, world, revision, title or parent.title)


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
