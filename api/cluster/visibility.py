"""Kueue's visibility API: who waits in a queue, and at which position.

Source: PendingWorkloadsSummary of
<https://kueue.sigs.k8s.io/docs/tasks/manage/monitor_pending_workloads/pending_workloads_on_demand/>
"""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import reading, resources
from api.cluster.base import ClusterView
from api.views.base import clamped_number
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model.objects import Key

DEFAULT_LIMIT = 1000


class ClusterQueuePending(ClusterView):
    """The waiting Workloads of a ClusterQueue."""

    def get(
        self, request: Request, sandbox_id: str, version: str, name: str
    ) -> Response:
        """Return the waiting Workloads in queue order."""
        sandbox = self.sandbox(sandbox_id)
        resource = resources.find("kueue.x-k8s.io", version, "clusterqueues")
        reading.get(sandbox.pk, resource, "", name)
        return _answer(request, version, _pending(sandbox, name))


class LocalQueuePending(ClusterView):
    """The waiting Workloads of a LocalQueue."""

    def get(
        self, request: Request, sandbox_id: str, version: str, namespace: str, name: str
    ) -> Response:
        """Return them in queue order, with their place in both queues."""
        sandbox = self.sandbox(sandbox_id)
        resource = resources.find("kueue.x-k8s.io", version, "localqueues")
        row = reading.get(sandbox.pk, resource, namespace, name)
        queue = str(row.manifest["spec"].get("clusterQueue") or "")
        found = [
            item
            for item in _pending(sandbox, queue)
            if item["localQueueName"] == name
            and item["metadata"]["namespace"] == namespace
        ]
        return _answer(request, version, found)


def _answer(request: Request, version: str, items: list[dict[str, Any]]) -> Response:
    offset = clamped_number(request, "offset", 0, most=10**9)
    limit = clamped_number(request, "limit", DEFAULT_LIMIT, most=100_000)
    return Response(
        {
            "kind": "PendingWorkloadsSummary",
            "apiVersion": f"visibility.kueue.x-k8s.io/{version}",
            "metadata": {},
            "items": items[offset : offset + limit],
        }
    )


def _pending(sandbox: Sandbox, queue: str) -> list[dict[str, Any]]:
    """Return the line of a ClusterQueue; positions count from 0."""
    with worlds.reading(sandbox) as world:
        if world.kueue is None:
            return []
        known = world.kueue.cluster.forest.queues.get(queue)
        if known is None:
            return []
        return _items(world, known)


def _items(world: World, queue: ClusterQueue) -> list[dict[str, Any]]:
    seen: dict[tuple[str, str], int] = {}
    items = []
    for position, work in enumerate(_in_order(queue)):
        obj = world.objects[Key("Workload", work.key.namespace, work.key.name)]
        local = str(obj.spec.get("queueName") or "")
        local_queue = (work.key.namespace, local)
        inner = seen[local_queue] = seen.get(local_queue, -1) + 1
        metadata = obj.manifest["metadata"]
        fields = ("name", "namespace", "creationTimestamp", "ownerReferences", "uid")
        items.append(
            {
                "metadata": {n: metadata[n] for n in fields if n in metadata},
                "priority": work.priority,
                "localQueueName": local,
                "positionInClusterQueue": position,
                "positionInLocalQueue": inner,
            }
        )
    return items


def _in_order(queue: ClusterQueue) -> list[WorkloadInfo]:
    """Return what is pending in queue order, the sticky head first."""
    pending = queue.pending
    return sorted(
        pending.workloads(),
        key=lambda work: (pending.preemptor is not work, work.queue_order),
    )
