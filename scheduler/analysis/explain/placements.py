"""Why no queue of YuniKorn takes an application, and which queues would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scheduler.analysis.explain.changes import fork_yunikorn
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.placement import rules
from scheduler.engine.yunikorn.shim import pods
from scheduler.model.hierarchy import PlacementRule
from scheduler.model.objects import Object
from scheduler.model.sentence import Sentence, few
from scheduler.words.placing import Rejected

_PROVIDED = PlacementRule(name="provided")


def rejection_of(world: World, obj: Object) -> Iterator[Sentence]:
    """Yield why the application of a pod was rejected, rule by rule; then who takes it.

    Nothing for a pod whose application was not rejected, or has a queue. Costs a copy.
    Source: docs/semantics/yunikorn.md#placement-rules.
    """
    if world.yunikorn is None:
        return
    found = world.yunikorn.partition.rejected.get(pods.app_id(obj))
    if found is None:
        return
    yield Rejected.WHY.said(why=found.message)
    if found.queue:
        return
    partition = fork_yunikorn(world, "YuniKorn").partition
    asked = rules.Submission(
        queue=pods.queue_name(obj), user=found.user, groups=found.groups
    )
    for rule in partition.spec.placement or (_PROVIDED,):
        yield from _by_rule(partition, rule, asked)
    leaves = [one for one in partition.root.walk() if _takes(one, asked)]
    if leaves:
        yield Rejected.LEAVES.said(user=asked.user, names=few(q.path for q in leaves))


def _by_rule(
    partition: Partition, rule: PlacementRule, asked: rules.Submission
) -> Iterator[Sentence]:
    """Yield why the queue to which a rule leads does not take it."""
    try:
        path = rules.path_of(replace(rule, create=True), asked, partition.queue)
    except rules.PlacementError as error:
        yield Rejected.RULE.said(rule=rule.name, why=str(error))
        return
    if not path:
        yield Rejected.NO_PATH.said(rule=rule.name)
        return
    queue = partition.queue(path)
    if queue is None and not rule.create:
        yield Rejected.NO_QUEUE.said(rule=rule.name, queue=path)
    elif queue is not None and not queue.leaf:
        yield Rejected.NO_LEAF.said(rule=rule.name, queue=path)
    elif queue is not None and queue.state != "Active":
        yield Rejected.STATE.said(queue=path, state=str(queue.state))
    else:
        yield Rejected.MAY_NOT.said(queue=path, user=asked.user)


def _takes(queue: Queue, asked: rules.Submission) -> bool:
    active = queue.leaf and queue.state == "Active"
    return active and rules.may_submit(queue, asked.user, asked.groups)
