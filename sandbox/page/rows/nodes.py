"""Nodes with what is taken on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from sandbox.page.diffs import Row
from sandbox.page.phases import conditions_of
from sandbox.page.rows import yunikorn
from sandbox.page.rows.quota import taint_texts
from sandbox.page.rows.tally import WorkloadTally
from sandbox.page.rows.workloads import shortened, work_of
from sandbox.page.wire import MultiKueueClusterRow, NodeRow, PodRow, WorkloadCounts
from scheduler.engine.multikueue.checks import connection
from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.recorder import scheduled_condition
from scheduler.model import amounts, durations
from scheduler.model.errors import QuantityError
from scheduler.model.objects import (
    Key,
    Object,
    cluster_of,
    plain,
    qualified,
    qualified_name,
)
from scheduler.model.pod import shape_of


def row(world: World, obj: Object) -> NodeRow:
    """Return the row of one Node."""
    now = taken_fields(world, obj)
    return NodeRow(
        key=str(obj.key),
        name=obj.key.name,
        state=state_of(obj),
        flavor=now["flavor"],
        allocatable=_texts(allocatable(obj)),
        used=now["used"],
        pods=now["pods"],
        held=now["held"],
        held_pods=now["heldPods"],
        locked_by=now["lockedBy"],
        taints=taint_texts(obj.spec.get("taints")),
        labels=dict(obj.labels),
    )


def taken_fields(world: World, obj: Object) -> Row:
    """Return the part of a Node's row that may change though the Node does not."""
    name, kube = obj.key.name, world.kube
    used, pods = taken(world, name)
    held, held_pods = kube.held_on(name) if kube is not None else ({}, 0)
    return {
        "flavor": _flavor(world, obj),
        "used": _texts(used),
        "pods": pods,
        "held": _texts(held),
        "heldPods": held_pods,
        "lockedBy": kube.locked_by(name) if kube is not None else "",
    }


def state_of(obj: Object) -> Literal["ready", "cordoned", "failed"]:
    """Return the state: not Ready is failed, unschedulable is cordoned."""
    ready = conditions_of(obj.status).get("Ready")
    if ready is not None and ready.get("status") != "True":
        return "failed"
    return "cordoned" if obj.spec.get("unschedulable") else "ready"


def allocatable(obj: Object) -> dict[str, int]:
    """Return what the node has for pods, canonical units."""
    given = obj.status.get("allocatable") or obj.status.get("capacity") or {}
    found = {}
    for name, text in given.items():
        try:
            found[name] = amounts.canonical(name, text)
        except QuantityError:
            continue  # refused on import; kept only in dumps
    return found


def taken(world: World, name: str) -> tuple[dict[str, int], int]:
    """Return what pods hold on a node, and how many they are."""
    if world.kube is not None:
        return world.kube.used_on(name)
    if world.yunikorn is not None:
        return world.yunikorn.partition.used_on(name)
    return {}, 0


def _flavor(world: World, obj: Object) -> str:
    """Return the ResourceFlavor whose labels the node has; the most specific wins."""
    if world.kueue is None:
        return ""
    best, most = "", 0
    for name, flavor in sorted(world.kueue.cluster.flavors.items()):
        labels = flavor.labels
        if len(labels) > most and labels.items() <= obj.labels.items():
            best, most = name, len(labels)
    return best


def _texts(values: dict[str, int]) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted(values.items()) if amount}


# ------------------------------------------------------------------------
# Pods: where they are, what they ask, whose they are.


Phase = Literal[
    "gated", "pending", "waiting", "bound", "running", "ready", "succeeded", "failed"
]
_ENDED: dict[str, Phase] = {"Succeeded": "succeeded", "Failed": "failed"}


def pod_row(world: World, obj: Object) -> PodRow:
    """Return the row of one Pod."""
    spec, status = obj.spec, obj.status
    shape = shape_of(spec, status)
    node = node_of(world, obj.key)
    owner = world.lifetime.owners.get(obj.key)
    condition = scheduled_condition(obj) or {}
    held = world.kube.assumed(obj.key) if world.kube is not None else None
    return PodRow(
        key=str(obj.key),
        name=obj.key.name,
        namespace=obj.key.namespace,
        uid=obj.uid,
        node=node,
        nominated=str(status.get("nominatedNodeName") or ""),
        held_on=held.node if held is not None else "",
        permit_by=", ".join(sorted(held.waits)) if held is not None else "",
        permit_until_ms=min(held.waits.values(), default=None) if held else None,
        phase="waiting" if held is not None and held.waits else _phase(obj, node),
        workload=str(owner) if owner and owner != obj.key else "",
        queue=_queue(world, obj, owner),
        scheduler=str(spec.get("schedulerName") or "default-scheduler"),
        priority=int(spec.get("priority") or 0),
        requests={n: str(v) for n, v in sorted(shape.requests.exact.items())},
        qos=shape.qos,
        reason=str(condition.get("reason") or status.get("reason") or ""),
        message=shortened(str(condition.get("message") or status.get("message") or "")),
    )


