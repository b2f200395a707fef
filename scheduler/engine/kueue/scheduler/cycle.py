"""One admission cycle: nominate all heads on one state, then take them in order.

1. `run()` gets the head of every ClusterQueue, and those in their second pass.
2. `nominate()`: each finds its flavors on the state before the cycle, and whom it would
   preempt; nobody knows yet of the others. A second pass: `nominate_replacement()`.
3. `order()` (`preempting.py`): who borrows least comes first, or by fair shares.
4. `_process()` takes each in that order, on the state that those before it left: who
   overlaps with one before searches again (`_recompute()`) or is skipped (`_skip()`),
   who fits no longer is skipped, too.
5. `_preempt()` or `_admit()`; without victims the quota is reserved for the rest of the
   cycle (`_reserve_without_candidates()`).
6. What was only reserved is given back (`undo_usages()`); admissions stay.

Source: docs/semantics/kueue.md#admission-cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler.engine.kueue.cache.candidates import Borrowers
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.flavorassigner.assignment import Mode
from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.engine.kueue.scheduler.nominate import (
    assign_flavors,
    is_overtaken,
    moves_from,
    nominate,
    store_last_assignment,
)
from scheduler.engine.kueue.scheduler.preempting import ActivePreemption
from scheduler.engine.kueue.scheduler.second_pass import (
    SEVERITY_REASONS,
    Entry,
    EntryStatus,
    nominate_replacement,
)
from scheduler.engine.kueue.topology.cache import DomainUsage
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.quota import (
    Amount,
    add_usage,
    add_usages,
    apply_usages,
    are_available,
    remove_usages,
    undo_usages,
)
from scheduler.engine.kueue.tree.tree import QuotaNode, ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import (
    NO_LONGER_FITS,
    OVERLAPPING,
    OVERLAPPING_FITS,
    WAITING_FOR_PREEMPTED,
    WAITING_FOR_QUOTA,
    pending_preemption,
)


class Cycle:
    """One cycle. Usage of those admitted stays; all else is undone at the end."""

    def __init__(
        self,
        cluster: Cluster,
        preempting: ActivePreemption,
        *,
        gated: bool = False,
        blocked: bool = False,
        trace: Trace | None = None,
        traced: WorkloadInfo | None = None,
    ) -> None:
        self.cluster = cluster
        self.preempting = preempting
        self.gated = gated  # one is admitted at a time: its pods are waited for
        self.blocked = blocked  # pods are being waited for
        self.waiting: Entry | None = None  # who waits for them; the rest waits along
        self.trace = trace
        self.traced = traced
        self.preempted: dict[WorkloadInfo, Entry] = {}
        self.freed: dict[
            QuotaNode, dict[ResourceNode, int]
        ] = {}  # per root, by the preempted
        self.held_back: list[Amount] = []  # reserved for this cycle only
        self.held_places: list[tuple[DomainUsage, ...]] = []  # likewise, of leaves

    def run(self, heads: list[Entry]) -> list[Entry]:
        """Return the entries in the order in which they were decided."""
        self._trace_heads(heads)
        if self.cluster.proposing is not None:
            self.cluster.proposing.begin()
        borrowers = Borrowers()  # nominations leave the tree as it is
        known = self.preempting.known.now(self.cluster.forest.links)
        for entry in heads:
            if entry.second_pass:
                nominate_replacement(self.cluster, entry)
                continue
            nominate(
                self.cluster,
                self.preempting,
                entry,
                borrowers=borrowers,
                known=known,
                trace=self._trace(entry),
            )
        able = [entry for entry in heads if entry.assignment is not None]
        decided = list(self._decide(able))
        undo_usages(reversed(self.held_back))
        for usage in reversed(self.held_places):
            self.cluster.topologies.add_usage(usage, -1)
        if self.cluster.proposing is not None:
            self.cluster.proposing.end()
        done = set(decided)
        return decided + [entry for entry in heads if entry not in done]

    def _trace(self, entry: Entry) -> Trace | None:
        return self.trace if entry.work is self.traced else None

    def _trace_heads(self, heads: list[Entry]) -> None:
        if self.trace is not None and any(e.work is self.traced for e in heads):
            names = [str(entry.work.key) for entry in heads]
            self.trace.note("cycle", number=self.cluster.cycle, heads=names)

    def _decide(self, entries: list[Entry]) -> Iterator[Entry]:
        for entry in self.preempting.order(entries):
            if entry.second_pass:
                self._replace(entry)
            elif self.waiting is None:
                self._process(entry)
            else:
                entry.wait_for_pods()
            if self.trace is not None:
                self._trace_status(entry, self.trace)
            yield entry

    def _trace_status(self, entry: Entry, trace: Trace) -> None:
        trace.note(
            "decided",
            workload=str(entry.work.key),
            queue=entry.queue.name,
            traced=entry.work is self.traced,
            status=entry.status.value,
            borrow=entry.borrow,
            reason=entry.reason,
            message=entry.message,
            targets=[[str(t.work.key), t.reason] for t in entry.targets],
        )

    def _process(self, entry: Entry) -> None:
        """Decide one entry. Source: docs/semantics/kueue.md#processing-an-entry."""
        assert entry.assignment is not None
        if entry.work.parent is not None and is_overtaken(self.cluster, entry):
            return
        deferred = False
        again = self.cluster.settings.gates.overlap_searches_again
        if again and self._overlaps(entry):
            deferred = self._recompute(entry)
        elif self._lost_its_places(entry):
            self._place_again(entry)
        mode = entry.assignment.mode
        if mode is Mode.NO_FIT:
            reason = SEVERITY_REASONS[entry.assignment.severity()]
            entry.refuse(RequeueReason.NO_FIT, reason, entry.assignment.message())
        elif mode is Mode.PREEMPT and not entry.targets:
            self._reserve_without_candidates(entry)
        elif mode is Mode.PREEMPT and entry.work.may_not_preempt:
            entry.gate()
        elif (asked := self.cluster.proposing) is not None and (
            held := asked.held(entry.work, entry.queue, entry.assignment.usage)
        ):
            entry.refuse(RequeueReason.GENERIC, WAITING_FOR_QUOTA, held)
        elif deferred:
            self._defer(entry)
        elif self._overlaps(entry):
            self._skip(entry, OVERLAPPING)
        elif not self._fits(entry):
            self._skip(entry, NO_LONGER_FITS)
        elif mode is Mode.PREEMPT:
            self._preempt(entry)
        else:
            self._admit(entry)

    def _skip(self, entry: Entry, message: str) -> None:
        """Let others of this cycle come before it; where its search stopped is kept."""
        entry.skip(message)
        if not self.cluster.settings.gates.keeps_search:
            entry.work.last_assignment = None

    def _replace(self, entry: Entry) -> None:
        """Decide an entry in its second pass; one more search if it comes too late.

        Source: docs/semantics/kueue-topology.md#second-pass.
        """
        assert entry.assignment is not None
        if entry.assignment.mode is Mode.FIT and not self._fits_places(entry):
            nominate_replacement(self.cluster, entry)
        if entry.assignment.mode is Mode.FIT and self._fits_places(entry):
            entry.status = EntryStatus.REPLACED
            self._reserve_places(entry)
        else:
            entry.status = EntryStatus.LOST_NODE

    def _overlaps(self, entry: Entry) -> bool:
        if not self.preempted:
            return False
        if entry.replaced is not None and entry.replaced in self.preempted:
            return True
        return any(target.work in self.preempted for target in entry.targets)

    def _recompute(self, entry: Entry) -> bool:
        """Search again without those already preempted; return whether it fits then.

        Source: docs/semantics/kueue.md#overlapping-preemption-targets.
        """
        assert entry.assignment is not None
        freed = self._freed(entry)
        remove_usages(freed)
        self._add_topology_usage(self.preempted, -1)
        entry.assignment, entry.targets = assign_flavors(
            self.cluster,
            self.preempting,
            entry,
            only=entry.assignment.chosen(),
            absent=self.preempted,
            trace=self._trace(entry),
        )
        add_usages(reversed(freed))
        self._add_topology_usage(self.preempted, 1)
        store_last_assignment(self.cluster, entry)
        return entry.assignment.mode is Mode.FIT

    def _freed(self, entry: Entry) -> list[Amount]:
        return list(self.freed.get(entry.queue.root, {}).items())

    def _add_topology_usage(self, works: Iterable[WorkloadInfo], sign: int) -> None:
        for work in works:
            if work.topology is not None:
                self.cluster.topologies.add_usage(work.topology.usage, sign)

    def _lost_its_places(self, entry: Entry) -> bool:
        """Return whether quota is there and the places are gone.

        Source: docs/semantics/kueue-topology.md#within-a-cycle.
        """
        assert entry.assignment is not None
        return (
            bool(entry.assignment.topology_usage)
            and self.cluster.topologies.gates.recompute
            and self._fits_quota(entry)
            and not self._fits_places(entry)
        )

    def _place_again(self, entry: Entry) -> None:
        """Search again in the flavors that it was nominated with."""
        assert entry.assignment is not None
        entry.assignment, entry.targets = assign_flavors(
            self.cluster,
            self.preempting,
            entry,
            only=entry.assignment.chosen(),
            absent=self.preempted,
            trace=self._trace(entry),
        )
        store_last_assignment(self.cluster, entry)

    def _fits(self, entry: Entry) -> bool:
        """Return whether it fits with all victims so far, and its own, gone."""
        return self._fits_quota(entry) and self._fits_places(entry)

    def _fits_places(self, entry: Entry) -> bool:
        assert entry.assignment is not None
        usage = entry.assignment.topology_usage
        if not usage:
            return True
        gone = [*self.preempted, *(target.work for target in entry.targets)]
        self._add_topology_usage(dict.fromkeys(gone), -1)
        fitting = self.cluster.topologies.fits(usage)
        self._add_topology_usage(dict.fromkeys(gone), 1)
        return fitting

    def _fits_quota(self, entry: Entry) -> bool:
        assert entry.assignment is not None
        usage = entry.assignment.usage
        gone = self._freed(entry)
        for target in entry.targets:
            gone.extend(target.work.usage)
        if not gone:
            return are_available(usage.items())
        remove_usages(gone)
        fitting = are_available(usage.items())
        add_usages(reversed(gone))
        return fitting

    def _reserve(self, resource_node: ResourceNode, amount: int) -> None:
        add_usage(resource_node, amount)
        self.held_back.append((resource_node, amount))

    def _reserve_places(self, entry: Entry) -> None:
        assert entry.assignment is not None
        usage = entry.assignment.topology_usage
        if usage:
            self.cluster.topologies.add_usage(usage, 1)
            self.held_places.append(usage)

    def _reserve_without_candidates(self, entry: Entry) -> None:
        """Nobody may be preempted; keep what it would take from going to others.

        Source: docs/semantics/kueue.md#reserving-quota-without-candidates.
        """
        assert entry.assignment is not None
        message = entry.assignment.message()
        entry.refuse(RequeueReason.NO_CANDIDATES, WAITING_FOR_QUOTA, message)
        if entry.queue.preemption.reclaim == "Any":
            return
        for resource_node, amount in entry.assignment.usage.items():
            if not entry.borrow:
                amount = max(
                    0, min(amount, resource_node.nominal - resource_node.usage)
                )
            elif resource_node.borrowing_limit is not None:
                amount = min(
                    amount,
                    resource_node.nominal
                    + resource_node.borrowing_limit
                    - resource_node.usage,
                )
            self._reserve(resource_node, amount)
        self._reserve_places(entry)

    def _defer(self, entry: Entry) -> None:
        entry.refuse(
            RequeueReason.PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, OVERLAPPING_FITS
        )
        entry.work.last_assignment = None
        self._reserve_usage(entry)

    def _reserve_usage(self, entry: Entry) -> None:
        assert entry.assignment is not None
        for resource_node, amount in entry.assignment.usage.items():
            self._reserve(resource_node, amount)
        self._reserve_places(entry)

    def _preempt(self, entry: Entry) -> None:
        assert entry.assignment is not None
        entry.status = EntryStatus.PREEMPTING
        entry.requeue = RequeueReason.PENDING_PREEMPTION
        entry.reason = WAITING_FOR_PREEMPTED
        message = entry.assignment.message()
        entry.message = pending_preemption(message, len(entry.targets))
        entry.work.last_assignment = None
        freed = self.freed.setdefault(entry.queue.root, {})
        for target in entry.targets:
            self.preempted[target.work] = entry
            for resource_node, amount in target.work.usage:
                freed[resource_node] = freed.get(resource_node, 0) + amount
        self._reserve_usage(entry)

    def _admit(self, entry: Entry) -> None:
        """Admit, unless pods are waited for: then the cycle goes no further.

        Source: docs/semantics/kueue.md#waiting-for-pods-before-admission.
        """
        assert entry.assignment is not None
        if self.blocked:
            self.waiting = entry
            entry.wait_for_pods()
            return
        if entry.work.parent is not None and moves_from(self.cluster, entry):
            self._reserve_usage(entry)
            return
        entry.status = EntryStatus.ADMITTED
        if entry.replaced is not None:  # it is gone for whoever comes after
            self.preempted[entry.replaced] = entry
        apply_usages(entry.assignment.usage.items())
        self.cluster.topologies.add_usage(entry.assignment.topology_usage, 1)
        self.blocked = self.gated
