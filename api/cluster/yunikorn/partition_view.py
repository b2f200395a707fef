"""A partition at one instant, in the records of YuniKorn's web service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.cluster import reading
from sandbox.base.errors import NotFoundError
from sandbox.models import Sandbox
from scheduler.records.hierarchy import PlacementRule
from scheduler.world import World
from scheduler.yunikorn.objects.model import Application, Ask, Queue, SchedulingNode
from scheduler.yunikorn.objects.node_order import DEFAULT_WEIGHTS
from scheduler.yunikorn.objects.partition import Partition

PARTITION = "default"
CLUSTER = "quotalab"
ENDED = frozenset({"Completed", "Failed", "Rejected", "Expired"})

Record = dict[str, Any]


class PartitionView:
    """A partition, and how its times are message."""

    def __init__(self, sandbox: Sandbox, world: World) -> None:
        if world.yunikorn is None:
            raise NotFoundError(
                f"sandbox {sandbox.pk} runs the stack {sandbox.stack}, not yunikorn"
            )
        self.sandbox = sandbox
        self.partition: Partition = world.yunikorn.partition
        self.partition.refresh()
        self.epoch_us = reading.now_us(sandbox) - sandbox.now_ms * 1000

    def nanoseconds(self, at_ms: int) -> int:
        """Return a virtual time as nanoseconds since the Unix epoch."""
        return (self.epoch_us + at_ms * 1000) * 1000

    # -- the whole

    def cluster(self) -> Record:
        """Return the cluster."""
        build = {"buildVersion": "simulated", "rmId": CLUSTER}
        return {
            "startTime": self.nanoseconds(0),
            "rmBuildInformation": [build],
            "partition": PARTITION,
            "clusterName": CLUSTER,
        }

    def info(self) -> Record:
        """Return the partition in numbers."""
        root, spec = self.partition.root, self.partition.spec
        apps = self.partition.apps.values()
        states: dict[str, int] = {"total": len(apps)}
        for app in apps:
            states[str(app.state)] = states.get(str(app.state), 0) + 1
        capacity = {
            "capacity": amounts(root.max),
            "usedCapacity": amounts(root.allocated),
            "utilization": percent(root.allocated, root.max),
        }
        weights = dict(spec.weights or DEFAULT_WEIGHTS)
        sorting = {"type": spec.node_sort, "resourceWeights": weights}
        return {
            "clusterId": CLUSTER,
            "name": PARTITION,
            "capacity": sparse(capacity),
            "nodeSortingPolicy": sorting,
            "preemptionEnabled": spec.preemption,
            **sparse(
                {
                    "totalNodes": len(self.partition.nodes.by_name),
                    "applications": states,
                    "totalContainers": sum(len(app.allocations) for app in apps),
                    "state": "Active",
                    "lastStateTransitionTime": self.nanoseconds(0),
                }
            ),
        }

    def others(self) -> list[Record]:
        """Return the further partitions: configured, and empty on Kubernetes."""
        return [
            {
                "clusterId": CLUSTER,
                "name": other.name,
                "nodeSortingPolicy": {
                    "type": other.node_sort,
                    "resourceWeights": dict(other.weights or DEFAULT_WEIGHTS),
                },
                "preemptionEnabled": other.preemption,
                "state": "Active",
                "lastStateTransitionTime": self.nanoseconds(0),
            }
            for other in self.partition.spec.others
        ]

    # -- queues

    def find_queue(self, path: str) -> Queue:
        """Return the queue of a path. Raises NotFoundError."""
        for queue in self.partition.root.walk():
            if queue.path == path:
                return queue
        raise NotFoundError(f"Queue not found: {path}")

    def queue(self, queue: Queue, *, deep: bool) -> Record:
        """Return one queue, with the tree below it when `deep`."""
        children = list(queue.children.values())
        own = queue.properties
        return {
            "queuename": queue.path,
            "partition": PARTITION,
            "isLeaf": queue.leaf,
            "isManaged": queue.managed,
            "currentPriority": queue.priority,
            "prioritySorting": own.by_priority,
            "preemptionEnabled": own.preemption != "disabled",
            "isPreemptionFence": own.preemption == "fence",
            "isPriorityFence": own.priority_fence,
            **sparse(
                {
                    "status": queue.state,
                    "pendingResource": amounts(queue.pending),
                    "maxResource": amounts(queue.max),
                    "guaranteedResource": amounts(queue.guaranteed),
                    "allocatedResource": amounts(queue.allocated),
                    "preemptingResource": amounts(queue.preempting),
                    "headroom": amounts(queue.headroom()),
                    "properties": dict(queue.texts),
                    "parent": queue.parent.path if queue.parent else "",
                    "children": [self.queue(c, deep=True) for c in children]
                    if deep
                    else [],
                    "childNames": [child.path for child in children],
                    "absUsedCapacity": percent(queue.allocated, queue.max),
                    "maxRunningApps": queue.max_applications,
                    "runningApps": len(queue.running),
                    "sortingPolicy": own.sort_policy,
                    "priorityOffset": own.priority_offset,
                    "preemptionDelay": f"{own.delay_ms / 1000:g}s",
                }
            ),
        }

    # -- applications

    def find_application(self, name: str) -> Application:
        """Return an application by its id. Raises NotFoundError."""
        found = self.partition.apps.get(name)
        if found is None:
            raise NotFoundError(f"Application not found: {name}")
        return found

    def application(self, app: Application) -> Record:
        """Return an application with its requests and allocations."""
        state = str(app.state)
        finished = self.nanoseconds(app.state_ms) if state in ENDED else None
        placed = [self.allocation(ask) for ask in app.allocations.values()]
        return {
            "applicationID": app.id,
            "partition": PARTITION,
            "queueName": app.queue.path,
            "submissionTime": self.nanoseconds(app.submit_ms),
            "applicationState": state,
            "user": app.user,
            "groups": list(app.groups),
            **sparse(
                {
                    "usedResource": amounts(app.allocated),
                    "pendingResource": amounts(app.pending),
                    "finishedTime": finished,
                    "requests": [self.request(ask) for ask in app.asks.values()],
                    "allocations": placed,
                    "stateLog": [
                        {
                            "time": self.nanoseconds(app.state_ms),
                            "applicationState": state,
                        }
                    ],
                    "hasReserved": bool(app.reserved),
                    "reservations": sorted(app.reserved),
                    "maxRequestPriority": app.priority if app.asks else 0,
                }
            ),
        }

    def _common(self, ask: Ask) -> Record:
        return {
            "allocationKey": ask.key,
            "preemptionPolicy": {
                "allowPreemptSelf": ask.allow_self,
                "allowPreemptOther": ask.allow_other,
            },
            **sparse(
                {
                    "requestTime": self.nanoseconds(ask.create_ms),
                    "resource": amounts(ask.resource),
                    "priority": str(ask.priority),
                    "applicationId": ask.app.id,
                    "placeholder": ask.placeholder,
                    "taskGroupName": ask.group,
                    "originator": ask.originator,
                }
            ),
        }

    def allocation(self, ask: Ask) -> Record:
        """Return what runs on a node."""
        where = ask.node.name if ask.node else ""
        return {
            **self._common(ask),
            **sparse({"nodeId": where, "preempted": ask.preempted}),
        }

    def request(self, ask: Ask) -> Record:
        """Return what waits, and what was said of it."""
        log = [
            {"message": text, "lastOccurrence": self.nanoseconds(at), "count": 1}
            for text, at in sorted(ask.log.items(), key=lambda line: line[1])
        ]
        return {
            **self._common(ask),
            **sparse(
                {
                    "requiredNodeId": ask.required_node,
                    "allocationLog": log,
                    "triggeredPreemption": ask.triggered,
                    "schedulingAttempted": bool(ask.log),
                }
            ),
        }

    # -- nodes

    def find_node(self, name: str) -> SchedulingNode:
        """Return a node. Raises NotFoundError."""
        found = self.partition.nodes.by_name.get(name)
        if found is None:
            raise NotFoundError(f"Node not found: {name}")
        return found

    def node(self, node: SchedulingNode) -> Record:
        """Return a node with what it holds."""
        held = allocated_on(node)
        return {
            "nodeID": node.name,
            "schedulable": node.schedulable,
            "isReserved": bool(node.reservations),
            **sparse(
                {
                    "hostName": node.name,
                    "attributes": dict(node.attributes),
                    "capacity": amounts(node.capacity),
                    "allocated": {n: a for n, a in held.items() if a},
                    "occupied": amounts(node.occupied),
                    "available": amounts(node.available),
                    "utilized": percent(held, node.capacity),
                    "allocations": [
                        self.allocation(ask) for ask in node.allocations.values()
                    ],
                    "reservations": sorted(node.reservations),
                }
            ),
        }

    def utilization(self, kind: str) -> Record:
        """Return how many nodes are how full of a resource, in tenths."""
        buckets: list[list[str]] = [[] for _ in range(10)]
        for node in self.partition.nodes.by_name.values():
            share = percent(allocated_on(node), node.capacity).get(kind)
            if share is not None:
                buckets[min(9, max(0, -(-share // 10) - 1))].append(node.name)
        return {
            "type": kind,
            "utilization": [
                {
                    "bucketName": f"{n * 10}-{n * 10 + 10}%",
                    "numOfNodes": len(names),
                    "nodeNames": names or None,
                }
                for n, names in enumerate(buckets)
            ],
        }

    # -- users and groups

    def usage(self, holder: str) -> list[Record]:
        """Return what each user or group holds, queue by queue."""
        found: dict[str, list[Application]] = {}
        for app in self.partition.apps.values():
            if str(app.state) in ENDED:
                continue
            names = [app.user] if holder == "user" else app.groups[:1]
            for name in names:
                found.setdefault(name, []).append(app)
        return [
            self._holder(holder, name, apps) for name, apps in sorted(found.items())
        ]

    def _holder(self, holder: str, name: str, apps: list[Application]) -> Record:
        groups = {app.id: app.groups[0] for app in apps if app.groups}
        own: Record = {"userName": name, "groups": groups}
        if holder == "group":
            own = {"groupName": name, "applications": sorted(app.id for app in apps)}
        return {**own, "queues": self._held(self.partition.root, apps)}

    def _held(self, queue: Queue, apps: list[Application]) -> Record:
        below = [app for app in apps if queue in app.queue.route]
        children = [
            self._held(child, below)
            for child in queue.children.values()
            if any(child in app.queue.route for app in below)
        ]
        return {
            "queuePath": queue.path,
            **sparse(
                {
                    "resourceUsage": summed(app.allocated for app in below),
                    "runningApplications": sorted(app.id for app in below),
                    "children": children,
                }
            ),
        }

    # -- rules and health

    def rules(self) -> Record:
        """Return the placement rules; without any there is the one of old."""
        given = self.partition.spec.placement or (PlacementRule(name="provided"),)
        return {"partition": PARTITION, "rules": [_rule(rule) for rule in given]}

    def health(self) -> Record:
        """Return the checks that a simulated scheduler can fail."""
        checks = list(self._checks())
        healthy = all(check["Succeeded"] for check in checks)
        return {"Healthy": healthy, "HealthChecks": checks}

    def _checks(self) -> Iterator[Record]:
        problem = self.sandbox.problem
        nodes = self.partition.nodes.by_name.values()
        message = problem or "There were 0 scheduling errors logged in the metrics"
        yield _check("Scheduling errors", message, good=not problem)
        negative = [n.name for n in nodes if any(a < 0 for a in n.available.values())]
        message = f"Nodes with negative resources: {negative}"
        yield _check("Negative resources", message, good=not negative)
        total = summed(node.capacity for node in nodes)
        message = f"Partitions with inconsistent data: {[PARTITION]}"
        agrees = total == amounts(self.partition.root.max)
        yield _check("Consistency of data", message if not agrees else "", good=agrees)


def _check(name: str, message: str, *, good: bool) -> Record:
    return {
        "Name": name,
        "Succeeded": good,
        "Description": f"Check for {name.lower()}",
        "DiagnosisMessage": message,
    }


def _rule(rule: PlacementRule) -> Record:
    parameters = {"create": str(rule.create).lower()}
    if rule.value:
        parameters["value"] = rule.value
    found: Record = {"name": rule.name, "parameters": parameters}
    if rule.filter is not None:
        found["filter"] = sparse(
            {
                "type": "deny" if rule.filter.deny else "allow",
                "userList": list(rule.filter.users),
                "groupList": list(rule.filter.groups),
            }
        )
    if rule.parent is not None:
        found["parentRule"] = _rule(rule.parent)
    return found


def sparse(record: Record) -> Record:
    """Return the record without what is empty, as the real answers leave it out."""
    return {name: value for name, value in record.items() if value}


def amounts(values: Mapping[str, int] | None) -> dict[str, int]:
    """Return amounts by resource, in order of their names."""
    return {name: int(amount) for name, amount in sorted((values or {}).items())}


def summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of amounts."""
    total: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + int(amount)
    return amounts(total)


def percent(part: Mapping[str, int], whole: Mapping[str, int] | None) -> dict[str, int]:
    """Return whole percents of what there is."""
    return {
        name: 100 * int(part.get(name, 0)) // int(amount)
        for name, amount in sorted((whole or {}).items())
        if amount
    }


def allocated_on(node: SchedulingNode) -> dict[str, int]:
    """Return what a node's allocations take of it."""
    return {
        name: int(amount) - node.available.get(name, 0) - node.occupied.get(name, 0)
        for name, amount in node.capacity.items()
    }
