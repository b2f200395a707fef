"""One Workload as the engine holds it: what it asks, what it has, where it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.kueue.tree.quota import Amount
from scheduler.kueue.tree.tree import Queue
from scheduler.records.objects import Key
from scheduler.records.workload import Admission, Amounts, PodSet, PodSets, scale

if TYPE_CHECKING:
    from scheduler.kueue.cache.candidates import Rank, Signature
    from scheduler.kueue.cache.cluster import Door
    from scheduler.kueue.queue.pending import Group, Line


class Condition(msgspec.Struct, gc=False):
    """One condition; `since_us` moves only when the status flips."""

    status: bool
    reason: str
    message: str
    since_us: int
    generation: int = 0


class Attempt(msgspec.Struct):
    """Where the last flavor search stopped, podset by podset.

    -1: its resource group had no flavor left to try.
    Source: KUEUE.md 6.6.
    """

    tried: tuple[dict[str, int], ...]
    cycle: int
    generation: int
    identity: str

    @property
    def pending(self) -> bool:
        """Tell whether a flavor is left that was not tried yet."""
        return any(index != -1 for part in self.tried for index in part.values())


class Work:
    """A Workload. Compared by identity; never copied."""

    __slots__ = (
        "accumulated_s",
        "active",
        "admission",
        "attempt",
        "conditions",
        "created_us",
        "door",
        "evictions",
        "gated",
        "generation",
        "group",
        "held",
        "identity",
        "job_uid",
        "key",
        "line",
        "local_queue",
        "max_execution_s",
        "name",
        "namespace",
        "order",
        "pod_sets",
        "pods_run",
        "priority",
        "queue",
        "queued_us",
        "rank",
        "reclaimable",
        "requeue_at_us",
        "requeue_count",
        "shelved_evicted",
        "signature",
        "source",
        "ticket",
        "totals",
        "uid",
    )

    def __init__(self, key: Key, uid: str, door: Door) -> None:
        self.key = key
        self.namespace = key.namespace
        self.name = f"{key.namespace}/{key.name}"
        self.uid = uid
        self.conditions: dict[str, Condition] = {}
        self.admission: Admission | None = None
        self.reclaimable: dict[str, int] = {}
        self.requeue_count = 0
        self.requeue_at_us: int | None = None
        self.accumulated_s = 0
        self.evictions: dict[tuple[str, str], int] = {}
        self.attempt: Attempt | None = None
        self.pods_run = False  # all its pods are ready
        # Where it is: holding quota in `queue`, or waiting in `line`.
        self.queue: Queue | None = None
        self.held: tuple[Amount, ...] = ()
        self.signature: Signature = frozenset()
        self.rank: Rank = (0, 0, "", "", self)
        self.shelved_evicted = False
        self.line: Line | None = None
        self.group: Group | None = None
        self.ticket = 0
        self.order: tuple[int, int, str, str] = (0, 0, "", "")
        self.queued_us = 0
        self.identity = ""
        self.totals: tuple[Amounts, ...] = ()
        # What the document says; `adopt` in reading.py fills these.
        self.door = door  # its LocalQueue
        self.source: Sequence[Mapping[str, Any]] = ()  # podSets as written
        self.generation = 0
        self.created_us = 0
        self.priority = 0
        self.local_queue = ""
        self.active = True
        self.gated = ""  # who holds the admission back
        self.job_uid = ""
        self.max_execution_s: int | None = None
        self.pod_sets = PodSets(())

    def __repr__(self) -> str:
        return f"<Work {self.name}>"

    def count(self, pod_set: PodSet) -> int:
        """Return how many pods of a podset are still to run.

        Source: KUEUE.md 2.3.
        """
        if not self.reclaimable:
            return pod_set.count
        done = self.reclaimable.get(pod_set.name, 0)
        return pod_set.count - min(done, pod_set.count)

    def refresh(self) -> None:
        """Compute what follows from the spec, reclaimable pods and queue time."""
        self.totals, text = self.pod_sets.totals, self.pod_sets.text
        if self.reclaimable:
            counts = [self.count(part) for part in self.pod_sets]
            self.totals = self.pod_sets.totals_for(counts)
            text = self.pod_sets.text_for(counts)
        self.identity = f"{self.priority} {text}"
        self.order = (-self.priority, self.queued_us, self.uid, self.name)

    def scaled(
        self, counts: tuple[int, ...] | None
    ) -> list[tuple[PodSet, int, Amounts]]:
        """Return (podset, count, total requests), for other counts when given.

        Source: KUEUE.md 2.6.
        """
        parts = []
        for index, part in enumerate(self.pod_sets):
            count, total = self.count(part), self.totals[index]
            if counts is not None:
                total = scale(total, count, counts[index])
                count = counts[index]
            parts.append((part, count, total))
        return parts

    @property
    def shrinkable(self) -> bool:
        """Tell whether fewer pods than asked would do."""
        return any(
            part.min_count is not None and part.count > part.min_count
            for part in self.pod_sets
        )

    def holds(self, kind: str) -> bool:
        """Tell whether a condition is True."""
        condition = self.conditions.get(kind)
        return condition is not None and condition.status

    @property
    def reserved(self) -> bool:
        """Tell whether QuotaReserved is True."""
        return self.holds("QuotaReserved")

    @property
    def evicted(self) -> bool:
        """Tell whether Evicted is True."""
        return self.holds("Evicted")

    @property
    def finished(self) -> bool:
        """Tell whether Finished is True."""
        return self.holds("Finished")

    def victim_rank(self) -> Rank:
        """Return its place among victims.

        Source: KUEUE.md 8.3.
        """
        reserved = self.conditions.get("QuotaReserved")
        since = reserved.since_us if reserved is not None else 0
        return (self.priority, -since, self.uid, self.name, self)
