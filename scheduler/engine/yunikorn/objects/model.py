"""Asks, applications, queues and nodes: they refer to each other, so in one file.

Only data and what keeps one object consistent; what a partition does with them
is in `partition.py`, `requests.py` and `node_order.py`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from scheduler.engine.yunikorn.objects.gang_state import GangState
from scheduler.engine.yunikorn.objects.queue_tree import QueueUsage
from scheduler.model.hierarchy import QueueConfig
from scheduler.model.node import Node as NodeRecord
from scheduler.model.objects import Key
from scheduler.model.pod import Shape
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.properties import MIN_PRIORITY
from scheduler.model.yunikorn.resources import Amounts, Needs

# ------------------------------------------------------------------------
# The requests of an application: pending asks in the order they are tried.


def add(app: Application, ask: Ask, counter: int) -> None:
    """Put a pending ask in its place; `counter` grows with every call.

    A newcomer not better than the last goes to the end, otherwise in front
    of its equals. Source: docs/semantics/yunikorn.md#order-of-requests
    """
    requests = app.requests
    base = (-ask.priority, ask.create_ms)
    if not requests or base >= requests[-1].order[:2]:
        ask.rank = counter
    else:
        ask.rank = -counter
    insert(app, ask)


def insert(app: Application, ask: Ask) -> None:
    """Put a pending ask where its rank says, and count it as pending."""
    ask.order = (-ask.priority, ask.create_ms, ask.rank)
    requests = app.requests
    if not requests or requests[-1].order < ask.order:
        requests.append(ask)
    else:
        requests.insert(bisect_left(requests, ask.order, key=_order), ask)
    app.asks[ask.key] = ask
    app.submit_ms = min(app.submit_ms, ask.create_ms)
    if not ask.held:
        count(app, ask)


def count(app: Application, ask: Ask) -> None:
    """Count an ask as pending: its resources, and its priority for the application."""
    app.priorities[ask.priority] = app.priorities.get(ask.priority, 0) + 1
    if ask.priority > app.priority:
        app.priority = ask.priority
    resources.add_to(app.pending, ask.resource)


def remove(app: Application, ask: Ask) -> None:
    """Take an ask out of the pending ones."""
    requests = app.requests
    if requests[0] is ask:
        del requests[0]
    else:
        del requests[bisect_left(requests, ask.order, key=_order)]
    del app.asks[ask.key]
    if not ask.held:
        discount(app, ask)


def discount(app: Application, ask: Ask) -> None:
    """Take back what `count` did."""
    left = app.priorities[ask.priority] - 1
    if left:
        app.priorities[ask.priority] = left
    else:
        del app.priorities[ask.priority]
        app.priority = max(app.priorities, default=MIN_PRIORITY)
    pending = app.pending
    for name, value in ask.resource.items():
        pending[name] -= value


def _order(ask: Ask) -> tuple[int, int, int]:
    return ask.order


# ------------------------------------------------------------------------
# What an ask keeps of the Pod that it stands for.


@dataclass(slots=True)
class PodRef:
    """The Pod of an ask, and when it got its node."""

    key: Key
    shape: Shape
    queue: str  # as asked for
    submit_ms: int  # of its application when the pod came
    since_ms: int | None = None  # placed at


# ------------------------------------------------------------------------
# Listeners: what a partition decides is reported to one, and its steps to a trace.


class Listener(Protocol):
    """Gets what the partition decides, in the order it decides."""

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """An ask got a node."""

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """A node was reserved for an ask."""

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """A reservation ended."""

    def attempting(self, ask: Ask) -> None:
        """Preemption is tried for an ask; its next try is later."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Victims were asked to end for an ask."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """A pod ends for no other ask: timeout, quota change, replacement."""

    def refused(self, ask: Ask, message: str) -> None:
        """An ask got nothing, and why."""

    def entered(self, app: Application) -> None:
        """An application is in a new state."""


class Trace(Protocol):
    """Gets every step of a cycle with its numbers; for explanations."""

    def step(self, name: str, **numbers: Any) -> None:
        """Record one step: order, leaf, request, node, preemption."""


class NullListener:
    """A listener that does nothing."""

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def attempting(self, ask: Ask) -> None:
        """Do nothing."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Do nothing."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Do nothing."""

    def refused(self, ask: Ask, message: str) -> None:
        """Do nothing."""

    def entered(self, app: Application) -> None:
        """Do nothing."""


# ------------------------------------------------------------------------
# A node's capacity and what is available of it.


