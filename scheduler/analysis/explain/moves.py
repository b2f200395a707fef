"""Before a drop: what a move or an edit of quota would come to."""

from __future__ import annotations

from collections.abc import Container, Iterator

from scheduler.analysis.explain.beside import effects, run_beside
from scheduler.analysis.explain.changes import (
    apply,
    edit,
    local_queue_for,
    move_workload,
)
from scheduler.analysis.explain.flavor_options import FlavorOptions
from scheduler.analysis.explain.fork import check_of_manager, fork, kueue_of, object_of
from scheduler.analysis.explain.outcomes import (
    Shares,
    all_shares,
    attempt,
    changed_shares,
    outcome_of,
    queue_of,
    run_to_places,
    tree_of,
    victim_of,
)
from scheduler.analysis.explain.shapes import (
    Change,
    ChangeOutcome,
    FlavorRow,
    Preview,
    ShareChange,
    Victim,
)
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision, Preempt
from scheduler.model.english import share
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import (
    Key,
    cluster_of,
    plain,
    qualified,
    qualified_name,
)
from scheduler.model.sentence import Quantity, Sentence, few, named
from scheduler.words.refusals import MoveRefused
from scheduler.words.whatif import WhatIf

#: How far every preview runs ahead, virtual milliseconds; the page says it.
HORIZON_MS = 30_000


def what_if_move(
    world: World, key: Key, target: Key, *, horizon_ms: int = HORIZON_MS
) -> Preview:
    """Return what dropping an object on another would come to.

    A Workload (or its Job) on a LocalQueue or ClusterQueue, a ClusterQueue or
    Cohort on a Cohort (with no name: out of its cohort). What cannot be done
    is `refused`, with the reason. In a worker cluster what changes for everybody is
    returned, as without a subject. Raises SchedulerError for what is not there.
    """
    key = _moved(world, key)
    try:
        change = move(world, key, target)
    except SchedulerError as error:
        return _refused(key, error.said)
    subject = key if key.kind == "Workload" and not cluster_of(key) else None
    return what_if(world, change, subject=subject, horizon_ms=horizon_ms)


def move(world: World, key: Key, target: Key) -> Change:
    """Return the patches that move an object; SchedulerError when it cannot move."""
    if cluster_of(key) or cluster_of(target):
        return _move_inside(world, key, target)
    match key.kind, target.kind:
        case "Workload", "LocalQueue" | "ClusterQueue":
            return _to_queue(world, key, target)
        case "ClusterQueue", "Cohort":
            return Change(edits=[edit(key, cohortName=target.name or None)])
        case "Cohort", "Cohort":
            if key == target:
                raise SchedulerError(MoveRefused.OWN_PARENT.said(key=str(key)))
            return Change(edits=[edit(key, parentName=target.name or None)])
        case _:
            raise SchedulerError(
                MoveRefused.KINDS.said(kind=key.kind, target=target.kind)
            )


def _move_inside(world: World, key: Key, target: Key) -> Change:
    """Return a move within a worker cluster; its objects are named with the cluster."""
    cluster = cluster_of(key)
    if target.name and cluster_of(target) != cluster:
        raise SchedulerError(
            MoveRefused.CLUSTERS.said(key=str(key), target=str(target))
        )
    change = move(*world.inside(key), plain(target))
    for part in (*change.pause, *change.edits):
        part.name = qualified_name(part.name, cluster)
    return change


def _to_queue(world: World, key: Key, target: Key) -> Change:
    local_queue = local_queue_for(world, key.namespace, target)
    if world.objects[key].spec.get("queueName") == local_queue:
        raise SchedulerError(
            MoveRefused.THERE.said(workload=key.path, queue=local_queue)
        )
    spec = world.objects[Key("LocalQueue", key.namespace, local_queue)].spec
    cluster = kueue_of(world).cluster
    queue = cluster.forest.queues.get(spec.get("clusterQueue") or "")
    if queue is None:
        raise SchedulerError(MoveRefused.LEADS_NOWHERE.said(queue=local_queue))
    if not cluster.matches(queue, key.namespace):
        raise SchedulerError(
            MoveRefused.SELECTOR.said(namespace=key.namespace, queue=queue.name)
        )
    work = cluster.workloads.get(key)
    if work is not None and work.finished:
        raise SchedulerError(MoveRefused.FINISHED.said(workload=key.path))
    return move_workload(world, key, local_queue)


