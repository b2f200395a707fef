"""One partition: all changes to its nodes, asks, allocations and reservations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.engine.yunikorn.objects import model
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Queue,
    SchedulingNode,
    State,
)
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.objects.partition_state import PartitionState
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

#: Time between two cycles when the first placed nothing.
CYCLE_MS = 100
#: How long a reservation's ask must wait before it may be reserved at all.
RESERVATION_DELAY_MS = 2_000
#: How long a reservation may miss its queue's headroom.
RESERVATION_EXPIRY_MS = 120 * 60_000
_ACTIVE = (State.ACCEPTED, State.STARTING, State.RUNNING)


class Partition(PartitionState):
    """Everything that yunikorn-core keeps, sums up to date after every change.

    Times are integer milliseconds. `now_ms` is set by whoever runs it.
    """

    # -- nodes

    def used_on(self, name: str) -> tuple[dict[str, int], int]:
        """Return the used resources of a node, in Kubernetes names, and its number of pods."""
        node = self.nodes.by_name.get(name)
        if node is None:
            return {}, 0
        used = {
            "cpu" if one == resources.VCORE else one: all_ - node.available.get(one, 0)
            for one, all_ in node.capacity.items()
            if one != resources.PODS
        }
        return used, len(node.allocations)

    def add_node(self, node: SchedulingNode) -> None:
        """Take a node; its capacity counts into root's max, cordoned or not."""
        self.nodes.add(node)
        self._grow(node.capacity, 1)

    def remove_node(self, name: str) -> list[Ask]:
        """Remove a node; return what ran there, which is gone with it."""
        node = self.nodes.by_name[name]
        for ask in list(node.reservations.values()):
            self.unreserve(ask)
        gone = list(node.allocations.values())
        for ask in gone:
            self.release(ask)
        self.nodes.remove(node)
        self._grow(node.capacity, -1)
        return gone

    def resize_node(self, node: SchedulingNode, capacity: Amounts) -> None:
        """Change a node's capacity; what runs there stays."""
        self._grow(node.capacity, -1)
        resources.take_from(node.available, node.capacity)
        resources.add_to(node.available, capacity)
        node.capacity = capacity
        self._grow(capacity, 1)
        self.nodes.move(node)

    def occupy(self, node: SchedulingNode, amounts: Amounts) -> None:
        """Set what pods of other schedulers use; does not move the node."""
        resources.add_to(node.available, node.occupied)
        resources.take_from(node.available, amounts)
        node.occupied = amounts
        self.nodes.update_full(node)
        self.changed()

    def cordon(self, node: SchedulingNode, *, schedulable: bool) -> None:
        """Set whether new pods may go to a node."""
        node.schedulable = schedulable
        self.changed()

    def _grow(self, capacity: Amounts, sign: int) -> None:
        total = dict(self.root.max or {})
        for name, value in capacity.items():
            total[name] = total.get(name, 0) + sign * value
        self.root.max = {t: v for t, v in total.items() if v} or None
        self.stale_max = True
        self.changed()

    def refresh(self) -> None:
        """Update what depends on the size of the cluster."""
        if self.stale_max:
            self.stale_max = False
            self.root.fair_max = self.root.max
            self.root.spread_fair_max()

    # -- asks and allocations

    def add_ask(self, ask: Ask, *, restore: bool = False) -> None:
        """Take a pending ask; with `restore` its rank is kept."""
        app = ask.app
        leaf, before, submitted = app.queue, app.priority, app.submit_ms
        self.asks[ask.key] = ask
        ask.held = app.reserves and not ask.placeholder
        self.pending += 1
        if not ask.scale_up:
            self.unmarked[ask.key] = ask
        self.nodes.note_ask(ask.needs)
        if restore:
            model.insert(app, ask)
        else:
            self.counter += 1
            model.add(app, ask, self.counter)
        if not ask.held:
            leaf.add_pending(ask.resource, positive=bool(ask.needs))
        if app.priority != before:
            leaf.reprioritize(before, app.priority)
        if (
            app.order_entry is None
            or app.priority != before
            or app.submit_ms != submitted
        ):
            leaf.resort(app)
        if not restore:
            if app.state is State.NEW:
                self.set_state(app, State.ACCEPTED)
            elif app.state is State.COMPLETING:
                self.set_state(app, State.RUNNING)
        self.dirty = True
        self.due_ms = None

    def add_allocation(
        self, ask: Ask, node: SchedulingNode, *, restore: bool = False
    ) -> None:
        """Take a pod that already runs on a node."""
        app, leaf = ask.app, ask.app.queue
        self.asks[ask.key] = ask
        ask.node = node
        app.submit_ms = min(app.submit_ms, ask.create_ms)
        leaf.add_allocated(ask.resource)
        self._hold(ask, node)
        if app.order_entry is not None:
            leaf.resort(app)
        if ask.preempted:
            leaf.mark_preempting(ask.resource)
        if not restore:
            self._holds_more(app, ask)
        self.changed()

    def place(self, ask: Ask, node: SchedulingNode) -> None:
        """Give a pending ask its node."""
        app, leaf = ask.app, ask.app.queue
        if ask.reserved_on is not None:
            self.unreserve(ask)
        before = app.priority
        model.remove(app, ask)
        self.pending -= 1
        self.unmarked.pop(ask.key, None)
        ask.node = node
        leaf.allocate(ask.resource)
        self._hold(ask, node)
        if app.priority != before:
            leaf.reprioritize(before, app.priority)
            leaf.resort(app)
        elif not app.requests or (leaf.sort is not None and leaf.sort.by_usage):
            leaf.resort(app)
        self._holds_more(app, ask)
        self.count_allocating(app)
        self.dirty = True
        self.listener.allocated(ask, node)

    def _hold(self, ask: Ask, node: SchedulingNode) -> None:
        app = ask.app
        app.allocations[ask.key] = ask
        held = app.placeholders if ask.placeholder else app.allocated
        for name, value in ask.resource.items():
            held[name] = held.get(name, 0) + value
        node.take(ask)
        self.nodes.move(node)
        if self.changed_keys is not None:
            self.changed_keys[ask.key] = None
        if self.limits.active:
            self.limits.take(app, ask.resource)

    def _holds_more(self, app: Application, ask: Ask) -> None:
        """Move the application on after it got one more pod."""
        if app.state is State.RUNNING and not ask.placeholder:
            return
        if ask.placeholder:
            if app.gang is not None and app.gang.first_ms is None:
                app.gang.first_ms = self.now_ms
            if app.gang is not None and app.placeholders == app.gang.total():
                self.set_state(app, State.RUNNING)
        elif app.state in (State.ACCEPTED, State.NEW):
            starts = self.laws.starting and len(app.allocations) == 1
            if starts and app.tags.get("application.stateaware.disable") != "true":
                self.set_state(app, State.STARTING)
            else:
                self.set_state(app, State.RUNNING)
        elif app.state in (State.STARTING, State.COMPLETING, State.RESUMING):
            self.set_state(app, State.RUNNING)

    def drop_ask(self, ask: Ask, *, edited: bool = False) -> None:
        """Remove a pending ask; of one that is `edited` the application gets it back."""
        app, leaf = ask.app, ask.app.queue
        if ask.reserved_on is not None:
            self.unreserve(ask)
        before = app.priority
        del self.asks[ask.key]
        self.pending -= 1
        self.unmarked.pop(ask.key, None)
        model.remove(app, ask)
        if not ask.held:
            leaf.remove_pending(ask.resource)
        if app.priority != before:
            leaf.reprioritize(before, app.priority)
        leaf.resort(app)
        if not edited:
            self._holds_less(app)
        self.changed()

    def release(self, ask: Ask) -> None:
        """Take back what a placed pod held; the pod is gone."""
        app, leaf, node = ask.app, ask.app.queue, ask.node
        assert node is not None
        del self.asks[ask.key]
        del app.allocations[ask.key]
        held = app.placeholders if ask.placeholder else app.allocated
        resources.take_and_prune(held, ask.resource)
        leaf.release(ask.resource)
        if ask.preempted:
            leaf.unmark_preempting(ask.resource)
        node.release(ask)
        self.nodes.move(node)
        if self.changed_keys is not None:
            self.changed_keys[ask.key] = None
        ask.node = None
        if self.limits.active:
            ends = not app.requests and not app.allocations
            self.limits.give_back(app, ask.resource, ends=ends)
        if app.order_entry is not None:
            leaf.resort(app)
        self._holds_less(app)
        self.changed()

    def _holds_less(self, app: Application) -> None:
        """Move the application on after it lost an ask or a pod.

        A gang that gave up its placeholders is Accepted again with the last of
        them, also without requests.
        Source: docs/semantics/yunikorn.md#placeholder-timeout
        """
        self.ask_for_held(app)
        if app.state is State.RESUMING:
            if not app.placeholders:
                self.set_state(app, State.ACCEPTED)
        elif app.state in _ACTIVE and not app.requests and not app.allocations:
            self.set_state(app, State.COMPLETING)

    def mark_preempted(self, victims: Sequence[Ask]) -> None:
        """Note that these pods were asked to end."""
        for victim in victims:
            victim.preempted = True
            victim.app.queue.mark_preempting(victim.resource)
        self.changed()

    # -- reservations

    def reserve(self, ask: Ask, node: SchedulingNode, *, restore: bool = False) -> bool:
        """Hold a node for an ask; an earlier reservation of the ask moves.

        One ask per node, except required-node asks of the same node; an ask
        that the empty node could not hold gets nothing.
        Source: docs/semantics/yunikorn.md#reservations
        """
        if ask.reserved_on is node:
            return False
        others = node.reservations.values()
        if any(o.required_node is None or ask.required_node is None for o in others):
            return False
        if not node.could_hold(ask.needs):
            return False
        if ask.reserved_on is not None:
            self.unreserve(ask)
        ask.reserved_on = node
        node.reservations[ask.key] = ask
        ask.app.reserved[ask.key] = ask
        ask.app.queue.reserved[ask.app.id] = ask.app
        self.reservations += 1
        self.count_allocating(ask.app)
        if not restore:
            ask.reserved_ms = self.now_ms
            self.listener.reserved(ask, node)
        self.changed()
        return True

    def unreserve(self, ask: Ask) -> None:
        """Give a held node back."""
        node = ask.reserved_on
        assert node is not None
        ask.reserved_on = None
        del node.reservations[ask.key]
        app = ask.app
        del app.reserved[ask.key]
        if not app.reserved:
            del app.queue.reserved[app.id]
        self.reservations -= 1
        self.listener.unreserved(ask, node)
        self.changed()

    def log_failure(self, ask: Ask, message: str) -> None:
        """Write into an ask's log why it got nothing."""
        if message not in ask.log:
            self.listener.refused(ask, message)
        ask.log[message] = self.now_ms


