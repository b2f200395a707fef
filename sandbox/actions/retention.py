"""How much history is kept: a sandbox's own setting, and what the clock deletes."""

from __future__ import annotations

from django.contrib.auth.models import User

from sandbox.actions.sessions import EditSession, allowed, edit_session, open_session
from sandbox.base.errors import Cause, ForbiddenError, InvalidError
from sandbox.base.refusals import Denied
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.rows.transport import KEY
from sandbox.retention import retention
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import Transport
from scheduler.model import ranges
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.model.sentence import Sentence
from scheduler.words.edits import Edited, Stopped


def do_set_retention(
    user: User, sandbox_id: str, *, ticks: int | None = None, days: int | None = None
) -> RevisionDiff:
    """Set how many ticks and days of history are kept; 0 = as the operator keeps.

    Nothing goes at once: the clock lets go what is too old. Only the owner may,
    since what went is gone.
    """
    allowed(user, sandbox_id)
    if not Sandbox.objects.filter(pk=sandbox_id, owner_id=user.pk).exists():
        raise ForbiddenError(Denied.KEEP.said())
    given = {
        "keep_ticks": _checked("keepTicks", ticks, ranges.KEEP_TICKS),
        "keep_days": _checked("keepDays", days, ranges.KEEP_DAYS),
    }
    columns = {name: value for name, value in given.items() if value is not None}
    with edit_session(user, sandbox_id, of_world=False) as session:
        before = {name: getattr(session.sandbox, name) for name in columns}
        summary = _kept(user.get_username(), session.sandbox, columns)
        line = session.edit_event(
            user, "Keep", KEY, summary, before=before, after=columns
        )
        return session.commit(
            CommitRequest(
                operation=Transport(),
                who=user.pk,
                summary=summary,
                edits=[line],
                columns=columns,
            )
        )


def _checked(field: str, given: int | None, bounds: ranges.Range) -> int | None:
    if given is None or given in bounds:
        return given
    problem = expected(Wanted.KEPT.said(most=bounds.most), given=given)
    raise InvalidError(
        in_field(field, problem), causes=[Cause(problem=problem, field=field)]
    )


def _kept(who: str, sandbox: Sandbox, columns: dict[str, int]) -> Sentence:
    ticks = columns.get("keep_ticks", sandbox.keep_ticks)
    days = columns.get("keep_days", sandbox.keep_days)
    if ticks and days:
        return Edited.KEEPS_BOTH.said(who=who, ticks=ticks, days=days)
    if ticks:
        return Edited.KEEPS_TICKS.said(who=who, ticks=ticks)
    if days:
        return Edited.KEEPS_DAYS.said(who=who, days=days)
    return Edited.KEEPS_ALL.said(who=who)


def do_trim(claim: Claim, most_ticks: int) -> RevisionDiff | None:
    """Move the begin of history to where retention puts it; None when it is there already.

    Rows go later, by `do_clear`: from now on nobody asks for them.
    """
    with open_session(claim) as session:
        place = retention.beginning(session.sandbox, most_ticks)
        return None if place is None else _begin_at(session, place)


def _begin_at(session: EditSession, place: retention.HistoryStart) -> RevisionDiff:
    said = Stopped.TRIMMED.said(tick=place.tick)
    before, after = session.sandbox.kept_tick, place.tick
    line = session.edit_event(None, "Trim", KEY, said, before=before, after=after)
    return session.commit(
        CommitRequest(
            operation=Transport(),
            summary=said,
            edits=[line],
            columns={"kept_revision": place.revision, "kept_tick": place.tick},
        )
    )


def do_clear(sandbox_id: str, budget: int) -> int:
    """Delete a batch of rows before what is kept; return how many went.

    Nobody else writes there, so no lease is needed.
    """
    sandbox = Sandbox.objects.filter(pk=sandbox_id, kept_revision__gt=0).first()
    return 0 if sandbox is None else retention.clear(sandbox, budget)
