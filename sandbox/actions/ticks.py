"""What the clock does: ticks, each committed once, whatever is delivered twice."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import F
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest

from sandbox.access import limits
from sandbox.actions.sessions import EditSession, open_session
from sandbox.base.database_time import DatabaseTime
from sandbox.models import Sandbox
from sandbox.models.fields import Sayings
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord, kept
from sandbox.page.rows.transport import KEY, awaited, pace_of
from sandbox.twins import ticks as twins
from sandbox.world import commits, extenders, leases, operations
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import AnyOperation, Tick, Transport
from sandbox.world.revisions import MadeRevision
from scheduler.engine.tick import next_instant
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.sentence import Sentence
from scheduler.words.edits import Stopped

#: A clock that fell behind makes up for no more than this.
MOST_BEHIND_S = 1.0
#: At full speed ticks share a commit that begin within so long of each other: one
#: frame of a screen where somebody watches, else what an edit can wait for.
WATCHED_S = 0.016
UNWATCHED_S = 0.2


def do_tick(claim: Claim) -> RevisionDiff | None:
    """Make one tick of a sandbox that plays; None when it does not."""
    steps = do_ticks(claim, within_s=0.0)
    return steps[-1] if steps else None


def do_ticks(
    claim: Claim, *, within_s: float | None = None, most: int | None = None
) -> list[RevisionDiff]:
    """Make ticks of a sandbox that plays; return their diffs, none when it does not.

    One tick, or at full speed as many as begin within some seconds (`within_s`, else
    less for who watches than when nobody does), `most` at most: each has its revision,
    events, sample, diff and hash, and all are written in one transaction. The claim's
    fence and the revision decide: of two deliveries one commits.
    """
    with open_session(claim) as session:
        if not session.sandbox.playing:
            return []
        watched = True
        if within_s is None and _shares_commits(session):
            watched = commits.is_watched(claim.sandbox_id)
            within_s = WATCHED_S if watched else UNWATCHED_S
        made = list(_making(claim, session, within_s or 0.0, most))
        steps = [one.step for one in made]
        # Whoever comes where nobody watched sees the gap before the last.
        sent = steps if watched else steps[-1:]
        commits.write(session.loaded, session.sandbox, claim, made, sent=sent)
        return steps


def _making(
    claim: Claim, session: EditSession, within_s: float, most: int | None
) -> Iterator[MadeRevision]:
    """Make one tick and, while there is time, those after it of the same commit."""
    end = time.monotonic() + within_s
    for count in itertools.count(1):
        yield _make_tick(claim, session)
        sandbox = session.sandbox
        done = not sandbox.playing or count == most or commits.ends_batch(sandbox)
        if done or time.monotonic() >= end:
            return


def _shares_commits(session: EditSession) -> bool:
    """Return whether ticks need not come one by one: at full speed, asking nobody."""
    sandbox = session.sandbox
    paced = pace_of(sandbox) or limits.seconds_per_tick()
    limited = sandbox.follows_cluster or paced
    return not limited and not extenders.has_extenders(session.loaded.world)


def _make_tick(claim: Claim, session: EditSession) -> MadeRevision:
    sandbox, world = session.sandbox, session.loaded.world
    done = _tick(claim, sandbox, world)
    columns, lines = _go_on(sandbox, world)
    if problems := world.problems():
        columns["problem"] = Sayings(problems)
    request = CommitRequest(operation=done, columns=columns, edits=lines)
    return commits.make_revision(session.loaded, sandbox, request)


def _tick(claim: Claim, sandbox: Sandbox, world: World) -> AnyOperation:
    """Tick the world; one that asks outside may take longer than a lease."""
    if sandbox.is_real:
        return operations.perform(world, twins.next_of(sandbox))
    if not extenders.has_extenders(world):
        return operations.perform(world, Tick())
    with leases.renewed(claim):
        return operations.perform(world, Tick(), live=extenders.live())


def do_fail(claim: Claim, problem: Sentence) -> RevisionDiff:
    """Stop a sandbox whose tick failed, and say why on the page."""
    with open_session(claim) as session:
        line = session.edit_event(None, "Pause", KEY, problem)
        columns = {"playing": False, "until": {}, "problem": Sayings([problem])}
        return session.commit(
            CommitRequest(
                operation=Transport(), summary=problem, edits=[line], columns=columns
            )
        )


def _go_on(sandbox: Sandbox, world: World) -> tuple[dict[str, Any], list[EventRecord]]:
    """Return what becomes of the transport after this tick, and why it stops."""
    why = _why_stop(sandbox, world)
    if why is None:
        return {"due_at": _next_due(sandbox)}, []
    line = EventRecord(
        t_ms=world.context.now_ms,
        type="Edit",
        subject=KEY,
        reason="Pause",
        message=why.text,
        said=kept(why),
    )
    return {"playing": False, "until": {}}, [line]


def _why_stop(sandbox: Sandbox, world: World) -> Sentence | None:
    until = sandbox.until
    if sandbox.is_real and world.tick >= (twins.last_tick(sandbox) or 0):
        return Stopped.RECORDING.said()
    if "tick" in until and world.tick >= until["tick"]:
        return Stopped.TICK.said(tick=until["tick"])
    kinds = awaited(until)
    seen = _first(until, kinds, world.context.journal.decisions)
    if seen is not None:
        return Stopped.SEEN.said(name=type(seen).__name__, object=str(seen.subject))
    endless = pace_of(sandbox) == 0 and (bool(kinds) or not until)
    endless = endless and not sandbox.is_real
    if endless and next_instant(world) is None:
        return Stopped.QUIET.said()
    return None


def _first(
    until: dict[str, Any], kinds: list[str], decisions: Iterable[Decision]
) -> Decision | None:
    """Return the first decision that is waited for."""
    for decision in decisions:
        if (
            type(decision).__name__ in kinds
            and until.get("subject", "") in ("", str(decision.subject))
            and until.get("reason", "") in ("", decision.reason)
        ):
            return decision
    return None


def _next_due(sandbox: Sandbox) -> Combinable:
    """Return when the next tick is due, as the commit is to write it."""
    now = DatabaseTime()
    pause = limits.seconds_per_tick()
    if speed := pace_of(sandbox):
        pause = max(1 / speed, pause)
    return Greatest(F("due_at") + pause, now - MOST_BEHIND_S) if pause else now