# ------------------------------------------------------------------------
# What time alone does to applications: Starting and Completing run out.


STARTING_MS = 5 * 60_000
COMPLETING_MS = 30_000

_LENGTH = {State.STARTING: STARTING_MS, State.COMPLETING: COMPLETING_MS}
_NEXT = {State.STARTING: State.RUNNING, State.COMPLETING: State.COMPLETED}
_OVER = (State.COMPLETED, State.FAILED, State.REJECTED)


def advance(partition: Partition) -> None:
    """Move on every application whose state has run out by now.

    Completed ones are removed. Source: docs/semantics/yunikorn.md#application-states
    """
    for app in list(partition.timed_apps.values()):
        if app.state in _OVER:
            del partition.timed_apps[app.id]
            if not app.requests and not app.allocations:
                partition.remove_application(app)
        elif app.state not in _NEXT:
            del partition.timed_apps[app.id]
        elif partition.now_ms >= ends_ms(app):
            partition.set_state(app, _NEXT[app.state])


def ends_ms(app: Application) -> int:
    """Return when a timed_apps state of an application runs out."""
    return app.state_ms + _LENGTH.get(app.state, 0)


def due(partition: Partition) -> int | None:
    """Return the next instant at which `advance` has something to do."""
    return min((ends_ms(app) for app in partition.timed_apps.values()), default=None)


