"""Which nodes may come, what they cost, and why none comes for what waits."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain.shapes import (
    Capacity,
    GrowingNodes,
    GrowthRefusal,
    UnplacedPods,
)
from scheduler.engine.autoscaling.karpenter.node_pool import NODES
from scheduler.engine.autoscaling.refusals import code_of
from scheduler.engine.autoscaling.stage import AutoscalingStage
from scheduler.engine.world import World
from scheduler.model.autoscaling.group_spec import NODE_GROUP
from scheduler.model.autoscaling.pool_spec import NODE_POOL
from scheduler.model.pod import Pod


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
        GrowthRefusal(kind=kind, name=name, reason=reason, code=code_of(reason))
        for (kind, name), reason in stage.refusals(pod).items()
    ]


def sentences(found: list[GrowthRefusal]) -> Iterator[str]:
    """Yield why nothing grows for a pod, or what may."""
    able = [one.name for one in found if not one.reason]
    if able:
        yield f"{', '.join(able)} may grow for it at the autoscaler's next look."
        return
    for one in found:
        yield f"{one.kind} {one.name} does not grow for it: {one.reason}."


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
