"""One question: a ladder of changes, cheapest first, of which every one is really run."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.analysis.explain.shapes import Amount, Change


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateChange:
    """One change to try: the sentence "would be admitted if ..." and the patch."""

    subject: str
    change: Change | None
    value: str = ""
    amounts: list[Amount] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One kind of change; `hint` is the candidate that is likely to be the smallest."""

    id: str
    kind: str
    now: str
    candidates: list[CandidateChange]
    hint: int = 0
