"""Objects in: Pods and Nodes become asks, applications and nodes of the core."""

from __future__ import annotations

from typing import Any, cast

from scheduler.decisions import Fail
from scheduler.records.hierarchy import PartitionSpec
from scheduler.records.node import Node as NodeRecord
from scheduler.records.objects import Key, Object
from scheduler.records.pod import Pod
from scheduler.records.policy import Policy
from scheduler.registry import lookup
from scheduler.stage import Context
from scheduler.yunikorn import messages
from scheduler.yunikorn.gang import placeholders
from scheduler.yunikorn.objects import application_states
from scheduler.yunikorn.objects.application import (
    Application,
    Ask,
    Refusal,
    State,
)
from scheduler.yunikorn.objects.node import Node
from scheduler.yunikorn.objects.partition import Partition
from scheduler.yunikorn.placement import manager as placement
from scheduler.yunikorn.resources import Amounts
from scheduler.yunikorn.shim import pods, state
from scheduler.yunikorn.shim.node_predicates import Selective, refusal_of
from scheduler.yunikorn.shim.pod_predicates import Neighbours, minds_others
from scheduler.yunikorn.shim.pods import Details
from scheduler.yunikorn.shim.recorder import Origin, Voice

POD = "Pod"
NODE = "Node"
PRIORITY_CLASS = "PriorityClass"


