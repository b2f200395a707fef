"""What history knows of each branch: its decisions and its samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Q

from sandbox.base.absences import Absent
from sandbox.base.errors import GoneError
from sandbox.explain.comparing.shapes import BranchLine
from sandbox.models import Event, Revision, Sample, Sandbox
from sandbox.models.fields import decode_json, json_text
from sandbox.page import diffs, rows
from sandbox.page.diffs import Row
from sandbox.page.events import EventRecord, records_of
from sandbox.page.rows.tally import WorkloadTally
from sandbox.world import history, operations
from sandbox.world.history import RevisionRange
from sandbox.world.operations import (
    Redo,
    Transport,
    Undo,
)

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
    before: list[Happened]  # shared with the other branches
    since: list[Happened]
    samples: list[dict[str, Any]] = field(default_factory=list)  # of the ticks since

    @property
    def subject_kind(self) -> str:
        """Return the kind of what waits and runs."""
        return "Workload" if self.line.stack == "kueue" else "Pod"


def read_branches(sandboxes: Sequence[Sandbox], end: int) -> list[Branch]:
    """Return the branches; the past that they have in common is read once."""
    common = common_revision(sandboxes)
    for sandbox in sandboxes:
        _refuse_forgotten(sandbox, common)
    first = sandboxes[0]
    begin = _revision(first, common)
    tick, t_ms = min(begin, (end, begin[1]))
    before = _happened(first, Q(revision__lte=common, tick__lte=end))
    return [_branch(sandbox, common, tick, t_ms, end, before) for sandbox in sandboxes]


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
        (_shared(first, other) for other in others),
        default=sandboxes[0].revision,
    )


def _shared(one: Sequence[RevisionRange], other: Sequence[RevisionRange]) -> int:
    shared = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours.sandbox_id != theirs.sandbox_id:
            break
        shared = min(ours.upto, theirs.upto)
        if ours.upto != theirs.upto:
            break
    return shared


def _revision(sandbox: Sandbox, number: int) -> tuple[int, int]:
    """Return (tick, virtual time) of a revision."""
    found = (
        Revision.objects.filter(
            history.within(history.lineage(sandbox), "number"), number__lte=number
        )
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
    before: list[Happened],
) -> Branch:
    # What is stored of what was undone describes something else.
    if _was_rerun(sandbox, common):
        since, samples = _rerun(sandbox, common, end)
    else:
        since = _happened(sandbox, Q(revision__gt=common, tick__lte=end))
        samples = _samples(sandbox, common, end)
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
        end_ms=_time_at(sandbox, end),
        before=before,
        since=since,
        samples=samples,
    )


def _time_at(sandbox: Sandbox, tick: int) -> int:
    if tick == sandbox.tick:
        return sandbox.now_ms
    return _revision(sandbox, history.revision_at(sandbox, tick))[1]


def _happened(sandbox: Sandbox, which: Q) -> list[Happened]:
    rows = Event.objects.filter(
        history.within(history.lineage(sandbox), "revision"), which, type__in=TYPES
    )
    ordered = rows.order_by("revision", "seq").values_list(*_COLUMNS)
    return [Happened(*row) for row in ordered.iterator(chunk_size=5000)]


def _samples(sandbox: Sandbox, common: int, end: int) -> list[dict[str, Any]]:
    rows = Sample.objects.filter(
        history.within(history.lineage(sandbox), "revision"),
        revision__gt=common,
        tick__lte=end,
    )
    return [sample.body for sample in rows.order_by("revision").iterator()]


def _was_rerun(sandbox: Sandbox, common: int) -> bool:
    """Return whether edits were undone since: rows then describe what is not so."""
    reruns = Revision.objects.filter(
        history.within(history.lineage(sandbox), "number"),
        number__gt=common,
        kind=Revision.RERUN,
    ).values_list("operation", flat=True)
    kinds = [type(operations.from_document(document)) for document in reruns]
    return any(kind in (Undo, Redo) for kind in kinds)


def _rerun(sandbox: Sandbox, common: int, end: int) -> tuple[list[Happened], list[Row]]:
    """Return decisions and samples of the way that counts: it is run again."""
    world = history.world_at(sandbox, max(common, 1))
    shown = Sandbox(title=sandbox.title, stack=sandbox.stack, seed=sandbox.seed)
    page = rows.page_of(world, shown)
    tally = WorkloadTally.of(page)
    found: list[Happened] = []
    samples: list[Row] = []
    for revision in history.effective(sandbox, common):
        operation = operations.from_document(revision.operation)
        if isinstance(operation, Transport | operations.Begin):
            continue
        operations.perform(world, operation)
        changes = world.take()
        if world.tick > end:
            break
        lines = records_of(changes.decisions)
        found += happened_in(world.tick, lines)
        if isinstance(operation, operations.Tick | operations.Observe):
            shown.tick, shown.now_ms = world.tick, world.context.now_ms
            diffs.apply(page, rows.delta_of(world, shown, page, tally, changes))
            samples.append(rows.sample_of(shown, page, tally, lines))
        else:
            page = rows.page_of(world, shown)
            tally = WorkloadTally.of(page)
    return found, samples


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
