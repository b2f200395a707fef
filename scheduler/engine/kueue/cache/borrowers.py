"""Who uses more than its quota, found once for all searches on one state of the tree."""

from __future__ import annotations

from scheduler.engine.kueue.tree.protocols import FlavorResource
from scheduler.engine.kueue.tree.quota import within_nominal
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort

Needed = frozenset[FlavorResource]


class Borrowers:
    """Remembers, per cohort and needed quota, the children that use too much.

    Holds while usage does not change; make a new one when it has.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[Cohort, Needed], list[ClusterQueue]] = {}
        self._cohorts: dict[tuple[Cohort, Needed], list[Cohort]] = {}
        self._nominal: dict[tuple[Cohort, Needed], list[ClusterQueue]] = {}

    def queues(self, cohort: Cohort, needed: Needed) -> list[ClusterQueue]:
        """Return the child ClusterQueues above their subtree quota.

        Source: docs/semantics/kueue.md#candidates-in-the-cohort.
        """
        found = self._queues.get((cohort, needed))
        if found is None:
            found = [q for q in cohort.queues if not within_nominal(q, needed)]
            self._queues[cohort, needed] = found
        return found

    def cohorts(self, cohort: Cohort, needed: Needed) -> list[Cohort]:
        """Return the child Cohorts above their subtree quota."""
        found = self._cohorts.get((cohort, needed))
        if found is None:
            found = [c for c in cohort.cohorts if not within_nominal(c, needed)]
            self._cohorts[cohort, needed] = found
        return found

    def below(self, root: Cohort, needed: Needed) -> list[ClusterQueue]:
        """Return the ClusterQueues of a whole tree above their nominal quota.

        Source: docs/semantics/kueue.md#fair-preemption-candidates.
        """
        found = self._nominal.get((root, needed))
        if found is None:
            found = [q for q in root.subtree() if not within_nominal(q, needed)]
            self._nominal[root, needed] = found
        return found