class NodeCapacity:
    """available = capacity - YuniKorn's pods - what other schedulers' pods occupy."""

    __slots__ = ("available", "capacity", "name", "occupied", "schedulable")

    def __init__(self, name: str, capacity: Amounts, *, schedulable: bool) -> None:
        self.name = name
        self.capacity = capacity
        self.available: Amounts = dict(capacity)
        self.occupied: Amounts = {}
        self.schedulable = schedulable

    def fits(self, needs: Needs) -> bool:
        """Return whether the needs fit in what is available now."""
        available = self.available
        return all(value <= available.get(name, 0) for name, value in needs)

    def could_hold(self, needs: Needs) -> bool:
        """Return whether the needs fit the empty node."""
        return resources.fits(self.capacity, needs)

    def fit_score(self, needs: Mapping[str, int]) -> float:
        """Return how badly an ask would fill what is available; low is tight.

        Types of which nothing is available add nothing.
        Source: docs/semantics/yunikorn.md#fit-score
        """
        score = 0.0
        for name, available in self.available.items():
            if available <= 0:
                continue
            wanted = needs.get(name, 0)
            if wanted <= 0:
                score += 1.0
            elif available > wanted:
                score += (available - wanted) / available
        return score


# ------------------------------------------------------------------------
# Asks, applications, queues and nodes: they refer to each other, so in one file.


class Predicate(Protocol):
    """A predicate of the shim: why a node is not for an ask, None when it is."""

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        """Return the reason; `gone` are pods on the node that would have left."""


class ApplicationSort(Protocol):
    """A policy that orders the applications of a leaf."""

    name: str
    by_usage: bool  # the key depends on what the application holds

    def key(self, app: Application, leaf: Queue) -> tuple[Any, ...]:
        """Return the sort key of the application, ascending."""

    def candidates(self, leaf: Queue) -> Iterable[Application]:
        """Return the applications to serve, in order."""


