"""Preemption for guarantees by the documented laws.

Source: docs/semantics/yunikorn.md#documented-laws
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption.victims import candidate_nodes
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.properties import PREEMPTION_POLICY
from scheduler.model.yunikorn.resources import Amounts


def choose(
    partition: Partition, ask: Ask, trace: Trace | None = None
) -> PreemptionPlan | str:
    """Return the victims and their nodes, or the reason why there are none.

    "" is no reason in particular: preemption does not help. Changes nothing.
    """
    if policy_of(ask.app.queue) == "disabled" or not below_guarantee(ask):
        return messages.GUARANTEES_FAILED
    top = scope_of(ask)
    pods = sorted(_candidates(top, ask), key=victim_order)
    by_node: dict[str, list[Ask]] = {}
    for pod in pods:
        assert pod.node is not None
        by_node.setdefault(pod.node.name, []).append(pod)
    plans = []
    for rank, node in enumerate(candidate_nodes(partition, ask)):
        victims = _victims(top, node, by_node.get(node.name, []), ask, trace)
        if not victims:
            continue
        refused = ask.predicate(node, victims) if ask.predicate is not None else None
        if trace is not None:
            _trace_compared(trace, node, victims, refused or "", rank)
        if not refused:
            plans.append((_cost(victims), rank, PreemptionPlan(node, victims)))
    return min(plans, key=lambda found: found[:2])[2] if plans else ""


def _trace_compared(
    trace: Trace, node: SchedulingNode, victims: list[Ask], refused: str, rank: int
) -> None:
    names = ("optedOut", "highestPriority", "originators", "victims")
    cost = dict(zip(names, _cost(victims), strict=True))
    numbers = {"refused": refused} if refused else {"cost": cost, "index": rank}
    trace.step("compared", node=node.name, **numbers)


def policy_of(queue: Queue) -> str:
    """Return the preemption policy in force; the root's own says nothing."""
    for at in queue.route:
        own = at.own_texts.get(PREEMPTION_POLICY, "").lower()
        if at.parent is None:
            break
        if at is queue and own:
            return own
        if own:
            return "disabled" if own == "disabled" else "default"
    return "default"


def below_guarantee(ask: Ask) -> bool:
    """Return whether the ask's queue is strictly below its guarantee (law 4).

    The nearest queue on the path that has a guarantee counts, on the types
    that are asked. What others of it already wait for counts as used:
    one pod that is short does not set off an eviction per waiting pod.
    """
    for queue in ask.app.queue.route:
        if queue.guaranteed is None:
            continue
        used = resources.plus(_stays(queue), _awaited(queue, ask))
        return any(
            used.get(name, 0) < queue.guaranteed[name]
            for name in ask.resource
            if name in queue.guaranteed
        )
    return False


def _stays(queue: Queue) -> Amounts:
    return resources.minus(queue.allocated, queue.preempting)


def _awaited(queue: Queue, ask: Ask) -> Amounts:
    total: Amounts = {}
    for leaf in queue.leaves():
        for app in leaf.reserved.values():
            for other in app.reserved.values():
                if other.triggered and other is not ask:
                    resources.add_to(total, other.resource)
    return total


def scope_of(ask: Ask) -> Queue:
    """Return the queue below which victims are looked for (law 7).

    Up to the first fence, or to a queue whose max the ask would pass: leaving
    pods outside of it would not help.
    """
    for queue in ask.app.queue.route:
        limited = queue.max is not None and not resources.fits_undefined(
            resources.minus_existing(queue.max, queue.allocated), ask.needs
        )
        if queue.parent is None or policy_of(queue) == "fence" or limited:
            return queue
    raise AssertionError("a route ends at the root")


def _candidates(top: Queue, ask: Ask) -> Iterator[Ask]:
    """Yield who may go by laws 3, 5, 6 and 7; law 2 is looked at while taking."""
    for leaf in top.leaves():
        if leaf is ask.app.queue or policy_of(leaf) == "disabled":
            continue
        if not _above_guarantee(leaf):
            continue
        for app in leaf.apps.values():
            for pod in app.allocations.values():
                if _may_go(pod, ask):
                    yield pod