# ------------------------------------------------------------------------
# What must hold in a partition, counted anew from its pods.


def violations(partition: Partition) -> Iterator[str]:
    """Yield a sentence per sum that is not what it sums. O(pods x depth)."""
    for queue in partition.root.walk():
        yield from _queue_sums(queue)
    for node in partition.nodes:
        used: Amounts = {}
        for ask in node.allocations.values():
            resources.add_to(used, ask.resource)
        left = resources.minus(resources.minus(node.capacity, node.occupied), used)
        if _differ(left, node.available):
            yield f"node {node.name}: available is {node.available}, counted {left}"
        for name, value in resources.minus(node.capacity, used).items():
            if value < 0:
                yield f"node {node.name}: pods exceed its {name} by {-value}"
    yield from _order_of_nodes(partition.nodes)
    waiting = [ask for ask in partition.asks.values() if ask.node is None]
    if len(waiting) != partition.pending:
        yield f"pending is {partition.pending}, counted {len(waiting)}"
    unmarked = {ask.key for ask in waiting if not ask.scale_up}
    if unmarked != partition.unmarked.keys():
        yield f"unmarked are {sorted(partition.unmarked)}, counted {sorted(unmarked)}"
    for ask in waiting:
        held = ask.app.reserves and not ask.placeholder
        if ask.held is not held:
            yield f"{ask} is {'' if ask.held else 'not '}held back by its gang"


def _order_of_nodes(order: NodeOrder) -> Iterator[str]:
    for name, entries in (("with room", order.entries), ("full", order.full)):
        if entries != sorted(entries):
            yield f"nodes {name} are out of order: {[at[:2] for at in entries]}"
        for entry in entries:
            node = entry[2]
            if node.entry != entry or node.full is not (name == "full"):
                yield f"node {node.name} does not know that it is {name} at {entry[0]}"
    known = sorted(entry[1] for entry in (*order.entries, *order.full))
    if known != sorted(order.by_name):
        yield f"nodes in the order are {known}, known are {sorted(order.by_name)}"


def _queue_sums(queue: Queue) -> Iterator[str]:
    allocated: Amounts = {}
    pending: Amounts = {}
    preempting: Amounts = {}
    for leaf in queue.leaves():
        for app in leaf.apps.values():
            for ask in app.allocations.values():
                resources.add_to(allocated, ask.resource)
                if ask.preempted:
                    resources.add_to(preempting, ask.resource)
            for ask in app.requests:
                resources.add_to(pending, ask.resource)
    sums = (
        ("allocated", queue.allocated, allocated),
        ("pending", queue.pending, pending),
        ("preempting", queue.preempting, preempting),
    )
    if queue.has_pending is not any(pending.values()):
        yield f"{queue.path}: has_pending is {queue.has_pending}, counted {pending}"
    for name, kept, counted in sums:
        if _differ(kept, counted):
            yield f"{queue.path}: {name} is {kept}, counted {counted}"


def _differ(left: Amounts, right: Amounts) -> bool:
    return any(resources.minus(left, right).values())
