"""YuniKorn's own REST paths, to read: partitions, queues, applications, nodes, users.

Below `/ws/v1/` as its scheduler serves them; times are nanoseconds, vcore is
milli-cores. Source: YuniKorn, scheduler REST API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import reading
from api.cluster.base import ClusterView
from api.renderers import dump
from sandbox import exports, worlds
from sandbox.errors import NotFoundError
from sandbox.models import Sandbox
from scheduler.world import World
from scheduler.yunikorn.applications import Application
from scheduler.yunikorn.nodes import Node
from scheduler.yunikorn.partition import Partition
from scheduler.yunikorn.queues import Queue

PARTITION = "default"
_RUNNING = frozenset({"Accepted", "Running", "Completing", "New", "Resuming"})


class Looking:
    """A partition at one instant, and how its times are told."""

    def __init__(self, sandbox: Sandbox, world: World) -> None:
        if world.yunikorn is None:
            raise NotFoundError(
                f"sandbox {sandbox.pk} runs the stack {sandbox.stack}, not yunikorn"
            )
        self.sandbox = sandbox
        self.world = world
        self.partition: Partition = world.yunikorn.partition
        self.partition.refresh()
        self.epoch_us = reading.now_us(sandbox) - sandbox.now_ms * 1000

    def nanoseconds(self, at_ms: int) -> int:
        """Return a virtual time as nanoseconds since the Unix epoch."""
        return (self.epoch_us + at_ms * 1000) * 1000

    def partitions(self) -> list[dict[str, Any]]:
        """Return the one partition."""
        root = self.partition.root
        states: dict[str, int] = {"total": len(self.partition.apps)}
        for app in self.partition.apps.values():
            states[str(app.state)] = states.get(str(app.state), 0) + 1
        return [
            {
                "clusterId": "quotalab",
                "name": PARTITION,
                "state": "Active",
                "lastStateTransitionTime": self.nanoseconds(0),
                "capacity": {
                    "capacity": _amounts(root.max),
                    "usedCapacity": _amounts(root.allocated),
                    "utilization": _percent(root.allocated, root.max or {}),
                },
                "totalNodes": len(self.partition.nodes.by_name),
                "applications": states,
                "totalContainers": sum(
                    len(app.allocations) for app in self.partition.apps.values()
                ),
            }
        ]

    def queues(self) -> dict[str, Any]:
        """Return the whole tree."""
        return self._queue(self.partition.root, deep=True)

    def queue(self, path: str, *, deep: bool) -> dict[str, Any]:
        """Return one queue by its path, with the tree below it when `deep`."""
        return self._queue(self.find_queue(path), deep=deep)

    def find_queue(self, path: str) -> Queue:
        """Return the queue of a path. Raises NotFoundError."""
        for queue in self.partition.root.walk():
            if queue.path == path:
                return queue
        raise NotFoundError(f"Queue not found: {path}")

    def _queue(self, queue: Queue, *, deep: bool) -> dict[str, Any]:
        children = list(queue.children.values())
        return {
            "queuename": queue.path,
            "status": queue.state,
            "partition": PARTITION,
            "pendingResource": _amounts(queue.pending),
            "maxResource": _amounts(queue.max),
            "guaranteedResource": _amounts(queue.guaranteed),
            "allocatedResource": _amounts(queue.allocated),
            "preemptingResource": _amounts(queue.preempting),
            "headroom": _amounts(queue.headroom()),
            "isLeaf": queue.leaf,
            "isManaged": queue.managed,
            "properties": dict(queue.texts),
            "parent": queue.parent.path if queue.parent else "",
            "children": [self._queue(c, deep=True) for c in children] if deep else [],
            "childNames": [child.path for child in children],
            "absUsedCapacity": _percent(queue.allocated, queue.max or {}),
            "maxRunningApps": queue.max_applications,
            "runningApps": len(queue.running),
            "currentPriority": queue.priority,
            "sortingPolicy": queue.properties.sort_policy,
        }

    def applications(self, apps: Iterator[Application]) -> list[dict[str, Any]]:
        """Return applications."""
        return [self._application(app) for app in apps]

    def _application(self, app: Application) -> dict[str, Any]:
        return {
            "applicationID": app.id,
            "usedResource": _amounts(app.allocated),
            "pendingResource": _amounts(app.pending),
            "partition": PARTITION,
            "queueName": app.queue.path,
            "submissionTime": self.nanoseconds(app.submit_ms),
            "applicationState": str(app.state),
            "user": app.user,
            "groups": list(app.groups),
            "requests": [self._ask(ask) for ask in app.asks.values()],
            "allocations": [self._ask(ask) for ask in app.allocations.values()],
            "hasReserved": bool(app.reserved),
        }

    def _ask(self, ask: Any) -> dict[str, Any]:
        found = {
            "allocationKey": ask.key,
            "resource": _amounts(ask.resource),
            "priority": str(ask.priority),
            "applicationId": ask.app.id,
            "partition": PARTITION,
        }
        return {**found, "nodeId": ask.node.name} if ask.node else found

    def nodes(self) -> list[dict[str, Any]]:
        """Return every node with what it holds."""
        return [self._node(node) for node in self.partition.nodes.by_name.values()]

    def _node(self, node: Node) -> dict[str, Any]:
        held = {
            name: amount - node.available.get(name, 0) - node.occupied.get(name, 0)
            for name, amount in node.capacity.items()
        }
        return {
            "nodeID": node.name,
            "attributes": dict(node.attributes),
            "capacity": _amounts(node.capacity),
            "allocated": _amounts({n: a for n, a in held.items() if a}),
            "occupied": _amounts(node.occupied),
            "available": _amounts(node.available),
            "utilized": _percent(held, node.capacity),
            "allocations": [self._ask(ask) for ask in node.allocations.values()],
            "schedulable": node.schedulable,
            "isReserved": bool(node.reservations),
            "reservations": sorted(node.reservations),
        }

    def usage(self) -> list[dict[str, Any]]:
        """Return what each user holds, over all queues."""
        by_user: dict[str, dict[str, int]] = {}
        running: dict[str, list[str]] = {}
        for app in self.partition.apps.values():
            held = by_user.setdefault(app.user, {})
            running.setdefault(app.user, []).append(app.id)
            for name, amount in app.allocated.items():
                held[name] = held.get(name, 0) + amount
        return [
            {
                "userName": user,
                "groups": {},
                "queues": {
                    "queuename": "root",
                    "resourceUsage": _amounts(held),
                    "runningApplications": running[user],
                },
            }
            for user, held in sorted(by_user.items())
        ]


def _amounts(values: Any) -> dict[str, int]:
    return {name: int(amount) for name, amount in sorted((values or {}).items())}


def _percent(part: Any, whole: Any) -> dict[str, int]:
    return {
        name: 100 * int(part.get(name, 0)) // int(amount)
        for name, amount in sorted(whole.items())
        if amount
    }


class YuniKornView(ClusterView):
    """One read path; the subclass says what it answers."""

    def get(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Return what the path names."""
        sandbox = self.sandbox(sandbox_id)
        if places.get("partition", PARTITION) not in (PARTITION, "[mycluster]default"):
            raise NotFoundError("Partition not found")
        with worlds.looking_at(sandbox) as world:
            return Response(self.body(Looking(sandbox, world), places))

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the answer."""
        raise NotImplementedError


class Partitions(YuniKornView):
    """GET /ws/v1/partitions."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the one partition."""
        return looking.partitions()


