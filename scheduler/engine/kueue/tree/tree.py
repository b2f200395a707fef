"""The quota tree: ClusterQueues and Cohorts, and their resource nodes.

Those of a ClusterQueue live as long as it does, so that what workloads hold
stays valid when the tree is linked anew after an edit of quota.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from scheduler.model.amounts import add, subtract
from scheduler.model.objects import Key
from scheduler.model.quota import (
    ClusterQueueSpec,
    CohortSpec,
    Preemption,
    Quota,
    ResourceGroup,
)

_NONE = Quota(0)


class ResourceNode:
    """Quota and usage of one node for one (flavor, resource).

    nominal, borrowing_limit, lending_limit: as configured (None = no limit).
    has_quota: this node or one below declares quota of this kind.
    subtree_quota: what the node and its children bring together.
    local_quota: the part of it that the parent never sees.
    max_from_parent: what its side may give before usage; None = no limit.
    potential_available: what would be available if nothing were used.
    usage: what is used below; the only field that changes between edits.
    """

    __slots__ = (
        "borrowing_limit",
        "flavor_resource",
        "has_quota",
        "lending_limit",
        "local_quota",
        "max_from_parent",
        "node",
        "nominal",
        "parent",
        "potential_available",
        "subtree_quota",
        "usage",
    )

    def __init__(self, node: QuotaNode, flavor_resource: FlavorResource) -> None:
        self.node = node
        self.flavor_resource = flavor_resource
        self.usage = 0
        self.configure(None)

    def configure(self, quota: Quota | None) -> None:
        """Take the node's own quota; None when it has none of this kind."""
        self.has_quota = quota is not None
        quota = quota or _NONE
        self.nominal = quota.nominal
        self.borrowing_limit = quota.borrowing
        self.lending_limit = quota.lending
        self.max_from_parent: int | None = None
        self.parent: ResourceNode | None = None
        self.subtree_quota = self.nominal
        self.local_quota = 0
        self.potential_available = 0

    def update_limits(self) -> None:
        """Compute what depends only on quota; parents are settled bottom up.

        Source: docs/semantics/kueue.md#quota-tree.
        """
        if self.lending_limit is not None:
            self.local_quota = max(0, subtract(self.subtree_quota, self.lending_limit))
        if self.borrowing_limit is not None:
            self.max_from_parent = add(
                subtract(self.subtree_quota, self.local_quota), self.borrowing_limit
            )


