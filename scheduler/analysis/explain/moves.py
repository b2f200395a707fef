"""A drop: the patches that move a Workload, a queue or a cohort."""

from __future__ import annotations

from scheduler.analysis.explain.changes import (
    edit,
    local_queue_for,
    move_workload,
)
from scheduler.analysis.explain.fork import kueue_of
from scheduler.analysis.explain.shapes import (
    Change,
)
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import (
    Key,
    cluster_of,
    plain,
    qualified_name,
)
from scheduler.words.refusals import MoveRefused


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
