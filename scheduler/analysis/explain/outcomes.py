"""What a change comes to: it is done to a copy, and the copy runs on."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from itertools import count

from scheduler.analysis.explain.changes import apply, kueue_of
from scheduler.analysis.explain.places import awaits_nodes, unplaced, why_unplaced
from scheduler.analysis.explain.shapes import (
    Amount,
    Change,
    ChangeOutcome,
    ShareChange,
    Victim,
)
from scheduler.analysis.explain.workloads import victim as describe
from scheduler.analysis.explain.workloads import waiting_of
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import share_of
from scheduler.engine.kueue.tree.quota import share_of_node
from scheduler.engine.kueue.tree.tree import ClusterQueue, QuotaNode
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import gc_paused
from scheduler.model.decisions import Admit, Decision, Finish, Preempt
from scheduler.model.objects import Key
from scheduler.model.reasons import ADMITTED, QUOTA_RESERVED

Shares = dict[tuple[str, str], float | None]

#: A run that has not answered after this many decisions is given up.
MOST_DECISIONS = 20_000


@dataclass(slots=True)
class Trial:
    """A copy of a world that was changed and ran on until a workload got in.

    `world` stands at the instant of the admission (or at the end), `decisions`
    are all of the way there, `victims` those preempted for the workload.
    """

    world: World
    key: Key
    change: Change | None
    tick: int  # of the world before, and its time
    from_ms: int
    until_ms: int  # the horizon
    before: Shares
    lost_before_ms: int
    decisions: list[Decision] = field(default_factory=list)
    victims: list[Victim] = field(default_factory=list)
    admitted_ms: int | None = None
    settled: bool = False
    given_up: bool = False
    after: Shares = field(default_factory=dict)
    pods: str = ""
    pods_message: str = ""


def begin(world: World, key: Key, change: Change | None) -> Trial:
    """Return a copy of the world with the change made, at the instant of the world.

    The world given stays as it is. Cost: a copy.
    """
    copy = fork(world)
    stage = kueue_of(copy)
    trial = Trial(
        world=copy,
        key=key,
        change=change,
        tick=world.tick,
        from_ms=world.context.now_ms,
        until_ms=world.context.now_ms,
        before=all_shares(stage),
        lost_before_ms=_lost(copy, key),
    )
    if change is not None:
        apply(copy, change)
    return trial


def run_on(trial: Trial, origin: World, until_ms: int) -> None:
    """Run a trial on until its Workload is admitted, at most to `until_ms`.

    `origin` is the world that it was begun from. It may be called again with a later
    time. `run_to_places` goes on from the admission. Cost: the decisions of that time.
    """
    trial.until_ms = until_ms
    if trial.admitted_ms is not None or trial.given_up:
        return
    key, begun = trial.key, len(trial.decisions)

    def admitted(decision: Decision) -> bool:
        return isinstance(decision, Admit) and decision.subject == key

    seen = count(begun)
    with gc_paused():
        outcome = simulate(
            trial.world,
            until_ms=until_ms,
            stop=lambda decision: admitted(decision) or next(seen) >= MOST_DECISIONS,
        )
    trial.decisions += outcome.decisions
    trial.settled = outcome.settled
    for decision in outcome.decisions:
        if isinstance(decision, Preempt) and decision.by == key:
            trial.victims.append(victim_of(origin, decision, trial.decisions))
        elif admitted(decision):
            trial.admitted_ms = decision.at_ms
            break
    trial.given_up = trial.admitted_ms is None and next(seen) > MOST_DECISIONS
    trial.after = all_shares(kueue_of(trial.world))


def _admitted_as(key: Key, decisions: list[Decision]) -> Victim | None:
    """Return what a workload held that was admitted on the way."""
    for decision in decisions:
        if isinstance(decision, Admit) and decision.subject == key:
            held = [
                Amount(flavor=part.flavors[name], resource=name, amount=str(amount))
                for part in decision.pod_sets
                for name, amount in part.usage.items()
            ]
            return Victim(workload=str(key), queue=decision.queue, reason="", held=held)
    return None


def victim_of(origin: World, decision: Preempt, decisions: list[Decision]) -> Victim:
    """Return the victim, with what it held in `origin` or got on the way."""
    work = kueue_of(origin).cluster.workloads.get(decision.subject)
    known = describe(work, "") if work is not None and work.usage else None
    if known is None:
        known = _admitted_as(decision.subject, decisions)
    return Victim(
        workload=str(decision.subject),
        queue=known.queue if known else "",
        reason=decision.reason,
        priority=known.priority if known else 0,
        held=known.held if known else [],
        message=decision.message,
        at_ms=decision.at_ms,
        work_lost_ms=decision.work_lost_ms,
    )


def run_to_places(trial: Trial, places_ms: int = 0) -> None:
    """Go on from an admission until every pod of the workload has a node.

    To the horizon of the trial or for `places_ms` after the admission, whichever is
    later; `pods` says whether all have one. Nothing where pods are not placed.
    """
    world = trial.world
    if trial.admitted_ms is None or not world.lifetime.placement():
        return
    until_ms = max(trial.until_ms, trial.admitted_ms + places_ms)

    def placed(_: Decision) -> bool:
        return not awaits_nodes(world, trial.key)

    if awaits_nodes(world, trial.key):
        outcome = simulate(world, until_ms=until_ms, stop=placed)
        trial.decisions += outcome.decisions
    trial.pods = "placed"
    if awaits_nodes(world, trial.key):
        missing = unplaced(world, trial.key)
        trial.pods = "pending"
        trial.pods_message = (
            why_unplaced(world, missing[0]) or "its pods were not tried yet"
            if missing
            else "its pods are not made yet"
        )


def _lost(world: World, key: Key) -> int:
    run = world.lifetime.runs.get(key)
    return run.lost_ms if run is not None else 0


def all_shares(stage: KueueStage) -> Shares:
    """Return the weighted share of every node that has a parent."""
    return {
        (node.kind, node.name): share_of(share_of_node(node))
        for node in stage.cluster.forest.nodes()
        if node.parent is not None
    }


def outcome_of(trial: Trial) -> ChangeOutcome:
    """Return the outcome of a trial as the page shows it."""
    world, key = trial.world, trial.key
    stage = kueue_of(world)
    work = stage.cluster.workloads.get(key)
    name = ADMITTED if trial.admitted_ms is not None else QUOTA_RESERVED
    condition = work.conditions.get(name) if work is not None else None
    waiting = waiting_of(stage, work) if work is not None else None
    lost = sum(victim.work_lost_ms for victim in trial.victims)
    return ChangeOutcome(
        outcome=_outcome(trial),
        at_ms=trial.admitted_ms,
        tick=tick_of(trial),
        ran_from_ms=trial.from_ms,
        ran_to_ms=_ran_to(trial),
        settled=trial.settled,
        reason=condition.reason if condition is not None else "",
        message=condition.message if condition is not None else "",
        pods=trial.pods,
        pods_message=trial.pods_message,
        position=waiting.position if waiting is not None else None,
        victims=trial.victims,
        shares=_changes(trial, stage),
        work_lost_ms=lost + _lost(world, key) - trial.lost_before_ms,
    )


def _ran_to(trial: Trial) -> int:
    """Return up to when the outcome is known; a world at rest stays as it is."""
    done = trial.admitted_ms is not None or trial.given_up
    return trial.world.context.now_ms if done else trial.until_ms


def _outcome(trial: Trial) -> str:
    if trial.admitted_ms is not None:
        return "admitted"
    if trial.given_up:
        return "unknown"
    work = kueue_of(trial.world).cluster.workloads.get(trial.key)
    if work is None:
        return "gone"
    if work.finished:
        return "finished"
    return "waits" if work.active else "inactive"


def tick_of(trial: Trial) -> int | None:
    """Return the tick of the admission: the next one, or the one that it falls in."""
    if trial.admitted_ms is None:
        return None
    tick_ms = trial.world.policy.spec.simulation.tick_ms
    later = -(-(trial.admitted_ms - trial.from_ms) // tick_ms)
    return trial.tick + max(1, later)


def _changes(trial: Trial, stage: KueueStage) -> list[ShareChange]:
    """Return the shares of the workload's tree, and any other that moved."""
    near = tree_of(stage, trial.key)
    return changed_shares(trial.before, trial.after, near=near)