class Clusters(YuniKornView):
    """GET /ws/v1/clusters."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the cluster."""
        return [{"clusterName": "quotalab", "partition": PARTITION}]


class Queues(YuniKornView):
    """GET /ws/v1/partition/{p}/queues."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the whole tree."""
        return looking.queues()


class OneQueue(YuniKornView):
    """GET /ws/v1/partition/{p}/queue/{q}."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return one queue, with all below it for `?subtree`."""
        deep = "subtree" in self.request.query_params
        return looking.queue(places["queue"], deep=deep)


class QueueApplications(YuniKornView):
    """GET /ws/v1/partition/{p}/queue/{q}/applications[/{state}]."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the applications of a queue."""
        apps = looking.find_queue(places["queue"]).apps.values()
        picks = _picker(places.get("state", "active"))
        return looking.applications(app for app in apps if picks(str(app.state)))


class Applications(YuniKornView):
    """GET /ws/v1/partition/{p}/applications/{state}."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return the applications in a state: active, completed, rejected, ..."""
        picks = _picker(places["state"])
        apps = looking.partition.apps.values()
        return looking.applications(app for app in apps if picks(str(app.state)))


def _picker(state: str) -> Callable[[str], bool]:
    wanted = state.lower()
    if wanted == "active":
        return lambda given: given in _RUNNING
    return lambda given: given.lower() == wanted


class Nodes(YuniKornView):
    """GET /ws/v1/partition/{p}/nodes."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return every node."""
        return looking.nodes()


class Users(YuniKornView):
    """GET /ws/v1/partition/{p}/usage/users."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return what each user holds."""
        return looking.usage()


class HealthCheck(YuniKornView):
    """GET /ws/v1/scheduler/healthcheck."""

    def body(self, looking: Looking, places: dict[str, str]) -> Any:
        """Return whether the engine complained in this sandbox."""
        problem = looking.sandbox.problem
        check = {
            "Name": "Scheduling errors",
            "Succeeded": not problem,
            "Description": "Check for scheduling errors",
            "DiagnosisMessage": problem,
        }
        return {"Healthy": not problem, "HealthChecks": [check]}


class Config(ClusterView):
    """GET /ws/v1/config."""

    def get(self, request: Request, sandbox_id: str) -> Response | HttpResponseBase:
        """Return queues.yaml, as YAML or as JSON."""
        found = exports.queues(self.sandbox(sandbox_id))
        if request.headers.get("Accept", "").startswith("application/json"):
            return Response(found)
        return HttpResponse(dump(found), content_type="application/yaml")
