"""Objects that come in: applications and their quota, Pods, nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects import partition
from scheduler.engine.yunikorn.objects.gang_state import GangState
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    PodRef,
    Rejected,
    SchedulingNode,
    State,
)
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import RECOVERY
from scheduler.engine.yunikorn.placement import rules
from scheduler.engine.yunikorn.placement.rules import PlacementError, Submission
from scheduler.engine.yunikorn.shim import pods, state
from scheduler.engine.yunikorn.shim.pod_predicates import (
    PredicateSelection,
    needs_pod_predicates,
)
from scheduler.engine.yunikorn.shim.pods import PodDetails
from scheduler.model import amounts
from scheduler.model.amounts import is_whole
from scheduler.model.decisions import Fail
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.problems import GivenUp, Wanted, expected
from scheduler.model.reasons import APPLICATION_REJECTED as REJECTED
from scheduler.model.reasons import RESERVATION_TIMEOUT
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import VCORE, Amounts


class ApplicationHandlers(PredicateSelection):
    """Finds the application of a pod, or makes it."""

    def _application(
        self, obj: Object, details: PodDetails, kept: dict[str, Any], *, running: bool
    ) -> Application | None:
        user, groups = self._user(obj)
        tags = self._tags(obj)
        known = self.partition.apps.get(details.app)
        if known is not None and known.state is State.COMPLETED:
            partition.advance(self.partition)
        elif known is not None:
            if (known.user, known.groups, known.tags) != (user, groups, tags):
                self.stored_apps[known.id] = None  # its pods no longer say whose it is
            return known
        leaf = self.partition.queue(kept.get("queue", ""))
        if leaf is None or not leaf.leaf:
            incoming = Submission(
                queue=details.queue, user=user, groups=groups, tags=tags
            )
            try:
                leaf = rules.leaf_of(self.partition, incoming)
            except PlacementError as error:
                if not running:
                    why = messages.not_placed(details.app, str(error))
                    rejected = Rejected(
                        app=details.app,
                        user=user,
                        groups=groups,
                        at_ms=self.context.now_ms,
                        message=why,
                    )
                    self._reject(obj.key, rejected, quiet=bool(kept))
                    return None
                leaf = rules.recovery(self.partition)
        app = Application(
            id=details.app,
            queue=leaf,
            user=user,
            groups=groups,
            submit_ms=kept.get("submit", self.context.now_ms),
            tags=tags,
        )
        return self._begin(obj, app, details, restore=bool(kept))

    def _user(self, obj: Object) -> tuple[str, tuple[str, ...]]:
        """Return a pod's user and groups; without any it is a group of its own."""
        user, groups = pods.user_of(obj)
        return user, groups or (user,)

    def _tags(self, obj: Object) -> dict[str, str]:
        """Return the tags of an application that this pod submits now."""
        namespace = obj.key.namespace
        return tags_of(namespace, self.annotations.get(namespace, {}))

    def _begin(
        self, obj: Object, app: Application, details: PodDetails, *, restore: bool
    ) -> Application | None:
        """Take a new application in, with its gang when it declares one."""
        self.partition.add_application(app)
        if not restore:
            apply_quota(self.partition, app, self.context.journal.complain)
        found = None if restore else self._gang(obj)
        if found is None:
            return app
        self.stored_apps[app.id] = None  # its gang is kept beside the objects
        why = placeholders.declare(self.partition, app, found)
        if not why:
            found.origin = obj.key.path
            placeholders.add_placeholders(self.partition, app, details.pod.priority)
            return app
        self.partition.remove_application(app)
        rejected = Rejected(
            app=app.id,
            queue=app.queue.path,
            user=app.user,
            groups=app.groups,
            at_ms=self.context.now_ms,
            message=why,
        )
        self._reject(obj.key, rejected, quiet=False)
        return None

    def _gang(self, obj: Object) -> GangState | None:
        """Return the gang that a pod declares; a bad declaration makes none."""
        try:
            return pods.read_gang(obj)
        except QuantityError as error:
            self.context.journal.complain(error.said)
            return None

    def _fail(self, ask: Ask) -> None:
        """End a pod whose gang found no places in time."""
        assert ask.pod is not None
        key = ask.pod.key
        self.timed_out.add(key)
        self.partition.drop_ask(ask)
        self.context.journal.touch(key)
        self.context.journal.emit(
            Fail(
                at_ms=self.context.now_ms,
                subject=key,
                reason=RESERVATION_TIMEOUT,
                message=messages.TIMED_OUT,
            )
        )

    def _reject(self, key: Key, rejected: Rejected, *, quiet: bool) -> None:
        message = rejected.message
        self.rejected[key] = message
        self.partition.reject(rejected)
        self.context.journal.touch(key)
        if not quiet:
            now = self.context.now_ms
            self.context.journal.emit(
                Fail(at_ms=now, subject=key, reason=REJECTED, message=message)
            )


# ------------------------------------------------------------------------
# Annotations of namespaces: quota for the queues that placement rules make.


