"""The fields that keep an ask of YuniKorn from preempting who holds what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.preemption.attempts import candidates, scope_of
from scheduler.engine.yunikorn.preemption.victims import Snapshot
from scheduler.model.sentence import Quantity, Sentence
from scheduler.words.placing import Stays

#: Queues of holders that are named.
_MOST_QUEUES = 3


def gates_of(partition: Partition, ask: Ask) -> Iterator[Sentence]:
    """Yield why nobody goes for an ask: its guarantee, how far it looks, who stays.

    For an ask for which nobody would be preempted; nothing where no other queue holds
    anything of what is asked. Changes nothing. O(queues + pods).
    Source: docs/semantics/yunikorn.md#preemption-for-guarantees.
    """
    if ask.required_node is not None or not any(_holders(partition.root, ask)):
        return
    beyond = _beyond_guarantee(ask)
    if beyond is not None:
        yield beyond
        return
    rules = partition.rules
    scope, _ = scope_of(ask, fenced_by_next=rules.fenced_by_next)
    if scope.path != partition.root.path:
        fenced = scope.properties.preemption == "fence"
        yield (Stays.FENCE if fenced else Stays.FULL).said(queue=scope.path)
    snapshot = Snapshot(
        partition.root.walk(), ask.app.queue, asked_types=rules.asked_types
    )
    found = candidates(snapshot, ask, fenced_by_next=rules.fenced_by_next)
    holders = [leaf for leaf in _holders(scope, ask) if leaf.path not in found]
    for leaf in holders[:_MOST_QUEUES]:
        yield from _stays(leaf, ask)
    for path in found:
        if not snapshot.eligible(snapshot.queues[path], ask):
            yield from _within(partition.queue(path), ask)


def _beyond_guarantee(ask: Ask) -> Sentence | None:
    """Return which guarantee on the way to the root does not hold what is asked."""
    route = ask.app.queue.route
    promised = [queue for queue in route if queue.guaranteed]
    if not promised:
        return Stays.NO_GUARANTEE.said(queue=ask.app.queue.path)
    for queue in promised:
        for name, amount in sorted(ask.resource.items()):
            most, used = (
                (queue.guaranteed or {}).get(name),
                queue.allocated.get(name, 0),
            )
            if (
                most is not None
                and used - queue.preempting.get(name, 0) + amount > most
            ):
                return Stays.BEYOND.said(
                    queue=queue.path,
                    guaranteed=Quantity(name, str(most)),
                    used=Quantity(name, str(used)),
                    asked=Quantity(name, str(amount)),
                )
    return None


def _holders(scope: Queue, ask: Ask) -> Iterator[Queue]:
    """Yield the other leaves in scope that hold some of what is asked."""
    for leaf in scope.walk():
        holds = any(leaf.allocated.get(name, 0) for name in ask.resource)
        if leaf.leaf and leaf is not ask.app.queue and holds:
            yield leaf


def _stays(leaf: Queue, ask: Ask) -> Iterator[Sentence]:
    """Yield why no pod of a leaf may go."""
    if leaf.properties.preemption == "disabled":
        yield Stays.DISABLED.said(queue=leaf.path)
        return
    within = list(_within(leaf, ask))
    if within:
        yield from within
        return
    pods = [pod for app in leaf.apps.values() for pod in app.allocations.values()]
    above = [pod for pod in pods if pod.priority > ask.priority]
    if pods and len(above) == len(pods):
        yield Stays.PRIORITY.said(n=len(pods), queue=leaf.path, priority=ask.priority)


def _within(leaf: Queue | None, ask: Ask) -> Iterator[Sentence]:
    """Yield which guaranteed amount a leaf uses no more than."""
    for name, most in sorted((leaf.guaranteed or {}).items() if leaf else ()):
        used = leaf.allocated.get(name, 0) if leaf else 0
        if leaf is not None and name in ask.resource and used <= most:
            yield Stays.WITHIN.said(
                queue=leaf.path,
                used=Quantity(name, str(used)),
                guaranteed=Quantity(name, str(most)),
            )
            return
