"""Victims on one node, and the choice of the node.

Source: docs/semantics/yunikorn.md#nodes-of-a-preemption-attempt
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace
from scheduler.engine.yunikorn.objects.partition import (
    RESERVATION_DELAY_MS,
    RESERVATION_EXPIRY_MS,
    Partition,
)
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

BATCH = 10
UNFIT = 2**35
OPTED_OUT = 2**34
ORIGINATOR = 2**33
SATISFACTORY = 2**32


def candidate_nodes(partition: Partition, ask: Ask) -> list[SchedulingNode]:
    """Return the nodes that may be emptied for an ask, in node order.

    A node held for another ask is out, unless that one is long overdue and
    less important.
    """
    return [
        node
        for node in partition.nodes
        if node.schedulable
        and node.could_hold(ask.needs)
        and all(
            other is ask
            or (partition.rules.overdue_nodes and _overdue(partition, other, ask))
            for other in node.reservations.values()
        )
    ]


def _overdue(partition: Partition, other: Ask, ask: Ask) -> bool:
    limit = RESERVATION_EXPIRY_MS + RESERVATION_DELAY_MS
    return (
        other.required_node is None
        and not other.triggered
        and other.priority < ask.priority
        and partition.now_ms - other.create_ms > limit
    )


class VictimSearch:
    """One attempt's search: candidates by node, tried on one snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        ask: Ask,
        ordered: list[Ask],
        trace: Trace | None = None,
    ) -> None:
        self.trace = trace
        self.snapshot = snapshot
        self.ask = ask
        self.by_node: dict[str, list[Ask]] = {}
        for pod in ordered:
            assert pod.node is not None
            self.by_node.setdefault(pod.node.name, []).append(pod)

    def choose(
        self, nodes: list[SchedulingNode], *, nodes_tried: bool
    ) -> PreemptionPlan | None:
        """Return the best plan: no opt-outs, no originators, fewest victims.

        Source: docs/semantics/yunikorn.md#choice-of-the-preempted-node
        """
        plans = []
        for node in nodes:
            plan = self.plan(node)
            if plan is not None and (plan.victims or not nodes_tried):
                plans.append(plan)
        plans.sort(key=lambda plan: (plan.start_index, plan.node.name))
        best: PreemptionPlan | None = None
        lowest = 0
        for index, plan in enumerate(plans):
            if index % BATCH == 0 and best is not None and lowest < SATISFACTORY:
                break
            predicate = self.ask.predicate
            refused = predicate(plan.node, plan.victims) if predicate else None
            if refused:
                self._note("compared", plan.node, refused=refused)
                continue
            score = self.score(plan)
            if self.trace is not None:
                self._note("compared", plan.node, cost=costs(score), index=index)
            if best is None or score < lowest:
                best, lowest = plan, score
        return best

    def score(self, plan: PreemptionPlan) -> int:
        """Return how much a plan costs; counts the node's candidates, not victims."""
        candidates = self.by_node.get(plan.node.name)
        if candidates is None:
            return UNFIT
        if plan.start_index < 0:
            return 0
        first = candidates[: plan.start_index + 1]
        score = len(plan.victims)
        if any(pod.originator for pod in first):
            score |= ORIGINATOR
        if any(not pod.allow_self for pod in first):
            score |= OPTED_OUT
        return score

    def plan(self, node: SchedulingNode) -> PreemptionPlan | None:
        """Return the victims that free a node for the ask, or None.

        Source: docs/semantics/yunikorn.md#victims-on-one-node
        """
        if node.fits(self.ask.needs):
            return PreemptionPlan(node, [])
        candidates = self.by_node.get(node.name)
        if not candidates:
            return None
        head, tail, complete = self._useful(node, candidates, stop_when_fit=True)
        victims = self._enough(node, head + tail if complete else head)
        if victims is None and not complete:
            head, tail, _ = self._useful(node, candidates, stop_when_fit=False)
            victims = self._enough(node, head + tail)
        if self.trace is not None:
            self._note("plan", node, victims=[pod.key for pod in victims or ()])
        return PreemptionPlan(node, victims) if victims else None

    def _note(self, name: str, node: SchedulingNode, **numbers: Any) -> None:
        if self.trace is not None:
            self.trace.step(name, node=node.name, **numbers)

    def _useful(
        self, node: SchedulingNode, candidates: list[Ask], *, stop_when_fit: bool
    ) -> tuple[list[Ask], list[Ask], bool]:
        """Split candidates into those that lessen the shortfall and the rest.

        What they hold is charged to the ask's queue while its guarantee lasts.
        The flag is whether every candidate was looked at.
        """
        snapshot, ask = self.snapshot, self.ask
        missing = resources.shortfall(ask.resource, node.available)
        self._note("tried", node, missing=missing)
        head: list[Ask] = []
        tail: list[Ask] = []
        complete = True
        for pod in candidates:
            if not missing and stop_when_fit:
                complete = False
                break
            queue = snapshot.queues[pod.app.queue.path]
            if not snapshot.eligible(queue, ask):
                self._note("candidate", node, pod=pod.key, verdict="withinGuarantee")
                continue
            snapshot.remove(queue, pod.resource)
            if not snapshot.has_room_for(pod.resource):
                self._note("candidate", node, pod=pod.key, verdict="overAskGuarantee")
                break
            self._note("candidate", node, pod=pod.key, verdict="considered")
            if any(pod.resource.get(name, 0) > 0 for name in missing):
                snapshot.add(snapshot.ask_queue, pod.resource)
                missing = _less(missing, pod.resource)
                head.append(pod)
            else:
                snapshot.add(queue, pod.resource)
                tail.append(pod)
        snapshot.restore()
        return head, tail, complete

    def _enough(self, node: SchedulingNode, pods: list[Ask]) -> list[Ask] | None:
        """Return the shortest prefix of eligible pods that frees enough, or None."""
        snapshot, ask = self.snapshot, self.ask
        missing = resources.shortfall(ask.resource, node.available)
        taken: list[Ask] = []
        for pod in pods:
            queue = snapshot.queues[pod.app.queue.path]
            if not snapshot.eligible(queue, ask):
                continue
            snapshot.remove(queue, pod.resource)
            missing = _less(missing, pod.resource)
            taken.append(pod)
            if not missing:
                break
        snapshot.restore()
        return None if missing else taken


