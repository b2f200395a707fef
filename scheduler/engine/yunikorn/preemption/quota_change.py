"""Preemption after a quota was lowered: usage above the new max is taken back.

Source: docs/semantics/yunikorn.md#quota-change-preemption
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

PERIOD_MS = 1_000


def enabled(partition: Partition) -> bool:
    """Return whether the partition takes back what is over a lowered quota."""
    spec, rules = partition.spec, partition.rules
    return spec.preemption and spec.quota_preemption and rules.quota_preemption


def update_clock(
    queue: Queue, old_max: Amounts | None, old_delay_ms: int, now_ms: int
) -> None:
    """Start, move or clear the clock of a queue that was configured anew.

    Source: docs/semantics/yunikorn.md#quota-change-clocks
    """
    delay = queue.properties.quota_delay_ms
    running = queue.quota_due_ms is not None
    if not delay or queue.parent is None or not queue.managed or not _over_max(queue):
        queue.quota_due_ms = None
    elif queue.max == old_max:
        if running:
            _move(queue, delay - old_delay_ms)
        elif not old_delay_ms:
            queue.quota_due_ms = now_ms + delay
    elif resources.strictly_greater(old_max or {}, queue.max or {}):
        if running:
            _move(queue, delay - old_delay_ms)
        else:
            queue.quota_due_ms = now_ms + delay
    elif resources.strictly_greater(queue.max or {}, old_max or {}):
        _move(queue, delay - old_delay_ms)


def _move(queue: Queue, by_ms: int) -> None:
    if queue.quota_due_ms is not None:
        queue.quota_due_ms += by_ms


def _over_max(queue: Queue) -> bool:
    """Return whether a queue uses more than its max on a type that both name."""
    return queue.max is not None and not resources.covers_existing(
        queue.max, queue.allocated
    )


def due(partition: Partition) -> int | None:
    """Return the next whole second at which a queue's time has come."""
    times = (queue.quota_due_ms for queue in partition.root.walk() if _over_max(queue))
    first = min((at for at in times if at is not None), default=None)
    return None if first is None else -(-first // PERIOD_MS) * PERIOD_MS


def advance(partition: Partition) -> None:
    """Run a pass where the partition takes back what is over a lowered quota."""
    if enabled(partition):
        run_pass(partition)


def run_pass(partition: Partition) -> None:
    """Take back what is over, top down, from queues whose time has come.

    The partition's setting decides whether passes are run, not what they do.
    """
    for child in partition.root.children.values():
        _descend(partition, child)


def _descend(partition: Partition, queue: Queue) -> None:
    at = queue.quota_due_ms
    if at is not None and partition.now_ms >= at and _over_max(queue):
        queue.quota_due_ms = None
        _take_back(partition, queue, amount(queue))
        return
    for child in queue.children.values():
        _descend(partition, child)


def amount(queue: Queue) -> Amounts:
    """Return the amount to preempt from a queue that is over its max.

    Source: docs/semantics/yunikorn.md#quota-change-amount
    """
    used = resources.minus(queue.allocated, queue.preempting)
    limit = queue.max or {}
    over = {t: used[t] - v for t, v in limit.items() if used.get(t, 0) > v}
    below: Amounts = {}  # the least guaranteed - allocated on the path
    for at in queue.route:
        if at.guaranteed is None:
            left = at.allocated
        else:
            left = resources.minus_existing(at.guaranteed, at.allocated)
        for name, value in left.items():
            below[name] = min(below.get(name, value), value)
    return {
        name: min(value, -below[name]) if below.get(name, 0) < 0 else value
        for name, value in over.items()
    }


def _take_back(partition: Partition, queue: Queue, wanted: Amounts) -> None:
    if not wanted:
        return
    if queue.leaf:
        by_ask = partition.rules.victims_by_ask
        _preempt(partition, queue, choose(queue, wanted, by_ask=by_ask))
        return
    for child, share in split(queue, wanted):
        _take_back(partition, child, share)


def split(queue: Queue, wanted: Amounts) -> list[tuple[Queue, Amounts]]:
    """Return each child's part of an amount.

    Source: docs/semantics/yunikorn.md#quota-change-split
    """
    weights = {
        child: _weight(child)
        for child in queue.children.values()
        if child.allocated and not _guaranteed_in_full(child)
    }
    found = []
    for child, weight in weights.items():
        share: Amounts = {}
        for name, value in wanted.items():
            total = sum(other.get(name, 0) for other in weights.values())
            if total > 0 and (part := value * weight.get(name, 0) // total) > 0:
                share[name] = part
        found.append((child, share))
    return found


def _guaranteed_in_full(queue: Queue) -> bool:
    return queue.guaranteed is not None and resources.covers_existing(
        queue.guaranteed, queue.allocated
    )


def _weight(queue: Queue) -> Mapping[str, int]:
    if queue.guaranteed is None:
        return queue.allocated
    left = resources.minus_existing(queue.guaranteed, queue.allocated)
    return {name: abs(value) for name, value in left.items()}


def _preempt(partition: Partition, leaf: Queue, victims: list[Ask]) -> None:
    partition.mark_preempted(victims)
    for pod in victims:
        partition.listener.releasing(
            pod, "QuotaChange", messages.preempted_by_quota(leaf.path)
        )


# ------------------------------------------------------------------------
# Which pods of a leaf end after its quota was lowered.


_HOUR_MS = 3_600_000
_ORIGINATOR = 2**33
_OPTED_OUT = 2**34


def choose(leaf: Queue, wanted: Amounts, *, by_ask: bool = True) -> list[Ask]:
    """Return pods of a leaf that together do not exceed the amount.

    Types that the amount does not name are free. Without `by_ask`, as in 1.8, the
    youngest of least priority come first, whatever their types.
    Source: docs/semantics/yunikorn.md#quota-change-victims
    """
    total: Amounts = {}
    victims: list[Ask] = []
    for pod in sorted(
        _candidates(leaf, wanted),
        key=lambda pod: _order(pod, leaf, wanted) if by_ask else _order_by_age(pod),
    ):
        new = resources.plus(total, pod.resource)
        if all(new.get(name, 0) <= value for name, value in wanted.items()):
            total = new
            victims.append(pod)
    return victims


def _candidates(leaf: Queue, wanted: Amounts) -> list[Ask]:
    return [
        pod
        for app in leaf.apps.values()
        for pod in app.allocations.values()
        if pod.required_node is None
        and not (pod.preempted or pod.released)
        and resources.share_any(pod.resource, wanted)
    ]


def _order_by_age(pod: Ask) -> tuple[Any, ...]:
    kind = 2 if pod.originator else int(not pod.allow_self)
    return kind, pod.priority, -pod.create_ms, sum(pod.resource.values()), pod.key


def _order(pod: Ask, leaf: Queue, wanted: Amounts) -> tuple[Any, ...]:
    """Order as released code has it: opted-out pods and originators come first."""
    matching = sum(name in wanted for name in pod.resource)
    score = 100 * matching / len(pod.resource)
    score += _ORIGINATOR * pod.originator + _OPTED_OUT * (not pod.allow_self)
    limit = leaf.max or {}
    shares = tuple(
        sorted(
            (
                pod.resource[t] / limit[t]
                for t in wanted
                if t in pod.resource and limit.get(t)
            ),
            reverse=True,
        )
    )
    return (-score, pod.priority, -(pod.create_ms // _HOUR_MS), shares, pod.key)
