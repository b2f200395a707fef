"""Vectors of yunikorn-core in steps: submit, ask, cycle, release, reconfigure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects.gang_state import GangState, Style, TaskGroup
from scheduler.engine.yunikorn.objects.model import Application, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.partition_state import build
from scheduler.engine.yunikorn.placement.rules import Submission, place
from scheduler.engine.yunikorn.preemption import quota_change
from scheduler.input.manifests import queues_yaml as manifests
from scheduler.model.errors import SchedulerError
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.registry import lookup
from tests.conformance.yunikorn_state import (
    MS,
    TraceListener,
    add_nodes,
    parse_all,
    read_ask,
    run_cycles,
)

Vector = dict[str, Any]


class Steps:
    """One vector being replayed: the partition, and what was placed where."""

    def __init__(self, vector: Vector) -> None:
        self.listener = TraceListener()
        spec = manifests.read_text(vector["queuesYaml"])
        laws = lookup("laws", vector.get("laws", "released"))()
        self.partition = Partition(spec, laws, self.listener)
        self.partition.now_ms = vector["now"] * MS
        self.placed: dict[str, str | None] = {}
        add_nodes(self.partition, vector)
        for data in vector["applications"]:
            self.submit(data)
        for data in vector["allocations"]:
            ask = read_ask(self.partition, data)
            node = self.partition.nodes.by_name[data["node"]]
            self.partition.add_allocation(ask, node)
        for data in vector["asks"]:
            self.ask(data)

    def submit(self, data: Vector) -> None:
        """Place an application; one that is refused is placed nowhere."""
        self.placed[data["id"]] = None
        submission = Submission(
            queue=data["queue"],
            user=data["user"],
            groups=tuple(data.get("groups") or ()),
            tags=data["tags"],
        )
        leaf = place(self.partition, submission)
        if leaf is None:
            return
        app = Application(
            id=data["id"],
            queue=leaf,
            user=data["user"],
            groups=submission.groups,
            submit_ms=data["submitTime"] * MS,
            tags=data["tags"],
        )
        self.partition.add_application(app)
        if "groupsSpec" in data and placeholders.declare(
            self.partition, app, _gang(data)
        ):
            self.partition.remove_application(app)
            return
        self.placed[app.id] = leaf.path

    def ask(self, data: Vector, only: str | None = None) -> None:
        """Add an ask, where its application is there and in the state given."""
        app = self.partition.apps.get(data["app"])
        if app is None or (only is not None and str(app.state) != only):
            return
        self.partition.add_ask(read_ask(self.partition, data))

    def release(self, key: str) -> None:
        """End a pod, or withdraw its ask."""
        ask = self.partition.asks.get(key)
        if ask is None:
            return
        if ask.node is None:
            self.partition.drop_ask(ask)
        else:
            self.partition.release(ask)

    def timeout_placeholders(self, key: str) -> None:
        """Let the placeholder timeout of an application strike now."""
        app = self.partition.apps.get(key)
        if app is not None and app.placeholders:
            placeholders.timeout_placeholders(self.partition, app)
            self.listener.write_cancelled(at=len(self.listener.events))

    def configure(self, text: str) -> None:
        """Take a new queues.yaml."""
        reconfigure(self.partition, manifests.read_text(text))

    def enforce_quota(self, passed_ms: int) -> None:
        """Let time pass, then run quota-change preemption; victims go at once."""
        self.partition.now_ms += passed_ms
        self.listener.released.clear()
        quota_change.run_pass(self.partition)
        keys = sorted(ask.key for ask in self.listener.released)
        self.listener.events.append({"ev": "quota", "keys": keys})
        for ask in list(self.listener.released):
            self.partition.release(ask)
        self.listener.released.clear()

    def run(self, step: Vector) -> None:
        """Do one step of a vector; SchedulerError for an unknown one."""
        known: dict[str, Callable[[], object]] = {
            "cycles": lambda: run_cycles(self.partition, self.listener),
            "app": lambda: self.submit(step["app"]),
            "ask": lambda: self.ask(step["item"], step.get("only")),
            "release": lambda: self.release(step["key"]),
            "timeout": lambda: self.timeout_placeholders(step["key"]),
            "config": lambda: self.configure(step["yaml"]),
            "quota": lambda: self.enforce_quota(step["ms"]),
        }
        if step["op"] not in known:
            expected = ", ".join(sorted(known))
            raise SchedulerError(f"step {step['op']!r}: expected one of {expected}")
        known[step["op"]]()

    def outcome(self) -> Vector:
        """Return what the vector records of the end."""
        partition = self.partition
        pending = sorted(a.key for a in partition.asks.values() if a.node is None)
        why = {
            key: sorted(texts)
            for key, texts in self.listener.why.items()
            if key in pending and texts
        }
        return {
            "trace": self.listener.events,
            "why": why,
            "pending": pending,
            "states": self.states(),
            "placed": self.placed,
            "used": {
                queue.path: dict(queue.allocated)
                for queue in partition.root.walk()
                if queue.allocated
            },
        }

    def states(self) -> dict[str, str]:
        """Return the state of every application that was accepted."""
        present = {app.id: str(app.state) for app in self.partition.apps.values()}
        accepted = (name for name, path in self.placed.items() if path)
        return {
            name: present.get(name) or self.listener.states[name] for name in accepted
        }

    def dynamic(self) -> Vector:
        """Return the queues that placement rules made."""
        return {
            queue.path: _described(queue)
            for queue in self.partition.root.walk()
            if not queue.managed
        }


def _described(queue: Any) -> Vector:
    found = {"leaf": queue.leaf, "maxApplications": queue.max_applications}
    if queue.max:
        found["max"] = dict(queue.max)
    if queue.guaranteed:
        found["guaranteed"] = dict(queue.guaranteed)
    return found


def _gang(data: Vector) -> GangState:
    groups = [
        TaskGroup(
            name=group["name"],
            members=group["members"],
            resource=parse_all(group["resource"]),
        )
        for group in data["groupsSpec"]
    ]
    style: Style = data.get("style", "Soft")
    return GangState(groups={group.name: group for group in groups}, style=style)


def reconfigure(partition: Partition, spec: PartitionSpec) -> None:
    """Take a new configuration; applications and allocations stay where they are.

    Queues that it no longer names are drained: they take no new application.
    """
    before = {
        queue.path: (queue.max, queue.properties.quota_delay_ms)
        for queue in partition.root.walk()
    }
    _apply(partition.root, spec.root)
    partition.configure(spec)
    for app in partition.apps.values() if partition.limits.active else ():
        for ask in app.allocations.values():
            partition.limits.take(app, ask.resource)
    for queue in partition.root.walk():
        old_max, old_delay_ms = before.get(queue.path, (None, 0))
        quota_change.update_clock(queue, old_max, old_delay_ms, partition.now_ms)


def _apply(queue: Queue, spec: QueueConfig) -> None:
    queue.configure(spec)
    queue.managed = True
    named = {child.name: child for child in spec.queues}
    for name, child in queue.children.items():
        if name in named:
            _apply(child, named[name])
        elif child.managed:
            child.state = "Draining"
    for name, child_spec in named.items():
        if name not in queue.children:
            queue.children[name] = build(child_spec, queue)
