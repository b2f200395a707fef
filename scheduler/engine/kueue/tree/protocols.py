"""What a ClusterQueue and its workloads know of each other's containers.

A ClusterQueue holds a pending queue and an index of admitted workloads, which
hold workloads, which know their ClusterQueue. The containers are described here,
below all of them, so that imports go one way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

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
    inadmissible_workloads: dict[Workload, None]
    pending_active: int
    pending_inadmissible: int
    unseen: dict[Workload, None]
    usage_of: Callable[[Any], float] | None
    preemptor: Workload | None

    def push(self, work: Workload) -> None:
        """Put a workload into the heap."""

    def push_backing_off(self, work: Workload) -> None:
        """Put a workload into the heap whose backoff runs."""

    def pop(self) -> Workload | None:
        """Take the head out."""

    def pop_workload(self, work: Workload) -> bool:
        """Take this one out."""

    def head(self) -> Workload | None:
        """Return the head."""

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
