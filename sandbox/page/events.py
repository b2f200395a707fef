"""Decisions and edits as event lines: rows of the event table, lines of the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from sandbox.models.fields import json_text
from scheduler.model.decisions import AnyDecision, Decision
from scheduler.words.reading import read_event

#: Types whose messages are in words of this program: others are a scheduler's own.
_OURS = frozenset({"Edit", "NodeChange", "Checkpoint"})
_NODE_LOST = "NodeLost"
_COMMON = frozenset(Decision.__struct_fields__) | {"type"}


class EventRecord(msgspec.Struct, kw_only=True):
    """One event before it has its place in the run."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "t_ms",
        "type",
        "subject",
        "by",
        "reason",
        "message",
        "data",
    )

    t_ms: int
    type: str
    subject: str
    by: str = ""
    reason: str = ""
    message: str = ""
    data: dict[str, Any] = {}

    def values(self) -> tuple[Any, ...]:
        """Return the columns' values."""
        return (
            self.t_ms,
            self.type,
            self.subject[:400],
            self.by[:400],
            self.reason[:128],
            self.message,
            json_text(self.data),
        )

    def row(self, revision: int, tick: int, seq: int) -> dict[str, Any]:
        """Return the line as it travels."""
        return {
            "revision": revision,
            "seq": seq,
            "tick": tick,
            "tMs": self.t_ms,
            "type": self.type,
            "subject": self.subject,
            "by": self.by,
            "reason": self.reason,
            "message": self.message,
            **said_of_event(self.type, self.reason, self.message),
        }


def said_of_event(type_: str, reason: str, message: str) -> dict[str, Any]:
    """Return the field `said` of a line; none where its message is in no known form."""
    ours = type_ in _OURS or reason == _NODE_LOST
    said = read_event(message) if ours else None
    return {} if said is None else {"said": msgspec.to_builtins(said)}


def records_of(decisions: Iterable[AnyDecision | Decision]) -> list[EventRecord]:
    """Return one line per decision, in order."""
    return [_line(decision) for decision in decisions]


def _line(decision: Decision) -> EventRecord:
    return EventRecord(
        t_ms=decision.at_ms,
        type=type(decision).__name__,
        subject=str(decision.subject),
        by="" if decision.by is None else str(decision.by),
        reason=decision.reason,
        message=decision.message,
        data={
            name: msgspec.to_builtins(getattr(decision, name))
            for name in decision.__struct_fields__
            if name not in _COMMON
        },
    )
