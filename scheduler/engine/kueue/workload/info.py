"""One Workload as the engine holds it: what it asks, what it has, where it waits."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler.engine.kueue.topology.cache import ReservedDomains
from scheduler.engine.kueue.tree.quota import Amount
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    FlavorResource,
    FlavorResources,
    PendingWorkloads,
    Rank,
    Workload,
)
from scheduler.engine.kueue.workload.status_records import Condition, LastAssignment
from scheduler.model.kueue.check_answers import States as GateStates
from scheduler.model.kueue.check_answers import any_closed
from scheduler.model.kueue.check_state import States
from scheduler.model.objects import Key
from scheduler.model.quota import LocalQueueSpec
from scheduler.model.reasons import BLOCKED_ON_GATES, EVICTED, PREEMPTED, QUOTA_RESERVED
from scheduler.model.workload import (
    NO_POD_SETS,
    Admission,
    Amounts,
    PodSet,
    PodSets,
    scale,
)

#: What a workload has that has nothing yet, one for all: nobody writes into them.
NO_FLAVORS: FlavorResources = frozenset()
NO_RANK: Rank = (0, 0, "", "", None)
NO_CHECKS: States = {}
NO_GATES: GateStates = {}
NO_COUNTS: dict[str, int] = {}
NO_EVICTIONS: dict[tuple[str, str], int] = {}


#: Whether Kueue's next event that a Workload waits goes on with a series (`series`): an
#: event names the version of its object, and one that differs in its message alone goes
#: on with the series of the last one, and has its message.
TOLD = 1  # an event is of the Workload as it stands
LATE = 2  # what was said last is told at the next try


class WorkloadInfo:
    """A Workload. Compared by identity; never copied."""

    __slots__ = (
        "accumulated_s",
        "active",
        "admission",
        "allowed_flavors",
        "checks",
        "cluster_queue",
        "conditions",
        "created_us",
        "elastic",
        "equivalence_class",
        "evictions",
        "flavor_resources",
        "gate_states",
        "gated",
        "generation",
        "heap_entry",
        "indexed_as_evicted",
        "is_parent",
        "job_uid",
        "key",
        "last_assignment",
        "local_queue",
        "local_queue_name",
        "max_execution_s",
        "name",
        "namespace",
        "owned_by_pod",
        "parent",
        "pending_queue",
        "pod_set_specs",
        "pod_sets",
        "pods_ready",
        "preemption_gates",
        "priority",
        "queue_order",
        "queue_order_us",
        "rank",
        "reclaimable",
        "replaces",
        "requeue_at_us",
        "requeue_count",
        "scheduling_hash",
        "second_pass_tries",
        "second_pass_us",
        "series",
        "topology",
        "totals",
        "uid",
        "unhealthy_nodes",
        "unseen",
        "usage",
    )

    def __init__(self, key: Key, uid: str, local_queue: LocalQueue) -> None:
        self.key = key
        self.namespace = key.namespace
        self.name = f"{key.namespace}/{key.name}"
        self.uid = uid
        self.conditions: dict[str, Condition] = {}
        self.admission: Admission | None = None
        self.checks: States = NO_CHECKS  # what admission checks say, by name
        self.reclaimable: dict[str, int] = NO_COUNTS
        self.requeue_count = 0
        self.requeue_at_us: int | None = None
        self.series = 0  # TOLD, LATE or neither
        self.unseen = False  # its queue does not count it while its backoff runs
        self.accumulated_s = 0
        self.evictions: dict[tuple[str, str], int] = NO_EVICTIONS
        self.last_assignment: LastAssignment | None = None
        self.pods_ready = False  # all its pods are ready
        # Where it is: holding quota in `cluster_queue`, or waiting in `pending_queue`.
        self.cluster_queue: ClusterQueue | None = None
        self.usage: tuple[Amount, ...] = ()
        self.topology: ReservedDomains | None = None  # what it takes of leaves
        self.unhealthy_nodes: tuple[str, ...] = ()
        self.second_pass_us: int | None = None  # when it looks for other places
        self.second_pass_tries = 0
        self.owned_by_pod = False  # its only owner is a Pod
        self.flavor_resources: FlavorResources = NO_FLAVORS
        self.rank: Rank = NO_RANK
        self.indexed_as_evicted = False
        self.pending_queue: PendingWorkloads | None = None
        self.equivalence_class: EquivalenceClass | None = None
        self.heap_entry = 0
        self.queue_order: tuple[int, int, str, str] = (0, 0, "", "")
        self.queue_order_us = 0
        self.scheduling_hash = ""
        self.totals: tuple[Amounts, ...] = ()
        # What the document says; `adopt` in reading.py fills these.
        self.local_queue = local_queue  # its LocalQueue
        self.pod_set_specs: Sequence[Mapping[str, Any]] = ()  # podSets as written
        self.generation = 0
        self.created_us = 0
        self.priority = 0
        self.local_queue_name = ""
        self.active = True
        self.gated = ""  # who holds the admission back
        self.preemption_gates: tuple[str, ...] = ()
        self.gate_states: GateStates = NO_GATES
        self.job_uid = ""
        self.elastic = False  # a slice of an elastic job: its counts may shrink
        self.replaces: Key | None = None  # the slice before it
        self.parent: Key | None = None  # of which it is a variant
        self.is_parent = False  # its variants are tried, not itself
        self.allowed_flavors: tuple[str, ...] | None = None  # None: any
        self.max_execution_s: int | None = None
        self.pod_sets: PodSets = NO_POD_SETS

    def __repr__(self) -> str:
        return f"<Work {self.name}>"

    def count_after_reclaim(self, pod_set: PodSet) -> int:
        """Return how many pods of a podset are still to run.

        Source: docs/semantics/kueue.md#totals-of-a-podset.
        """
        if not self.reclaimable:
            return pod_set.count
        done = self.reclaimable.get(pod_set.name, 0)
        return pod_set.count - min(done, pod_set.count)

    def refresh(self) -> None:
        """Compute what follows from the spec, reclaimable pods and queue time."""
        if self.reclaimable:
            counts = [self.count_after_reclaim(part) for part in self.pod_sets]
            self.totals = self.pod_sets.totals_for(counts)
            text = self.pod_sets.text_for(counts)
            self.scheduling_hash = f"{self.priority} {text}"
        else:
            self.totals = self.pod_sets.totals
            self.scheduling_hash = self.pod_sets.hash_at(self.priority)
        if self.allowed_flavors is not None:
            self.scheduling_hash += f" {self.flavor}"
        self.queue_order = (-self.priority, self.queue_order_us, self.uid, self.name)

    @property
    def flavor(self) -> str:
        """Return the flavor of a variant; "" for one that may have any."""
        return self.allowed_flavors[0] if self.allowed_flavors else ""

    def scaled_pod_sets(
        self, counts: tuple[int, ...] | None
    ) -> list[tuple[PodSet, int, Amounts]]:
        """Return (podset, count, total requests), for other counts when given.

        Source: docs/semantics/kueue.md#scaling-to-fewer-pods.
        """
        parts = []
        for index, part in enumerate(self.pod_sets):
            count, total = self.count_after_reclaim(part), self.totals[index]
            if counts is not None:
                total = scale(total, count, counts[index])
                count = counts[index]
            parts.append((part, count, total))
        return parts

    @property
    def can_be_admitted_partially(self) -> bool:
        """Return whether fewer pods than asked would do."""
        return any(
            part.min_count is not None and part.count > part.min_count
            for part in self.pod_sets
        )

    def has_condition(self, kind: str) -> bool:
        """Return whether a condition is True."""
        condition = self.conditions.get(kind)
        return condition is not None and condition.status

    @property
    def may_not_preempt(self) -> bool:
        """Return whether one of its preemption gates is closed."""
        return any_closed(self.preemption_gates, self.gate_states)

    @property
    def reserved(self) -> bool:
        """Return whether QuotaReserved is True."""
        condition = self.conditions.get("QuotaReserved")
        return condition is not None and condition.status

    @property
    def evicted(self) -> bool:
        """Return whether Evicted is True."""
        condition = self.conditions.get("Evicted")
        return condition is not None and condition.status

    @property
    def finished(self) -> bool:
        """Return whether Finished is True."""
        condition = self.conditions.get("Finished")
        return condition is not None and condition.status

    def candidate_rank(self) -> Rank:
        """Return the sort key among candidates: the least is preempted first.

        Source: docs/semantics/kueue.md#order-of-candidates.
        """
        reserved = self.conditions.get("QuotaReserved")
        since = reserved.since_us if reserved is not None else 0
        return (self.priority, -since, self.uid, self.name, self)


# ------------------------------------------------------------------------
# Workloads that fail alike, in the order in which they would be tried.


Order = tuple[int, int, str, str]


class EquivalenceClass:
    """Workloads that the scheduler treats alike, best first."""

    __slots__ = ("heap", "inadmissible", "key", "namespace", "scheduling_hash", "size")

    def __init__(self, identity: str, namespace: str, key: str) -> None:
        self.scheduling_hash = identity
        self.key = key  # the namespace, or the LocalQueue where usage decides
        self.namespace = namespace
        self.heap: list[tuple[Order, int, Workload]] = []
        self.size = 0
        self.inadmissible = False

    def first(self) -> Workload | None:
        """Return the best member; drops those that have left."""
        heap = self.heap
        while heap:
            _, ticket, work = heap[0]
            if work.equivalence_class is self and work.heap_entry == ticket:
                return work
            heapq.heappop(heap)
        return None

    def workloads(self) -> Iterator[Workload]:
        """Yield the members, unordered."""
        for _, ticket, work in self.heap:
            if work.equivalence_class is self and work.heap_entry == ticket:
                yield work


# ------------------------------------------------------------------------
# Setting conditions as the Kubernetes API machinery does.


def set_condition(
    work: WorkloadInfo, kind: str, status: bool, reason: str, message: str, now_us: int
) -> bool:
    """Set a condition; its time moves only with its status. Return whether it changed."""
    known = work.conditions.get(kind)
    if known is None:
        work.conditions[kind] = Condition(
            status, reason, message, now_us, work.generation
        )
        return True
    if (known.status, known.reason, known.message) == (status, reason, message):
        known.generation = work.generation
        return False
    since = known.since_us if known.status == status else now_us
    work.conditions[kind] = Condition(status, reason, message, since, work.generation)
    return True


def clear_eviction(work: WorkloadInfo, now_us: int) -> None:
    """Turn what an earlier eviction left behind to False.

    Source: docs/semantics/kueue-lifecycle.md#quota-reserved-and-admitted.
    """
    for kind in (EVICTED, PREEMPTED, BLOCKED_ON_GATES):
        known = work.conditions.get(kind)
        if known is not None and known.status:
            message = f"Previously: {known.message}"
            set_condition(work, kind, False, QUOTA_RESERVED, message, now_us)


# ------------------------------------------------------------------------
# A LocalQueue: the queue of a namespace that leads to a ClusterQueue.


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
        """Return whether the queue exists and is not held.

        Source: docs/semantics/kueue.md#eligibility-for-a-queue.
        """
        return self.spec is not None and self.spec.stop == "None"

    def counts(self, work: Workload) -> bool:
        """Return whether the quota of a workload counts here: its ClusterQueue gave it.

        Source: docs/semantics/kueue.md#counts-of-localqueues.
        """
        queue, spec = work.cluster_queue, self.spec
        return spec is not None and queue is not None and queue.name == spec.queue
