"""Weighted shares with their numbers, lenders and borrowers, and the next head."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from scheduler.analysis.explain.changes import fork_kueue, kueue_of
from scheduler.analysis.explain.shapes import (
    Amount,
    Fairness,
    Flow,
    Formula,
    Fraction,
    Head,
    NextVictim,
    NodeName,
)
from scheduler.analysis.explain.workloads import reason_of, victim
from scheduler.engine.kueue.cache.candidates import ANY
from scheduler.engine.kueue.preemption.targets import (
    TargetClusterQueue,
    TargetClusterQueueOrdering,
)
from scheduler.engine.kueue.scheduler.cycle import Cycle
from scheduler.engine.kueue.scheduler.second_pass import Entry, EntryStatus
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import share_of
from scheduler.engine.kueue.tree.forest import Forest
from scheduler.engine.kueue.tree.quota import (
    add_usages,
    dominant_resource_share,
    remove_usages,
    share_of_node,
)
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
    Rank,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model.amounts import UNLIMITED

#: A fraction names at most this many of the workloads that it sums.
MOST_WORKLOADS = 20


def fairness(world: World) -> Fairness:
    """Return shares, flows, the next to be admitted and the next victims.

    The heads are the first of every queue, inadmissible or not, in the order in
    which a cycle would take them, decided on a copy. Raises SchedulerError
    when the stack has no Kueue. O(workloads that have not finished).
    """
    kueue_of(world)
    stage = fork_kueue(world)
    forest = stage.cluster.forest
    return Fairness(
        at_ms=world.context.now_ms,
        tick=world.tick,
        fair_sharing=stage.preemption.fair,
        strategies=list(stage.settings.strategies) if stage.preemption.fair else [],
        formulas=[formula(node) for node in forest.nodes() if node.parent],
        flows=flows(forest),
        next_victims=list(_next_victims(stage)),
        heads=_heads(stage),  # last: it spends the copy
    )


# ---- the formula ----


def formula(node: QuotaNode) -> Formula:
    """Return the weighted share of a queue or cohort in its cohort, with its arithmetic."""
    value, borrowing = dominant_resource_share(node)
    fractions = [
        _fraction(node, lendable, resource_nodes)
        for lendable, resource_nodes in node.lendable_by_resource
    ]
    most = max((f.ratio for f in fractions), default=0.0)
    for fraction in fractions:
        fraction.winning = fraction.ratio == most and most > 0
    return Formula(
        kind=node.kind,
        name=node.name,
        parent=node.parent.name if node.parent is not None else "",
        fractions=fractions,
        ratio=most,
        weight=node.weight,
        share=share_of(value),
        borrowing=borrowing,
    )


def _fraction(
    node: QuotaNode, lendable: float, resource_nodes: tuple[ResourceNode, ...]
) -> Fraction:
    borrowed = sum(max(0, one.usage - one.subtree_quota) for one in resource_nodes)
    ratio = float(borrowed) * 1000.0 / lendable if borrowed and lendable > 0 else 0.0
    return Fraction(
        resource=resource_nodes[0].flavor_resource[1],
        borrowed=str(borrowed),
        lendable=str(int(lendable)),
        ratio=ratio,
        winning=False,
        workloads=_holders(node, resource_nodes),
    )


def _holders(node: QuotaNode, resource_nodes: tuple[ResourceNode, ...]) -> list[str]:
    """Return the workloads that a fraction sums, largest first."""
    if not isinstance(node, ClusterQueue):
        return []
    wanted = set(resource_nodes)
    sums = (
        (-sum(amount for one, amount in work.usage if one in wanted), str(work.key))
        for work in node.admitted.workloads
    )
    largest = heapq.nsmallest(MOST_WORKLOADS, (pair for pair in sums if pair[0]))
    return [key for _, key in largest]


# ---- who is next ----


def _heads(stage: KueueStage) -> list[Head]:
    """Return the first of every queue in the order of one cycle."""
    entries = [
        Entry(work, queue)
        for _, queue in sorted(stage.cluster.forest.queues.items())
        if queue.active and (work := _first(queue)) is not None
    ]
    for entry in entries:
        entry.work.last_assignment = None
        if entry.work.pending_queue is not None:
            entry.work.pending_queue.remove(entry.work)
    cycle = Cycle(
        stage.cluster, stage.preemption, gated=stage.gated, blocked=stage.blocked
    )
    decided = cycle.run(entries)
    for entry in reversed(decided):  # back to the state that all were nominated on
        if entry.status is EntryStatus.ADMITTED and entry.assignment is not None:
            remove_usages(reversed(entry.assignment.usage.items()))
    return [
        _head(number, entry, stage) for number, entry in enumerate(decided, start=1)
    ]


def _first(queue: ClusterQueue) -> WorkloadInfo | None:
    head: WorkloadInfo | None = queue.pending.head()
    if head is not None:
        return head
    return min(
        queue.pending.workloads(), key=lambda work: work.queue_order, default=None
    )


def _head(order: int, entry: Entry, stage: KueueStage) -> Head:
    usage = _usage(entry)
    add_usages(usage)
    after = (
        share_of(share_of_node(entry.queue)) if entry.queue.parent is not None else None
    )
    remove_usages(reversed(usage))
    return Head(
        order=order,
        workload=str(entry.work.key),
        queue=entry.queue.name,
        requests=_requests(entry),
        share_after=after if usage else None,
        borrow=entry.borrow,
        status=entry.status.value,
        reason=reason_of(entry, stage),
        message=entry.message,
        targets=[victim(target.work, target.reason) for target in entry.targets],
    )


def _usage(entry: Entry) -> tuple[tuple[ResourceNode, int], ...]:
    """Return what it would use: as assigned, else in the first flavor of each group."""
    if entry.assignment is not None and entry.assignment.usage:
        return tuple(entry.assignment.usage.items())
    queue, usage = entry.queue, dict[ResourceNode, int]()
    for _, _, total in entry.work.scaled_pod_sets(None):
        for resource, amount in total.items():
            if resource in queue.group_of:
                group = queue.spec.groups[queue.group_of[resource]]
                resource_node = queue.resource_nodes[group.flavors[0], resource]
                usage[resource_node] = usage.get(resource_node, 0) + amount
    return tuple(usage.items())


def _requests(entry: Entry) -> list[Amount]:
    totals: dict[str, int] = {}
    for total in entry.work.totals:
        for resource, amount in total.items():
            totals[resource] = totals.get(resource, 0) + amount
    return [
        Amount(resource=name, amount=str(amount)) for name, amount in totals.items()
    ]


# ---- next victims ----


def _next_victims(stage: KueueStage) -> Iterator[NextVictim]:
    """Yield, per tree and kind of quota that is borrowed, who would go first.

    The asker is a queue within its nominal quota that may preempt anybody who
    borrows; which one it is makes no difference to the order.
    """
    for root in stage.cluster.forest.roots():
        if not isinstance(root, Cohort):
            continue
        for place in sorted(root.resource_nodes):
            found = _next_victim(stage, root, place)
            if found is not None:
                yield found


def _next_victim(
    stage: KueueStage, root: Cohort, place: tuple[str, str]
) -> NextVictim | None:
    queues = list(root.subtree())
    targets = {
        queue: target
        for queue in queues
        if _borrows(queue, place)
        and (target := _target_queue(queue, place)).first is not None
    }
    asker = next((queue for queue in queues if queue not in targets), None)
    if not targets or asker is None:
        return None
    if stage.preemption.fair:
        queue = TargetClusterQueueOrdering(asker, targets).next()
    else:
        queue = min(targets, key=lambda q: targets[q].first or (True, q))
    if queue is None:
        return None
    work = targets[queue].pop()[4]
    reserved = work.conditions.get("QuotaReserved")
    since = reserved.since_us if reserved is not None else None
    held = sum(n for one, n in work.usage if one.flavor_resource == place)
    return NextVictim(
        tree=root.name,
        flavor=place[0],
        resource=place[1],
        workload=str(work.key),
        queue=queue.name,
        priority=work.priority,
        amount=str(held),
        reserved_ms=None if since is None else stage.context.ms(since),
        share=share_of(share_of_node(queue)),
    )


def _borrows(queue: ClusterQueue, place: tuple[str, str]) -> bool:
    resource_node = queue.resource_nodes.get(place)
    return (
        queue.active
        and resource_node is not None
        and resource_node.usage > resource_node.nominal
    )


def _target_queue(queue: ClusterQueue, place: tuple[str, str]) -> TargetClusterQueue:
    def ranks() -> Iterator[tuple[bool, Rank]]:
        anybody = next(iter(queue.admitted.workloads))
        for evicted in (True, False):
            runs = queue.admitted.candidate_ranges(
                {place}, ANY, anybody, evicted=evicted
            )
            for rank in heapq.merge(*runs):
                yield not evicted, rank

    return TargetClusterQueue(ranks())


# ------------------------------------------------------------------------
# Lending and borrowing between ClusterQueues, per cohort.


#: A node and an amount: what it borrows, or has to spare.
Part = tuple[QuotaNode, int]


def flows(forest: Forest) -> list[Flow]:
    """Return what every borrower uses of every lender, where anything is borrowed.

    Kueue keeps no account of this: in each cohort what is borrowed is spread
    over the lenders in proportion to what each has to spare; a cohort's own
    quota and its parent lend too. Whole canonical units; what each lender gives and
    what each borrower gets are exact.
    """
    return [
        flow
        for cohort in forest.cohorts.values()
        for place, resource_node in sorted(cohort.resource_nodes.items())
        for flow in _of_resource_node(cohort, resource_node, place)
    ]


def _of_resource_node(
    cohort: Cohort, resource_node: ResourceNode, place: tuple[str, str]
) -> Iterator[Flow]:
    borrowers = list(_borrowers(cohort, place))
    if not borrowers:
        return
    lenders = list(_lenders(cohort, resource_node, place))
    wanted = sum(amount for _, amount in borrowers)
    for lender, amount in _spread(wanted, lenders):
        # In proportion to what each still lacks, so that the last lender fills all up.
        parts = _spread(amount, borrowers)
        borrowers = [
            (borrower, lacks - part)
            for (borrower, lacks), (_, part) in zip(borrowers, parts, strict=True)
        ]
        for borrower, part in parts:
            if part:
                yield Flow(
                    cohort=cohort.name,
                    flavor=place[0],
                    resource=place[1],
                    lender=_name(lender),
                    borrower=_name(borrower),
                    amount=str(part),
                )


def _borrowers(cohort: Cohort, place: tuple[str, str]) -> Iterator[Part]:
    for child in cohort.children():
        resource_node = child.resource_nodes.get(place)
        if (
            resource_node is not None
            and resource_node.usage > resource_node.subtree_quota
        ):
            yield child, resource_node.usage - resource_node.subtree_quota


def _lenders(
    cohort: Cohort, resource_node: ResourceNode, place: tuple[str, str]
) -> Iterator[Part]:
    """Yield what each may give: the parent first, then the cohort, then children."""
    if cohort.parent is not None and resource_node.usage > resource_node.subtree_quota:
        yield cohort.parent, resource_node.usage - resource_node.subtree_quota
    if resource_node.nominal > 0:
        yield cohort, min(resource_node.nominal, UNLIMITED)
    for child in cohort.children():
        below = child.resource_nodes.get(place)
        if below is not None:
            spare = (below.subtree_quota - below.local_quota) - max(
                0, below.usage - below.local_quota
            )
            if spare > 0:
                yield child, spare


def _spread(total: int, parts: list[Part]) -> list[Part]:
    """Spread a total over parts in proportion; the sum is exact, the first get more."""
    whole = sum(amount for _, amount in parts)
    if not whole:
        return [(node, 0) for node, _ in parts]
    spread, passed, given = [], 0, 0
    for node, amount in parts:
        passed += amount
        upto = total * passed // whole
        spread.append((node, upto - given))
        given = upto
    return spread


def _name(node: QuotaNode) -> NodeName:
    return NodeName(kind=node.kind, name=node.name)