_DOMAIN = "yunikorn.apache.org/"
_QUOTA = _DOMAIN + "namespace.quota"
_MAX_CPU = _DOMAIN + "namespace.max.cpu"
_MAX_MEMORY = _DOMAIN + "namespace.max.memory"
#: Annotation -> tag of the application.
_TAGS = {
    _QUOTA: "namespace.resourcequota",
    _DOMAIN + "namespace.guaranteed": "namespace.resourceguaranteed",
    _DOMAIN + "namespace.maxApps": "namespace.resourcemaxapps",
    _DOMAIN + "parentqueue": "namespace.parentqueue",
}

Complain = Callable[[Sentence], None]


@dataclass(frozen=True, slots=True)
class NamespaceQuota:
    """What a namespace sets for its queue; None leaves all of it as it is."""

    guaranteed: Amounts | None
    max: Amounts | None
    max_applications: int  # 0 leaves it as it is


def tags_of(namespace: str, annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of an application that is submitted in a namespace."""
    tags = {"namespace": namespace}
    older = {"cpu": annotations.get(_MAX_CPU), "memory": annotations.get(_MAX_MEMORY)}
    given = {name: value for name, value in older.items() if value}
    if given:
        tags[_TAGS[_QUOTA]] = json.dumps(given)
    for annotation, tag in _TAGS.items():
        if annotations.get(annotation):
            tags[tag] = annotations[annotation]
    return tags


def read(tags: Mapping[str, str], complain: Complain) -> NamespaceQuota:
    """Return the quota in the tags; what cannot be read is left out with a notice."""
    text = tags.get("namespace.resourcemaxapps", "0").strip()
    if not is_whole(text):
        complain(_ignored(tags, "namespace.maxApps", text, Wanted.WHOLE))
        text = "0"
    return NamespaceQuota(
        guaranteed=_amounts(tags, "namespace.resourceguaranteed", complain),
        max=_amounts(tags, "namespace.resourcequota", complain),
        max_applications=int(text),
    )


def _amounts(tags: Mapping[str, str], tag: str, complain: Complain) -> Amounts | None:
    text = tags.get(tag)
    if not text:
        return None
    try:
        data = json.loads(text)
        found = {_name(key): _value(key, value) for key, value in data.items()}
    except (ValueError, AttributeError, QuantityError):
        found = {}
    if not any(found.values()):
        complain(_ignored(tags, tag, text, Wanted.QUANTITIES))
    return resources.is_set(found)


def _name(kind: str) -> str:
    return VCORE if kind == "cpu" else kind


def _value(kind: str, quantity: Any) -> int:
    if not isinstance(quantity, str):
        raise QuantityError(expected(Wanted.TEXT, quantity), kind)
    return amounts.canonical(kind, quantity)


def _ignored(tags: Mapping[str, str], what: str, text: str, wanted: Wanted) -> Sentence:
    namespace = tags.get("namespace", "")
    return GivenUp.IGNORED.said(
        name=namespace, key=what, wanted=wanted, given=repr(text)
    )


def apply_quota(partition: Partition, app: Application, complain: Complain) -> None:
    """Set the quota of the queue that an application enters, if a rule made it.

    Guaranteed and max are set as a pair; ancestors are not checked.
    """
    leaf = app.queue
    if leaf.managed or leaf.name == RECOVERY:
        return
    found = read(app.tags, complain)
    if found.guaranteed is not None or found.max is not None:
        leaf.guaranteed, leaf.max = found.guaranteed, found.max
        partition.apply_sort_policy(leaf)
        partition.stale_max = True
    if found.max_applications:
        leaf.max_applications = found.max_applications
    partition.changed()


# ------------------------------------------------------------------------
# Pods that come, change and go.


class PodHandlers(ApplicationHandlers):
    """Makes a pod of YuniKorn's an ask, and counts those of other schedulers."""

    def _put_pod(self, obj: Object, *, restore: bool) -> None:
        details = pods.read_details(obj)
        pod = details.pod
        if pod.finished or pod.shape.gates:
            self._drop(obj.key)
            return
        self.records[obj.key.path] = pod
        if self.predicate_context is None and needs_pod_predicates(pod.shape):
            self._use_pod_predicates()
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
        if self.predicate_context is not None:
            self.predicate_context.put_foreign_pod(pod, node)
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
            self.context.journal.touch(Key("Node", "", name))
            self.recorder.displaced.add(name)

    def _edit_pod(self, obj: Object, ask: Ask, details: PodDetails) -> None:
        """Take an edit of a pod that waits; one that runs stays as it is."""
        pod = details.pod
        if ask.node is not None:
            if self.predicate_context is not None:
                self.predicate_context.note_edited(ask.key)
                self.partition.changed()
            return
        node = self.partition.nodes.by_name.get(pod.wanted_node)
        if node is not None:
            self.partition.place(ask, node)
            return
        ref = ask.pod
        assert ref is not None
        same = ask.priority == pod.priority and ref.shape is pod.shape
        if self.predicate_context is not None:
            ask.predicate = self.predicate_context.predicate(pod)
            self.partition.changed()
        stays = ask.app.id == details.app and ref.queue == details.queue
        if same and stays:
            return
        self._drop(obj.key, edited=stays)
        self.records[ask.key] = pod
        self._add_pod(obj, details, restore=False, originator=stays and ask.originator)

    def _add_pod(
        self,
        obj: Object,
        details: PodDetails,
        *,
        restore: bool,
        originator: bool = False,
    ) -> None:
        pod = details.pod
        node = self.partition.nodes.by_name.get(pod.wanted_node)
        if pod.wanted_node and node is None:
            self.waiting_for_node.setdefault(pod.wanted_node, {})[obj.key] = obj
            return
        kept = obj.state.get(self.name, {}) if restore else {}
        if self.same_policy and "rejected" in kept:
            self.rejected[obj.key] = kept["rejected"]
            return
        app = self._application(obj, details, kept, running=node is not None)
        if app is None:
            return
        ask = self._ask(obj, details, app, kept)
        ask.originator = ask.originator or originator
        fresh = not kept
        if node is not None:
            self.partition.add_allocation(ask, node, restore=not fresh)
        else:
            self.partition.add_ask(ask, restore=not fresh)
        if fresh and ask.pod is not None:
            ask.pod.submit_ms = app.submit_ms
            self.context.journal.touch(obj.key)
            for problem in pods.unsimulated(pod.shape):
                self.context.journal.complain(problem)
        else:
            state.restore_pod(self, ask, kept)

    def _ask(
        self, obj: Object, details: PodDetails, app: Application, kept: dict[str, Any]
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
                "origin", pods.is_originator(obj, first=_is_first(app, obj.key))
            ),
            required_node=pods.required_node(pod),
            predicate=self._predicate(pod),
            group=details.group,
        )
        ask.rank = kept.get("rank", 0)
        ask.pod = PodRef(
            key=obj.key,
            shape=pod.shape,
            queue=details.queue,
            submit_ms=kept.get("submit", app.submit_ms),
            since_ms=kept.get("since"),
        )
        return ask

    def _allows(self, obj: Object) -> bool:
        """Return whether a pod lets itself be preempted; "false" alone does not.

        Its own annotation counts, else that of its class.
        """
        own = obj.annotations.get(pods.ALLOW_PREEMPTION)
        if own in ("true", "false"):
            return own == "true"
        return not self.opted_out.get(str(obj.spec.get("priorityClassName")), False)

    def _drop(self, key: Key, *, edited: bool = False) -> None:
        self.rejected.pop(key, None)
        self.timed_out.discard(key)
        for waiting in self.waiting_for_node.values():
            waiting.pop(key, None)
        ask = self.partition.asks.get(key.path)
        if ask is not None:
            self._store(ask)
            if ask.node is None:
                self.partition.drop_ask(ask, edited=edited)
            else:
                self.partition.release(ask)
            self.context.journal.touch(key)
        elif key in self.foreign:
            node, _ = self.foreign.pop(key)
            self._occupy(node)
            if self.predicate_context is not None:
                self.predicate_context.put_foreign_pod(self.records[key.path], "")
        self.records.pop(key.path, None)

    def _store(self, ask: Ask) -> None:
        self.stored_apps[ask.app.id] = None


