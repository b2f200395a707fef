"""One admission cycle, and cycles until quiet, by the text.

Source: docs/semantics/kueue.md#admission-cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.amounts import text_of
from tests.scheduler.kueue.reference.flavors import FIT, NO_FIT, PREEMPT, Finder, Plan
from tests.scheduler.kueue.reference.state import Wl, World
from tests.scheduler.kueue.reference.tree import FR, QuotaNode, shown
from tests.scheduler.kueue.reference.victims import Targets

OVERLAP = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{OVERLAP}, but will fit after these preemptions complete"
LATE = "Workload no longer fits after processing another workload"
NAMESPACE = "workload namespace doesn't match ClusterQueue selector"
WAITING, PREEMPTING = "WaitingForQuota", "WaitingForPreemptedWorkloads"


class Entry:
    """One head in the cycle."""

    def __init__(self, work: Wl, queue: QuotaNode) -> None:
        self.work, self.queue = work, queue
        self.plan: Plan | None = None
        self.targets: Targets = []
        self.requeue, self.reason, self.message = "", "", ""
        self.admitted = False

    def end(self, requeue: str, reason: str, message: str) -> None:
        self.requeue, self.reason, self.message = requeue, reason, message


class Cycle:
    """One cycle over the heads."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.preempted: dict[Wl, tuple[str, Wl]] = {}
        self.reserved: dict[str, dict[FR, int]] = {}

    def run(self) -> list[Entry]:
        world = self.world
        world.cycle += 1
        entries = [Entry(*head) for head in self._heads()]
        for e in entries:
            self._nominate(e)
        able = [e for e in entries if e.plan is not None]
        before = [
            (n, dict(n.usage))
            for n in (*world.queues.values(), *world.cohorts.values())
        ]
        for e in self._order(able):
            self._take(e)
        for node, usage in before:
            node.usage = usage
        return entries

    def _heads(self) -> Iterator[tuple[Wl, QuotaNode]]:
        for name in sorted(self.world.queues):
            queue, heap = self.world.queues[name], self.world.heaps[name]
            if queue.active and heap:
                sticky = self.world.sticky.get(name)
                head = min(
                    heap,
                    key=lambda w: (w is not sticky, -w.priority, w.timestamp, w.uid),
                )
                heap.remove(head)
                yield head, queue

    def _nominate(self, e: Entry) -> None:
        world, work, name = self.world, e.work, e.queue.name
        if not world.matches(e.queue, work.namespace):
            e.end("NamespaceMismatch", "Misconfigured", NAMESPACE)
            return
        resume: tuple[dict[str, int], ...] = ()
        cycle, generation = work.tried_at
        old = cycle < world.cycle - 1 and world.generation[name] > generation
        if work.tried is not None and not old:
            resume = work.tried
        self._find(e, Finder(world, work, e.queue, resume))

    def _find(self, e: Entry, finder: Finder) -> None:
        e.plan, e.targets = finder.find()
        e.work.tried = tuple(part.tried for part in e.plan.parts)
        e.work.tried_at = (self.world.cycle, self.world.generation[e.queue.name])

    # ---- order ----

    def _order(self, entries: list[Entry]) -> Iterator[Entry]:
        if not self.world.fair:

            def key(e: Entry) -> tuple[int, int, int]:
                assert e.plan is not None
                return e.plan.borrow, -e.work.priority, e.work.timestamp

            yield from sorted(entries, key=key)
            return
        roots: dict[QuotaNode, list[Entry]] = {}
        for e in entries:
            roots.setdefault(e.queue.root(), []).append(e)
        for root, left in roots.items():
            while left:
                winner = (
                    left[0] if root.kind == "ClusterQueue" else self._best(root, left)
                )
                assert winner is not None
                yield winner
                left.remove(winner)

    def _best(self, cohort: QuotaNode, entries: list[Entry]) -> Entry | None:
        rivals = []
        for child in cohort.children:
            if child.kind == "Cohort":
                rival = self._best(child, entries)
            else:
                rival = next((e for e in entries if e.queue is child), None)
            if rival is not None:
                rivals.append((self._value(child, rival), rival))
        return min(rivals, key=lambda pair: pair[0])[1] if rivals else None

    def _value(self, child: QuotaNode, e: Entry) -> tuple[Any, ...]:
        assert e.plan is not None
        usage = e.plan.usage
        saved = [(n, dict(n.usage)) for n in (e.queue, *e.queue.path())]
        for fr, v in usage.items():
            e.queue.add(fr, v)
        over = any(
            v > 0 and child.used(fr) > child.subtree_quota(fr)
            for fr, v in usage.items()
        )
        share = child.share()
        for node, kept in saved:
            node.usage = kept
        return over, share, -e.work.priority, e.work.timestamp

    # ---- one entry ----

    def _owner(self, work: Wl) -> QuotaNode:
        return next(
            self.world.queues[n] for n, ws in self.world.holders.items() if work in ws
        )

    def _without(self, works: list[Wl]) -> list[tuple[QuotaNode, dict[FR, int]]]:
        world = self.world
        nodes = (*world.queues.values(), *world.cohorts.values())
        saved = [(n, dict(n.usage)) for n in nodes]
        for work in works:
            owner = self._owner(work)
            for fr, v in work.usage.items():
                owner.take(fr, v)
        return saved

    def _fits(self, e: Entry) -> bool:
        assert e.plan is not None
        saved = self._without([*self.preempted, *(t for t, _ in e.targets)])
        fits = all(
            e.queue.available_non_negative(fr) >= v for fr, v in e.plan.usage.items()
        )
        for node, usage in saved:
            node.usage = usage
        return fits

    def _overlaps(self, e: Entry) -> bool:
        return any(t in self.preempted for t, _ in e.targets)

    def _take(self, e: Entry) -> None:
        assert e.plan is not None
        deferred = self._overlaps(e) and self._recompute(e)
        mode = e.plan.mode
        if mode == NO_FIT:
            e.end("NoFit", e.plan.reason(), e.plan.message())
        elif mode == PREEMPT and not e.targets:
            e.end("PreemptionNoCandidates", WAITING, e.plan.message())
            self._reserve(e)
        elif deferred:
            e.end("PendingPreemption", PREEMPTING, DEFERRED)
            e.work.tried = None
            self._use(e)
        elif self._overlaps(e):
            e.end("FailedAfterNomination", WAITING, OVERLAP)
        elif not self._fits(e):
            e.end("FailedAfterNomination", WAITING, LATE)
        elif mode == PREEMPT:
            n = len(e.targets)
            text = f"{e.plan.message()}. Pending the preemption of {n} workload(s)"
            e.end("PendingPreemption", PREEMPTING, text)
            e.work.tried = None
            for target, reason in e.targets:
                self.preempted[target] = (reason, e.work)
            self._use(e)
        else:
            assert mode == FIT
            e.admitted = True
            self._use(e)

    def _use(self, e: Entry) -> None:
        assert e.plan is not None
        for fr, v in e.plan.usage.items():
            e.queue.add(fr, v)

    def _reserve(self, e: Entry) -> None:
        assert e.plan is not None
        policy = e.queue.spec.get("preemption") or {}
        if policy.get("reclaimWithinCohort") == "Any":
            return
        for fr, v in e.plan.usage.items():
            nominal, used = e.queue.nominal(fr), e.queue.used(fr)
            limit = e.queue.borrowing_limit(fr)
            if e.plan.borrow == 0:
                v = max(0, min(v, nominal - used))
            elif limit is not None:
                v = min(v, nominal + limit - used)
            e.queue.add(fr, v)

    def _recompute(self, e: Entry) -> bool:
        assert e.plan is not None
        saved = self._without(list(self.preempted))
        world, gone = self.world, set(self.preempted)
        holders = world.holders
        world.holders = {
            n: [w for w in ws if w not in gone] for n, ws in holders.items()
        }
        only = [part.flavors for part in e.plan.parts]
        self._find(e, Finder(world, e.work, e.queue, only=only))
        world.holders = holders
        for node, usage in saved:
            node.usage = usage
        return e.plan.mode == FIT


