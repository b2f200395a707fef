"""What YuniKorn writes into Pods and Nodes: conditions, and what a restart needs."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, SchedulingNode
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.shim.recorder import UNSCHEDULABLE
from scheduler.model.objects import Object
from scheduler.model.reasons import APPLICATION_REJECTED

SCHEDULED = "PodScheduled"


def fail_pod(obj: Object, reason: str, message: str, stage: str) -> None:
    """End a Pod before it has a place, with all of its status said anew."""
    obj.state.pop(stage, None)
    obj.status.clear()
    obj.status.update(phase="Failed", reason=reason, message=message)


def write_pod(obj: Object, ask: Ask | None, rejected: str | None, stage: str) -> None:
    """Write one Pod's state and its PodScheduled condition."""
    state = {"rejected": rejected} if rejected else _state(ask) if ask else {}
    if state:
        obj.state[stage] = state
    else:
        obj.state.pop(stage, None)
    condition = _condition(ask, rejected)
    if condition is None:
        return
    others = [c for c in obj.status.get("conditions") or [] if c["type"] != SCHEDULED]
    obj.status["conditions"] = [*others, condition]
    if ask is not None and ask.reserved_on is not None:
        obj.status["nominatedNodeName"] = ask.reserved_on.name
    else:
        obj.status.pop("nominatedNodeName", None)


def _condition(ask: Ask | None, rejected: str | None) -> dict[str, str] | None:
    if rejected:
        return _unscheduled(APPLICATION_REJECTED, rejected)
    if ask is None:
        return None
    if ask.node is not None:
        return {"type": SCHEDULED, "status": "True"}
    reasons = "; ".join(reasons_of(ask))
    return _unscheduled(UNSCHEDULABLE, reasons) if reasons else None


def _unscheduled(reason: str, message: str) -> dict[str, str]:
    return {
        "type": SCHEDULED,
        "status": "False",
        "reason": reason,
        "message": message,
    }


def _state(ask: Ask) -> dict[str, Any]:
    """Return what a restart needs of one pod; whatever is as usual is left out."""
    origin = ask.pod
    assert origin is not None
    state: dict[str, Any] = {
        "queue": ask.app.queue.path,
        "submit": origin.submit_ms,
        "create": ask.create_ms,
        "rank": ask.rank,
    }
    odd = {
        "allow": (ask.allow_self, True),
        "since": (origin.since_ms, None),
        "triggered": (ask.triggered, False),
        "checked": (ask.checked_ms, None),
        "preempted": (ask.preempted, False),
    }
    state.update({k: now for k, (now, usual) in odd.items() if now != usual})
    state["origin"] = ask.originator
    if ask.reserved_on is not None:
        state["reserved"] = [ask.reserved_on.name, ask.reserved_ms]
    if ask.node is None and (log := reasons_of(ask)):
        state["log"] = log
    return state


def reasons_of(ask: Ask) -> list[str]:
    """Return why an ask waits, in the order in which it was found out."""
    return [message for message in ask.log if message not in messages.SILENT]


def write_node(
    obj: Object, node: SchedulingNode | None, order: NodeOrder, stage: str
) -> None:
    """Keep a node's place in the order where its present use does not give it."""
    obj.state.pop(stage, None)
    if node is not None:
        score = node.entry[0]
        if score != order.sort.score(order.used_share(node)):
            obj.state[stage] = {"score": score}
