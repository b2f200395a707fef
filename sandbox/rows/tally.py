"""Workload rows counted by queue and phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.diffs import Row
from sandbox.wire import Counts


@dataclass(slots=True)
class Tally:
    """How many workloads are in which phase, by ClusterQueue and by LocalQueue.

    The phase "evicted" counts those evicted and waiting again, beside their own.
    """

    cluster: Counter[tuple[str, str]] = field(default_factory=Counter)
    local: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, page: Mapping[str, Row]) -> Tally:
        """Count the workload rows of a page."""
        tally = cls()
        cluster, local, phases = tally.cluster, tally.local, tally.phases
        for key, row in page.items():
            if not key.startswith("Workload/"):
                continue
            queue, phase = row["clusterQueue"], row["phase"]
            phases[phase] += 1
            cluster[queue, phase] += 1
            local[row["namespace"], row["localQueue"], phase] += 1
            if row["evicted"] and phase in ("pending", "inadmissible"):
                cluster[queue, "evicted"] += 1
                local[row["namespace"], row["localQueue"], "evicted"] += 1
        return tally

    def of_cluster_queue(self, name: str) -> Counts:
        """Return the counts of one ClusterQueue."""
        return _counts(lambda phase: self.cluster[name, phase])

    def of_local_queue(self, namespace: str, name: str) -> Counts:
        """Return the counts of one LocalQueue."""
        return _counts(lambda phase: self.local[namespace, name, phase])


def _counts(count: Callable[[str], int]) -> Counts:
    return Counts(
        pending=count("pending"),
        inadmissible=count("inadmissible"),
        reserved=count("reserved"),
        admitted=count("admitted"),
        evicted=count("evicted"),
        finished=count("finished"),
    )
