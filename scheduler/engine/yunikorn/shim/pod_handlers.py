"""Pods that come, change and go."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    PodRef,
    SchedulingNode,
)
from scheduler.engine.yunikorn.shim import pods, state
from scheduler.engine.yunikorn.shim.application_handlers import ApplicationHandlers
from scheduler.engine.yunikorn.shim.pod_predicates import needs_pod_predicates
from scheduler.engine.yunikorn.shim.pods import PodDetails
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.yunikorn.resources import Amounts


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
        self._add_pod(obj, details, restore=False)

    def _add_pod(self, obj: Object, details: PodDetails, *, restore: bool) -> None:
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
                "origin",
                pods.is_originator(obj, first=not (app.asks or app.allocations)),
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
