"""Play, pause, step and speed: when the clock ticks a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from sandbox.access import limits
from sandbox.actions.sessions import EditSession, edit_session
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import Cause, ConflictError, InvalidError
from sandbox.base.refusals import Refused
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.rows.transport import KEY, awaited_said
from sandbox.process import idle_flag
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Transport
from scheduler.model import decisions, ranges
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.model.sentence import Hole, Sentence
from scheduler.words.edits import Edited

SLOWEST, FASTEST = 0.1, float(ranges.SPEED.most)


def do_play(user: User, sandbox_id: str, *, speed: float | None = None) -> RevisionDiff:
    """Let the clock tick the sandbox; at `speed` when given (ticks a second)."""
    columns: dict[str, Any] = {"playing": True, "until": {}, "problem": ""}
    if speed is not None:
        columns["speed"] = check_speed(speed)
    return _turn_to(user, sandbox_id, "Play", Edited.PLAYS, columns)


def do_pause(user: User, sandbox_id: str) -> RevisionDiff:
    """Stop the clock for this sandbox; a tick that is being made is finished."""
    columns: dict[str, Any] = {"playing": False, "until": {}}
    return _turn_to(user, sandbox_id, "Pause", Edited.PAUSES, columns)


def do_speed(user: User, sandbox_id: str, speed: float) -> RevisionDiff:
    """Set the speed: ticks per second of wall time, 0 = as fast as it goes."""
    columns: dict[str, Any] = {"speed": check_speed(speed)}
    words = Edited.SPEED if speed else Edited.FASTEST
    return _turn_to(user, sandbox_id, "Speed", words, columns, speed=float(speed))


def do_step(
    user: User,
    sandbox_id: str,
    *,
    ticks: int = 1,
    until_tick: int | None = None,
    until_event: Mapping[str, Any] | None = None,
    speed: float = 0.0,
) -> tuple[RevisionDiff, int | None]:
    """Run `ticks` ticks, or to a tick, or to an event, then pause.

    Ticks add to the tick that a running step goes to. An event is {type, subject?,
    reason?}, its type one or a list of them: the first one that matches ends the
    run, or the tick when that is given too. Ticks come as fast as they go, or at
    `speed` a second; a tick is reached though nothing more happens. The workers do
    the ticks; this returns at once, with the tick that ends it if there is one.
    """
    until: dict[str, Any] = {}
    if until_event is not None:
        until = _event(until_event)
    if until_tick is not None:
        until["tick"] = until_tick
    until = until or {"ticks": ticks}
    if speed:
        until["speed"] = check_speed(speed)
    with edit_session(user, sandbox_id, of_world=False) as session:
        if session.sandbox.follows_cluster:
            raise ConflictError(Refused.NO_STEPS.said(title=session.sandbox.title))
        until = _absolute(until, session.sandbox)
        columns = {"playing": True, "until": until, "problem": ""}
        words, holes = _until(until)
        step = _commit(user, session, "Step", words, columns, **holes)
        return step, until.get("tick")


def _absolute(until: dict[str, Any], sandbox: Sandbox) -> dict[str, Any]:
    tick = sandbox.tick
    if "ticks" in until:
        begin = max(tick, sandbox.until.get("tick", 0)) if sandbox.playing else tick
        until = {**until, "tick": begin + until["ticks"]}
        del until["ticks"]
    if "tick" not in until:
        return until
    if until["tick"] <= tick:
        raise _wrong(
            "untilTick",
            expected(Wanted.LATER_TICK.said(tick=tick), given=until["tick"]),
        )
    if until["tick"] not in ranges.TICK:
        raise _wrong(
            "untilTick", expected(Wanted.LAST_TICK.said(tick=ranges.TICK.most))
        )
    return until


def _event(given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(given) - {"type", "subject", "reason"})
    if unknown or not given.get("type"):
        raise _wrong("untilEvent", expected(Wanted.EVENT_TYPE, given=sorted(given)))
    kinds = [given["type"]] if isinstance(given["type"], str) else list(given["type"])
    for kind in kinds:
        if kind not in decisions.NAMES:
            known = ", ".join(decisions.NAMES)
            raise _wrong(
                "untilEvent.type", expected(Wanted.ONE_OF.said(known=known), kind)
            )
    rest = {name: given[name] for name in ("subject", "reason") if given.get(name)}
    return {"types": kinds, **rest}


def check_speed(speed: float) -> float:
    """Return the speed; InvalidError when it is out of range."""
    if speed != 0 and not SLOWEST <= speed <= FASTEST:
        wanted = Wanted.SPEED.said(least=f"{SLOWEST:g}", most=f"{FASTEST:g}")
        raise _wrong("speed", expected(wanted, given=f"{speed:g}"))
    limits.check_speed(speed)
    return speed


def _wrong(field: str, problem: Sentence) -> InvalidError:
    return InvalidError(
        in_field(field, problem), causes=[Cause(problem=problem, field=field)]
    )


def _until(until: dict[str, Any]) -> tuple[Edited, dict[str, Hole]]:
    """Return how it is said what a run waits for."""
    tick, event = until.get("tick"), awaited_said(until)
    if not event:
        return Edited.RUNS_TO_TICK, {"tick": until["tick"]}
    if tick is None:
        return Edited.RUNS_TO, {"awaited": event}
    return Edited.RUNS_TO_EITHER, {"awaited": event, "tick": tick}


def _turn_to(
    user: User,
    sandbox_id: str,
    action: str,
    words: Edited,
    columns: dict[str, Any],
    **holes: Hole,
) -> RevisionDiff:
    with edit_session(user, sandbox_id, of_world=False) as session:
        return _commit(user, session, action, words, columns, **holes)


def _commit(
    user: User,
    session: EditSession,
    action: str,
    words: Edited,
    columns: dict[str, Any],
    **holes: Hole,
) -> RevisionDiff:
    before = {name: getattr(session.sandbox, name) for name in columns}
    summary = words.said(who=user.get_username(), **holes)
    line = session.edit_event(user, action, KEY, summary, before=before, after=columns)
    request = CommitRequest(
        operation=Transport(),
        who=user.pk,
        summary=summary,
        edits=[line],
        columns={**columns, "due_at": DatabaseTime()},
    )
    step = session.commit(request)
    idle_flag.clear_after_commit()
    return step
