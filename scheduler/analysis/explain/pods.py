"""Where a pod could go: plug-ins x nodes under kube-scheduler, asks under YuniKorn."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain import places
from scheduler.analysis.explain.asks import explain_ask
from scheduler.analysis.explain.changes import object_of
from scheduler.analysis.explain.node_fields import fields_of
from scheduler.analysis.explain.points import not_run, points_of
from scheduler.analysis.explain.shapes import (
    AskExplanation,
    Capacity,
    Condition,
    GrowingNodes,
    GrowthRefusal,
    NodeRow,
    PodExplanation,
    Score,
    Scorer,
    UnplacedPods,
)
from scheduler.engine.autoscaling.karpenter.plans import NODES
from scheduler.engine.autoscaling.stage import AutoscalingStage
from scheduler.engine.kube.scheduling.scheduler import PluginTable
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.world import World, fork
from scheduler.engine.yunikorn.shim.recorder import SCHEDULED, scheduled_condition
from scheduler.model.autoscaling.group_spec import NODE_GROUP
from scheduler.model.autoscaling.pool_spec import NODE_POOL
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.sentence import Items, Sentence, few
from scheduler.words.gaps import of_proposal
from scheduler.words.placing import Growth, NotGrown, Placing
from scheduler.words.why import Unplaced

#: A table shows at most this many nodes, the best first.
MOST_NODES = 200
_CODES = {one.english: one.value for one in NotGrown}
#: Where a pod in kube-scheduler's queue is not tried though a node would take it.
_RESTS = {"unschedulable": Placing.UNSCHEDULABLE, "backoff": Placing.BACKOFF}


def explain_pod(
    world: World, key: Key, *, most_nodes: int = MOST_NODES, bound: bool = True
) -> PodExplanation | AskExplanation:
    """Return why a Pod has its node, or none, by the scheduler that places it.

    A pod that has a node is looked at as if it had none. `bound` is False where no
    scheduler bound it: then no point of its cycle was run. Raises SchedulerError
    for what is no Pod of this world or has no scheduler. O(nodes x plug-ins).
    """
    if key.kind != "Pod":
        raise SchedulerError(expected(Wanted.POD, given=key))
    obj, proposal = object_of(world, key), of_proposal(world.policy.spec)
    if world.yunikorn is not None:
        found = explain_ask(world, key)
        found.said[:0] = proposal
        found.sentences = [one.text for one in found.said]
        return found
    assert world.kube is not None
    # What has a node is taken off it for the look: not in the world asked about.
    own = fork(world).kube if obj.spec.get("nodeName") else world.kube
    assert own is not None
    table = own.table(key)
    if table is None:
        phase = obj.status.get("phase")
        if phase in ("Succeeded", "Failed"):
            raise SchedulerError(RequestProblem.ENDED.said(key=key, phase=phase))
        raise SchedulerError(RequestProblem.UNPLACED.said(key=key))
    answer = _explanation(world, own, obj, table, most_nodes)
    gates = [str(one.get("name")) for one in obj.spec.get("schedulingGates") or ()]
    if gates:
        answer.said.insert(0, Placing.GATED.said(gates=few(gates)))
    elif answer.feasible and not answer.node:  # alone it fits: its gang may not
        answer.said[:0] = places.together(world, key)
    if answer.node and not bound:
        answer.points = not_run(answer.points)
        answer.said.append(Placing.CAME.said())
    pod = world.kube.pods.get(key)
    if pod is not None and not answer.node:
        if not answer.feasible and not answer.problem:
            answer.said += fields_of(world, own, pod, table)
        answer.said += places.fragments(world, pod)
    if gone := places.names_no_node(world, obj):
        answer.node = ""
        answer.said = [Unplaced.NO_NODE.said(node=gone)]
    answer.said[:0] = proposal
    answer.sentences = [one.text for one in answer.said]
    return answer


def _explanation(
    world: World, stage: KubeStage, obj: Object, table: PluginTable, most_nodes: int
) -> PodExplanation:
    feasible = table.feasible
    answer = PodExplanation(
        pod=str(obj.key),
        at_ms=world.context.now_ms,
        node=obj.spec.get("nodeName") or "",
        condition=_condition(obj),
        queue=_place(stage, obj.key),
        nominated=obj.status.get("nominatedNodeName") or "",
        scorers=scorers_of(table),
        nodes=rows_of(table)[:most_nodes],
        total_nodes=len(table.filter),
        feasible=len(feasible),
        best=table.best if feasible else [],
        counts=_counts(table),
        problem=table.problem or ("" if table.pre_filter.ok else _refusal(table)),
        sentences=[],
        said=[],
    )
    pod = stage.pods.get(obj.key)
    scheduler = stage.responsible(pod) if pod is not None else None
    if scheduler is not None:
        answer.points = points_of(scheduler, obj, table)
    if world.autoscaling is not None and pod is not None and not answer.node:
        answer.growth = refusals(world.autoscaling, pod)
    answer.said = list(_sentences(answer))
    return answer


def _refusal(table: PluginTable) -> str:
    return f"{table.pre_filter.plugin}: {table.pre_filter.message}"


def _condition(obj: Object) -> Condition | None:
    if (found := scheduled_condition(obj)) is None:
        return None
    return Condition(
        type=SCHEDULED,
        status=found["status"] == "True",
        reason=found.get("reason", ""),
        message=found.get("message", ""),
        since_ms=0,
    )


def _place(stage: KubeStage, key: Key) -> str:
    for scheduler in stage.schedulers:
        if key in scheduler.assumed:
            return "held"
        queued = scheduler.queue.entries.get(key)
        if queued is not None:
            return queued.place
    return ""


def scorers_of(table: PluginTable) -> list[Scorer]:
    """Return the scoring plug-ins of a table, in their order."""
    return [
        Scorer(plugin=name, weight=column.weight, skipped=column.skipped)
        for name, column in table.scores.items()
    ]


def rows_of(table: PluginTable) -> list[NodeRow]:
    """Return the nodes: feasible ones by total score, then the others by name."""
    rows = [
        NodeRow(
            node=name,
            fits=status.ok,
            code=status.code.text,
            plugin=status.plugin,
            reasons=list(status.reasons),
            scores=[
                Score(
                    plugin=plugin,
                    raw=column.raw[name],
                    normalized=column.normalized[name],
                )
                for plugin, column in table.scores.items()
                if name in column.raw
            ],
            total=table.total.get(name),
        )
        for name, status in table.filter.items()
    ]
    return sorted(rows, key=lambda row: (not row.fits, -(row.total or 0), row.node))


def _counts(table: PluginTable) -> dict[str, int]:
    counts: dict[str, int] = {}
    for status in table.filter.values():
        for reason in status.reasons if not status.ok else ():
            counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _sentences(answer: PodExplanation) -> Iterator[Sentence]:
    if answer.problem:
        yield Placing.PROBLEM.said(problem=answer.problem)
        yield from _growth(answer.growth)
        return
    n = answer.total_nodes
    if not answer.feasible:
        yield Placing.NONE.said(n=n)
        for reason, number in answer.counts.items():
            yield Placing.REFUSED.said(n=number, reason=reason)
        yield from _growth(answer.growth)
        return
    most = next(row.total or 0 for row in answer.nodes if row.fits)
    if not answer.node and answer.queue in _RESTS:
        yield _RESTS[answer.queue].said()
    yield Placing.BEST.said(
        n=n, feasible=answer.feasible, best=few(answer.best), total=most
    )
    if answer.node:
        yield Placing.ON.said(node=answer.node)


# ------------------------------------------------------------------------
# Which nodes may come, what they cost, and why none comes for what waits.


def capacity(world: World) -> Capacity:
    """Return what may grow and what it costs; all empty where nothing may.

    Cost: the estimate of one look of the autoscaler.
    """
    stage = world.autoscaling
    answer = Capacity(
        at_ms=world.context.now_ms,
        cost=0.0,
        per_hour=0.0,
        groups=[],
        unplaced=[],
        looks_ms=None,
    )
    if stage is None:
        return answer
    answer.groups = [*_groups(stage), *_pools(stage)]
    answer.cost, answer.per_hour = stage.cost(), stage.per_hour()
    answer.looks_ms = stage.looks.scan_ms
    answer.unplaced = [
        UnplacedPods(
            pod=str(one.first.key),
            pods=len(one.pods),
            refusals=refusals(stage, one.first),
        )
        for one in stage.growing.waiting(stage.placing())
    ]
    return answer


def refusals(stage: AutoscalingStage, pod: Pod) -> list[GrowthRefusal]:
    """Return, per group and pool, why it does not grow for this pod."""
    return [
        GrowthRefusal(
            kind=kind,
            name=name,
            reason=reason,
            said=Sentence(_CODES.get(reason.partition(" (")[0], ""), reason),
        )
        for (kind, name), reason in stage.refusals(pod).items()
    ]


def _growth(found: list[GrowthRefusal]) -> Iterator[Sentence]:
    """Yield why nothing grows for a pod, or what may."""
    able = tuple(one.name for one in found if not one.reason)
    if able:
        yield Growth.MAY.said(names=Items(able, all=True))
        return
    for one in found:
        yield Growth.NOT.said(kind=one.kind, name=one.name, reason=one.said)


def _groups(stage: AutoscalingStage) -> Iterator[GrowingNodes]:
    for group in stage.supply.in_order():
        yield GrowingNodes(
            kind=NODE_GROUP,
            name=group.name,
            nodes=group.size - len(group.booting),
            booting=len(group.booting),
            most=group.spec.max_nodes,
            per_hour=group.size * group.spec.price_per_hour,
        )


def _pools(stage: AutoscalingStage) -> Iterator[GrowingNodes]:
    for pool in stage.pools.in_order():
        booting = sum(1 for claim in pool.claims.values() if claim.boots)
        yield GrowingNodes(
            kind=NODE_POOL,
            name=pool.name,
            nodes=len(pool.claims) - booting,
            booting=booting,
            most=pool.spec.limits.get(NODES),
            per_hour=sum(claim.price for claim in pool.claims.values()),
        )
