"""What placement writes into a Pod, and how a restart takes it up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.kube.framework.status import CycleState
from scheduler.kube.queue.scheduling_queue import Queued
from scheduler.kube.scheduling.handle import Held
from scheduler.kube.scheduling.scheduler import Process
from scheduler.records.objects import Object
from scheduler.records.pod import Pod

if TYPE_CHECKING:
    from scheduler.kube.stage import KubeStage

NAME = "kube"
_VICTIM = {
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "removed to make room for a pod of higher priority",
}
_PLAIN = (
    "timestamp_us",
    "first_us",
    "seq",
    "place",
    "attempts",
    "rejections",
    "errors",
    "ready_ms",
    "attempt_ms",
    "tried_before_ms",
    "message",
    "reason",
)
_SETS = ("rejectors", "waiting_on", "woken")


def queued_memory(queued: Queued) -> dict[str, Any]:
    """Return a queue entry as plain values."""
    found: dict[str, Any] = {name: getattr(queued, name) for name in _PLAIN}
    for name in _SETS:
        found[name] = sorted(getattr(queued, name))
    return found


def queued_from(pod: Pod, memory: dict[str, Any]) -> Queued:
    """Return the queue entry that `queued_memory` wrote."""
    queued = Queued(pod=pod)
    for name in _PLAIN:
        setattr(queued, name, memory[name])
    for name in _SETS:
        setattr(queued, name, set(memory[name]))
    return queued


def held_memory(held: Held) -> dict[str, Any]:
    """Return a held pod's node, waits and binding as plain values."""
    return {
        "node": held.node,
        "waits": dict(held.waits),
        "waited": dict(held.waited_ms),
        "bindAt": held.bind_at,
        "seen": held.seen,
        "order": held.order,
    }


def held_from(process: Process, queued: Queued, memory: dict[str, Any]) -> Held:
    """Return the held pod that `held_memory` wrote.

    Its cycle state is empty: what a plug-in needs after Permit it keeps itself.
    """
    return Held(
        queued=queued,
        node=memory["node"],
        framework=process.frameworks[queued.pod.scheduler_name],
        state=CycleState(),
        waits=dict(memory["waits"]),
        waited_ms=dict(memory["waited"]),
        bind_at=memory["bindAt"],
        seen=memory["seen"],
        order=memory["order"],
    )


def set_condition(obj: Object, kind: str, fields: dict[str, Any] | None) -> None:
    """Put, replace or (None) drop one condition of a status; order is kept."""
    conditions = [c for c in obj.status.get("conditions") or [] if c["type"] != kind]
    if fields is not None:
        conditions.append({"type": kind, **fields})
    if conditions:
        obj.status["conditions"] = conditions
    else:
        obj.status.pop("conditions", None)


def scheduled_condition(queued: Queued | None, placed: bool) -> dict[str, Any] | None:
    """Return the PodScheduled condition; None before the first attempt."""
    if placed:
        return {"status": "True"}
    if queued is None or not queued.reason:
        return None
    return {"status": "False", "reason": queued.reason, "message": queued.message}


def write_pod(stage: KubeStage, obj: Object) -> None:
    """Write what the stage knows of a pod into its status and memory."""
    key = obj.key
    if key not in stage.pods:
        obj.memory.pop(NAME, None)
        return
    process = stage.responsible(stage.pods[key])
    placed = stage.nodes.placed.get(key)
    queued = process.queue.entries.get(key) if process else None
    held = process.held.get(key) if process else None
    nominated = process.nominations.node(key) if process else ""
    kept: dict[str, Any] = {}
    if queued is not None:
        kept["queued"] = queued_memory(queued)
    if held is not None:
        kept["held"] = held_memory(held)
    elif placed is not None:
        kept["node"] = placed[1]
        kept["started"] = placed[0].started_us
        kept["leaving"] = placed[0].disrupted
    if nominated:
        kept["nominated"] = obj.status["nominatedNodeName"] = nominated
    else:
        obj.status.pop("nominatedNodeName", None)
    if key in stage.refused:
        reason, message = stage.refused[key]
        kept["refused"] = [reason, message]
        obj.status.update(phase="Failed", reason=reason, message=message)
    obj.memory[NAME] = kept
    bound = placed if held is None else None
    set_condition(obj, "PodScheduled", scheduled_condition(queued, bound is not None))
    victim = bound is not None and bound[0].disrupted
    set_condition(obj, "DisruptionTarget", _VICTIM if victim else None)


def restore_pod(stage: KubeStage, obj: Object, pod: Pod) -> None:
    """Take up a pod as `write_pod` left it; one that never was written is new."""
    kept = obj.memory.get(NAME)
    process = stage.responsible(pod)
    if kept is None or (process is None and not kept.get("node")):
        if not pod.finished:
            stage.put_pod(pod)
        return
    stage.pods[pod.key] = pod
    stage.members.put(pod)
    if "refused" in kept:
        stage.refused[pod.key] = (kept["refused"][0], kept["refused"][1])
    if kept.get("node"):
        _restore_placed(stage, pod, kept)
    elif process is not None:
        _restore_pending(stage, process, pod, kept)


def _restore_placed(stage: KubeStage, pod: Pod, kept: dict[str, Any]) -> None:
    placed = msgspec.structs.replace(
        pod,
        started_us=kept["started"],
        terminating=pod.terminating or kept["leaving"],
        disrupted=pod.disrupted or kept["leaving"],
    )
    stage.pods[pod.key] = placed
    for cluster in stage.clusters():
        cluster.place(placed, kept["node"])


def _restore_pending(
    stage: KubeStage, process: Process, pod: Pod, kept: dict[str, Any]
) -> None:
    if kept.get("nominated"):
        process.nominations.put(pod, kept["nominated"])
    if "queued" not in kept:
        return
    queued = queued_from(pod, kept["queued"])
    process.queue.restore(queued)
    if "held" in kept:
        held = held_from(process, queued, kept["held"])
        process.held[pod.key] = held
        if not held.waits:
            process.queue.done(queued)
        process.cluster.place(pod, held.node)
        stage.sharing.lock(process, held.node)