def _moved(world: World, key: Key) -> Key:
    """Return the Workload of a job, or the key as it is."""
    obj = object_of(world, key)
    kueue_of(world).settle()
    if key.kind in JOB_KINDS:
        name = obj.state.get("job", {}).get("workload", "")
        key = qualified(Key("Workload", key.namespace, name), cluster_of(key))
        object_of(world, key)
    return key


def _refused(key: Key, problem: Sentence) -> Preview:
    said = WhatIf.REFUSED.said(problem=problem)
    return Preview(
        change=None,
        refused=problem.text,
        workload=str(key) if key.kind == "Workload" else "",
        queue="",
        evicted=False,
        cells=[],
        outcome=None,
        sentences=[said.text],
        said=[said],
    )


def what_if(
    world: World,
    change: Change,
    *,
    subject: Key | None = None,
    horizon_ms: int = HORIZON_MS,
) -> Preview:
    """Return what a change would come to, for a Workload or for everybody.

    Two copies run to the horizon, without the change and with it; `verdict` is what
    differs, and shares are compared there. With `subject` the outcome is that of the
    Workload, at its admission, and the shares of its tree are there whether they moved
    or not. Cost: the decisions of both runs. Raises SchedulerError for a change that
    cannot be made, and for a Workload of a worker cluster.
    """
    if subject is not None:
        check_of_manager(subject)
        return _for_workload(world, change, subject, horizon_ms)
    return _for_all(world, change, horizon_ms)


def _for_workload(world: World, change: Change, key: Key, horizon_ms: int) -> Preview:
    live = kueue_of(world).cluster.workloads.get(key)
    trial = attempt(world, key, change, horizon_ms=horizon_ms)
    run_to_places(trial)
    stage = kueue_of(trial.world)
    preview = Preview(
        change=change,
        refused="",
        workload=str(key),
        queue="",
        evicted=live is not None and live.reserved and bool(change.pause),
        cells=[],
        outcome=outcome_of(trial),
    )
    work, queue = stage.cluster.workloads.get(key), queue_of(stage, key)
    if work is not None and queue is not None:
        preview.queue, preview.cells = queue.name, FlavorOptions(work, queue).rows
    cells = [row for row in preview.cells if row.chosen]
    preview.usage_said = [_cell(preview.queue, row) for row in cells]
    preview.usage = [sentence.text for sentence in preview.usage_said]
    near = tree_of(stage, key)
    rest = simulate(trial.world, until_ms=trial.until_ms).decisions
    decisions = [*trial.decisions, *rest]
    return _beside(world, preview, trial.world, decisions, horizon_ms, near)


def _for_all(world: World, change: Change, horizon_ms: int) -> Preview:
    until = world.context.now_ms + horizon_ms
    changed = fork(world)
    apply(changed, change)
    outcome = simulate(changed, until_ms=until)
    preview = Preview(
        change=change,
        refused="",
        workload="",
        queue="",
        evicted=False,
        cells=[],
        outcome=ChangeOutcome(
            outcome="ran",
            at_ms=None,
            tick=None,
            ran_from_ms=world.context.now_ms,
            ran_to_ms=until,
            settled=outcome.settled,
            reason="",
            message="",
            pods="",
            pods_message="",
            position=None,
            victims=[],
            shares=[],
            work_lost_ms=0,
        ),
    )
    return _beside(world, preview, changed, outcome.decisions, horizon_ms)


