"""Applications and their asks; an ask that was placed is an allocation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.yunikorn import resources
from scheduler.yunikorn.objects.properties import MIN_PRIORITY
from scheduler.yunikorn.resources import Amounts, Needs

if TYPE_CHECKING:
    from scheduler.yunikorn.objects.node import Node
    from scheduler.yunikorn.objects.queue import Queue


class Refusal(Protocol):
    """A predicate of the shim: why a node is not for an ask, None when it is."""

    def __call__(self, node: Node, gone: Sequence[Ask] = ()) -> str | None:
        """Return the reason; `gone` are pods on the node that would have left."""


class State(StrEnum):
    """Where an application is in its life; Starting under `documented` only."""

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


class Ask:
    """One pod: pending while `node` is None, an allocation afterwards.

    Times are milliseconds on the clock of the run.
    """

    __slots__ = (
        "allow_other",
        "allow_self",
        "app",
        "checked_ms",
        "create_ms",
        "group",
        "key",
        "log",
        "memory",
        "needs",
        "node",
        "order",
        "originator",
        "placeholder",
        "preempted",
        "priority",
        "rank",
        "refusal",
        "released",
        "replaces",
        "required_node",
        "reserved_ms",
        "reserved_on",
        "resource",
        "triggered",
        "wake_ms",
    )

    def __init__(
        self,
        *,
        key: str,
        app: Application,
        resource: Amounts,
        priority: int = 0,
        create_ms: int = 0,
        allow_self: bool = True,
        allow_other: bool = True,
        originator: bool = False,
        required_node: str | None = None,
        refusal: Refusal | None = None,
        group: str = "",
        placeholder: bool = False,
        needs: Needs | None = None,
    ) -> None:
        self.key = key
        self.app = app
        self.resource = resource
        self.needs = resources.needs_of(resource) if needs is None else needs
        self.priority = priority
        self.create_ms = create_ms
        self.allow_self = allow_self  # may be preempted itself
        self.allow_other = allow_other  # may preempt others
        self.originator = originator  # the application's driver
        self.required_node = required_node
        self.refusal = refusal
        self.group = group  # task group, "" for none
        self.placeholder = placeholder
        self.node: Node | None = None
        self.rank = 0  # breaks ties among equal requests
        self.order: tuple[int, int, int] = (-priority, create_ms, 0)
        self.triggered = False  # has caused a preemption; never again
        self.checked_ms: int | None = None  # last preemption attempt
        self.preempted = False  # told to go and not gone yet
        self.released = False  # told to end for another reason
        self.replaces: Ask | None = None  # the placeholder this pod takes over
        self.reserved_on: Node | None = None
        self.reserved_ms = 0
        self.wake_ms: int | None = None  # when time alone may change its lot
        self.log: dict[str, int] = {}  # message -> last time (ms)
        self.memory: Any = None  # whoever made the ask may hang something here

    def __repr__(self) -> str:
        return f"Ask({self.key})"


class Application:
    """One application: its requests in order, what it holds, and its state.

    `pending` and `allocated` are sums over its own asks; placeholders count in
    `placeholders` and not in `allocated`.
    """

    __slots__ = (
        "allocated",
        "allocations",
        "asks",
        "forced",
        "gang",
        "groups",
        "id",
        "pending",
        "placeholders",
        "priorities",
        "priority",
        "queue",
        "requests",
        "reserved",
        "slot",
        "state",
        "state_ms",
        "submit_ms",
        "tags",
        "tracked_group",
        "user",
    )

    def __init__(
        self,
        *,
        id: str,
        queue: Queue,
        user: str = "nobody",
        groups: tuple[str, ...] = (),
        submit_ms: int = 0,
        tags: dict[str, str] | None = None,
    ) -> None:
        self.id = id
        self.queue = queue
        self.user = user
        self.groups = groups
        self.submit_ms = submit_ms
        self.tags = tags or {}
        self.state = State.NEW
        self.state_ms = submit_ms  # when the state was entered
        self.asks: dict[str, Ask] = {}  # pending
        self.requests: list[Ask] = []  # pending, in request order
        self.allocations: dict[str, Ask] = {}
        self.reserved: dict[str, Ask] = {}  # pending asks that hold a node
        self.pending: Amounts = {}
        self.allocated: Amounts = {}
        self.placeholders: Amounts = {}
        self.priorities: dict[int, int] = {}  # priority -> pending asks
        self.priority = MIN_PRIORITY
        self.slot: tuple[Any, ...] | None = None  # its place in the leaf's order
        self.gang: Any = None  # task groups, when it has any
        self.forced = False  # came back from a restart, whatever the rules say
        self.tracked_group: str | None = None

    def __repr__(self) -> str:
        return f"Application({self.id})"

    def add_request(self, ask: Ask, counter: int) -> None:
        """Put a pending ask in its place; `counter` grows with every call.

        A newcomer not better than the last goes to the end, otherwise in front
        of its equals. Source: YUNIKORN.md 7.
        """
        requests = self.requests
        base = (-ask.priority, ask.create_ms)
        if not requests or base >= requests[-1].order[:2]:
            ask.rank = counter
        else:
            ask.rank = -counter
        self.insert_request(ask)

    def insert_request(self, ask: Ask) -> None:
        """Put a pending ask where its rank says, and count it as pending."""
        ask.order = (-ask.priority, ask.create_ms, ask.rank)
        requests = self.requests
        if not requests or requests[-1].order < ask.order:
            requests.append(ask)
        else:
            requests.insert(bisect_left(requests, ask.order, key=_order), ask)
        self.asks[ask.key] = ask
        count = self.priorities.get(ask.priority, 0)
        self.priorities[ask.priority] = count + 1
        if ask.priority > self.priority:
            self.priority = ask.priority
        self.submit_ms = min(self.submit_ms, ask.create_ms)
        resources.add_to(self.pending, ask.resource)

    def drop_request(self, ask: Ask) -> None:
        """Take an ask out of the pending ones."""
        requests = self.requests
        if requests[0] is ask:
            del requests[0]
        else:
            del requests[bisect_left(requests, ask.order, key=_order)]
        del self.asks[ask.key]
        left = self.priorities[ask.priority] - 1
        if left:
            self.priorities[ask.priority] = left
        else:
            del self.priorities[ask.priority]
            self.priority = max(self.priorities, default=MIN_PRIORITY)
        pending = self.pending
        for name, value in ask.resource.items():
            pending[name] -= value

    @property
    def wants(self) -> bool:
        """Tell whether anything is pending: strictly greater than zero."""
        return bool(self.requests) and resources.above_zero(self.pending)


def _order(ask: Ask) -> tuple[int, int, int]:
    return ask.order
