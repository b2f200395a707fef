"""Decisions and edits as event lines: rows of the event table, lines of the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from sandbox.models.fields import json_text
from scheduler.model.decisions import AnyDecision, Decision
from scheduler.model.sentence import Sentence, text_of

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
        "said",
    )

    t_ms: int
    type: str
    subject: str
    by: str = ""
    reason: str = ""
    message: str = ""
    data: dict[str, Any] = {}
    said: dict[str, Any] | None = None  # the message's code and holes; see `kept`

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
            None if self.said is None else json_text(self.said),
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
            **({} if self.said is None else {"said": self.said}),
        }


def kept(said: Sentence) -> dict[str, Any] | None:
    """Return a sentence as an event keeps it; None where it has no code.

    What fills its holes is as it stands in the English: numbers are texts.
    """
    if not said.code:
        return None
    holes = {name: _kept_hole(hole) for name, hole in said.holes.items()}
    return {"code": said.code, "text": said.text, "holes": holes}


def _kept_hole(hole: Any) -> Any:
    if isinstance(hole, Sentence):
        return kept(hole) or hole.text
    return text_of(hole) if isinstance(hole, int | float) else msgspec.to_builtins(hole)


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
        said=None if decision.said is msgspec.UNSET else kept(decision.said),
        data={
            name: msgspec.to_builtins(getattr(decision, name))
            for name in decision.__struct_fields__
            if name not in _COMMON and getattr(decision, name) is not msgspec.UNSET
        },
    )
