"""Who lives in a partition: its queue tree and the applications in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.errors import SchedulerError
from scheduler.records.hierarchy import PartitionSpec, QueueSpec
from scheduler.registry import lookup
from scheduler.yunikorn.objects import queue as queues
from scheduler.yunikorn.objects.application import (
    Application,
    Ask,
    State,
)
from scheduler.yunikorn.objects.listener import Listener, Trace
from scheduler.yunikorn.objects.node import Node, NodeOrder
from scheduler.yunikorn.objects.queue import Queue
from scheduler.yunikorn.objects.user_group_limits import Tracker

if TYPE_CHECKING:
    from scheduler.yunikorn.preemption.laws import Laws

_STARTED = (State.STARTING, State.RUNNING, State.RESUMING, State.COMPLETING)
#: States that end by themselves after a while.
_TIMED = (State.STARTING, State.COMPLETING, State.COMPLETED, State.FAILED)


class Tenants:
    """The configuration in force, the queues, the applications and their states.

    Base of the partition, which has nodes and pods as well.
    """

    def __init__(self, spec: PartitionSpec, laws: Laws, listener: Listener) -> None:
        self.laws = laws
        self.listener = listener
        self.now_ms = 0
        self.trace: Trace | None = None
        self.apps: dict[str, Application] = {}
        self.timed: dict[str, Application] = {}  # in a state that runs out
        self.asks: dict[str, Ask] = {}  # pending and placed, by key
        self.dynamic: list[tuple[str, bool]] = []  # made queues, in order, leaf?
        self.counter = 0
        self.pending = 0  # asks without a node
        self.reservations = 0
        self.ganged = 0  # applications with task groups
        self.dirty = True  # something changed since the last idle cycle
        self.wake_ms: int | None = None  # when time alone may change a decision
        self.attempts = 0  # preemption attempts left in this leaf visit
        self.relook = False  # asks do not know their times: look at all of them
        self.only_due = False  # this cycle looks at asks whose time has come
        self.unfit: dict[Any, Node | None] = {}  # shapes that fit nowhere now
        #: shapes that no node takes now -> what the nodes with room say
        self.unwilling: dict[Any, tuple[str, ...]] = {}
        self.moved: dict[str, None] | None = None  # came or went, for who listens
        self.unhelped: dict[Any, str] = {}  # asks that preemption does not help now
        self.root: Queue = queues.build(spec.root)
        self.nodes = NodeOrder(lookup("node-sort", spec.node_sort)(), spec.weights)
        self.configure(spec)

    # -- configuration

    def configure(self, spec: PartitionSpec) -> None:
        """Take over a partition's settings for the tree that is there."""
        self.spec = spec
        self.root.limits = spec.limits
        self.limits = Tracker(self.root)
        self.nodes.use(lookup("node-sort", spec.node_sort)(), spec.weights)
        for queue in self.root.walk():
            self.adopt(queue)
        self.stale_max = True
        self.changed()

    def adopt(self, queue: Queue) -> None:
        """Give a queue its sorting policy and sort what it holds."""
        if not queue.leaf:
            return
        name = self.laws.sort_name(queue.properties.sort_policy)
        queue.sort = lookup("application-sort", name)()
        queue.order.clear()
        for app in queue.apps.values():
            app.slot = None
            queue.resort(app)

    def changed(self) -> None:
        """Note that something a decision may depend on is different now."""
        self.dirty = True
        self.wake_ms = None

    def wake_at(self, at_ms: int, ask: Ask) -> None:
        """Note that time alone may change an ask's lot at this instant."""
        if ask.wake_ms is None or at_ms < ask.wake_ms:
            ask.wake_ms = at_ms
        if self.wake_ms is None or at_ms < self.wake_ms:
            self.wake_ms = at_ms

    # -- queues and applications

    def queue(self, path: str) -> Queue | None:
        """Return the queue at a dotted path, or None."""
        names = path.lower().split(".")
        found: Queue | None = self.root if names[0] == queues.ROOT else None
        for name in names[1:]:
            found = found.children.get(name) if found else None
        return found

    def make_queue(self, parent: Queue, name: str, *, leaf: bool = True) -> Queue:
        """Make a dynamic queue below a parent, from the nearest template."""
        template = next((q.template for q in parent.route if q.template), None)
        spec = QueueSpec(name=name, parent=not leaf)
        if template is not None and leaf:
            spec = QueueSpec(
                name=name,
                properties=template.properties,
                guaranteed=template.guaranteed,
                max=template.max,
                max_applications=template.max_applications,
            )
        queue = Queue(spec, parent)
        queue.managed = False
        if template is not None and not leaf:
            queue.template = template
        parent.children[name] = queue
        self.dynamic.append((queue.path, leaf))
        self.adopt(queue)
        self.stale_max = True
        return queue

    def add_application(self, app: Application) -> None:
        """Take an application into its leaf.

        Raises SchedulerError when the queue is not a leaf or the id is taken.
        """
        if not app.queue.leaf:
            raise SchedulerError(
                f"application {app.id!r}: expected a leaf queue, got {app.queue.path}"
            )
        if app.id in self.apps:
            raise SchedulerError(f"application {app.id!r} is there already")
        self.apps[app.id] = app
        app.queue.apps[app.id] = app

    def remove_application(self, app: Application) -> None:
        """Forget an application that holds and wants nothing."""
        del self.apps[app.id]
        self.timed.pop(app.id, None)
        leaf = app.queue
        leaf.apps.pop(app.id, None)
        for queue in leaf.route:
            queue.running.discard(app.id)
        if app.gang is not None:
            self.ganged -= 1
        self.limits.forget(app)

    def enter(self, app: Application, state: State) -> None:
        """Move an application to a state and tell the listener."""
        if app.state is state:
            return
        app.state = state
        app.state_ms = self.now_ms
        self.count_running(app)
        if state in _TIMED:
            self.timed[app.id] = app
        self.listener.entered(app)
        self.changed()

    def count_running(self, app: Application) -> None:
        """Keep the sets of running applications of the path up to date."""
        runs = app.state in _STARTED or (
            app.state is State.ACCEPTED and bool(app.placeholders)
        )
        for queue in app.queue.route:
            if runs:
                queue.running.add(app.id)
            else:
                queue.running.discard(app.id)
        self.limits.count_running(app, runs)
