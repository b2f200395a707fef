"""Preemption for pods that must run on one node: DaemonSets."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

STRATEGY = "RequiredNode"


def preempt(partition: Partition, node: SchedulingNode, ask: Ask) -> None:
    """Ask pods on the required node to end, so that the ask fits there.

    No delay, guarantee, fence or same-application rule.
    Source: docs/semantics/yunikorn.md#required-node-preemption
    """
    victims = partition.laws.required_victims(partition, node, ask)
    if not victims:
        partition.log_failure(ask, messages.NO_FIT_ON_REQUIRED_NODE)
        return
    if partition.trace is not None:
        keys = [victim.key for victim in victims]
        partition.trace.step("required", ask=ask.key, node=node.name, victims=keys)
    partition.mark_preempted(victims)
    ask.triggered = True
    partition.listener.preempting(ask, victims, STRATEGY)


def candidates(node: SchedulingNode, ask: Ask, *, daemons: bool = False) -> list[Ask]:
    """Return the candidates in order: plain, opted out, originators.

    Within each: lower priority, newer, smaller, then by key. With `daemons`
    opted-out pods come after originators and required-node pods last of all,
    but none of the ask's own application.
    """
    found = [
        pod
        for pod in node.allocations.values()
        if (daemons or pod.required_node is None)
        and not (daemons and pod.app is ask.app)
        and pod.priority <= ask.priority
        and not pod.preempted
        and not pod.released
        and resources.share_any(pod.resource, ask.resource)
    ]
    return sorted(found, key=_last_resort if daemons else _order)


def _order(pod: Ask) -> tuple[Any, ...]:
    return (pod.originator, not pod.allow_self, *_among_equals(pod))


def _last_resort(pod: Ask) -> tuple[Any, ...]:
    daemon = pod.required_node is not None
    return (daemon, not pod.allow_self, pod.originator, *_among_equals(pod))


def _among_equals(pod: Ask) -> tuple[Any, ...]:
    return (
        pod.priority,
        -pod.create_ms,
        sorted(pod.resource.items()),
        pod.key,
    )


def covers(left: Amounts, right: Amounts) -> bool:
    """Return whether left >= right on every type that either has."""
    names = left.keys() | right.keys()
    return all(left.get(name, 0) >= right.get(name, 0) for name in names)
