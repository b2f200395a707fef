"""What placement writes into a Pod, and how a restart takes it up again."""

from __future__ import annotations

from typing import Any

from scheduler.kube.process import Held, Process
from scheduler.kube.queue import Queued
from scheduler.kube.status import CycleState
from scheduler.records.objects import Object
from scheduler.records.pod import Pod

NAME = "kube"
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
