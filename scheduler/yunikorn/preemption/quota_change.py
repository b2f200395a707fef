"""Preemption after a quota was lowered: use above the new max is taken back."""

from __future__ import annotations

from typing import Any

from scheduler.yunikorn import messages, resources
from scheduler.yunikorn.objects.model import Ask, Queue
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.resources import Amounts

PERIOD_MS = 1_000
_HOUR_MS = 3_600_000
_ORIGINATOR = 2**33
_OPTED_OUT = 2**34


def enabled(partition: Partition) -> bool:
    """Tell whether the partition takes back what is over a lowered quota."""
    return partition.spec.preemption and partition.spec.quota_preemption


def watch(partition: Partition) -> None:
    """Start or clear the clock of every queue whose use is over its max.

    A queue that is back within its max, or has none, is clear again. One run
    per time over. Source: YUNIKORN.md 15.
    """
    for queue in partition.root.walk():
        if queue.parent is None or not queue.managed:
            continue
        delay = queue.properties.quota_delay_ms
        if not delay or not _over(queue):
            queue.quota_due_ms = None
            queue.quota_ran = False
        elif queue.quota_due_ms is None and not queue.quota_ran:
            queue.quota_due_ms = partition.now_ms + delay


def due(partition: Partition) -> int | None:
    """Return the next whole second at which a queue's time has come."""
    times = (queue.quota_due_ms for queue in partition.root.walk())
    first = min((at for at in times if at is not None), default=None)
    return None if first is None else -(-first // PERIOD_MS) * PERIOD_MS


def advance(partition: Partition) -> None:
    """Take back what is over, top down, from queues whose time has come."""
    if enabled(partition):
        watch(partition)
        for child in partition.root.children.values():
            _descend(partition, child)


def _descend(partition: Partition, queue: Queue) -> None:
    at = queue.quota_due_ms
    if at is not None and partition.now_ms >= at:
        queue.quota_due_ms = None
        queue.quota_ran = True
        _take_back(partition, queue, _amount(queue))
        return
    for child in queue.children.values():
        _descend(partition, child)


def _over(queue: Queue) -> Amounts:
    """Return what a queue uses beyond its max, only types that are over."""
    used = resources.minus(queue.allocated, queue.preempting)
    limit = queue.max or {}
    return {t: used[t] - v for t, v in limit.items() if used.get(t, 0) > v}


def _amount(queue: Queue) -> Amounts:
    """Return what to take: the overage, but nothing that is guaranteed."""
    amount = _over(queue)
    for at in queue.route:
        if at.parent is None:
            break
        guaranteed = at.guaranteed or {}
        for name in amount:
            above = at.allocated.get(name, 0) - guaranteed.get(name, 0)
            amount[name] = min(amount[name], above)
    return {name: value for name, value in amount.items() if value > 0}


def _take_back(partition: Partition, queue: Queue, amount: Amounts) -> None:
    """Split an amount over the leaves by what each uses above its guarantee."""
    if not amount:
        return
    if queue.leaf:
        _from_leaf(partition, queue, amount)
        return
    shares = {child: _preemptable(child) for child in queue.children.values()}
    for child, above in shares.items():
        part: Amounts = {}
        for name, value in amount.items():
            total = sum(other.get(name, 0) for other in shares.values())
            if total > 0 and above.get(name, 0) > 0:
                part[name] = value * above[name] // total
        _take_back(partition, child, {t: v for t, v in part.items() if v > 0})


def _preemptable(queue: Queue) -> Amounts:
    guaranteed = queue.guaranteed or {}
    return {t: v - guaranteed.get(t, 0) for t, v in queue.allocated.items()}


def _from_leaf(partition: Partition, leaf: Queue, amount: Amounts) -> None:
    """Tell pods of a leaf to go that together do not exceed the amount."""
    total: Amounts = {}
    victims: list[Ask] = []
    for pod in sorted(
        _candidates(leaf, amount), key=lambda pod: _worth(pod, leaf, amount)
    ):
        new = resources.plus(total, pod.resource)
        if all(new.get(name, 0) <= value for name, value in amount.items()):
            total = new
            victims.append(pod)
    partition.mark_preempted(victims)
    for pod in victims:
        partition.listener.releasing(
            pod, "QuotaChange", messages.preempted_by_quota(leaf.path)
        )


def _candidates(leaf: Queue, amount: Amounts) -> list[Ask]:
    return [
        pod
        for app in leaf.apps.values()
        for pod in app.allocations.values()
        if pod.required_node is None
        and not (pod.preempted or pod.released)
        and resources.share_any(pod.resource, amount)
    ]


def _worth(pod: Ask, leaf: Queue, amount: Amounts) -> tuple[Any, ...]:
    """Order as written in released code: opted-out pods and drivers come first.

    Source: YUNIKORN.md 15; contrary to the stated intent.
    """
    matching = sum(name in amount for name in pod.resource)
    score = 100 * matching / len(pod.resource)
    score += _ORIGINATOR * pod.originator + _OPTED_OUT * (not pod.allow_self)
    limit = leaf.max or {}
    shares = tuple(
        sorted(
            (
                pod.resource[t] / limit[t]
                for t in amount
                if t in pod.resource and limit.get(t)
            ),
            reverse=True,
        )
    )
    return (-score, pod.priority, -(pod.create_ms // _HOUR_MS), shares, pod.key)
