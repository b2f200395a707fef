"""What a comparison says, as it travels. Times are milliseconds of virtual time."""

from __future__ import annotations

from typing import Literal

import msgspec

from scheduler.analysis.measures.verdict import StartVerdict


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


class Span(Shape, frozen=True, kw_only=True):
    """A span of a timeline; `until_ms` None = it lasts."""

    state: Literal["waiting", "running", "finished"]
    from_ms: int
    until_ms: int | None


class Timeline(Shape, frozen=True, kw_only=True):
    """What happened to one workload in one branch; None = not (yet)."""

    arrived_ms: int | None
    first_ms: int | None  # first start
    started_ms: int | None  # the start that holds, or that it finished from
    finished_ms: int | None
    evictions: int
    spans: list[Span]


class OutcomeDiff(Shape, frozen=True, kw_only=True):
    """A workload whose outcome differs; `verdicts` are of the other branches.

    earlier and later: by the start that holds. never: it does not run there.
    only: it runs there and not in the first branch.
    """

    subject: str
    verdicts: list[StartVerdict]
    timelines: list[Timeline | None]  # one per branch; None = it does not exist at all


class OutcomeCounts(Shape, frozen=True, kw_only=True):
    """How many workloads ended how in one of the other branches."""

    same: int = 0
    earlier: int = 0
    later: int = 0
    never: int = 0
    only: int = 0


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