def node_of(world: World, key: Key) -> str:
    """Return the node that a pod is on; "" for one that is on none (any longer)."""
    obj = world.objects.get(key)
    if obj is None or obj.status.get("phase") in _ENDED:
        return ""
    return str(obj.spec.get("nodeName") or "")


def _phase(obj: Object, node: str) -> Phase:
    phase = obj.status.get("phase")
    if phase in _ENDED:
        return _ENDED[phase]
    if node:
        conditions = conditions_of(obj.status)
        if (conditions.get("Ready") or {}).get("status") == "True":
            return "ready"
        return "running" if phase == "Running" else "bound"
    return "gated" if obj.spec.get("schedulingGates") else "pending"


def _queue(world: World, obj: Object, owner: Key | None) -> str:
    """Return the ClusterQueue that admitted it, or the YuniKorn queue it is in."""
    if world.yunikorn is not None:
        return yunikorn.queue_of(world, obj.key)
    if owner is not None and (work := work_of(world, owner)) is not None:
        return work.admission.queue if work.admission else ""
    return ""


# ------------------------------------------------------------------------
# Rows of worker clusters, and of the objects in them under the manager's names.

#: By kind of row: the fields that name an object of the same cluster.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "Cohort": ("name", "parent"),
    "ClusterQueue": ("name", "cohort"),
    "LocalQueue": ("name", "clusterQueue"),
    "ResourceFlavor": ("name",),
    "Workload": ("name", "localQueue", "clusterQueue"),
    "Node": ("name", "flavor"),
    "Pod": ("name", "node", "nominated", "queue"),
    "Queue": ("name", "parent"),
    "Application": ("name", "queue"),
}
#: The fields that hold a key.
_KEYS = ("key", "owner", "workload")


def world_of(world: World, key: Key) -> World:
    """Return the world that an object lives in: this one, or a worker's."""
    cluster = cluster_of(key)
    return world.workers().get(cluster, world) if cluster else world


def inside(world: World, obj: Object) -> tuple[World, Object]:
    """Return the world that an object lives in, and the object as it has it."""
    home = world_of(world, obj.key)
    return (world, obj) if home is world else (home, home.objects[plain(obj.key)])


def outside(row: Row, cluster: str) -> Row:
    """Return a row of a worker with everything that it names qualified."""
    changed = {
        name: qualified_name(row[name], cluster) for name in _NAMES.get(row["kind"], ())
    }
    for name in _KEYS:
        if text := row.get(name):
            kind, namespace, own = text.split("/", 2)
            changed[name] = str(qualified(Key(kind, namespace, own), cluster))
    return {**row, **changed}


def each_world(world: World) -> Iterator[tuple[str, World]]:
    """Yield ("", the manager), then each worker by name."""
    yield "", world
    yield from sorted(world.workers().items())


def cluster_row(world: World, obj: Object) -> MultiKueueClusterRow:
    """Return the row of a MultiKueueCluster."""
    found = connection(obj)
    since = found.get("lastTransitionTime")
    return MultiKueueClusterRow(
        key=str(obj.key),
        name=obj.key.name,
        active=found["status"] == "True",
        reason=str(found.get("reason") or ""),
        message=str(found.get("message") or ""),
        since_ms=world.context.ms(durations.stamp_us(since)) if since else None,
    )


class WorkerTally(WorkloadTally):
    """The counts of a page as one worker's queues ask for them."""

    def __init__(self, tally: WorkloadTally, cluster: str) -> None:
        super().__init__(
            tally.cluster, tally.local, tally.phases, tally.asking, tally.anew
        )
        self.name: Callable[[str], str] = lambda name: qualified_name(name, cluster)

    def of_cluster_queue(self, name: str) -> WorkloadCounts:
        """Return the counts of one ClusterQueue of the worker."""
        return super().of_cluster_queue(self.name(name))

    def of_local_queue(self, namespace: str, name: str, queue: str) -> WorkloadCounts:
        """Return the counts of one LocalQueue of the worker."""
        return super().of_local_queue(namespace, self.name(name), self.name(queue))
