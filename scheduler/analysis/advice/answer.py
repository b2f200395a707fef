"""What a search comes to, as plain records that travel and are kept."""

from __future__ import annotations

from typing import Literal

import msgspec

from scheduler.analysis.experiments.goals import Constraint
from scheduler.analysis.experiments.intervals import Interval

#: `improved`: better on seeds that the search did not use, and the interval says so.
#: `unmet`: no setting that keeps every constraint was found, on the search's seeds or others.
Verdict = Literal["improved", "no improvement found", "unmet"]


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all parts of an answer."""


class AdviceEdit(Part, frozen=True, kw_only=True):
    """One edit, and what it does: how each measure differs when it alone is left out."""

    object: str
    field: str
    before: str
    after: str
    left_out: str  # what the setting is then, in words; totals are kept
    effect: dict[str, Interval]  # measure -> left out less answer, seed by seed
    needed: bool  # a constraint is missed without it


class AdviceRow(Part, frozen=True, kw_only=True):
    """One measure before and after; on seeds that the search used, and on others."""

    measure: str
    better: str  # "low", "high" or ""
    before: Interval | None
    after: Interval | None
    held_before: Interval | None
    held_after: Interval | None
    held_difference: Interval | None


class ConstraintResult(Part, frozen=True, kw_only=True):
    """One constraint on seeds that the search did not use."""

    text: str
    constraint: Constraint  # the same in numbers, of one measure
    before: float | None
    after: float | None
    held_before: bool
    held_after: bool


class AdviceNear(Part, frozen=True, kw_only=True):
    """A setting next to the answer: whether the goal is as good there."""

    text: str
    change: float  # of the objectives, as a share of the base's; above 0 = worse
    holds: bool  # every constraint


class FrontPoint(Part, frozen=True, kw_only=True):
    """A setting that no other one beats in every objective."""

    name: str
    edits: list[str]
    values: dict[str, float]


class AdviceAnswer(Part, frozen=True, kw_only=True):
    """What to set, and why to believe it."""

    verdict: Verdict
    summary: str
    edits: list[AdviceEdit]
    rows: list[AdviceRow]
    constraints: list[ConstraintResult]
    sensitivity: list[AdviceNear]
    front: list[FrontPoint]
    gain: Interval | None  # of the objectives, on held-out seeds; below 0 = better
    trail: list[tuple[int, float, float]]  # (runs, missed bounds, objectives)
    settings: int  # that there are
    tried: int
    dropped: int  # of these, stopped before their last seed
    unrunnable: int  # of those tried
    runs: int  # of the search
    proof_runs: int  # beside the search
    point: list[int]
    seeds: list[int]
    held_out: list[int]
    patches: str = ""  # what `kubectl apply -f` takes; nothing where nothing is shown
    undo: str = ""  # the same objects as they are