# ------------------------------------------------------------------------
# Nodes that come and change.


POD = "Pod"
NODE = "Node"
PRIORITY_CLASS = "PriorityClass"


class NodeHandlers(PodHandlers):
    """The part of YuniKorn's Kubernetes shim that decides: objects to the core."""

    def _put_node(self, obj: Object, *, restore: bool) -> None:
        record = pods.read_node_object(obj)
        capacity = pods.capacity_of(record)
        partition = self.partition
        node = partition.nodes.by_name.get(record.name)
        if node is None:
            node = SchedulingNode(record.name, capacity)
            node.record = record
            partition.add_node(node)
            score = obj.state.get(self.name, {}).get("score") if restore else None
            if score is not None:
                self.stored_scores[record.name] = score
        elif node.capacity != capacity:
            partition.resize_node(node, capacity)
        node.record = record
        if self.predicate_context is not None:
            self.predicate_context.put_node(record)
        if record.taints and not self.tainted:
            self._use_taints()
        if node.schedulable is record.unschedulable:
            partition.cordon(node, schedulable=not record.unschedulable)
        for pod in self.waiting_for_node.pop(record.name, {}).values():
            self._put_pod(pod, restore=False)
        partition.changed()


def _is_first(app: Application, pod: Key) -> bool:
    """Return whether a pod is the first of its application; no placeholder is one."""
    if app.gang is not None and app.gang.origin:
        return bool(app.gang.origin == pod.path)
    return app.state in (State.NEW, State.ACCEPTED) and not (
        app.asks or app.allocations
    )