class QuotaNode:
    """A place in the tree: a ClusterQueue (`Queue`) or a Cohort."""

    kind = ""

    __slots__ = (
        "ancestors",
        "depth",
        "full_path",
        "height",
        "lendable_by_resource",
        "name",
        "parent",
        "resource_nodes",
        "root",
        "status_keys",
        "weight",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.resource_nodes: dict[FlavorResource, ResourceNode] = {}
        self.parent: Cohort | None = None
        self.root: QuotaNode = self
        self.ancestors: tuple[Cohort, ...] = ()  # parent .. root
        self.full_path = f"/{name}"  # from the root
        self.depth = 0
        self.height = 0
        self.status_keys: tuple[
            Key, ...
        ] = ()  # the objects whose status its usage is in
        self.weight = 1.0
        # Per resource: what the parent could lend, and the resource nodes with quota.
        self.lendable_by_resource: tuple[
            tuple[float, tuple[ResourceNode, ...]], ...
        ] = ()

    def configure(self, groups: Iterable[ResourceGroup]) -> None:
        """Take the node's own quotas; resource nodes in use are kept."""
        quotas = {fr: quota for group in groups for fr, quota in group.quotas.items()}
        for flavor_resource in quotas:
            self.resource_node(flavor_resource)
        for flavor_resource, resource_node in self.resource_nodes.items():
            resource_node.configure(quotas.get(flavor_resource))

    def resource_node(self, flavor_resource: FlavorResource) -> ResourceNode:
        """Return the resource node, made and linked up to the root when there is none."""
        resource_node = self.resource_nodes.get(flavor_resource)
        if resource_node is None:
            resource_node = self.resource_nodes[flavor_resource] = ResourceNode(
                self, flavor_resource
            )
            if self.parent is not None:
                resource_node.parent = self.parent.resource_node(flavor_resource)
                resource_node.potential_available = (
                    resource_node.parent.potential_available
                )
        return resource_node


class GroupSearch(NamedTuple):
    """A group to search for these resources; None when `trigger` has no quota."""

    group: ResourceGroup | None
    trigger: str  # the resource that led here
    resources: tuple[str, ...]


class ClusterQueue(QuotaNode):
    """A ClusterQueue: its place in the tree, who waits and who holds quota.

    `generation` counts what may have freed quota here: an attempt that was made
    before it advanced starts over. `admitted` holds the workloads with quota,
    `pending` those that wait for it.
    """

    kind = "ClusterQueue"

    __slots__ = (
        "active",
        "active_since_us",
        "admitted",
        "asked",
        "generation",
        "group_of",
        "group_searches",
        "pending",
        "spec",
        "topology_only",
        "uses_topology",
    )

    def __init__(
        self,
        spec: ClusterQueueSpec,
        admitted: AdmittedWorkloads,
        pending: PendingWorkloads,
    ) -> None:
        super().__init__(spec.name)
        self.status_keys = (Key(self.kind, "", spec.name),)
        self.spec = spec
        self.active = True
        self.active_since_us: int | None = None
        self.generation = 0
        self.admitted = admitted
        self.pending = pending
        self.group_of: dict[str, int] = {}  # resource -> index of its group
        self.group_searches: dict[frozenset[str], tuple[GroupSearch, ...]] = {}
        self.uses_topology = False  # some flavor of it has a topology
        self.topology_only = False  # every flavor of it has one
        self.asked = True  # whom it may preempt was asked; until it is known, it was

    @property
    def preemption(self) -> Preemption:
        """Whom it may preempt: the one way to it for what decides, which notes it."""
        self.asked = True
        return self.spec.preemption


class Cohort(QuotaNode):
    """A Cohort: the children it has now."""

    kind = "Cohort"

    __slots__ = ("cohorts", "implicit", "queues", "spec")

    def __init__(self, spec: CohortSpec, *, implicit: bool) -> None:
        super().__init__(spec.name)
        self.spec = spec
        self.implicit = implicit
        self.cohorts: list[Cohort] = []
        self.queues: list[ClusterQueue] = []

    def children(self) -> Iterator[QuotaNode]:
        """Yield child cohorts, then ClusterQueues."""
        yield from self.cohorts
        yield from self.queues

    def subtree(self) -> Iterator[ClusterQueue]:
        """Yield every ClusterQueue below."""
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.subtree()


# ------------------------------------------------------------------------
# What a ClusterQueue and its workloads know of each other's containers.


#: A `workload.info.WorkloadInfo`, which is above this package.
Workload = Any
FlavorResource = tuple[str, str]
FlavorResources = frozenset[FlavorResource]
#: Priority, reservation time (newest first), UID, name: the order of candidates.
Rank = tuple[int, int, str, str, Workload]
Matches = Callable[[str], bool]  # namespace -> may it use the ClusterQueue


class PendingWorkloads(Protocol):
    """The workloads that wait for one ClusterQueue; see `queue.pending`."""

    backing_off: dict[Workload, None]
    equivalence_hashing: bool
    failed_hashes: dict[str, str]
    heard_us: int | None
    inadmissible_workloads: dict[Workload, None]
    pending_active: int
    pending_inadmissible: int
    shown: int | None
    told: tuple[int, int] | None
    unseen: dict[Workload, None]
    usage_of: Callable[[Any], float] | None
    preemptor: Workload | None

    def push(self, work: Workload, *, added: bool = False) -> None:
        """Put a workload into the heap."""

    def push_backing_off(self, work: Workload) -> None:
        """Put a workload into the heap whose backoff runs."""

    def is_in_heap(self, work: Workload) -> bool:
        """Return whether a workload waits to be tried."""

    def is_early(self, work: Workload) -> bool:
        """Return whether a workload is in the heap that would be set aside alone."""

    def pop(self) -> Workload | None:
        """Take the head out."""

    def pop_workload(self, work: Workload) -> bool:
        """Take a Workload out where it waits; return whether it did."""

    def head(self) -> Workload | None:
        """Return the head."""

    def heard(self) -> int:
        """Return how many wait that their queue has heard of."""

    def clear_inflight(self, work: Workload) -> None:
        """Note that a head is not inflight any longer."""

    def remove(self, work: Workload) -> None:
        """Take a workload out, wherever it waits."""

    def add_inadmissible(self, work: Workload) -> None:
        """Set a workload aside."""

    def is_inadmissible(self, work: Workload) -> bool:
        """Return whether a workload is set aside."""

    def mark_class_inadmissible(self, scheduling_hash: str, reason: str) -> None:
        """Set all aside that are equivalent."""

    def requeue_inadmissible(
        self, matches: Matches, ready: Callable[[Workload], bool]
    ) -> bool:
        """Requeue the inadmissible Workloads."""

    def take_moved(self) -> list[Workload]:
        """Return the Workloads whose place may have changed since the last call."""

    def workloads(self) -> Iterator[Workload]:
        """Yield the pending Workloads."""


class AdmittedWorkloads(Protocol):
    """The workloads with quota of one ClusterQueue; see `cache.candidates`."""

    workloads: dict[Workload, None]
    unadmitted: dict[Workload, None]
    usage_of: Callable[[Any], float] | None
    changes: int

    def put(self, work: Workload) -> None:
        """Take a workload."""

    def drop(self, work: Workload) -> None:
        """Forget a workload."""

    def candidate_ranges(
        self,
        needed: Collection[FlavorResource],
        policy: str,
        preemptor: Workload,
        *,
        evicted: bool,
    ) -> list[Any]:
        """Return the ranges of those holding any of `needed` that `policy` allows."""
