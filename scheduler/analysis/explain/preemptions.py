"""One preemption step by step: its tick is run again, and one workload listened to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler.analysis.explain.changes import check_of_manager, kueue_of
from scheduler.analysis.explain.flavor_options import traced_flavors
from scheduler.analysis.explain.pod_preemptions import kube, yunikorn
from scheduler.analysis.explain.searches import Reader, cost_of, decisive
from scheduler.analysis.explain.shapes import (
    PodPreemption,
    Preemption,
    PreemptionSearch,
    ShareChange,
    ShareRow,
    Victim,
)
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Decision, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected
from scheduler.model.problems.files import Unshown

Values = Mapping[str, Any]


def explain_preemption(
    world_before: World, decision: Decision
) -> Preemption | PodPreemption:
    """Return the search that chose a victim, every step of it.

    `world_before` is the world at the start of the tick in which `decision`, a
    Preempt, was made; it is left as it is. A Workload's is Kueue's search, a
    Pod's what kube-scheduler or YuniKorn tried node by node. Raises
    SchedulerError when the tick does not decide that. Costs a copy and the tick.
    """
    if not isinstance(decision, Preempt) or decision.by is None:
        raise SchedulerError(expected(Wanted.PREEMPTION, given=decision))
    check_of_manager(decision.subject)
    if decision.by.kind == "Workload":
        return explain_workload_preemption(world_before, decision)
    if world_before.yunikorn is not None:
        return yunikorn.explain(world_before, decision)
    return kube.explain(world_before, decision)


def explain_workload_preemption(world_before: World, decision: Preempt) -> Preemption:
    """Return Kueue's search for victims; as `explain_preemption`."""
    kueue_of(world_before)
    assert decision.by is not None
    world = fork(world_before)
    stage = kueue_of(world)
    stage.traced, stage.trace = decision.by, Trace()
    decisions = run_tick(world)
    cycle = _cycle_of(stage.trace.steps, decision)
    if cycle is None:
        raise SchedulerError(
            Unshown.NOT_THIS.said(
                at=world_before.context.now_ms, first=decision.by, last=decision.subject
            )
        )
    searches = Reader(stage).searches(cycle)
    entry = cycle[-1]
    targets = [(key, reason) for key, reason in entry["targets"]]
    index = decisive(searches, targets)
    if index is None:
        raise SchedulerError(Unshown.NO_SEARCH.said(given=repr(decision.message)))
    return Preemption(
        preemptor=str(decision.by),
        queue=entry["queue"],
        at_ms=decision.at_ms,
        tick=world.tick,
        search=searches[index],
        cost=cost_of(searches),
        flavors=traced_flavors(cycle),
        shares=shares_of(searches[index]),
        targets=_with_messages(searches[index].targets, decisions, decision),
        reason=decision.reason,
        message=entry["message"],
    )


def _cycle_of(steps: Sequence[Values], decision: Preempt) -> list[Values] | None:
    """Return the steps of the cycle that preempted this victim, the decision last."""
    starts = [i for i, step in enumerate(steps) if step["step"] == "cycle"]
    for begin, end in zip(starts, [*starts[1:], len(steps)], strict=False):
        cycle = list(steps[begin:end])
        for at, step in enumerate(cycle):
            if step["step"] == "decided" and step["traced"]:
                victims = [key for key, _ in step["targets"]]
                if step["status"] == "preempting" and str(decision.subject) in victims:
                    return cycle[: at + 1]
    return None


def shares_of(search: PreemptionSearch) -> list[ShareChange]:
    """Return every share before the search and with its outcome carried out."""
    after = {(row.kind, row.name): row.share for row in _last(search)}
    return [
        ShareChange(
            kind=row.kind,
            name=row.name,
            before=row.share,
            after=after.get((row.kind, row.name), row.share),
        )
        for row in search.steps[0].shares
    ]


def _last(search: PreemptionSearch) -> list[ShareRow]:
    return search.steps[-1].shares


def _with_messages(
    victims: Sequence[Victim], decisions: Sequence[Decision], decision: Preempt
) -> list[Victim]:
    """Add the messages and the lost work of each victim; evicted before counts too."""
    by_key = {
        str(other.subject): other
        for other in decisions
        if isinstance(other, Preempt)
        and other.by == decision.by
        and other.at_ms == decision.at_ms
    }
    for victim in victims:
        known = by_key.get(victim.workload)
        if known is not None:
            victim.message = known.message
            victim.at_ms, victim.work_lost_ms = known.at_ms, known.work_lost_ms
    return list(victims)
