"""Changes to a world as merge patches of objects, and doing them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.analysis.explain.shapes import Amount, Change, Edit
from scheduler.assembly import merge
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Journal
from scheduler.engine.tick import settle
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import gc_paused
from scheduler.engine.yunikorn.stage import YunikornStage
from scheduler.model import amounts
from scheduler.model.errors import SchedulerError
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object, cluster_of, plain, qualified_name
from scheduler.model.policy import read_policy
from scheduler.model.problems import Form, RequestProblem
from scheduler.model.problems.files import Unshown
from scheduler.model.reasons import is_true
from scheduler.words.read_as import MoveRefused

#: The kind of an edit that patches the policy document.
POLICY = "Policy"


def apply(world: World, change: Change) -> None:
    """Do a change to a world, as the same patches through the API would.

    Raises SchedulerError when an object does not exist, a quantity is none, or the
    policy would be none.
    """
    for edit in change.pause:
        _patch(world, edit)
    if change.pause:
        settle(world)
    for edit in change.edits:
        _patch(world, edit)


def _patch(world: World, edit: Edit) -> None:
    if edit.kind == POLICY:
        document = merge(world.policy.document(), edit.patch)
        world.set_policy(read_policy(document))
        return
    key = Key(edit.kind, edit.namespace, edit.name)
    known = world.objects.get(key)
    if known is None:
        raise SchedulerError(Form.NOT_IN_WORLD.said(key=key))
    manifest = merge(known.manifest, edit.patch)
    manifest["metadata"] = dict(manifest["metadata"])
    manifest["spec"] = dict(manifest.get("spec") or {})
    world.put(Object(key=key, manifest=manifest))


def edit(key: Key, **spec: Any) -> Edit:
    """Return a patch of an object's spec."""
    return Edit(
        kind=key.kind, namespace=key.namespace, name=key.name, patch={"spec": spec}
    )


# ---- quota ----


def add_quota(
    world: World,
    key: Key,
    added: Mapping[tuple[str, str], int],
    field: str = "nominalQuota",
) -> Change:
    """Return more `field` for a ClusterQueue or Cohort: (flavor, resource) -> added.

    A borrowingLimit that is added to nothing stays absent: that is no limit.
    """
    return Change(edits=[edit(key, resourceGroups=_raised(world, key, added, field))])


def without_limit(
    world: World,
    key: Key,
    places: set[tuple[str, str]],
    field: str = "borrowingLimit",
) -> Change:
    """Return a limit of a ClusterQueue or Cohort taken away at these places."""

    def unlimited(flavor: str, resource: dict[str, Any]) -> dict[str, Any]:
        if (flavor, resource["name"]) not in places:
            return resource
        return {name: value for name, value in resource.items() if name != field}

    groups = world.objects[key].spec.get("resourceGroups") or ()
    made = [_group(group, unlimited) for group in groups]
    return Change(edits=[edit(key, resourceGroups=made)])


def _raised(
    world: World, key: Key, added: Mapping[tuple[str, str], int], field: str
) -> list[dict[str, Any]]:
    def more(flavor: str, resource: dict[str, Any]) -> dict[str, Any]:
        amount = added.get((flavor, resource["name"]))
        known = resource.get(field, None if field != "nominalQuota" else 0)
        if amount is None or known is None:
            return resource
        total = amounts.add(amounts.quota(resource["name"], known), amount)
        text = str(amounts.MAX)
        if total != amounts.UNLIMITED:
            text = amounts.text_of(resource["name"], total)
        return {**resource, field: text}

    groups = world.objects[key].spec.get("resourceGroups") or ()
    return [_group(group, more) for group in groups]


def _group(group: dict[str, Any], change: Any) -> dict[str, Any]:
    return {
        **group,
        "flavors": [
            {
                **flavor,
                "resources": [
                    change(flavor["name"], resource)
                    for resource in flavor.get("resources") or ()
                ],
            }
            for flavor in group.get("flavors") or ()
        ],
    }


def listed(added: Mapping[tuple[str, str], int]) -> list[Amount]:
    """Return (flavor, resource) -> amount as amounts."""
    return [
        Amount(flavor=flavor, resource=resource, amount=str(amount))
        for (flavor, resource), amount in added.items()
    ]


# ---- workloads ----


def move_workload(world: World, key: Key, queue: str) -> Change:
    """Return the move of a Workload to a LocalQueue of its namespace.

    The jobs that own it move with it. One that holds quota is deactivated
    first: Kueue lets no Workload with quota change its queue.
    """
    obj = world.get(key)
    edits = [*_owners(world, obj, queue)]
    if not is_true(obj.status, "QuotaReserved"):
        return Change(edits=[*edits, edit(key, queueName=queue)])
    return Change(
        pause=[edit(key, active=False)],
        edits=[*edits, edit(key, queueName=queue, active=True)],
    )


def _owners(world: World, obj: Object, queue: str) -> Iterator[Edit]:
    for owner in obj.metadata.get("ownerReferences") or ():
        key = Key(owner["kind"], obj.key.namespace, owner["name"])
        if key in world.objects:
            yield Edit(
                kind=key.kind,
                namespace=key.namespace,
                name=key.name,
                patch={"metadata": {"labels": {QUEUE: queue}}},
            )


def local_queue_for(world: World, namespace: str, target: Key) -> str:
    """Return the LocalQueue to go through; SchedulerError when there is none.

    `target` is a LocalQueue of the namespace, or the ClusterQueue that the
    first LocalQueue in name order leads to.
    """
    if target.kind == "LocalQueue":
        if target.namespace not in ("", namespace):
            raise SchedulerError(
                MoveRefused.NAMESPACE.said(queue=target.path, namespace=namespace)
            )
        if Key("LocalQueue", namespace, target.name) not in world.objects:
            raise SchedulerError(
                MoveRefused.NO_LOCAL_QUEUE.said(queue=f"{namespace}/{target.name}")
            )
        return target.name
    for key in world.keys("LocalQueue"):
        leads_to = world.objects[key].spec.get("clusterQueue")
        if key.namespace == namespace and leads_to == target.name:
            return key.name
    raise SchedulerError(
        MoveRefused.NOT_LED.said(namespace=namespace, target=str(target))
    )


# ------------------------------------------------------------------------
# A drop: the patches that move a Workload, a queue or a cohort.


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


# ------------------------------------------------------------------------
# Copies of a world's stages to ask questions of.


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
    if stage.cluster.proposing is not None and live.cluster.proposing is not None:
        stage.cluster.proposing.run_of = live.cluster.proposing.run_of
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
    if live.cluster.proposing is not None:  # it may look at who waits in front
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
