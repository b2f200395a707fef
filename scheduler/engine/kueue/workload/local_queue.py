"""A LocalQueue: the queue of a namespace that leads to a ClusterQueue."""

from __future__ import annotations

from scheduler.engine.kueue.tree.protocols import FlavorResource, Workload
from scheduler.model.objects import Key
from scheduler.model.quota import LocalQueueSpec


class LocalQueue:
    """A LocalQueue, and the workloads that name it."""

    __slots__ = (
        "active_since_us",
        "admitted",
        "admitted_usage",
        "key",
        "pending",
        "reserving",
        "spec",
        "usage",
        "workloads",
    )

    def __init__(self, key: Key) -> None:
        self.key = key
        self.active_since_us: int | None = None
        self.spec: LocalQueueSpec | None = None  # None: named, but not there
        self.workloads: dict[Workload, None] = {}
        self.pending = 0
        self.reserving = 0
        self.admitted = 0
        self.usage: dict[FlavorResource, int] = {}  # of those with quota
        self.admitted_usage: dict[FlavorResource, int] = {}  # of those admitted

    @property
    def is_active(self) -> bool:
        """Return whether it exists and is not held.

        Source: docs/semantics/kueue.md#eligibility-for-a-queue.
        """
        return self.spec is not None and self.spec.stop == "None"