class Shim:
    """The part of YuniKorn's Kubernetes shim that decides: who is whose, and what.

    One partition; every pod that YuniKorn takes over is an ask of it.
    """

    name = "yunikorn"

    def __init__(self, context: Context, policy: Policy, spec: PartitionSpec) -> None:
        self.context = context
        section = policy.spec.yunikorn
        self.voice = Voice(context)
        laws = lookup("laws", section.laws)()
        self.partition = Partition(spec, laws, self.voice)
        self.partition.now_ms = context.now_ms
        self.fingerprint = state.fingerprint(section)
        self.opted_out: dict[str, bool] = {}  # PriorityClass -> says "false"
        self.foreign: dict[Key, tuple[str, Amounts]] = {}  # pod -> node, use
        self.homeless: dict[str, dict[Key, Object]] = {}  # node name -> its pods
        self.rejected: dict[Key, str] = {}  # pod -> why
        self.continues = False  # under the queues that its memory is of
        self.gone: dict[str, None] = {}  # applications that pods left
        self.kept: list[Any] = []  # gangs to take up once everything is restored
        self.scores: dict[str, float] = {}  # of nodes that stand where they stood
        self.clock: tuple[bool, int | None] | None = None
        self.last_ms: int | None = None  # of the last cycle
        self.tainted = False
        self._shapes: dict[int, Selective] = {}
        self.records: dict[str, Pod] = {}  # by ask key, strangers' by path
        self.namespaces: dict[str, dict[str, str]] = {}  # name -> labels
        self.neighbours: Neighbours | None = None  # once a pod minds others
        for path in spec.unsimulated:
            context.journal.complain(f"queues.yaml: {path} is not simulated")
        self._warn_deprecated()

    def _warn_deprecated(self) -> None:
        for queue in self.partition.root.walk():
            named = queue.own_texts.get("application.sort.policy", "").lower()
            if named == "stateaware" and not self.partition.laws.starting:
                self.context.journal.complain(
                    f"{queue.path}: Sort policy 'stateaware' is deprecated; "
                    "using 'fifo' instead"
                )

    # -- nodes -----------------------------------------------------------

    def _put_node(self, obj: Object, *, restore: bool) -> None:
        record = pods.read_node_object(obj)
        capacity = pods.capacity_of(record)
        partition = self.partition
        node = partition.nodes.by_name.get(record.name)
        if node is None:
            node = Node(record.name, capacity)
            node.memory = record
            partition.add_node(node)
            score = obj.memory.get(self.name, {}).get("score") if restore else None
            if score is not None:
                self.scores[record.name] = score
        elif node.capacity != capacity:
            partition.resize_node(node, capacity)
        node.memory = record
        if self.neighbours is not None:
            self.neighbours.put_node(record)
        if record.taints and not self.tainted:
            self._notice_taints()
        if node.schedulable is record.unschedulable:
            partition.cordon(node, schedulable=not record.unschedulable)
        for pod in self.homeless.pop(record.name, {}).values():
            self._put_pod(pod, restore=False)
        partition.changed()

    def _notice_taints(self) -> None:
        """From the first tainted node on every pod has to be held against taints."""
        self.tainted = True
        for ask in self.partition.asks.values():
            if ask.memory is not None and ask.refusal is None:
                ask.refusal = self._refusal(self.records[ask.key])

    def _notice_neighbours(self) -> None:
        """From the first pod on that minds others every pod is held against them."""
        found = self.neighbours = Neighbours(self.partition, self.records)
        self._notice_namespaces()
        for node in self.partition.nodes.by_name.values():
            found.put_node(cast("NodeRecord", node.memory))
        for key, (name, _) in self.foreign.items():
            found.put_stranger(self.records[key.path], name)
        for ask in self.partition.asks.values():
            if ask.memory is not None:
                ask.refusal = found.refusal(self.records[ask.key])

    def _notice_namespaces(self) -> None:
        if self.neighbours is not None:
            self.neighbours.put_namespaces(self.namespaces)
            self.partition.changed()

    def _refusal(self, pod: Pod) -> Refusal | None:
        if self.neighbours is not None:
            return self.neighbours.refusal(pod)
        shape = pod.shape
        if refusal_of(shape, tainted=self.tainted) is None:
            return None
        return self._shapes.setdefault(shape.ordinal, Selective(shape))

    # -- pods ------------------------------------------------------------

    def _put_pod(self, obj: Object, *, restore: bool) -> None:
        details = pods.read_details(obj)
        pod = details.pod
        if pod.finished or pod.shape.gates:
            self._drop(obj.key)
            return
        self.records[obj.key.path] = pod
        if self.neighbours is None and minds_others(pod.shape):
            self._notice_neighbours()
        if not pods.is_ours(pod):
            self._put_foreign(pod, pod.wanted_node, details.resource, restore)
        elif (known := self.partition.asks.get(obj.key.path)) is not None:
            self._edit_pod(obj, known, details)
        else:
            self._add_pod(obj, details, restore=restore)

    def _put_foreign(
        self, pod: Pod, node: str, resource: Amounts, restore: bool
    ) -> None:
        """Count what a pod of another scheduler uses of its node."""
        if not node or node not in self.partition.nodes.by_name:
            return
        self.foreign[pod.key] = (node, resource)
        if self.neighbours is not None:
            self.neighbours.put_stranger(pod, node)
        self._occupy(node, restore=restore)

    def _occupy(self, name: str, *, restore: bool = False) -> None:
        node = self.partition.nodes.by_name.get(name)
        if node is None:
            return
        total: Amounts = {}
        for at, resource in self.foreign.values():
            if at == name:
                for kind, value in resource.items():
                    total[kind] = total.get(kind, 0) + value
        self.partition.occupy(node, total)
        if not restore:
            self.context.journal.touch(Key(NODE, "", name))
            self.voice.displaced.add(name)

    def _edit_pod(self, obj: Object, ask: Ask, details: Details) -> None:
        """Take an edit of a pod that waits; one that runs stays as it is."""
        pod = details.pod
        if ask.node is not None:
            if self.neighbours is not None:
                self.neighbours.relabelled(ask.key)
                self.partition.changed()
            return
        node = self.partition.nodes.by_name.get(pod.wanted_node)
        if node is not None:
            self.partition.place(ask, node)
            return
        same = ask.priority == pod.priority and ask.memory.shape is pod.shape
        if self.neighbours is not None:
            ask.refusal = self.neighbours.refusal(pod)
            self.partition.changed()
        if same and ask.app.id == details.app and ask.memory.queue == details.queue:
            return
        self._drop(obj.key)
        self.records[ask.key] = pod
        self._add_pod(obj, details, restore=False)

    def _add_pod(self, obj: Object, details: Details, *, restore: bool) -> None:
        pod = details.pod
        node = self.partition.nodes.by_name.get(pod.wanted_node)
        if pod.wanted_node and node is None:
            self.homeless.setdefault(pod.wanted_node, {})[obj.key] = obj
            return
        kept = obj.memory.get(self.name, {}) if restore else {}
        if self.continues and "rejected" in kept:
            self.rejected[obj.key] = kept["rejected"]
            return
        app = self._application(obj, details, kept, running=node is not None)
        if app is None:
            return
        ask = self._ask(obj, details, app, kept)
        fresh = not kept
        if node is not None:
            self.partition.add_allocation(ask, node, restore=not fresh)
        else:
            self.partition.add_ask(ask, restore=not fresh)
        if fresh:
            ask.memory.submit_ms = app.submit_ms
            self.context.journal.touch(obj.key)
            for what in pods.unsimulated(pod.shape):
                self.context.journal.complain(f"{what}: not looked at under YuniKorn")
        else:
            state.take_up(self, ask, kept)

    def _ask(
        self, obj: Object, details: Details, app: Application, kept: dict[str, Any]
    ) -> Ask:
        pod = details.pod
        created = self.context.ms(pod.created_us // 1_000_000 * 1_000_000)
        ask = Ask(
            key=obj.key.path,
            app=app,
            resource=details.resource,
            priority=pod.priority,
            create_ms=kept.get("create", created),
            allow_self=kept.get("allow", self._allows(obj)),
            allow_other=not pod.shape.never_preempts,
            originator=kept.get(
                "origin",
                pods.is_originator(obj, first=not (app.asks or app.allocations)),
            ),
            required_node=pods.required_node(pod),
            refusal=self._refusal(pod),
            group=details.group,
        )
        ask.rank = kept.get("rank", 0)
        ask.memory = Origin(
            key=obj.key,
            shape=pod.shape,
            queue=details.queue,
            submit_ms=kept.get("submit", app.submit_ms),
            since_ms=kept.get("since"),
        )
        return ask

    def _allows(self, obj: Object) -> bool:
        """Tell whether the pod's class lets it be preempted; "false" alone does not."""
        return not self.opted_out.get(str(obj.spec.get("priorityClassName")), False)

    def _drop(self, key: Key) -> None:
        self.rejected.pop(key, None)
        for waiting in self.homeless.values():
            waiting.pop(key, None)
        ask = self.partition.asks.get(key.path)
        if ask is not None:
            self._left(ask)
            if ask.node is None:
                self.partition.drop_ask(ask)
            else:
                self.partition.release(ask)
            self.context.journal.touch(key)
        elif key in self.foreign:
            node, _ = self.foreign.pop(key)
            self._occupy(node)
            if self.neighbours is not None:
                self.neighbours.put_stranger(self.records[key.path], "")
        self.records.pop(key.path, None)

    def _left(self, ask: Ask) -> None:
        self.gone[ask.app.id] = None

    # -- applications ----------------------------------------------------

    def _application(
        self, obj: Object, details: Details, kept: dict[str, Any], *, running: bool
    ) -> Application | None:
        user, groups = pods.user_of(obj)
        known = self.partition.apps.get(details.app)
        if known is not None and known.state is State.COMPLETED:
            application_states.advance(self.partition)
        elif known is not None:
            if (known.user, known.groups, known.tags) != (
                user,
                groups,
                pods.tags_of(obj),
            ):
                self.gone[known.id] = None  # its pods no longer tell whose it is
            return known
        leaf = self.partition.queue(kept.get("queue", ""))
        if leaf is None or not leaf.leaf:
            incoming = placement.Incoming(
                queue=details.queue or placement.DEFAULT,
                user=user,
                groups=groups,
                tags=pods.tags_of(obj),
            )
            leaf = placement.place(self.partition, incoming)
        if leaf is None and running:
            leaf = placement.recovery(self.partition)
        if leaf is None:
            self._reject(obj.key, messages.NO_PLACEMENT, quiet=bool(kept))
            return None
        app = Application(
            id=details.app,
            queue=leaf,
            user=user,
            groups=groups,
            submit_ms=kept.get("submit", self.context.now_ms),
            tags=pods.tags_of(obj),
        )
        return self._begin(obj, app, details, restore=bool(kept))

    def _begin(
        self, obj: Object, app: Application, details: Details, *, restore: bool
    ) -> Application | None:
        """Take a new application in, with its gang when it declares one."""
        self.partition.add_application(app)
        found = None if restore else pods.read_gang(obj)
        if found is None:
            return app
        self.gone[app.id] = None  # its gang is kept beside the objects
        if placeholders.form(self.partition, app, found, details.pod.priority):
            return app
        self.partition.remove_application(app)
        self._reject(obj.key, messages.GANG_REJECTED, quiet=False)
        return None

    def _reject(self, key: Key, message: str, *, quiet: bool) -> None:
        self.rejected[key] = message
        self.context.journal.touch(key)
        if not quiet:
            now = self.context.now_ms
            self.context.journal.emit(
                Fail(
                    at_ms=now,
                    subject=key,
                    reason="ApplicationRejected",
                    message=message,
                )
            )