def _beside(
    world: World,
    preview: Preview,
    changed: World,
    decisions: list[Decision],
    horizon_ms: int,
    near: Container[tuple[str, str]] = (),
) -> Preview:
    """Put a changed copy, run to the horizon, beside one that was not changed."""
    outcome = preview.outcome
    assert outcome is not None
    beside = run_beside(world, decisions, horizon_ms=horizon_ms)
    preview.verdict = beside.verdict
    outcome.victims = [_victim(world, one, decisions) for one in beside.preempted]
    before, after = _shares(beside.world), _shares(changed)
    outcome.shares = changed_shares(before, after, near=near)
    totals = beside.verdict
    outcome.work_lost_ms = totals.changed.work_lost_ms - totals.without.work_lost_ms
    preview.effects_said = effects(
        beside.verdict, subject=preview.workload, moved=before != after
    )
    preview.effects = [sentence.text for sentence in preview.effects_said]
    return _with_sentences(preview)


def _shares(world: World) -> Shares:
    return {} if world.kueue is None else all_shares(world.kueue)


def _victim(world: World, decision: Preempt, decisions: list[Decision]) -> Victim:
    if world.kueue is not None:
        return victim_of(world, decision, decisions)
    return Victim(
        workload=str(decision.subject),
        queue="",
        reason=decision.reason,
        message=decision.message,
        at_ms=decision.at_ms,
        work_lost_ms=decision.work_lost_ms,
        held=[],
    )


def _with_sentences(preview: Preview) -> Preview:
    outcome = preview.outcome
    assert outcome is not None
    preview.said = [
        *([_result(preview, outcome)] if preview.workload else []),
        *preview.usage_said,
        *preview.effects_said,
        *_price(outcome),
    ]
    preview.sentences = [sentence.text for sentence in preview.said]
    return preview


def _result(preview: Preview, outcome: ChangeOutcome) -> Sentence:
    tick = outcome.tick or 0
    if outcome.outcome == "admitted" and outcome.pods == "pending":
        return WhatIf.PODS_PENDING.said(tick=tick, message=outcome.pods_message)
    if outcome.outcome == "admitted":
        return WhatIf.ADMITTED.said(tick=tick)
    queue = preview.queue or WhatIf.NO_QUEUE.said()
    if not outcome.position:
        return WhatIf.WAITS.said(queue=queue, reason=outcome.reason)
    ahead = outcome.position - 1
    return WhatIf.BEHIND.said(queue=queue, reason=outcome.reason, n=ahead)


def _cell(queue: str, row: FlavorRow) -> Sentence:
    level = row.chain[0]
    used = Quantity(row.resource, level.used)
    nominal = Quantity(row.resource, level.nominal)
    if int(level.borrowed) == 0:
        return WhatIf.USES.said(
            queue=queue, used=used, nominal=nominal, flavor=row.flavor
        )
    return WhatIf.BORROWS.said(
        queue=queue,
        used=used,
        nominal=nominal,
        flavor=row.flavor,
        borrowed=Quantity(row.resource, level.borrowed),
    )


def _price(outcome: ChangeOutcome) -> Iterator[Sentence]:
    if outcome.victims:
        names = named(victim.workload for victim in outcome.victims)
        reasons = few(sorted({victim.reason for victim in outcome.victims}))
        yield WhatIf.PREEMPTS.said(names=names, reasons=reasons)
    moved = few(_share(row) for row in outcome.shares if row.before != row.after)
    if moved.items:
        yield WhatIf.SHARES.said(shares=moved)
    if outcome.work_lost_ms > 0:
        yield WhatIf.LOST.said(seconds=outcome.work_lost_ms / 1000)
    if outcome.work_lost_ms < 0:
        yield WhatIf.SPARED.said(seconds=-outcome.work_lost_ms / 1000)


def _share(row: ShareChange) -> Sentence:
    before, after = share(row.before), share(row.after)
    return WhatIf.SHARE.said(name=row.name, before=before, after=after)
