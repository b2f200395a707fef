"""Changes to a world as merge patches of objects, and doing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.analysis.explain.shapes import Amount, Change, Edit
from scheduler.assembly import merge
from scheduler.engine.tick import settle
from scheduler.engine.world import World
from scheduler.model import amounts
from scheduler.model.conditions import is_true
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.model.problems import Form
from scheduler.words.refusals import MoveRefused

#: The kind of an edit that patches the policy document.
POLICY = "Policy"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


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


def without_limit(world: World, key: Key, places: set[tuple[str, str]]) -> Change:
    """Return a ClusterQueue's borrowing limits taken away at these places."""
    groups = [
        _group(group, lambda flavor, r: _unlimited(flavor, r, places))
        for group in world.objects[key].spec.get("resourceGroups") or ()
    ]
    return Change(edits=[edit(key, resourceGroups=groups)])


def _unlimited(
    flavor: str, resource: dict[str, Any], places: set[tuple[str, str]]
) -> dict[str, Any]:
    if (flavor, resource["name"]) not in places:
        return resource
    return {name: v for name, v in resource.items() if name != "borrowingLimit"}


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
                patch={"metadata": {"labels": {QUEUE_LABEL: queue}}},
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
