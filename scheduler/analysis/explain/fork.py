"""Copies of a world's stages to ask questions of."""

from __future__ import annotations

import dataclasses

from scheduler.engine.forking import fork
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Journal
from scheduler.engine.world import World
from scheduler.engine.worlds.memory import gc_paused
from scheduler.engine.yunikorn.stage import YunikornStage
from scheduler.model.conditions import is_true
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.problems import Form, RequestProblem
from scheduler.model.problems.files import Unshown

_FINISHED = "Finished"


def fork_kueue(world: World, *, tried: Key | None = None) -> KueueStage:
    """Return a copy of the world's Kueue stage, settled, with a journal of its own.

    What has finished is left out: it holds nothing. With `tried` the copy is good for
    one cycle in which that Workload is a head: who waits behind another head is left
    out too, for no cycle looks at them. O(objects copied), and a look at each other.
    Raises SchedulerError when the stack has no Kueue.
    """
    live = kueue_of(world)
    world.freshen()
    context = dataclasses.replace(world.context, journal=Journal())
    stage = KueueStage(context, live.settings, rules=live.answers.given)
    stage.answers.elsewhere = live.answers.elsewhere
    stage.answers.dispatched = live.answers.dispatched
    stage.load_state(live.dump_state())
    behind = set[Key]() if tried is None else _behind_heads(live, tried)
    own = world.own_objects()
    with gc_paused():
        for key in sorted(own.keys() - behind):
            if world.lifetime.waits(key):
                continue
            if key.kind != "Workload" or not is_true(own[key].status, _FINISHED):
                stage.put(own[key], restore=True)
        stage.settle()
    return stage


def _behind_heads(live: KueueStage, tried: Key) -> set[Key]:
    """Return who waits and is neither `tried` nor the head of a ClusterQueue.

    Nobody while edits have not found their place, and none that another Workload knows
    by name: slices of elastic jobs, and variants, which need their family.
    """
    if not live.handlers.settled or live.cluster.families is not None:
        return set()
    behind: set[Key] = set()
    for queue in live.cluster.forest.queues.values():
        head = queue.pending.head()
        behind.update(
            work.key
            for work in queue.pending.workloads()
            if work is not head and work.replaces is None
        )
    behind.discard(tried)
    return behind


def fork_yunikorn(world: World, asked: str) -> YunikornStage:
    """Return the YuniKorn stage of a copy, as its next cycle would see it.

    Raises SchedulerError when the stack has none, and says that it has no `asked`.
    """
    if world.yunikorn is None:
        raise SchedulerError(
            RequestProblem.NO_PART.said(stack=world.policy.spec.stack, kind=asked)
        )
    stage = fork(world).yunikorn
    assert stage is not None
    stage.due()  # finishes restoring
    stage.partition.now_ms = world.context.now_ms
    stage.partition.refresh()
    return stage


def kueue_of(world: World) -> KueueStage:
    """Return the world's Kueue stage; SchedulerError when its stack has none."""
    if world.kueue is None:
        raise SchedulerError(
            RequestProblem.EXPLAINED_KUEUE.said(stack=world.policy.spec.stack)
        )
    return world.kueue


def check_of_manager(key: Key) -> None:
    """Raise SchedulerError for an object of a worker cluster."""
    if cluster := cluster_of(key):
        raise SchedulerError(Unshown.OF_WORKER.said(name=key, cluster=cluster))


def object_of(world: World, key: Key) -> Object:
    """Return an object, fresh; SchedulerError when it does not exist."""
    if key not in world.objects:
        raise SchedulerError(Form.NOT_IN_WORLD.said(key=key))
    return world.get(key)