class State(StrEnum):
    """The states of an application; Starting under the documented laws only.

    Source: docs/semantics/yunikorn.md#application-states
    """

    NEW = "New"
    ACCEPTED = "Accepted"
    STARTING = "Starting"
    RUNNING = "Running"
    RESUMING = "Resuming"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    FAILING = "Failing"
    FAILED = "Failed"
    REJECTED = "Rejected"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Ask:
    """One pod: pending while `node` is None, an allocation afterwards.

    Times are milliseconds on the clock of the run.
    """

    key: str
    app: Application
    resource: Amounts
    priority: int = 0
    create_ms: int = 0
    allow_self: bool = True  # may be preempted itself
    allow_other: bool = True  # may preempt others
    originator: bool = False  # the application's driver
    required_node: str | None = None
    predicate: Predicate | None = None
    group: str = ""  # task group, "" for none
    placeholder: bool = False
    held: bool = False  # the shim has not asked for it yet: its gang reserves
    pod: PodRef | None = None  # None for placeholders that the engine made

    node: SchedulingNode | None = field(init=False, default=None)
    needs: Needs = field(init=False)  # the positive part of `resource`
    rank: int = field(init=False, default=0)  # breaks ties among equal requests
    order: tuple[int, int, int] = field(init=False)
    triggered: bool = field(init=False, default=False)  # has preempted; once only
    checked_ms: int | None = field(init=False, default=None)  # last attempt
    scale_up: bool = field(init=False, default=False)  # more nodes would help it
    preempted: bool = field(init=False, default=False)  # asked to end, not gone
    released: bool = field(init=False, default=False)  # ends for another reason
    reserved_on: SchedulingNode | None = field(init=False, default=None)
    reserved_ms: int = field(init=False, default=0)
    due_ms: int | None = field(init=False, default=None)  # time alone may help then
    log: dict[str, int] = field(init=False, default_factory=dict)  # text -> last ms

    def __post_init__(self) -> None:
        self.needs = resources.needs_of(self.resource)
        self.order = (-self.priority, self.create_ms, 0)

    def __repr__(self) -> str:
        return f"Ask({self.key})"


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Application:
    """One application: its requests in order, what it holds, and its state.

    `pending` and `allocated` are sums over its own asks; placeholders count in
    `placeholders` and not in `allocated`.
    """

    id: str
    queue: Queue
    user: str = "nobody"
    groups: tuple[str, ...] = ()
    submit_ms: int = 0
    tags: dict[str, str] = field(default_factory=dict)

    state: State = field(init=False, default=State.NEW)
    state_ms: int = field(init=False)  # when the state was entered
    asks: dict[str, Ask] = field(init=False, default_factory=dict)  # pending
    requests: list[Ask] = field(init=False, default_factory=list)  # same, in order
    allocations: dict[str, Ask] = field(init=False, default_factory=dict)
    reserved: dict[str, Ask] = field(init=False, default_factory=dict)
    pending: Amounts = field(init=False, default_factory=dict)
    allocated: Amounts = field(init=False, default_factory=dict)
    placeholders: Amounts = field(init=False, default_factory=dict)
    priorities: dict[int, int] = field(init=False, default_factory=dict)
    priority: int = field(init=False, default=MIN_PRIORITY)
    order_entry: tuple[Any, ...] | None = field(init=False, default=None)
    gang: GangState | None = field(init=False, default=None)
    tracked_group: str | None = field(init=False, default=None)  # None: not yet
    backoff_ms: int | None = field(init=False, default=None)  # left out until then

    def __post_init__(self) -> None:
        self.state_ms = self.submit_ms

    def __repr__(self) -> str:
        return f"Application({self.id})"

    @property
    def reserves(self) -> bool:
        """Return whether the shim asks for placeholders alone."""
        gang = self.gang
        reserving = self.state in (State.NEW, State.ACCEPTED)
        return gang is not None and reserving and gang.reserves()

    @property
    def has_pending(self) -> bool:
        """Return whether what is pending is strictly greater than zero."""
        return bool(self.requests) and resources.above_zero(self.pending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An application that was refused: who asked, for which queue, when and why."""

    app: str
    queue: str = ""  # "" when no queue was found for it
    user: str
    groups: tuple[str, ...] = ()
    at_ms: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An application that is over: what can still be asked about it.

    `gang` has of each task group its name, members, replaced and given up.
    """

    app: str
    queue: str
    user: str
    groups: tuple[str, ...] = ()
    state: str
    submit_ms: int
    at_ms: int
    gang: tuple[tuple[str, int, int, int], ...] = ()


class Queue(QueueUsage):
    """One queue. A leaf keeps its applications with pending requests in order."""

    __slots__ = ("allocating", "apps", "order", "reserved", "running", "sort")

    def __init__(self, spec: QueueConfig, parent: Queue | None = None) -> None:
        self.apps: dict[str, Application] = {}
        self.running: set[str] = set()  # ids of applications in state Running
        self.allocating: set[str] = set()  # Accepted ones that had a result
        self.order: list[tuple[Any, ...]] = []
        self.reserved: dict[str, Application] = {}
        self.sort: ApplicationSort | None = None
        super().__init__(spec, parent)

    @property
    def sorted_by(self) -> str:
        """Return what orders what it holds: an application sort; parents are always fair."""
        return self.sort.name if self.sort is not None else "fair"

    def in_order(self) -> Iterator[Application]:
        """Yield the applications with pending requests, in the leaf's order."""
        for entry in self.order:
            yield entry[2]

    def resort(self, app: Application) -> None:
        """Put an application where its priority, time and use belong now."""
        old = app.order_entry
        sort = self.sort
        assert sort is not None
        new = (sort.key(app, self), app.id, app) if app.has_pending else None
        if old is not None:
            if new is not None and new[0] == old[0]:
                return
            del self.order[bisect_left(self.order, old)]
        app.order_entry = new
        if new is not None:
            insort(self.order, new)

    def can_run(self, app: Application) -> bool:
        """Return whether an accepted application may run: no queue above it is at maxapplications."""
        return self.full_for(app) is None

    def full_for(self, app: Application) -> Queue | None:
        """Return the queue at maxapplications that keeps an accepted application from running.

        Source: docs/semantics/yunikorn.md#applications-that-count
        """
        for queue in self.route:
            limit = queue.max_applications
            if not limit or app.id in queue.allocating:
                continue
            if len(queue.running) + len(queue.allocating) >= limit:
                return queue
        return None


class SchedulingNode(NodeCapacity):
    """One node with YuniKorn's pods on it and the asks that hold it."""

    __slots__ = ("allocations", "attributes", "entry", "full", "record", "reservations")

    def __init__(
        self, name: str, capacity: Amounts, *, schedulable: bool = True
    ) -> None:
        super().__init__(name, capacity, schedulable=schedulable)
        self.allocations: dict[str, Ask] = {}
        self.reservations: dict[str, Ask] = {}
        self.entry: tuple[float, str, SchedulingNode] = (
            0.0,
            name,
            self,
        )  # in the node order
        self.full = False  # smaller than any ask so far
        self.attributes: dict[str, str] = {}
        self.record: NodeRecord | None = None

    def __repr__(self) -> str:
        return f"Node({self.name})"

    def take(self, ask: Ask) -> None:
        """Count a pod of YuniKorn's as running here."""
        self.allocations[ask.key] = ask
        available = self.available
        for name, value in ask.resource.items():
            available[name] = available.get(name, 0) - value

    def release(self, ask: Ask) -> None:
        """Give back what a pod of YuniKorn's used."""
        del self.allocations[ask.key]
        resources.add_to(self.available, ask.resource)
