"""Applications, their requests and allocations, in YuniKorn's records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from api.cluster.yunikorn.records import ENDED, PARTITION, Record, amounts, sparse
from sandbox.explain.application_states import Entered
from scheduler.engine.kube.plugins.inter_pod_affinity import (
    NOT_APART,
    NOT_NEAR,
    UNWELCOME,
)
from scheduler.engine.kube.plugins.node_ports import NodePorts
from scheduler.engine.kube.plugins.pod_topology_spread import SKEW
from scheduler.engine.kube.plugins.taint_toleration import TaintToleration
from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Ended,
    Rejected,
    State,
)
from scheduler.model.node_admission import MISMATCH

#: Virtual milliseconds -> nanoseconds since the Unix epoch.
Times = Callable[[int], int]


def application(app: Application, times: Times, entered: Sequence[Entered]) -> Record:
    """Return an application with its requests and allocations."""
    state = str(app.state)
    finished = times(app.state_ms) if state in ENDED else None
    placed = [allocation(ask, times) for ask in app.allocations.values()]
    asks = [ask for ask in app.asks.values() if not ask.held]
    return {
        "applicationID": app.id,
        "partition": PARTITION,
        "queueName": app.queue.path,
        "submissionTime": times(app.submit_ms),
        "applicationState": state,
        "user": app.user,
        "groups": list(app.groups),
        **sparse(
            {
                "usedResource": amounts(app.allocated),
                "pendingResource": amounts(app.pending),
                "finishedTime": finished,
                "requests": [request(ask, times) for ask in asks],
                "allocations": placed,
                "stateLog": _state_log(entered, times),
                "hasReserved": bool(app.reserved),
                "reservations": sorted(app.reserved),
                "placeholderData": _placeholder_data(app),
                "maxRequestPriority": app.priority if asks else 0,
            }
        ),
    }


def _state_log(entered: Sequence[Entered], times: Times) -> list[Record]:
    return [{"time": times(at), "applicationState": state} for at, state in entered]


def _placeholder_data(app: Application) -> list[Record]:
    """Return of each task group how many placeholders there were, and what became."""
    gang = app.gang
    if gang is None or not gang.origin:
        return []
    return [
        {**one, "minResource": amounts(gang.groups[one["taskGroupName"]].resource)}
        for one in _outcome(gang.outcome())
    ]


def _outcome(groups: Iterable[tuple[str, int, int, int]]) -> list[Record]:
    names = ("taskGroupName", "count", "replaced", "timedout")
    return [sparse(dict(zip(names, group, strict=True))) for group in groups]


def ended(one: Ended, times: Times, entered: Sequence[Entered]) -> Record:
    """Return an application that is over."""
    at = times(one.at_ms)
    return {
        "applicationID": one.app,
        "partition": PARTITION,
        "queueName": one.queue,
        "submissionTime": times(one.submit_ms),
        "finishedTime": at,
        "applicationState": one.state,
        "user": one.user,
        "groups": list(one.groups),
        "stateLog": _state_log(entered, times),
        **sparse({"placeholderData": _outcome(one.gang)}),
    }


def rejected(one: Rejected, times: Times) -> Record:
    """Return an application that was refused, and why."""
    at, state = times(one.at_ms), str(State.REJECTED)
    return {
        "applicationID": one.app,
        "partition": PARTITION,
        "queueName": one.queue,
        "submissionTime": at,
        "finishedTime": at,
        "applicationState": state,
        "user": one.user,
        "groups": list(one.groups),
        "rejectedMessage": one.message,
        "stateLog": [{"time": at, "applicationState": state}],
    }


def _common(ask: Ask, times: Times) -> Record:
    return {
        "allocationKey": ask.key,
        "preemptionPolicy": {
            "allowPreemptSelf": ask.allow_self,
            "allowPreemptOther": ask.allow_other,
        },
        **sparse(
            {
                "requestTime": times(ask.create_ms),
                "resource": amounts(ask.resource),
                "priority": str(ask.priority),
                "applicationId": ask.app.id,
                "placeholder": ask.placeholder,
                "taskGroupName": ask.group,
                "originator": ask.originator,
            }
        ),
    }


def allocation(ask: Ask, times: Times) -> Record:
    """Return what runs on a node."""
    where = ask.node.name if ask.node else ""
    return {
        **_common(ask, times),
        **sparse({"nodeId": where, "preempted": ask.preempted}),
    }


#: The plug-ins of kube-scheduler that the shim asks, and how their reasons begin.
_REASONS: Final = {
    "NodeAffinity": (MISMATCH,),
    "TaintToleration": (TaintToleration.reason,),
    "NodePorts": (NodePorts.reason,),
    "PodTopologySpread": (SKEW,),
    "InterPodAffinity": (NOT_NEAR, NOT_APART, UNWELCOME),
}


def _as_logged(text: str) -> str:
    """Return a message with the plug-in that says it on a line before."""
    for plugin, begins in _REASONS.items():
        if text.startswith(begins):
            return f"failed plugin: '{plugin}'\n{text}"
    return text


def request(ask: Ask, times: Times) -> Record:
    """Return what waits, and what was said of it."""
    said = ask.log
    # Each cycle looks at it, and an attempt is made every 15 s: most looks find so.
    if messages.DOES_NOT_HELP in said:
        said = {messages.PRECONDITIONS_FAILED: said[messages.DOES_NOT_HELP], **said}
    log = [
        {"message": _as_logged(text), "lastOccurrence": times(at), "count": 1}
        for text, at in sorted(said.items(), key=lambda line: line[1])
    ]
    return {
        **_common(ask, times),
        **sparse(
            {
                "requiredNodeId": ask.required_node,
                "allocationLog": log,
                "triggeredPreemption": ask.triggered,
                "schedulingAttempted": bool(ask.log),
            }
        ),
    }