def _above_guarantee(leaf: Queue) -> bool:
    guaranteed = leaf.guaranteed or {}
    return any(v > guaranteed.get(name, 0) for name, v in _stays(leaf).items())


def _may_go(pod: Ask, ask: Ask) -> bool:
    return (
        pod.priority <= ask.priority
        and pod.app is not ask.app
        and pod.required_node is None
        and not pod.preempted
        and not pod.released
    )


def victim_order(pod: Ask) -> tuple[Any, ...]:
    """Return the order of victims: opted in, low priority, no driver, youngest."""
    return (
        not pod.allow_self,
        pod.priority,
        pod.originator,
        -pod.create_ms,
        pod.key,
    )


def _cost(victims: list[Ask]) -> tuple[int, int, int, int]:
    """Return what a node's victims cost; opted-out ones weigh most."""
    return (
        sum(not pod.allow_self for pod in victims),
        max(pod.priority for pod in victims),
        sum(pod.originator for pod in victims),
        len(victims),
    )


def _victims(
    top: Queue,
    node: SchedulingNode,
    pods: list[Ask],
    ask: Ask,
    trace: Trace | None = None,
) -> list[Ask]:
    """Return who has to leave this node, [] when that cannot help.

    What is free counts. Once the ask fits, pods that need not go are put back,
    the last in order first.
    """
    missing = _missing(node, ask)
    if trace is not None:
        trace.step("tried", node=node.name, missing=missing)
    if not missing:
        return []
    taken: dict[str, Amounts] = {}
    victims: list[Ask] = []
    for pod in pods:
        if not missing:
            break
        verdict = _verdict(top, pod, missing, taken)
        if trace is not None:
            trace.step("candidate", node=node.name, pod=pod.key, verdict=verdict)
        if verdict == "considered":
            _note(taken, pod, 1)
            victims.append(pod)
            missing = _missing(node, ask, victims)
    victims = [] if missing else _needed(node, ask, victims)
    if trace is not None:
        keys = [pod.key for pod in victims]
        trace.step("plan", node=node.name, victims=keys)
    return victims


def _verdict(top: Queue, pod: Ask, missing: Amounts, taken: dict[str, Amounts]) -> str:
    if not any(pod.resource.get(name, 0) > 0 for name in missing):
        return "noHelp"
    if not _stays_guaranteed(top, pod, taken):
        return "withinGuarantee"
    return "considered"


def _needed(node: SchedulingNode, ask: Ask, victims: list[Ask]) -> list[Ask]:
    for pod in reversed(list(victims)):
        others = [other for other in victims if other is not pod]
        if not _missing(node, ask, others):
            victims = others
    return victims


def _missing(
    node: SchedulingNode, ask: Ask, victims: list[Ask] | None = None
) -> Amounts:
    """Return what is still short on the node and in the queues above the ask."""
    headroom = ask.app.queue.headroom() or {}
    freed: Amounts = {}
    for pod in victims or ():
        resources.add_to(freed, pod.resource)
    short: Amounts = {}
    for name, value in ask.needs:
        free = node.available.get(name, 0)
        if name in headroom:
            free = min(free, headroom[name])
        if value > free + freed.get(name, 0):
            short[name] = value - free - freed.get(name, 0)
    return short


def _stays_guaranteed(top: Queue, pod: Ask, taken: dict[str, Amounts]) -> bool:
    """Return whether no queue below the top falls under its guarantee (law 2)."""
    for queue in pod.app.queue.route:
        if queue is top:
            break
        if queue.guaranteed is None:
            continue
        gone = resources.plus(taken.get(queue.path, {}), pod.resource)
        left = resources.minus(_stays(queue), gone)
        for name in pod.resource:
            if left.get(name, 0) < queue.guaranteed.get(name, 0):
                return False
    return True


def _note(taken: dict[str, Amounts], pod: Ask, sign: int) -> None:
    for queue in pod.app.queue.route:
        amounts = taken.setdefault(queue.path, {})
        for name, value in pod.resource.items():
            amounts[name] = amounts.get(name, 0) + sign * value
