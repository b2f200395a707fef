"""Asks, applications, queues and nodes: they refer to each other, so in one file.

Only data and what keeps one object consistent; what a partition does with them
is in `partition.py`, `requests.py` and `node_order.py`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from scheduler.engine.yunikorn.objects.gang_state import GangState
from scheduler.engine.yunikorn.objects.node_capacity import NodeCapacity
from scheduler.engine.yunikorn.objects.pod_ref import PodRef
from scheduler.engine.yunikorn.objects.queue_usage import QueueUsage
from scheduler.model.hierarchy import QueueConfig
from scheduler.model.node import Node as NodeRecord
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.properties import MIN_PRIORITY
from scheduler.model.yunikorn.resources import Amounts, Needs


class Predicate(Protocol):
    """A predicate of the shim: why a node is not for an ask, None when it is."""

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        """Return the reason; `gone` are pods on the node that would have left."""


class ApplicationSort(Protocol):
    """A policy that orders the applications of a leaf."""

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
    pod: PodRef | None = None  # None for placeholders that the engine made

    node: SchedulingNode | None = field(init=False, default=None)
    needs: Needs = field(init=False)  # the positive part of `resource`
    rank: int = field(init=False, default=0)  # breaks ties among equal requests
    order: tuple[int, int, int] = field(init=False)
    triggered: bool = field(init=False, default=False)  # has preempted; once only
    checked_ms: int | None = field(init=False, default=None)  # last attempt
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
        """Return whether an accepted application may be served.

        Source: docs/semantics/yunikorn.md#applications-that-count
        """
        for queue in self.route:
            limit = queue.max_applications
            if not limit or app.id in queue.allocating:
                continue
            if len(queue.running) + len(queue.allocating) >= limit:
                return False
        return True


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
