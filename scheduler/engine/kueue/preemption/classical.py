"""Classical preemption: reclaim what was lent, then evict in the own queue.

Source: docs/semantics/kueue.md#classical-preemption.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.cache.candidates import (
    NEVER,
    CandidateRange,
    below_priority,
)
from scheduler.engine.kueue.preemption.targets import (
    PreemptionQuestion,
    Target,
    fill_back,
    fits,
    restore,
    take_out,
    trace_targets,
)
from scheduler.engine.kueue.trace import Excluded, quota_checks, shares
from scheduler.engine.kueue.tree.quota import local_available, within_nominal
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import (
    IN_CLUSTER_QUEUE,
    IN_COHORT_RECLAIM_WHILE_BORROWING,
    IN_COHORT_RECLAMATION,
)

#: A candidate and the list it stands in.
Candidate = tuple[WorkloadInfo, str]
SAME, HIERARCHY, PRIORITY = "same", "hierarchy", "priority"


class ClassicalPreemption:
    """One search for victims, for one preemptor in one state of the tree."""

    def __init__(self, question: PreemptionQuestion) -> None:
        self.work = question.work
        self.queue = question.queue
        self.requests = question.requests
        self.needed = question.needed
        self.borrowers = question.borrowers
        self.tally = question.tally
        self.absent = question.absent
        self.in_order = question.in_order
        self.placement = question.placement
        self.trace = question.trace
        # Per kind of candidate and per (evicted, running): runs in victim order.
        self.runs: dict[tuple[str, bool], list[CandidateRange]] = {}
        self.bounds: dict[
            ClusterQueue, tuple[QuotaNode, ...]
        ] = {}  # queue -> path below the lca
        self.idle: set[ClusterQueue] = set()  # found within nominal during this attempt

    def find(self) -> list[Target]:
        """Return the workloads to preempt; empty when preemption does not help."""
        self._collect()
        if not any(self.runs.values()):
            return []
        for borrowing in self._attempts():
            targets = self._attempt(borrowing=borrowing)
            if targets:
                return targets
        return []

    def _collect(self) -> None:
        """Gather candidates.

        Source: docs/semantics/kueue.md#candidates-in-the-cohort.
        """
        policy = self.queue.preemption
        self._add(SAME, self.queue, policy.within_queue)
        if policy.reclaim == NEVER or self.queue.parent is None:
            self._trace_excluded("reclaimNever")
            return
        below: QuotaNode = self.queue
        fitting, level = _climb(self.requests)
        for cohort in self.queue.ancestors:
            kind = HIERARCHY if fitting else PRIORITY
            for queue in self._borrowers(cohort, below):
                self.bounds[queue] = _between(queue, cohort)
                self._add(kind, queue, policy.reclaim)
            fits_here, level = _climb(level)
            fitting = fitting or fits_here
            below = cohort
        self._trace_excluded("withinNominal")

    def _trace_excluded(self, code: Excluded) -> None:
        if self.trace is not None:
            policy = self.queue.preemption.reclaim
            self.trace.excluded(self.queue, self.bounds, policy, self.needed, code)

    def _borrowers(self, cohort: Cohort, visited: QuotaNode) -> Iterator[ClusterQueue]:
        for queue in self.borrowers.queues(cohort, self.needed):
            if queue is not visited:
                yield queue
        for child in self.borrowers.cohorts(cohort, self.needed):
            if child is not visited:
                yield from self._borrowers(child, visited)

    def _add(self, kind: str, queue: ClusterQueue, policy: str) -> None:
        found: list[CandidateRange] = []
        for evicted in (True, False) if queue.active else ():
            runs = queue.admitted.candidate_ranges(
                self.needed, policy, self.work, evicted=evicted
            )
            if runs:
                self.runs.setdefault((kind, evicted), []).extend(runs)
                found += runs
        if self.trace is not None:
            ranks = (
                rank for run in found for rank in run if rank[4] not in self.absent
            )
            code: Excluded | None = None if queue.active else "inactive"
            self.trace.source(queue, kind, policy, ranks, self.needed, code)

    def _attempts(self) -> tuple[bool, ...]:
        """Return whether to allow borrowing, per attempt.

        Source: docs/semantics/kueue.md#attempts-with-and-without-borrowing.
        """
        hierarchy, priority = self._has(HIERARCHY), self._has(PRIORITY)
        forbidden = self.queue.preemption.borrow_policy == NEVER
        if not (hierarchy or priority) or (forbidden and not self._under_nominal()):
            return (True,)
        if forbidden and not hierarchy:
            return (False, True)
        return (True, False)

    def _has(self, kind: str) -> bool:
        for evicted in (True, False):
            for run in self.runs.get((kind, evicted), _NO_RUNS):
                for rank in run:
                    if rank[4] not in self.absent:
                        return True
        return False

    def _under_nominal(self) -> bool:
        resource_nodes = (self.queue.resource_nodes[fr] for fr in self.needed)
        return all(
            resource_node.usage < resource_node.nominal
            for resource_node in resource_nodes
        )

    def _attempt(self, *, borrowing: bool) -> list[Target]:
        """Remove candidates until the preemptor fits.

        Source: docs/semantics/kueue.md#removing-candidates.
        """
        targets: list[Target] = []
        self.idle.clear()
        if self.trace is not None:
            free = quota_checks(self.requests, borrowing=borrowing)
            now = shares(self.queue)
            self.trace.note("attempt", borrowing=borrowing, quota=free, shares=now)
        for work, kind in self._sequence(borrowing=borrowing):
            self.tally.looked += 1
            if kind != SAME and self._now_idle(work):
                if self.trace is not None:
                    assert work.cluster_queue is not None
                    self.trace.idle(self.bounds[work.cluster_queue], self.needed)
                    self.trace.candidate(work, kind, "skipped")
                continue
            take_out(work, self.placement)
            targets.append(Target(work, self._reason(work, kind)))
            self.tally.simulations += 1
            fitting = fits(self.requests, borrowing=borrowing, placement=self.placement)
            if self.trace is not None:
                self._trace_taken(targets[-1], kind, borrowing=borrowing, fits=fitting)
            if fitting:
                return self._finish(targets, borrowing=borrowing)
        restore(targets, self.placement)
        if self.trace is not None:
            self.trace.note("failed", borrowing=borrowing, tried=len(targets))
        return []

    def _trace_taken(
        self, target: Target, kind: str, *, borrowing: bool, fits: bool
    ) -> None:
        if self.trace is not None:
            self.trace.candidate(
                target.work,
                kind,
                "taken",
                reason=target.reason,
                quota=quota_checks(self.requests, borrowing=borrowing),
                fits=fits,
                shares=shares(self.queue),
            )

    def _finish(self, targets: list[Target], *, borrowing: bool) -> list[Target]:
        targets = fill_back(
            targets,
            self.requests,
            borrowing=borrowing,
            tally=self.tally,
            placement=self.placement,
            trace=self.trace,
        )
        if self.trace is not None:
            trace_targets(self.trace, self.queue, targets, self.requests)
        restore(targets, self.placement)
        return targets

    def _sequence(self, *, borrowing: bool) -> Iterator[Candidate]:
        """Yield candidates in order.

        Source: docs/semantics/kueue.md#order-of-candidates.
        """
        for evicted in (True, False):
            for kind in (HIERARCHY, PRIORITY, SAME):
                runs = whole = self.runs.get((kind, evicted), _NO_RUNS)
                if not runs:
                    continue
                if borrowing and kind == PRIORITY:
                    runs = below_priority(runs, self._borrow_below())
                for rank in self.in_order(runs):
                    if rank[4] not in self.absent:
                        yield rank[4], kind
                if runs is not whole:
                    self._look_at_spared(whole)

    def _look_at_spared(self, runs: list[CandidateRange]) -> None:
        """Count, and note, who may only go while the preemptor does not borrow."""
        below = self._borrow_below()
        threshold = self.queue.preemption.borrow_threshold
        if threshold is not None and threshold + 1 != below:
            threshold = None
        for rank in self.in_order(runs):
            work = rank[4]
            if work.priority < below or work in self.absent:
                continue
            self.tally.looked += 1
            if self.trace is not None:
                lowest = below == _LOWEST
                self.trace.limit(work.priority, None if lowest else below, threshold)
                self.trace.candidate(work, PRIORITY, "refused")

    def _borrow_below(self) -> int:
        """Return the priority from which a victim may not go to a borrower.

        Source: docs/semantics/kueue.md#preemption-variants.
        """
        policy = self.queue.preemption
        if policy.borrow_policy == NEVER:
            return _LOWEST
        if policy.borrow_threshold is None:
            return self.work.priority
        return min(self.work.priority, policy.borrow_threshold + 1)

    def _now_idle(self, work: WorkloadInfo) -> bool:
        """Return whether the candidate's side has nothing more to give back."""
        queue = work.cluster_queue
        assert queue is not None
        if queue in self.idle:
            return True
        if any(within_nominal(node, self.needed) for node in self.bounds[queue]):
            self.idle.add(queue)
            return True
        return False

    def _reason(self, work: WorkloadInfo, kind: str) -> str:
        if kind == SAME:
            return IN_CLUSTER_QUEUE
        if kind == PRIORITY and work.priority < self._borrow_below():
            return IN_COHORT_RECLAIM_WHILE_BORROWING
        return IN_COHORT_RECLAMATION


_LOWEST = -(2**63)
_NO_RUNS: list[CandidateRange] = []


def _climb(requests: dict[ResourceNode, int]) -> tuple[bool, dict[ResourceNode, int]]:
    """Return whether requests fit a node's subtree; return what is left for its parent.

    Source: docs/semantics/kueue.md#candidates-in-the-cohort.
    """
    fitting, rest = True, {}
    for resource_node, amount in requests.items():
        if resource_node.usage + amount > resource_node.subtree_quota:
            fitting = False
        if resource_node.parent is not None:
            rest[resource_node.parent] = max(0, amount - local_available(resource_node))
    return fitting, rest


def _between(queue: ClusterQueue, cohort: Cohort) -> tuple[QuotaNode, ...]:
    """Return the queue and the cohorts above it, up to but without `cohort`."""
    nodes: list[QuotaNode] = [queue]
    for node in queue.ancestors:
        if node is cohort:
            break
        nodes.append(node)
    return tuple(nodes)