def changed_shares(
    before: Shares, after: Shares, *, near: Container[tuple[str, str]] = ()
) -> list[ShareChange]:
    """Return the shares that changed, and always those of `near`."""
    return [
        ShareChange(kind=name[0], name=name[1], before=before.get(name), after=now)
        for name, now in after.items()
        if name in near or before.get(name) != now
    ]


def tree_of(stage: KueueStage, key: Key) -> set[tuple[str, str]]:
    """Return the queues and cohorts of the tree that a Workload is in, if any."""
    queue = queue_of(stage, key)
    return set() if queue is None else _tree(queue)


def queue_of(stage: KueueStage, key: Key) -> ClusterQueue | None:
    """Return the ClusterQueue of a Workload, or None where there is none."""
    work = stage.cluster.workloads.get(key)
    if work is None:
        return None
    if work.cluster_queue is not None:
        return work.cluster_queue
    return stage.cluster.cluster_queue_of(work)


def _tree(node: QuotaNode) -> set[tuple[str, str]]:
    waiting: list[QuotaNode] = [node.root]
    names = set()
    while waiting:
        at = waiting.pop()
        names.add((at.kind, at.name))
        waiting += getattr(at, "cohorts", [])
        waiting += getattr(at, "queues", [])
    return names


def finished_before(trial: Trial) -> list[str]:
    """Return the workloads that ended at the instant of the admission."""
    return [
        str(decision.subject)
        for decision in trial.decisions
        if isinstance(decision, Finish)
        and decision.subject.kind == "Workload"
        and decision.at_ms == trial.admitted_ms
    ]
