"""Workload rows counted by queue and phase; pods and nodes where there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.page.diffs import Row
from sandbox.page.wire import WorkloadCounts

#: Kinds whose rows are made anew each time: few rows that many things change.
MADE_ANEW = ("Cohort", "ClusterQueue", "LocalQueue", "Queue", "Application")
#: The fields of a row that say where and how it counts.
COUNTED = frozenset(
    {
        *("clusterQueue", "namespace", "localQueue", "phase", "copy", "totals"),
        *("evicted", "used", "allocatable"),
    }
)


@dataclass
class PlacedSums:
    """Pods by phase, what is taken on all nodes, and what these have."""

    pods: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    capacity: Counter[str] = field(default_factory=Counter)

    def count(self, row: Row, sign: int) -> None:
        """Count one row in (1) or out (-1)."""
        if row["kind"] == "Pod":
            self.pods[row["phase"]] += sign
        elif row["kind"] == "Node":
            for sums, name in ((self.used, "used"), (self.capacity, "allocatable")):
                for resource, amount in row[name].items():
                    sums[resource] += sign * int(amount)
                    if not sums[resource]:
                        del sums[resource]


@dataclass
class TreeMarks:
    """What rows of quota trees were made of: the linking, and usage by root."""

    links: int
    usages: dict[object, list[int]]


@dataclass
class WorkloadTally:
    """How many workloads are in which phase, by ClusterQueue and by LocalQueue.

    The phase "evicted" counts those evicted and waiting again, beside their own.
    """

    cluster: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: By LocalQueue, and by the ClusterQueue of a workload, which may be another's.
    local: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    #: What waits asks for, by ClusterQueue and resource.
    asking: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Keys of the rows that are made anew each time, in the page's order.
    anew: dict[str, None] = field(default_factory=dict)
    #: Kept from the first time on that anybody asks for it.
    placed: PlacedSums | None = None
    #: ClusterQueues and LocalQueues whose counts changed since their rows were made.
    moved: set[str] = field(default_factory=set)
    moved_local: set[tuple[str, str]] = field(default_factory=set)
    trees: TreeMarks | None = None  # of those rows; None: to be made whatever changed
    asked: int = 0  # how often `asking` changed
    sampled: object = None  # what the last sample says of queues

    @classmethod
    def of(cls, page: Mapping[str, Row]) -> WorkloadTally:
        """Count the workload rows of a page. O(rows)."""
        tally = cls()
        for key, row in page.items():
            tally.count(row, 1)
            if row["kind"] in MADE_ANEW:
                tally.anew[key] = None
        return tally

    def change(self, before: Row | None, after: Row | None) -> None:
        """Count a row that came, went or changed."""
        if before is not None:
            self.count(before, -1)
        if after is not None:
            self.count(after, 1)

    def turn(self, row: Row, phase: str) -> None:
        """Move a waiting row to another phase in the counts; what it requests stays counted."""
        queue, local_queue = row["clusterQueue"], (row["namespace"], row["localQueue"])
        self._move(queue, local_queue)
        for name, sign in ((row["phase"], -1), (phase, 1)):
            if not row["copy"]:
                self.phases[name] += sign
            self.cluster[queue, name] += sign
            self.local[(*local_queue, queue, name)] += sign

    def count(self, row: Row, sign: int) -> None:
        """Count one row in (1) or out (-1)."""
        if row["kind"] != "Workload":
            if self.placed is not None:
                self.placed.count(row, sign)
            return
        queue, phase = row["clusterQueue"], row["phase"]
        local_queue = row["namespace"], row["localQueue"]
        self._move(queue, local_queue)
        if not row["copy"]:
            self.phases[phase] += sign
        self.cluster[queue, phase] += sign
        self.local[(*local_queue, queue, phase)] += sign
        if phase not in ("pending", "inadmissible"):
            return
        self.asked += 1
        asked = self.asking.setdefault(queue, {})
        for resource, amount in row["totals"].items():
            asked[resource] = asked.get(resource, 0) + sign * int(amount)
        if row["evicted"]:
            self.cluster[queue, "evicted"] += sign
            self.local[(*local_queue, queue, "evicted")] += sign

    def _move(self, queue: str, local_queue: tuple[str, str]) -> None:
        self.moved.add(queue)
        self.moved_local.add(local_queue)

    def made(self, trees: TreeMarks) -> None:
        """Store the trees that the rows of all queues were made of."""
        self.trees = trees
        self.moved.clear()
        self.moved_local.clear()

    def placed_on(self, page: Mapping[str, Row]) -> PlacedSums:
        """Return what the pods of this page hold on its nodes, summed. O(rows) the first time."""
        if self.placed is None:
            self.placed = PlacedSums()
            for row in page.values():
                self.placed.count(row, 1)
        return self.placed

    def of_cluster_queue(self, name: str) -> WorkloadCounts:
        """Return the counts of one ClusterQueue."""
        return _counts(lambda phase: self.cluster[name, phase])

    def of_local_queue(self, namespace: str, name: str, queue: str) -> WorkloadCounts:
        """Return the counts of one LocalQueue, of its ClusterQueue's workloads.

        Source: docs/semantics/kueue.md#counts-of-localqueues.
        """
        return _counts(lambda phase: self.local[namespace, name, queue, phase])


def _counts(count: Callable[[str], int]) -> WorkloadCounts:
    return WorkloadCounts(
        pending=count("pending"),
        inadmissible=count("inadmissible"),
        reserved=count("reserved"),
        admitted=count("admitted"),
        evicted=count("evicted"),
        finished=count("finished"),
    )
