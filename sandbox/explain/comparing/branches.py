"""What history knows of each branch: its decisions and its samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Q

from sandbox.base.errors import ConflictError, GoneError
from sandbox.base.refusals import Absent, Refused
from sandbox.explain.comparing.shapes import BranchLine
from sandbox.models import Event, Revision, Sample, Sandbox
from sandbox.models.fields import decode_json, json_text
from sandbox.page.events import EventRecord
from sandbox.world import history, operations
from sandbox.world.history import RevisionRange
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.pairs import Followed, Mark, PairVerdict, compare_sides
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import gc_paused

#: Decisions that a comparison is about. That somebody tries and waits on is not.
TYPES = (
    "Arrive",
    "Admit",
    "Preempt",
    "Evict",
    "Deactivate",
    "Bind",
    "Finish",
    "NodeChange",
)
_COLUMNS = ("tick", "t_ms", "type", "subject", "by", "reason", "message", "data")


class Happened(NamedTuple):
    """One decision of a branch."""

    tick: int
    t_ms: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    data: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Branch:
    """One sandbox or run in a comparison, from the tick in common up to its end."""

    line: BranchLine
    begin_tick: int
    begin_ms: int
    end_ms: int
    since: list[Happened]
    lives: Lives
    samples: list[dict[str, Any]] = field(default_factory=list)  # of the ticks since

    @property
    def subject_kind(self) -> str:
        """Return the kind of what waits and runs."""
        return "Workload" if self.line.stack == "kueue" else "Pod"


def read_branches(sandboxes: Sequence[Sandbox], end: int) -> list[Branch]:
    """Return the branches, each run again from where they part, or from its own begin."""
    common = common_revision(sandboxes)
    for sandbox in sandboxes:
        _refuse_forgotten(sandbox, common)
    begin = _revision(sandboxes[0], common)
    tick, t_ms = min(begin, (end, begin[1]))
    return [_branch(sandbox, common, tick, t_ms, end) for sandbox in sandboxes]


def _refuse_forgotten(sandbox: Sandbox, common: int) -> None:
    """Refuse a branch whose own history is not known from its beginning."""
    if sandbox.kept_revision > common + 1:
        raise GoneError(
            Absent.BRANCH_POINT.said(branch=sandbox.branch, tick=sandbox.kept_tick)
        )


def common_revision(sandboxes: Sequence[Sandbox]) -> int:
    """Return the last revision that all the sandboxes share; 0 for strangers."""
    first, *others = [history.lineage(one, whole=True) for one in sandboxes]
    return min(
        (_shared(first, other) for other in others), default=sandboxes[0].revision
    )


def _shared(one: Sequence[RevisionRange], other: Sequence[RevisionRange]) -> int:
    shared = 0
    for ours, theirs in zip(one, other, strict=False):
        if (ours.sandbox_id, ours.after) != (theirs.sandbox_id, theirs.after):
            break
        shared = min(ours.upto, theirs.upto)
        if ours.upto != theirs.upto:
            break
    return shared


def _revision(sandbox: Sandbox, number: int) -> tuple[int, int]:
    """Return (tick, virtual time) of a revision."""
    found = (
        history.rows_of(Revision, sandbox)
        .filter(number__lte=number)
        .order_by("-number")
        .values_list("tick", "t_ms")
        .first()
    )
    return found or (0, 0)


def _branch(
    sandbox: Sandbox,
    common: int,
    tick: int,
    t_ms: int,
    end: int,
) -> Branch:
    end_ms = _time_at(sandbox, end)
    first = common or _first_revision(sandbox)
    world = history.world_at(sandbox, first)
    return Branch(
        line=BranchLine(
            id=sandbox.pk,
            title=sandbox.title,
            branch=sandbox.branch,
            stack=sandbox.stack,
            tick=sandbox.tick,
        ),
        begin_tick=tick,
        begin_ms=t_ms,
        end_ms=end_ms,
        since=_happened(sandbox, Q(revision__gt=common, tick__lte=end)),
        lives=_run_again(sandbox, first, end, world, end_ms).lives,
        samples=_samples(sandbox, common, end),
    )


def _first_revision(sandbox: Sandbox) -> int:
    rows = history.rows_of(Revision, sandbox, whole=True).order_by("number")
    return rows.values_list("number", flat=True)[0]


def _time_at(sandbox: Sandbox, tick: int) -> int:
    if tick == sandbox.tick:
        return sandbox.now_ms
    return _revision(sandbox, history.revision_at(sandbox, tick))[1]


def _happened(sandbox: Sandbox, which: Q) -> list[Happened]:
    rows = history.rows_of(Event, sandbox).filter(which, type__in=TYPES)
    ordered = rows.order_by("revision", "seq").values_list(*_COLUMNS)
    return [Happened(*row) for row in ordered.iterator(chunk_size=5000)]


def _samples(sandbox: Sandbox, common: int, end: int) -> list[dict[str, Any]]:
    known = history.rows_of(Sample, sandbox)
    rows = known.filter(revision__gt=common, tick__lte=end)
    return [sample.body for sample in rows.order_by("revision").iterator()]


def happened_in(tick: int, lines: Iterable[EventRecord]) -> list[Happened]:
    """Return the decisions of a tick that count, as they would have been stored."""
    return [
        Happened(
            tick,
            line.t_ms,
            line.type,
            line.subject,
            line.by,
            line.reason,
            line.message,
            decode_json(json_text(line.data)),
        )
        for line in lines
        if line.type in TYPES
    ]


# ------------------------------------------------------------------------
# Two branches as the two sides of a pair: what was done to each is done again.


#: What goes on from an earlier revision: a lineage has that one right before it.
_FROM_BEFORE = (operations.Begin, operations.Rewind, operations.Undo, operations.Redo)


_TICKS = (operations.Tick, operations.Observe)


def pair_of(sandbox: Sandbox, other: Sandbox) -> PairVerdict:
    """Return what `other` makes different from `sandbox` since they have parted.

    Up to the last tick that both have reached; `sandbox` is the side without the change.
    Raises ConflictError for sandboxes that have no past in common, and GoneError where it
    is no longer kept. Cost: the world at that tick, and both branches run again.
    """
    common = common_revision([sandbox, other])
    if not common:
        raise ConflictError(
            Refused.NO_PAST_IN_COMMON.said(sandbox=sandbox.pk, other=other.pk)
        )
    world = history.world_at(sandbox, common)
    end = min(sandbox, other, key=lambda one: one.tick)
    until_ms = max(end.now_ms, world.context.now_ms)
    ends = fork(world), fork(world)
    one, two = (
        _run_again(branch, common, end.tick, side, until_ms)
        for branch, side in zip((sandbox, other), ends, strict=True)
    )
    return compare_sides(world, ends, one, two)


def _run_again(
    branch: Sandbox, after: int, to_tick: int, world: World, until_ms: int
) -> Mark:
    found = history.rows_of(Revision, branch, whole=True)
    documents = found.filter(number__gt=after, tick__lte=to_tick).order_by("number")
    given = documents.values_list("operation", flat=True)
    done = [
        one
        for one in map(operations.from_document, given)
        if not isinstance(one, _FROM_BEFORE)
    ]
    first = next((n for n, one in enumerate(done) if isinstance(one, _TICKS)), 0)
    before = fork(world)
    for operation in done[:first]:  # edits where both parted: as those of a what-if
        operations.perform(world, operation)
    side = Followed(world, until_ms, before)
    with gc_paused():
        for operation in done[first:]:
            operations.perform(world, operation)
            side.take(world.take().decisions)
    return side.mark(until_ms)