def costs(score: int) -> dict[str, int]:
    """Return the terms of a score, in the order in which they count."""
    return {
        "optedOut": int(score & OPTED_OUT > 0),
        "originators": int(score & ORIGINATOR > 0),
        "victims": score & (ORIGINATOR - 1),
    }


def _less(missing: dict[str, int], freed: dict[str, int]) -> dict[str, int]:
    rest = {name: value - freed.get(name, 0) for name, value in missing.items()}
    return {name: value for name, value in rest.items() if value > 0}


# ------------------------------------------------------------------------
# A copy of the queue tree in which victims can be tried and put back.


class QueueSnapshot:
    """One queue in the snapshot; `used` leaves out what is being preempted."""

    __slots__ = (
        "above_ask_queue",
        "guaranteed",
        "is_ask_queue",
        "parent",
        "path",
        "saved",
        "used",
    )

    def __init__(self, queue: Queue, parent: QueueSnapshot | None) -> None:
        self.path = queue.path
        self.parent = parent
        self.guaranteed = queue.guaranteed
        self.used: Amounts = resources.minus(queue.allocated, queue.preempting)
        self.saved: Amounts | None = None
        self.is_ask_queue = False  # the queue of the ask
        self.above_ask_queue = False  # an ancestor of a ask_queue that has a guarantee