def podsets(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "name": p.name,
            "count": p.count,
            "flavors": p.flavors,
            "usage": {r: text_of(r, p.requests[r]) for r in p.flavors},
        }
        for p in plan.parts
    ]


def one_cycle(vector: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is expected of a vector in mode `cycle`."""
    world = World(vector)
    nodes = (*world.queues.values(), *world.cohorts.values())
    shares = {f"{n.kind}/{n.name}": shown(n) for n in nodes}
    cycle = Cycle(world)
    entries = cycle.run()
    for e in entries:
        requeue(world, e)
    admitted = {
        e.work.name: {"clusterQueue": e.queue.name, "podSets": podsets(e.plan)}
        for e in entries
        if e.admitted and e.plan is not None
    }
    preempted = {
        t.name: {"reason": reason, "by": by.name}
        for t, (reason, by) in cycle.preempted.items()
        if not t.true("Evicted")
    }
    return {
        "admitted": admitted,
        "preempted": preempted,
        "pending": pending(world, admitted),
        "shares": shares,
    }


def requeue(world: World, e: Entry) -> None:
    """Put a head that was not admitted back.

    Source: docs/semantics/kueue.md#requeueing-after-a-cycle.
    """
    work, name = e.work, e.queue.name
    strict = e.queue.spec.get("queueingStrategy") == "StrictFIFO"
    if e.admitted:
        return
    work.conditions["QuotaReserved"] = {
        "status": "False", "reason": e.reason, "message": e.message
    }  # fmt: skip
    if e.requeue == "PendingPreemption" and not strict:
        world.sticky[name] = work
    if strict:
        immediate = e.requeue != "NamespaceMismatch"
    else:
        immediate = e.requeue in ("FailedAfterNomination", "PendingPreemption")
    pending = any(i != -1 for part in work.tried or () for i in part.values())
    if (immediate or pending) and world.ready(work, world.now):
        world.heaps[name].append(work)
        return
    world.inadmissible[name].append(work)
    if not strict and e.requeue in ("NoFit", "PreemptionNoCandidates"):
        world.remembered[name][work.hash()] = e.reason
        for other in list(world.heaps[name]):
            if other.hash() == work.hash():
                world.heaps[name].remove(other)
                world.inadmissible[name].append(other)


def pending(world: World, admitted: Mapping[str, Any]) -> dict[str, Any]:
    """Return where everyone without quota waits."""
    inadmissible = {w for ws in world.inadmissible.values() for w in ws}
    queued = inadmissible | {w for ws in world.heaps.values() for w in ws}
    rows = {}
    for work in world.works:
        if work.name in admitted or work.true("QuotaReserved"):
            continue
        condition = work.conditions.get("QuotaReserved", {})
        rows[work.name] = {
            "queued": work in queued,
            "inadmissible": work in inadmissible,
            "reason": condition.get("reason", ""),
            "message": condition.get("message", ""),
        }
    return rows
