"""Pods: where they are, what they ask, whose they are."""

from __future__ import annotations

from typing import Literal

from sandbox.page.phases import conditions_of
from sandbox.page.rows import yunikorn
from sandbox.page.rows.wording import shortened
from sandbox.page.rows.workloads import work_of
from sandbox.page.wire_rows import PodRow
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.pod import shape_of

Phase = Literal[
    "gated", "pending", "waiting", "bound", "running", "ready", "succeeded", "failed"
]
_ENDED: dict[str, Phase] = {"Succeeded": "succeeded", "Failed": "failed"}


def row(world: World, obj: Object) -> PodRow:
    """Return the row of one Pod."""
    spec, status = obj.spec, obj.status
    shape = shape_of(spec, status)
    node = node_of(world, obj.key)
    owner = world.lifetime.owners.get(obj.key)
    condition = conditions_of(status).get("PodScheduled") or {}
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