class Snapshot:
    """The tree as one preemption attempt sees it; `restore` undoes everything."""

    __slots__ = ("_touched", "ask_queue", "asked_types", "queues")

    def __init__(
        self, queues: Iterable[Queue], ask_queue: Queue, *, asked_types: bool = True
    ) -> None:
        """Take these queues, parents before children, ask_queue and its path among them.

        `asked_types`: guarantees are compared on the types of the ask or victim.
        """
        self.asked_types = asked_types
        self.queues: dict[str, QueueSnapshot] = {}
        self._touched: list[QueueSnapshot] = []
        for queue in queues:
            above = self.queues[queue.parent.path] if queue.parent else None
            self.queues[queue.path] = QueueSnapshot(queue, above)
        self.ask_queue = self.queues[ask_queue.path]
        self.ask_queue.is_ask_queue = True
        for queue in ask_queue.route[1:]:
            self.queues[queue.path].above_ask_queue = ask_queue.guaranteed is not None

    def remove(self, queue: QueueSnapshot, resource: Amounts) -> None:
        """Take something out of a queue and all above it."""
        at: QueueSnapshot | None = queue
        while at is not None:
            resources.take_from(self._own(at), resource)
            at = at.parent

    def add(self, queue: QueueSnapshot, resource: Amounts) -> None:
        """Put something into a queue and all above it."""
        at: QueueSnapshot | None = queue
        while at is not None:
            resources.add_to(self._own(at), resource)
            at = at.parent

    def _own(self, queue: QueueSnapshot) -> Amounts:
        if queue.saved is None:
            queue.saved = queue.used
            queue.used = dict(queue.used)
            self._touched.append(queue)
        return queue.used

    def restore(self) -> None:
        """Undo every change since the last restore."""
        for queue in self._touched:
            if queue.saved is not None:
                queue.used = queue.saved
                queue.saved = None
        self._touched.clear()

    def eligible(self, queue: QueueSnapshot, ask: Ask) -> bool:
        """Return whether a queue is over its guarantee on a type that is asked.

        Before types were looked at: on one type at least, and below it on none.
        Source: docs/semantics/yunikorn.md#remaining-guarantee
        """
        left = remaining(queue)
        if left is None:
            return True
        if not self.asked_types:
            return _over(left)
        resource = ask.resource
        return any(value < 0 and name in resource for name, value in left.items())

    def has_room_for(self, victim: Amounts) -> bool:
        """Return whether what a victim holds may be charged to the ask's queue.

        It fits what is left of the guarantee; before types were looked at, it must not
        use all of it up with something over.
        """
        left = remaining(self.ask_queue)
        if self.asked_types:
            return left is not None and resources.fits_existing(left, victim)
        self.add(self.ask_queue, victim)
        after = remaining(self.ask_queue)
        self.remove(self.ask_queue, victim)
        return after is None or not _over(after)

    def within_guarantee(self, ask: Ask) -> bool:
        """Return whether the ask's queue is within its guarantee, which there is."""
        left = remaining(self.ask_queue)
        if left is None:
            return False
        names = ask.resource if self.asked_types else left
        return all(left.get(name, 0) >= 0 for name in names)


def _over(left: Amounts) -> bool:
    """Return whether nothing is left on any type, and less than nothing on one."""
    return resources.strictly_greater({}, left)


def remaining(queue: QueueSnapshot) -> Amounts | None:
    """Return the unused guarantee of a queue, top down; None when unset.

    Common ancestors do not hold back siblings of a ask_queue that has its own
    guarantee. Source: docs/semantics/yunikorn.md#remaining-guarantee
    """
    above = remaining(queue.parent) if queue.parent is not None else None
    guaranteed = queue.guaranteed
    if guaranteed is None:
        return above
    used = queue.used
    own = {name: value - used.get(name, 0) for name, value in guaranteed.items()}
    if queue.is_ask_queue:
        return {**above, **own} if above else own
    if queue.above_ask_queue:
        return None
    return resources.least(own, above) if above else own
