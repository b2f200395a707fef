"""What a comparison says, as it travels. Times are milliseconds of virtual time."""

from __future__ import annotations

from typing import Literal

import msgspec

from scheduler.analysis.measures.verdict import RunCourse


class Shape(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The base of all."""


class BranchLine(Shape, frozen=True, kw_only=True):
    """One branch; the others name it by its place in the list."""

    id: str
    title: str
    branch: str
    stack: str
    tick: int


class Decided(Shape, frozen=True, kw_only=True):
    """One decision."""

    t_ms: int
    type: str
    subject: str
    by: str
    reason: str
    message: str


class Difference(Shape, frozen=True, kw_only=True):
    """The first decision that is not the same; None = nothing (more) is decided."""

    tick: int
    t_ms: int
    ours: Decided | None
    theirs: Decided | None


class OutcomeDiff(Shape, frozen=True, kw_only=True):
    """A unit of work whose life differs.

    `fates`: what becomes of it in each other branch held against the first, the worst
    first, as in the verdict of a what-if; none where it is the same. `courses`: its life
    in each branch; None where it is not there.
    """

    subject: str
    fates: list[list[str]]
    courses: list[RunCourse | None]


class OutcomeCounts(Shape, frozen=True, kw_only=True):
    """How many units stand under what in one of the other branches.

    `same` counts those within a tick, too; `other` those that one branch lacks, that an
    edit moved, or that run elsewhere at the same times.
    """

    same: int = 0
    earlier: int = 0
    later: int = 0
    never: int = 0
    other: int = 0


class Preempted(Shape, frozen=True, kw_only=True):
    """A preemption: the victim, the preemptor and the reason."""

    tick: int
    t_ms: int
    subject: str
    by: str
    reason: str


class Preemptions(Shape, frozen=True, kw_only=True):
    """Preemptions of another branch that the first has not, and the reverse.

    The same pair of victim and preemptor is the same preemption, whenever.
    """

    same: int
    added: list[Preempted]
    removed: list[Preempted]


class Curves(Shape, frozen=True, kw_only=True):
    """One branch over the ticks of the comparison; None where nothing is known."""

    pending: list[int | None]
    running: list[int | None]
    wait_p50_ms: list[float | None]  # of all that came so far; see Waits
    utilisation: dict[str, list[float | None]]  # resource -> share of capacity
    shares: dict[str, list[float | None]]  # queue -> weighted share
    used: dict[str, dict[str, list[int | None]]]  # queue -> resource -> amount


class Series(Shape, frozen=True, kw_only=True):
    """Curves over the same ticks, one per branch."""

    ticks: list[int]
    branches: list[Curves]


class Total(Shape, frozen=True, kw_only=True):
    """One number per branch, and how the others differ from the first."""

    measure: str
    better: Literal["low", "high"] | None  # None = neither way
    values: list[float | None]
    deltas: list[float | None]


class Comparison(Shape, frozen=True, kw_only=True):
    """Everything."""

    branches: list[BranchLine]
    from_tick: int  # the last that all have in common
    to_tick: int
    history_from: int = 0  # waits that began before this tick are not known
    same_subjects: (
        bool  # False: the stacks are too different to compare single workloads
    )
    differences: list[Difference | None]  # one per other branch; None = the same
    counts: list[OutcomeCounts]
    workloads: list[OutcomeDiff]
    more_workloads: int  # beyond those listed
    preemptions: list[Preemptions]
    series: Series
    totals: list[Total]
