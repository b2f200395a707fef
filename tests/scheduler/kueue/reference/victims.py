"""Who is preempted, by the text.

Source: docs/semantics/kueue.md#classical-preemption.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scheduler.model import durations
from tests.scheduler.kueue.reference.state import Wl, World
from tests.scheduler.kueue.reference.tree import FR, QuotaNode

Targets = list[tuple[Wl, str]]
WITHIN, RECLAIM = "InClusterQueue", "InCohortReclamation"
WHILE_BORROWING, FAIR = "InCohortReclaimWhileBorrowing", "InCohortFairSharing"
Requests = dict[FR, int]


class Search:
    """One search for one preemptor; the tree is as it was when it returns."""

    def __init__(
        self,
        world: World,
        work: Wl,
        queue: QuotaNode,
        requests: Requests,
        needed: set[FR],
    ) -> None:
        self.world, self.work, self.queue = world, work, queue
        self.requests = {fr: v for fr, v in requests.items() if v}
        self.needed = needed
        policy = queue.spec.get("preemption") or {}
        self.within = policy.get("withinClusterQueue", "Never")
        self.reclaim = policy.get("reclaimWithinCohort", "Never")
        borrow = policy.get("borrowWithinCohort") or {}
        self.borrow = borrow.get("policy", "Never")
        self.threshold = borrow.get("maxPriorityThreshold")
        self.owner = {
            w: world.queues[name] for name, ws in world.holders.items() for w in ws
        }

    def allowed(self, c: Wl, policy: str) -> bool:
        if not any(fr in self.needed for fr in c.usage):
            return False
        if policy == "Any":
            return True
        lower = c.priority < self.work.priority
        if policy == "LowerOrNewerEqualPriority":
            equal = c.priority == self.work.priority
            return lower or (equal and self.work.timestamp < c.timestamp)
        return policy == "LowerPriority" and lower

    def rank(self, c: Wl) -> tuple[object, ...]:
        held = c.conditions.get("QuotaReserved", {})
        since = held.get("lastTransitionTime", "")
        at = durations.stamp_us(since) if c.true("QuotaReserved") else self.world.now
        own = self.owner[c] is self.queue
        return (not c.true("Evicted"), own, c.priority, -at, c.uid)

    def of(self, queue: QuotaNode, policy: str) -> list[Wl]:
        held = self.world.holders[queue.name] if queue.active else []
        return [c for c in held if self.allowed(c, policy)]

    def remove(self, c: Wl) -> None:
        for fr, amount in c.usage.items():
            self.owner[c].take(fr, amount)

    def put(self, c: Wl) -> None:
        for fr, amount in c.usage.items():
            self.owner[c].add(fr, amount)

    def fits(self, borrowing: bool) -> bool:
        return all(
            (borrowing or self.queue.used(fr) + v <= self.queue.nominal(fr))
            and v <= self.queue.available_non_negative(fr)
            for fr, v in self.requests.items()
        )

    def fill_back(self, targets: Targets, borrowing: bool) -> Targets:
        for i in range(len(targets) - 2, -1, -1):
            self.put(targets[i][0])
            if self.fits(borrowing):
                targets[i] = targets[-1]
                targets.pop()
            else:
                self.remove(targets[i][0])
        return targets

    def undo(self, targets: Targets) -> None:
        for c, _ in targets:
            self.put(c)

    # ---- classical ----

    def classical(self) -> Targets:
        same = self.of(self.queue, self.within)
        lists: dict[str, list[Wl]] = {"hierarchy": [], "priority": [], "same": same}
        lca: dict[Wl, QuotaNode] = {}
        if self.queue.parent is not None and self.reclaim != "Never":
            self._outside(lists, lca)
        if not any(lists.values()):
            return []
        for borrowing in self._attempts(lists):
            targets = self._attempt(lists, lca, borrowing)
            if targets:
                return targets
        return []

    def _outside(self, lists: dict[str, list[Wl]], lca: dict[Wl, QuotaNode]) -> None:
        def step(node: QuotaNode, rest: Requests) -> tuple[bool, Requests]:
            fits = all(
                node.used(f) + v <= node.subtree_quota(f) for f, v in rest.items()
            )
            return fits, {f: max(0, v - node.local_free(f)) for f, v in rest.items()}

        fitting, rest = step(self.queue, self.requests)
        below = self.queue
        for node in self.queue.path():
            kind = "hierarchy" if fitting else "priority"
            for c in self._collect(node, below):
                lists[kind].append(c)
                lca[c] = node
            here, rest = step(node, rest)
            fitting = fitting or here
            below = node

    def _collect(self, node: QuotaNode, visited: QuotaNode) -> list[Wl]:
        found = []
        for child in node.children:
            if child is visited or child.within_nominal(self.needed):
                continue
            if child.kind == "Cohort":
                found += self._collect(child, visited)
            else:
                found += self.of(child, self.reclaim)
        return found

    def _attempts(self, lists: dict[str, list[Wl]]) -> list[bool]:
        forbidden = self.borrow == "Never"
        under = all(self.queue.used(f) < self.queue.nominal(f) for f in self.needed)
        if not (lists["hierarchy"] or lists["priority"]):
            return [True]
        if forbidden and not under:
            return [True]
        if forbidden and not lists["hierarchy"]:
            return [False, True]
        return [True, False]

    def _variant(self, c: Wl, kind: str) -> str:
        if kind == "same":
            return WITHIN
        if kind == "hierarchy" or self.borrow == "Never":
            return RECLAIM
        above = self.threshold is not None and c.priority > self.threshold
        if c.priority >= self.work.priority or above:
            return RECLAIM
        return WHILE_BORROWING

    def _attempt(
        self, lists: dict[str, list[Wl]], lca: dict[Wl, QuotaNode], borrowing: bool
    ) -> Targets:
        targets: Targets = []
        for evicted in (True, False):
            for kind in ("hierarchy", "priority", "same"):
                here = [c for c in lists[kind] if c.true("Evicted") == evicted]
                for c in sorted(here, key=self.rank):
                    reason = self._variant(c, kind)
                    if kind != "same":
                        if kind == "priority" and borrowing and reason == RECLAIM:
                            continue
                        path = [self.owner[c], *self.owner[c].path()]
                        sides = path[: path.index(lca[c])]
                        if any(n.within_nominal(self.needed) for n in sides):
                            continue
                    self.remove(c)
                    targets.append((c, reason))
                    if self.fits(borrowing):
                        self.fill_back(targets, borrowing)
                        self.undo(targets)
                        return targets
        self.undo(targets)
        return []

    # ---- fair sharing ----

    def fair(self) -> Targets:
        targets: dict[QuotaNode, list[Wl]] = {}
        own = self.of(self.queue, self.within)
        if own:
            targets[self.queue] = own
        if self.queue.parent is not None and self.reclaim != "Never":
            for queue in self.queue.root().queues():
                over = any(queue.used(f) > queue.nominal(f) for f in self.needed)
                found = self.of(queue, self.reclaim) if over else []
                if queue is not self.queue and found:
                    targets[queue] = found
        if not targets:
            return []
        for candidates in targets.values():
            candidates.sort(key=self.rank)
        for fr, v in self.requests.items():
            self.queue.add(fr, v)
        self.targets: Targets = []
        done = self._first(targets)
        if not done and len(self.world.rules) > 1:
            done = self._second()
        for fr, v in self.requests.items():
            self.queue.take(fr, v)
        if not done:
            self.undo(self.targets)
            return []
        self.fill_back(self.targets, True)
        self.undo(self.targets)
        return self.targets

    def _take(self, c: Wl, reason: str) -> bool:
        self.remove(c)
        self.targets.append((c, reason))
        for fr, v in self.requests.items():
            self.queue.take(fr, v)
        fits = self.fits(True)
        for fr, v in self.requests.items():
            self.queue.add(fr, v)
        return fits

    def _next(
        self, targets: dict[QuotaNode, list[Wl]], pruned: set[QuotaNode]
    ) -> QuotaNode | None:
        """Return the ClusterQueue whose turn it is.

        Source: docs/semantics/kueue.md#target-clusterqueue-ordering.
        """
        if self.queue.parent is None:
            return self.queue if targets.get(self.queue) else None
        root = self.queue.root()
        while root not in pruned:
            found = self._descend(root, targets, pruned)
            if found is not None:
                return found
        return None

    def _descend(
        self,
        cohort: QuotaNode,
        targets: dict[QuotaNode, list[Wl]],
        pruned: set[QuotaNode],
    ) -> QuotaNode | None:
        best, best_share = None, (-1.0, 0.0)
        side, side_share = None, (-1.0, 0.0)
        for child in cohort.children:
            if child in pruned or (child.kind == "ClusterQueue" and not child.active):
                continue
            share = child.share()
            if child.kind == "ClusterQueue":
                left = targets.get(child)
                if not left or not (child.borrows() or child is self.queue):
                    pruned.add(child)
                    continue
                first = (
                    best is None
                    or share > best_share
                    or (
                        share == best_share
                        and self.rank(left[0]) < self.rank(targets[best][0])
                    )
                )
                if first:
                    best, best_share = child, share
            elif not child.borrows() and child not in self.queue.path():
                pruned.add(child)
            elif share >= side_share:
                side, side_share = child, share
        if best is None and side is None:
            pruned.add(cohort)
            return None
        if side is not None and (best is None or side_share >= best_share):
            return self._descend(side, targets, pruned)
        return best

    def _sides(self, target: QuotaNode) -> tuple[QuotaNode, QuotaNode]:
        ours = [self.queue, *self.queue.path()]
        theirs = [target, *target.path()]
        lca = next(n for n in theirs if n in ours)
        return ours[ours.index(lca) - 1], theirs[theirs.index(lca) - 1]

    def _passes(self, rule: str, c: Wl, ours: QuotaNode, theirs: QuotaNode) -> bool:
        new, old = ours.share(), theirs.share()
        self.remove(c)
        after = theirs.share()
        self.put(c)
        rules: dict[str, Callable[[], bool]] = {
            "LessThanOrEqualToFinalShare": lambda: new <= after,
            "LessThanInitialShare": lambda: new < old,
        }
        return rules[rule]()

    def _first(self, targets: dict[QuotaNode, list[Wl]]) -> bool:
        self.retry: list[Wl] = []
        pruned: set[QuotaNode] = set()
        # Judged once, before anybody is removed.
        within = all(self.queue.used(f) <= self.queue.nominal(f) for f in self.needed)
        while (t := self._next(targets, pruned)) is not None:
            candidates = targets[t]
            if t is self.queue:
                if self._take(candidates.pop(0), WITHIN):
                    return True
            elif within:
                if self._take(candidates.pop(0), RECLAIM):
                    return True
            elif self._compare(t, candidates):
                return True
        return False

    def _compare(self, t: QuotaNode, candidates: list[Wl]) -> bool:
        ours, theirs = self._sides(t)
        if math.isinf(ours.share()[0]) and not math.isinf(theirs.share()[0]):
            self.retry += candidates
            candidates.clear()
            return False
        while candidates:
            c = candidates.pop(0)
            if self._passes(self.world.rules[0], c, ours, theirs):
                return self._take(c, FAIR)
            self.retry.append(c)
        return False

    def _second(self) -> bool:
        targets: dict[QuotaNode, list[Wl]] = {}
        for c in self.retry:
            targets.setdefault(self.owner[c], []).append(c)
        pruned: set[QuotaNode] = set()
        while (t := self._next(targets, pruned)) is not None:
            ours, theirs = self._sides(t)
            c = targets[t].pop(0)
            if self._passes(self.world.rules[1], c, ours, theirs) and self._take(
                c, FAIR
            ):
                return True
            pruned.add(t)
        return False


def search(
    world: World, work: Wl, queue: QuotaNode, requests: Requests, needed: set[FR]
) -> Targets:
    """Return whom to preempt, nobody when that does not help."""
    one = Search(world, work, queue, requests, needed)
    return one.fair() if world.fair else one.classical()
