"""What a scenario says will happen, held against what did."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scheduler.model import durations
from scheduler.model.decisions import Decision
from scheduler.model.scenario import Expectation, Match, Scenario


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one expectation held, and how it reads."""

    holds: bool
    text: str


def judge(scenario: Scenario | None, decisions: Sequence[Decision]) -> list[Verdict]:
    """Return a verdict per expectation of the scenario, in its order."""
    return judge_all(scenario.spec.expect, decisions) if scenario else []


def judge_all(
    expect: Sequence[Expectation], decisions: Sequence[Decision]
) -> list[Verdict]:
    """Return a verdict per expectation, in their order."""
    return [_verdict(expected, decisions) for expected in expect]


def _verdict(expected: Expectation, decisions: Sequence[Decision]) -> Verdict:
    at = durations.span_ms(expected.at) if expected.at else None
    found = sum(
        (at is None or decision.at_ms == at) and matches(expected.event, decision)
        for decision in decisions
    )
    if expected.most is not None:
        return Verdict(holds=found <= expected.most, text=_text(expected))
    return Verdict(holds=bool(found) is not expected.never, text=_text(expected))


def matches(wanted: Match, decision: Decision) -> bool:
    """Return whether the decision says all that is wanted."""
    by = str(decision.by) if decision.by is not None else ""
    return (
        type(decision).__name__ == wanted.type
        and wanted.subject in ("", str(decision.subject))
        and wanted.by in ("", by)
        and wanted.reason in ("", decision.reason)
        and wanted.node in ("", getattr(decision, "node", ""))
        and wanted.message in decision.message
        and (not wanted.lost or _loses(decision, wanted.lost))
    )


def _loses(decision: Decision, lost: str) -> bool:
    found = getattr(decision, "lost_ms", getattr(decision, "work_lost_ms", None))
    return found == durations.span_ms(lost)


def _text(expected: Expectation) -> str:
    event = expected.event
    when = f"at {expected.at} " if expected.at else ""
    never = "never " if expected.never else ""
    by = f" by {event.by}" if event.by else ""
    where = f" on {event.node}" if event.node else ""
    why = f" ({event.reason})" if event.reason else ""
    says = f" saying {event.message!r}" if event.message else ""
    says += f" losing {event.lost}" if event.lost else ""
    most = f"at most {expected.most} times " if expected.most is not None else ""
    return f"{when}{never}{most}{event.type} {event.subject}{by}{where}{why}{says}"
