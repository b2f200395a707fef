"""Preemption under fair sharing: who borrowed the largest weighted share yields.

Source: docs/semantics/kueue.md#fair-sharing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.kueue.preemption.targets import (
    PreemptionQuestion,
    Target,
    TargetClusterQueue,
    TargetClusterQueueOrdering,
    fill_back,
    fits,
    restore,
    take_out,
    trace_targets,
)
from scheduler.engine.kueue.trace import Excluded, Trace, quota_checks, share_of, shares
from scheduler.engine.kueue.tree.quota import (
    PreemptorNewShare,
    TargetNewShare,
    TargetOldShare,
    add_usages,
    remove_usages,
    share_of_node,
    undo_usages,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode, Rank
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import (
    IN_CLUSTER_QUEUE,
    IN_COHORT_FAIR_SHARING,
    IN_COHORT_RECLAMATION,
)


class FairPreemption:
    """One search for victims under fair sharing."""

    def __init__(self, question: PreemptionQuestion) -> None:
        self.work = question.work
        self.queue = question.queue
        self.requests = question.requests
        self.held = tuple(question.requests.items())
        self.needed = question.needed
        self.borrowers = question.borrowers
        self.rules = question.rules
        self.tally = question.tally
        self.nominal_without_strategy = question.gates.nominal_without_strategy
        self.absent = question.absent
        self.in_order = question.in_order
        self.placement = question.placement
        self.trace = question.trace
        self.targets: list[Target] = []
        self.retry: list[tuple[ClusterQueue, Rank]] = []
        self.seen: list[
            ClusterQueue
        ] = []  # for the trace: where candidates were looked for

    def find(self) -> list[Target]:
        """Return the workloads to preempt; empty when preemption does not help."""
        queues = self._target_queues()
        if not queues:
            return []
        add_usages(self.held)
        done = self._apply_first_strategy(queues) or (
            len(self.rules) > 1 and self._apply_second_strategy()
        )
        undo_usages(reversed(self.held))
        if not done:
            restore(self.targets, self.placement)
            if self.trace is not None:
                self.trace.note("failed", borrowing=True, tried=len(self.targets))
            return []
        self.targets = fill_back(
            self.targets,
            self.requests,
            borrowing=True,
            tally=self.tally,
            placement=self.placement,
            trace=self.trace,
        )
        if self.trace is not None:
            trace_targets(self.trace, self.queue, self.targets, self.requests)
        restore(self.targets, self.placement)
        return self.targets

    def _target_queues(self) -> dict[ClusterQueue, TargetClusterQueue]:
        """Gather candidates per queue, in victim order.

        Source: docs/semantics/kueue.md#fair-preemption-candidates.
        """
        queues = {}
        for queue, policy in self._sources():
            ranks = self._candidates(queue, policy)
            target = TargetClusterQueue(ranks)
            if target.first is not None:
                queues[queue] = target
            if self.trace is not None:
                self._trace_source(self.trace, queue, policy)
        if self.trace is not None:
            policy = self.queue.preemption.reclaim
            code: Excluded = "reclaimNever" if policy == "Never" else "borrowsNone"
            self.trace.excluded(self.queue, self.seen, policy, self.needed, code)
        return queues

    def _trace_source(self, trace: Trace, queue: ClusterQueue, policy: str) -> None:
        self.seen.append(queue)
        relation = "same" if queue is self.queue else "fair"
        ranks = (rank for _, rank in self._candidates(queue, policy))
        code: Excluded | None = None if queue.active else "inactive"
        trace.source(queue, relation, policy, ranks, self.needed, code)

    def _sources(self) -> Iterator[tuple[ClusterQueue, str]]:
        policy = self.queue.preemption
        yield self.queue, policy.within_queue
        root = self.queue.root
        if policy.reclaim == "Never" or not isinstance(root, Cohort):
            return
        for queue in self.borrowers.below(root, self.needed):
            if queue is not self.queue:
                yield queue, policy.reclaim

    def _candidates(
        self, queue: ClusterQueue, policy: str
    ) -> Iterator[tuple[bool, Rank]]:
        """Yield (not evicted, rank), best victim first."""
        if not queue.active:
            return
        for evicted in (True, False):
            runs = queue.admitted.candidate_ranges(
                self.needed, policy, self.work, evicted=evicted
            )
            for rank in self.in_order(runs) if runs else ():
                if rank[4] not in self.absent:
                    yield not evicted, rank

    def _fits(self) -> bool:
        undo_usages(reversed(self.held))
        fitting = fits(self.requests, borrowing=True, placement=self.placement)
        add_usages(self.held)
        return fitting

    def _take(self, work: WorkloadInfo, reason: str) -> bool:
        """Remove a victim; return whether the preemptor fits now."""
        take_out(work, self.placement)
        self.targets.append(Target(work, reason))
        self.tally.looked += 1
        self.tally.simulations += 1
        fitting = self._fits()
        if self.trace is not None:
            relation = "same" if work.cluster_queue is self.queue else "fair"
            now, free = shares(self.queue), self._traced_quota()
            self.trace.candidate(
                work,
                relation,
                "taken",
                reason=reason,
                quota=free,
                fits=fitting,
                shares=now,
            )
        return fitting

    def _traced_quota(self) -> list[dict[str, Any]]:
        undo_usages(reversed(self.held))
        free = quota_checks(self.requests, borrowing=True)
        add_usages(self.held)
        return free

    def _apply_first_strategy(
        self, queues: dict[ClusterQueue, TargetClusterQueue]
    ) -> bool:
        """Apply the first rule, queue by queue.

        Source: docs/semantics/kueue.md#fair-preemption-strategies.
        """
        order = TargetClusterQueueOrdering(self.queue, queues)
        within_nominal = self._within_nominal()
        if self.trace is not None:
            self._trace_round(self.trace, 0, within_nominal=within_nominal)
        while (queue := order.next()) is not None:
            if self.trace is not None:
                self._trace_turn(self.trace, queue)
            target = queues[queue]
            if queue is self.queue:
                done = self._take(target.pop()[4], IN_CLUSTER_QUEUE)
            elif within_nominal:
                done = self._take(target.pop()[4], IN_COHORT_RECLAMATION)
            else:
                done = self._compare(queue, target)
            if done:
                return True
            order.changed(queue)
        return False

    def _trace_round(self, trace: Trace, rule: int, *, within_nominal: bool) -> None:
        """Note the start of a rule; the request counts as used from here on."""
        trace.note(
            "round",
            rule=rule,
            withinNominal=within_nominal,
            shares=shares(self.queue),
            quota=self._traced_quota(),
        )

    def _trace_turn(self, trace: Trace, queue: ClusterQueue) -> None:
        trace.note(
            "turn",
            queue=queue.name,
            own=queue is self.queue,
            share=share_of(share_of_node(queue)),
            shares=shares(self.queue),
        )

    def _within_nominal(self) -> bool:
        resource_nodes = (self.queue.resource_nodes[fr] for fr in self.needed)
        return self.nominal_without_strategy and all(
            resource_node.usage <= resource_node.nominal
            for resource_node in resource_nodes
        )

    def _compare(self, queue: ClusterQueue, target: TargetClusterQueue) -> bool:
        """Take the queue's first candidate that the first rule lets go."""
        ours, theirs = self._below_common_ancestor(queue)
        new = PreemptorNewShare(share_of_node(ours))
        old = TargetOldShare(share_of_node(theirs))
        if new.value == float("inf") and old.value != float("inf"):
            drained = list(target.drain())
            self.retry.extend((queue, rank) for rank in drained)
            self.tally.looked += len(drained)
            if self.trace is not None:
                for rank in drained:
                    self.trace.compare(0, ours, theirs, (new, old, old))
                    self.trace.candidate(rank[4], "fair", "refused")
            return False
        refused = set[object]()  # what they hold: without it the share is the same
        while target.first is not None:
            rank = target.pop()
            work = rank[4]
            if self.trace is None and work.usage in refused:
                self.tally.looked += 1
            elif self._allowed(work, ours, theirs, new, old, 0):
                return self._take(work, IN_COHORT_FAIR_SHARING)
            else:
                refused.add(work.usage)
            self.retry.append((queue, rank))
        return False

    def _allowed(
        self,
        work: WorkloadInfo,
        ours: QuotaNode,
        theirs: QuotaNode,
        new: PreemptorNewShare,
        old: TargetOldShare,
        rule: int,
    ) -> bool:
        remove_usages(work.usage)
        after = TargetNewShare(share_of_node(theirs))
        add_usages(reversed(work.usage))
        allowed = self.rules[rule](new, old, after)
        if not allowed:  # what is allowed is counted when it is taken
            self.tally.looked += 1
        if self.trace is not None:  # what is allowed is traced when it is taken
            self.trace.compare(rule, ours, theirs, (new, old, after))
            if not allowed:
                self.trace.candidate(work, "fair", "refused")
        return allowed

    def _below_common_ancestor(
        self, queue: ClusterQueue
    ) -> tuple[QuotaNode, QuotaNode]:
        """Return the children of the lowest common cohort, on our and on their side."""
        ours: dict[Cohort, QuotaNode] = {}
        below: QuotaNode = self.queue
        for cohort in self.queue.ancestors:
            ours[cohort] = below
            below = cohort
        below = queue
        for cohort in queue.ancestors:
            if cohort in ours:
                return ours[cohort], below
            below = cohort
        raise AssertionError(f"{queue.name} is not in the tree of {self.queue.name}")

    def _apply_second_strategy(self) -> bool:
        """Apply the second rule to those refused, once per queue.

        Source: docs/semantics/kueue.md#second-fair-preemption-strategy.
        """
        queues: dict[ClusterQueue, list[tuple[bool, Rank]]] = {}
        for queue, rank in self.retry:
            queues.setdefault(queue, []).append((not rank[4].indexed_as_evicted, rank))
        left = {
            queue: TargetClusterQueue(iter(ranks)) for queue, ranks in queues.items()
        }
        order = TargetClusterQueueOrdering(self.queue, left)
        if self.trace is not None:
            self._trace_round(self.trace, 1, within_nominal=False)
        while (found := order.next()) is not None:
            queue = found
            if self.trace is not None:
                self._trace_turn(self.trace, queue)
            ours, theirs = self._below_common_ancestor(queue)
            rank = left[queue].pop()
            new = PreemptorNewShare(share_of_node(ours))
            old = TargetOldShare(share_of_node(theirs))
            if self._allowed(rank[4], ours, theirs, new, old, 1) and (
                self._take(rank[4], IN_COHORT_FAIR_SHARING)
            ):
                return True
            order.drop(queue)
        return False
