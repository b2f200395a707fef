"""A partition at one instant, in the records of YuniKorn's web service."""

from __future__ import annotations

from functools import cached_property

from api.cluster import reading
from api.cluster.yunikorn.applications import (
    allocation,
    application,
    ended,
    rejected,
)
from api.cluster.yunikorn.records import (
    CLUSTER,
    PARTITION,
    Record,
    allocated_on,
    amounts,
    percent,
    sparse,
)
from sandbox.base.errors import NotFoundError
from sandbox.explain.application_states import (
    ApplicationStates,
    Entered,
    since,
    states_of,
)
from sandbox.models import Sandbox
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import (
    Application,
    NullListener,
    Queue,
    SchedulingNode,
)
from scheduler.engine.yunikorn.objects.node_order import DEFAULT_WEIGHTS
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model import durations
from scheduler.model.objects import Key
from scheduler.model.problems import ApiServer, RequestProblem


class PartitionView:
    """A partition, and its times as nanoseconds since the Unix epoch.

    Another one than the default has the queues of its configuration and nothing in
    them: on Kubernetes all nodes are in the default one. Raises NotFoundError.
    """

    def __init__(self, sandbox: Sandbox, world: World, name: str = PARTITION) -> None:
        if world.yunikorn is None:
            raise NotFoundError(
                RequestProblem.STACK_ONLY.said(name=sandbox.pk, stack=sandbox.stack)
            )
        self.sandbox = sandbox
        world.yunikorn.finish_restore()
        self.name = name
        self.partition: Partition = world.yunikorn.partition
        if name != PARTITION:
            self.partition = self._other(name)
        self.partition.refresh()
        self.epoch_us = reading.now_us(sandbox) - sandbox.now_ms * 1000

    def _other(self, name: str) -> Partition:
        for spec in self.partition.spec.others:
            if spec.name == name:
                return Partition(spec, self.partition.laws, NullListener())
        raise NotFoundError("Partition not found")

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
        raise NotFoundError(ApiServer.NO_QUEUE.said(name=path))

    def queue(self, queue: Queue, *, deep: bool) -> Record:
        """Return one queue, with the tree below it when `deep`."""
        children = list(queue.children.values())
        own = queue.properties
        return {
            "queuename": queue.path,
            "partition": self.name,
            "isLeaf": queue.leaf,
            "isManaged": queue.managed,
            "currentPriority": queue.published_for(queue.priority),
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
                    "allocatingAcceptedApps": sorted(queue.allocating),
                    "sortingPolicy": queue.sorted_by,
                    "priorityOffset": own.priority_offset,
                    "preemptionDelay": durations.duration_text(own.delay_ms),
                }
            ),
        }

    # -- applications

    def find_application(self, name: str) -> Application:
        """Return an application by its id. Raises NotFoundError."""
        found = self.partition.apps.get(name)
        if found is None:
            raise NotFoundError(ApiServer.NO_APPLICATION.said(name=name))
        return found

    def application(self, app: Application) -> Record:
        """Return an application with its requests and allocations."""
        entered = self._entered(app.id, app.state_ms, app.state)
        return application(app, self.nanoseconds, entered)

    def _entered(self, name: str, at_ms: int, state: str) -> list[Entered]:
        """Return the state log of an application that is in `state` since then."""
        known = self._states.entered.get(str(Key("Application", "", name)), [])
        if later := self.partition.ways_back.get(name):
            known = [one for one in known if one[0] < later[0][0]]
            for at, entered in later:
                known += since(known, at, entered)
        return [*known, *since(known, at_ms, state)]

    @cached_property
    def _states(self) -> ApplicationStates:
        return states_of(self.sandbox, {})

    def ended(self, state: str) -> list[Record]:
        """Return the applications that ended; "completed" includes the failed ones."""
        wanted = ("completed", "failed") if state == "completed" else (state,)
        return [
            ended(one, self.nanoseconds, self._entered(one.app, one.at_ms, one.state))
            for one in self.partition.ended
            if one.state.lower() in wanted
        ]

    def rejected(self) -> list[Record]:
        """Return the applications that were refused."""
        known = self.partition.rejected.values()
        return [rejected(one, self.nanoseconds) for one in known]

    # -- nodes

    def find_node(self, name: str) -> SchedulingNode:
        """Return a node. Raises NotFoundError."""
        found = self.partition.nodes.by_name.get(name)
        if found is None:
            raise NotFoundError(ApiServer.NO_NODE.said(name=name))
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
                        allocation(ask, self.nanoseconds)
                        for ask in node.allocations.values()
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
