"""What the clock does: one tick, committed once, whatever is delivered twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest

from sandbox.actions.sessions import open_session
from sandbox.base.database_time import DatabaseTime
from sandbox.live import limits
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord
from sandbox.page.rows.transport import KEY, awaited, pace_of
from sandbox.twins import ticks as twins
from sandbox.world import (
    extenders,
    leases,
    operations,
)
from sandbox.world.commits import CommitRequest
from sandbox.world.leases import Claim
from sandbox.world.operations import (
    AnyOperation,
    Tick,
    Transport,
)
from scheduler.decisions import Decision
from scheduler.tick import next_instant
from scheduler.world import World

#: A clock that fell behind makes up for no more than this.
MOST_BEHIND_S = 1.0


def do_tick(claim: Claim) -> RevisionDiff | None:
    """Make one tick of a sandbox that plays; None when it does not.

    The claim's fence and the revision decide: of two deliveries one commits.
    """
    with open_session(claim) as session:
        sandbox = session.sandbox
        if not sandbox.playing:
            return None
        world = session.loaded.world
        done = _tick(claim, sandbox, world)
        columns, lines = _go_on(sandbox, world)
        if problems := world.problems():
            columns["problem"] = "\n".join(problems)
        return session.commit(
            CommitRequest(operation=done, columns=columns, edits=lines)
        )


def _tick(claim: Claim, sandbox: Sandbox, world: World) -> AnyOperation:
    """Tick the world; one that asks outside may take longer than a lease."""
    if sandbox.is_real:
        return operations.perform(world, twins.next_of(sandbox))
    if not extenders.has_extenders(world):
        return operations.perform(world, Tick())
    with leases.renewed(claim):
        return operations.perform(world, Tick(), live=extenders.live())


def do_fail(claim: Claim, problem: str) -> RevisionDiff:
    """Stop a sandbox whose tick failed, and say why on the page."""
    with open_session(claim) as session:
        line = session.edit_event(None, "Pause", KEY, problem)
        columns: dict[str, Any] = {"playing": False, "until": {}, "problem": problem}
        return session.commit(
            CommitRequest(
                operation=Transport(), summary=problem, edits=[line], columns=columns
            )
        )


def _go_on(sandbox: Sandbox, world: World) -> tuple[dict[str, Any], list[EventRecord]]:
    """Return what becomes of the transport after this tick, and why it stops."""
    why = _why_stop(sandbox, world)
    if not why:
        return {"due_at": _next_due(sandbox)}, []
    line = EventRecord(
        t_ms=world.context.now_ms, type="Edit", subject=KEY, reason="Pause", message=why
    )
    return {"playing": False, "until": {}}, [line]


def _why_stop(sandbox: Sandbox, world: World) -> str:
    until = sandbox.until
    if sandbox.is_real and world.tick >= (twins.last_tick(sandbox) or 0):
        return "the recording ends here"
    if "tick" in until and world.tick >= until["tick"]:
        return f"tick {until['tick']} is reached"
    kinds = awaited(until)
    seen = _first(until, kinds, world.context.journal.decisions)
    if seen is not None:
        return f"{type(seen).__name__} {seen.subject} is seen"
    endless = pace_of(sandbox) == 0 and (bool(kinds) or not until)
    endless = endless and not sandbox.is_real
    if endless and next_instant(world) is None:
        return "nothing more happens by itself"
    return ""


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
