"""Weighted shares with their numbers, who lends to whom, and whose turn it is."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from scheduler.explain.flows import flows
from scheduler.explain.fork import fork_kueue, kueue_of
from scheduler.explain.shapes import (
    Amount,
    Fairness,
    Formula,
    Fraction,
    Head,
    NextVictim,
)
from scheduler.explain.workloads import victim
from scheduler.kueue.cache.candidates import ANY, Rank
from scheduler.kueue.preemption.ordering import Pile, Tournament
from scheduler.kueue.scheduler.cycle import Cycle
from scheduler.kueue.scheduler.entries import Entry, Fate
from scheduler.kueue.stage import KueueStage
from scheduler.kueue.trace import share_of
from scheduler.kueue.tree.quota import charge_all, release_all
from scheduler.kueue.tree.shares import measure, share
from scheduler.kueue.tree.tree import (
    Cell,
    Cohort,
    Node,
    Queue,
)
from scheduler.kueue.workload.info import Work
from scheduler.world import World

#: A fraction names at most this many of the workloads that it sums.
MOST_WORKLOADS = 20


def fairness(world: World) -> Fairness:
    """Return shares, flows, the next to be admitted and the next victims.

    The heads are the first of every queue, parked or not, in the order in
    which a cycle would take them, decided on a copy. Raises SchedulerError
    when the stack has no Kueue. O(workloads that have not finished).
    """
    kueue_of(world)
    stage = fork_kueue(world)
    forest = stage.cluster.forest
    return Fairness(
        at_ms=world.context.now_ms,
        tick=world.tick,
        fair_sharing=stage.preempting.fair,
        strategies=list(stage.settings.strategies) if stage.preempting.fair else [],
        formulas=[_formula(node) for node in forest.nodes() if node.parent],
        flows=flows(forest),
        next_victims=list(_next_victims(stage)),
        heads=_heads(stage),  # last: it spends the copy
    )


# ---- the formula ----


def _formula(node: Node) -> Formula:
    value, borrowing = measure(node)
    fractions = [_fraction(node, lendable, cells) for lendable, cells in node.measures]
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


def _fraction(node: Node, lendable: float, cells: tuple[Cell, ...]) -> Fraction:
    borrowed = sum(max(0, cell.usage - cell.subtree) for cell in cells)
    ratio = float(borrowed) * 1000.0 / lendable if borrowed and lendable > 0 else 0.0
    return Fraction(
        resource=cells[0].flavor_resource[1],
        borrowed=str(borrowed),
        lendable=str(int(lendable)),
        ratio=ratio,
        winning=False,
        workloads=_holders(node, cells),
    )


def _holders(node: Node, cells: tuple[Cell, ...]) -> list[str]:
    """Return the workloads that a fraction sums, largest first."""
    if not isinstance(node, Queue):
        return []
    wanted = set(cells)
    sums = (
        (-sum(amount for cell, amount in work.held if cell in wanted), str(work.key))
        for work in node.shelf.works
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
        entry.work.attempt = None
        if entry.work.line is not None:
            entry.work.line.forget(entry.work)
    cycle = Cycle(
        stage.cluster, stage.preempting, gated=stage.gated, blocked=stage.blocked
    )
    decided = cycle.run(entries)
    for entry in reversed(decided):  # back to the state that all were nominated on
        if entry.fate is Fate.ADMITTED and entry.assignment is not None:
            release_all(reversed(entry.assignment.usage.items()))
    return [_head(number, entry) for number, entry in enumerate(decided, start=1)]


def _first(queue: Queue) -> Work | None:
    head = queue.line.head()
    if head is not None:
        return head
    return min(queue.line.works(), key=lambda work: work.order, default=None)


def _head(order: int, entry: Entry) -> Head:
    usage = _usage(entry)
    charge_all(usage)
    after = share_of(share(entry.queue)) if entry.queue.parent is not None else None
    release_all(reversed(usage))
    return Head(
        order=order,
        workload=str(entry.work.key),
        queue=entry.queue.name,
        requests=_requests(entry),
        share_after=after if usage else None,
        borrow=entry.borrow,
        status=entry.fate.value,
        reason=entry.reason,
        message=entry.message,
        targets=[victim(target.work, target.reason) for target in entry.targets],
    )


def _usage(entry: Entry) -> tuple[tuple[Cell, int], ...]:
    """Return what it would use: as assigned, else in the first flavor of each group."""
    if entry.assignment is not None and entry.assignment.usage:
        return tuple(entry.assignment.usage.items())
    queue, usage = entry.queue, dict[Cell, int]()
    for _, _, total in entry.work.scaled(None):
        for resource, amount in total.items():
            if resource in queue.cover:
                group = queue.spec.groups[queue.cover[resource]]
                cell = queue.cells[group.flavors[0], resource]
                usage[cell] = usage.get(cell, 0) + amount
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
        for place in sorted(root.cells):
            found = _next_victim(stage, root, place)
            if found is not None:
                yield found


def _next_victim(
    stage: KueueStage, root: Cohort, place: tuple[str, str]
) -> NextVictim | None:
    queues = list(root.subtree())
    piles = {
        queue: pile
        for queue in queues
        if _borrows(queue, place) and (pile := _pile(queue, place)).first is not None
    }
    asker = next((queue for queue in queues if queue not in piles), None)
    if not piles or asker is None:
        return None
    if stage.preempting.fair:
        queue = Tournament(asker, piles).next()
    else:
        queue = min(piles, key=lambda q: piles[q].first or (True, q))
    if queue is None:
        return None
    work = piles[queue].pop()[4]
    reserved = work.conditions.get("QuotaReserved")
    since = reserved.since_us if reserved is not None else None
    held = sum(n for cell, n in work.held if cell.flavor_resource == place)
    return NextVictim(
        tree=root.name,
        flavor=place[0],
        resource=place[1],
        workload=str(work.key),
        queue=queue.name,
        priority=work.priority,
        amount=str(held),
        reserved_ms=None if since is None else stage.context.ms(since),
        share=share_of(share(queue)),
    )


def _borrows(queue: Queue, place: tuple[str, str]) -> bool:
    cell = queue.cells.get(place)
    return queue.active and cell is not None and cell.usage > cell.nominal


def _pile(queue: Queue, place: tuple[str, str]) -> Pile:
    def ranks() -> Iterator[tuple[bool, Rank]]:
        anybody = next(iter(queue.shelf.works))
        for evicted in (True, False):
            runs = queue.shelf.runs({place}, ANY, anybody, evicted=evicted)
            for rank in heapq.merge(*runs):
                yield not evicted, rank

    return Pile(ranks())
