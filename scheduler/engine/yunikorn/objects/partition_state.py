"""A partition's configuration, queue tree and applications."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from scheduler.engine.yunikorn.objects import model
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Ended,
    Listener,
    Queue,
    Rejected,
    SchedulingNode,
    State,
    Trace,
)
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.objects.preemption_laws import Laws
from scheduler.engine.yunikorn.objects.queue_tree import ROOT
from scheduler.engine.yunikorn.objects.user_group_limits import UserGroupLimits
from scheduler.model.errors import SchedulerError
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.proposals import Asking
from scheduler.model.registry import lookup
from scheduler.model.releases.release import Release
from scheduler.model.releases.rules import (
    YUNIKORN_ATTEMPTS,
    YUNIKORN_BACKOFF,
    YUNIKORN_QUOTA,
    YUNIKORN_RESERVATIONS,
    YUNIKORN_RESERVED_NODES,
    YUNIKORN_SCOPE,
    YUNIKORN_TYPES,
    YUNIKORN_VICTIMS,
)

# ------------------------------------------------------------------------
# What releases of YuniKorn decide otherwise, asked once for a partition.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRules:
    """The rules of `scheduler/model/releases/rules.py` that a partition follows."""

    asked_types: bool = True  # preemption compares the types of the ask alone
    counts_attempts_made: bool = True  # and no attempt that was too early
    overdue_nodes: bool = True  # their reservations do not bar preemption
    backoff: bool = True
    quota_preemption: bool = True
    reservations_end: bool = True  # after the wait
    victims_by_ask: bool = True  # of quota preemption
    fenced_by_next: bool = True  # a maximum that the ask would pass ends the scope


def rules_of(release: Release) -> ReleaseRules:
    """Return the rules of a release; one that is not given has all."""
    return ReleaseRules(
        asked_types=YUNIKORN_TYPES.holds(release),
        counts_attempts_made=YUNIKORN_ATTEMPTS.holds(release),
        overdue_nodes=YUNIKORN_RESERVED_NODES.holds(release),
        backoff=YUNIKORN_BACKOFF.holds(release),
        quota_preemption=YUNIKORN_QUOTA.holds(release),
        reservations_end=YUNIKORN_RESERVATIONS.holds(release),
        victims_by_ask=YUNIKORN_VICTIMS.holds(release),
        fenced_by_next=YUNIKORN_SCOPE.holds(release),
    )


#: Of a partition that is made without a release.
NEWEST_RULES = ReleaseRules()


# ------------------------------------------------------------------------
# A partition's configuration, queue tree and applications.


_RUNNING = (State.STARTING, State.RUNNING)
_ENDED = (State.COMPLETED, State.FAILED, State.REJECTED)
#: States that end by themselves after a while.
_TIMED = (State.STARTING, State.COMPLETING, State.COMPLETED, State.FAILED)
#: How long a refused application can be asked about.
REJECTED_KEPT_MS = 3 * 24 * 3600_000
#: So many of the applications that are over can be asked about, the last ones.
MOST_ENDED = 100
MOST_STATES = 20  # of an application that goes to and fro
_KEPT = (State.COMPLETED, State.FAILED)


def _ended(app: Application) -> Ended:
    return Ended(
        app=app.id,
        queue=app.queue.path,
        user=app.user,
        groups=app.groups,
        state=str(app.state),
        submit_ms=app.submit_ms,
        at_ms=app.state_ms,
        gang=app.gang.outcome() if app.gang is not None else (),
    )


class PartitionState:
    """The configuration in force, the queues, the applications and their states.

    Base of the partition, which has nodes and pods as well.
    """

    def __init__(
        self,
        spec: PartitionSpec,
        laws: Laws[Self],
        listener: Listener,
        rules: ReleaseRules = NEWEST_RULES,
    ) -> None:
        self.laws = laws
        self.rules = rules
        self.listener = listener
        self.now_ms = 0
        self.asking: Asking | None = None  # a proposal decides
        self.trace: Trace | None = None
        self.apps: dict[str, Application] = {}
        #: Application -> the last states it entered, from the first way back on.
        self.ways_back: dict[str, list[tuple[int, str]]] = {}
        self.timed_apps: dict[str, Application] = {}  # in a state that runs out
        self.asks: dict[str, Ask] = {}  # pending and placed, by key
        self.ended: list[Ended] = []  # oldest first
        self.rejected: dict[str, Rejected] = {}  # by id, oldest first
        self.dynamic: list[tuple[str, bool]] = []  # made queues, in order, leaf?
        self.counter = 0
        self.pending = 0  # asks without a node
        #: Those of them of which it is not known yet that more nodes would help them.
        self.unmarked: dict[str, Ask] = {}
        self.reservations = 0
        self.gang_count = 0  # applications with task groups
        self.dirty = True  # something changed since the last idle cycle
        self.due_ms: int | None = None  # when time alone may change a decision
        self.attempts = 0  # preemption attempts left in this leaf visit
        self.recheck_all = False  # times of asks are unknown: look at all of them
        self.only_due = False  # this cycle looks at asks whose time has come
        self.no_fit: dict[
            Any, SchedulingNode | None
        ] = {}  # what was found to fit nowhere now
        #: shapes that no node takes now -> the reasons of the nodes where they fit
        self.failed_predicates: dict[Any, tuple[str, ...]] = {}
        self.changed_keys: dict[str, None] | None = None  # for pod predicates
        self.refused_attempts: dict[Any, str] = {}  # kinds of asks -> why, now
        self.root: Queue = build(spec.root)
        self.nodes = NodeOrder(lookup("node-sort", spec.node_sort)(), spec.weights)
        self.configure(spec)

    # -- configuration

    def configure(self, spec: PartitionSpec) -> None:
        """Take over a partition's settings for the tree that is there."""
        self.spec = spec
        self.root.limits = spec.limits or spec.root.limits
        self.limits = UserGroupLimits(self.root)
        self.nodes.use(lookup("node-sort", spec.node_sort)(), spec.weights)
        for queue in self.root.walk():
            self.apply_sort_policy(queue)
        self.stale_max = True
        self.changed()

    def apply_sort_policy(self, queue: Queue) -> None:
        """Give a queue its sorting policy and sort what it holds."""
        if not queue.leaf:
            return
        name = self.laws.sort_name(queue.properties.sort_policy)
        queue.sort = lookup("application-sort", name)()
        queue.order.clear()
        for app in queue.apps.values():
            app.order_entry = None
            queue.resort(app)

    def changed(self) -> None:
        """Note that something a decision may depend on is different now."""
        self.dirty = True
        self.due_ms = None

    def due_at(self, at_ms: int, ask: Ask) -> None:
        """Note that time alone may change an ask's outcome at this instant."""
        if ask.due_ms is None or at_ms < ask.due_ms:
            ask.due_ms = at_ms
        if self.due_ms is None or at_ms < self.due_ms:
            self.due_ms = at_ms

    # -- queues and applications

    def queue(self, path: str) -> Queue | None:
        """Return the queue at a dotted path, or None."""
        names = path.lower().split(".")
        found: Queue | None = self.root if names[0] == ROOT else None
        for name in names[1:]:
            found = found.children.get(name) if found else None
        return found

    def make_queue(self, parent: Queue, name: str, *, leaf: bool = True) -> Queue:
        """Make a dynamic queue below a parent, from the nearest template."""
        template = next((q.template for q in parent.route if q.template), None)
        spec = QueueConfig(name=name, parent=not leaf)
        if template is not None and leaf:
            spec = QueueConfig(
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
        self.apply_sort_policy(queue)
        self.stale_max = True
        return queue

    def add_application(self, app: Application) -> None:
        """Add an application to its leaf queue.

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

    def reject(self, rejected: Rejected) -> None:
        """Note an application that was refused, for as long as YuniKorn does."""
        oldest = self.now_ms - REJECTED_KEPT_MS
        stale = [name for name, one in self.rejected.items() if one.at_ms < oldest]
        for name in (*stale, rejected.app):
            self.rejected.pop(name, None)
        self.rejected[rejected.app] = rejected

    def remove_application(self, app: Application) -> None:
        """Remove an application that holds and wants nothing."""
        if app.state in _KEPT:
            self.ended[:] = [*self.ended, _ended(app)][-MOST_ENDED:]
        del self.apps[app.id]
        self.timed_apps.pop(app.id, None)
        self.ways_back.pop(app.id, None)
        leaf = app.queue
        leaf.apps.pop(app.id, None)
        for queue in leaf.route:
            queue.running.discard(app.id)
            queue.allocating.discard(app.id)
        if app.gang is not None:
            self.gang_count -= 1
        self.limits.forget(app)
        # Remove queues without applications that the configuration no longer names.
        for at in leaf.route[:-1]:
            if at.apps or at.children or not at.managed or at.state != "Draining":
                break
            assert at.parent is not None
            del at.parent.children[at.name]

    def drain(self, spec: QueueConfig, path: str, *, leaf: bool) -> None:
        """Keep a queue that the configuration no longer names: it takes nothing new."""
        parent = self.queue(path.rpartition(".")[0])
        if self.queue(path) is None and parent is not None and not parent.leaf:
            queue = Queue(replace(spec, parent=not leaf), parent)
            queue.state = "Draining"
            parent.children[queue.name] = queue
            self.apply_sort_policy(queue)
            self.stale_max = True

    def set_state(self, app: Application, state: State) -> None:
        """Move an application to a state and report it to the listener."""
        if app.state is state:
            return
        self._note_way_back(app, state)
        app.state = state
        app.state_ms = self.now_ms
        self.ask_for_held(app)
        self.count_running(app)
        if state in _TIMED:
            self.timed_apps[app.id] = app
        self.listener.entered(app)
        self.changed()

    def ask_for_held(self, app: Application) -> None:
        """Count what the shim asks for once a gang reserves no more; else hold it back.

        Source: docs/semantics/yunikorn.md#gang-scheduling
        """
        if app.gang is None:
            return
        before, reserves = app.priority, app.reserves
        for ask in app.requests:
            if ask.placeholder or ask.held == reserves:
                continue
            ask.held = reserves
            if reserves:
                model.discount(app, ask)
                app.queue.remove_pending(ask.resource)
            else:
                model.count(app, ask)
                app.queue.add_pending(ask.resource, positive=bool(ask.needs))
        if app.priority != before:
            app.queue.reprioritize(before, app.priority)
            app.queue.resort(app)

    def _note_way_back(self, app: Application, state: State) -> None:
        """Keep what an application enters since it went back to a state it had left.

        Its states until then are known from any later one.
        """
        entered = self.ways_back.get(app.id, [])
        if app.state is State.COMPLETING and state is State.RUNNING and not entered:
            entered = [(app.state_ms, str(app.state))]
        if entered or state is State.RESUMING:
            new = [*entered, (self.now_ms, str(state))]
            self.ways_back[app.id] = new[-MOST_STATES:]

    def count_running(self, app: Application) -> None:
        """Update which applications run on the queues of the path.

        Source: docs/semantics/yunikorn.md#applications-that-count
        """
        runs, ended = app.state in _RUNNING, app.state in _ENDED
        for queue in app.queue.route:
            if runs:
                queue.running.add(app.id)
            else:
                queue.running.discard(app.id)
            if runs or ended:
                queue.allocating.discard(app.id)

    def count_allocating(self, app: Application) -> None:
        """Note that an application got a result, which counts while it is Accepted."""
        if app.state is State.ACCEPTED:
            for queue in app.queue.route:
                queue.allocating.add(app.id)


# ------------------------------------------------------------------------
# Building the queue tree from its configuration.


def build(spec: QueueConfig, parent: Queue | None = None) -> Queue:
    """Return the tree of queues that the specification describes."""
    queue = Queue(spec, parent)
    for child in spec.queues:
        queue.children[child.name] = build(child, queue)
    return queue
