"""Which flavor each resource gets, by the text.

Source: docs/semantics/kueue.md#flavor-assignment.
"""

from __future__ import annotations

from typing import Any

from scheduler.model.amounts import text_of
from tests.scheduler.kueue.reference.state import Wl, World
from tests.scheduler.kueue.reference.tree import FR, QuotaNode
from tests.scheduler.kueue.reference.victims import Targets, search

NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT = range(5)
Mode = tuple[int, int]  # how well, and how high it borrows


def fnv(name: str) -> int:
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def better(a: Mode, b: Mode, preference: str) -> bool:
    if a[0] == NO_FIT:
        return False
    if b[0] == NO_FIT:
        return True
    if NO_CANDIDATES in (a[0], b[0]) and a[0] != b[0]:
        return b[0] == NO_CANDIDATES
    by_mode, by_level = (a[0], -a[1]), (b[0], -b[1])
    if preference == "PreemptionOverBorrowing":
        by_mode, by_level = (-a[1], a[0]), (-b[1], b[0])
    return by_mode > by_level


class Part:
    """What one podset got."""

    def __init__(self, name: str, count: int, requests: dict[str, int]) -> None:
        self.name, self.count, self.requests = name, count, requests
        self.flavors: dict[str, str] = {}
        self.modes: dict[str, Mode] = {}
        self.tried: dict[str, int] = {}
        self.reasons: list[str] = []
        self.severities: list[list[int]] = []  # per group, per flavor

    @property
    def mode(self) -> int:
        if not self.reasons:
            return FIT
        if not self.flavors:
            return NO_FIT
        worst = min(m for m, _ in self.modes.values())
        return worst if worst in (NO_FIT, FIT) else PREEMPT


class Plan:
    """What a workload got."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.usage: dict[FR, int] = {}

    @property
    def mode(self) -> int:
        return min(p.mode for p in self.parts)

    @property
    def borrow(self) -> int:
        return max((m[1] for p in self.parts for m in p.modes.values()), default=0)

    def message(self) -> str:
        return "; ".join(
            f"couldn't assign flavors to pod set {p.name}: "
            + ", ".join(sorted(p.reasons))
            for p in self.parts
            if p.reasons
        )

    def reason(self) -> str:
        names = ["WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor"]
        # The podset without a place says it; those before it were only waiting.
        worst = [
            min(s, default=-1)
            for p in self.parts
            if p.mode == NO_FIT
            for s in p.severities
        ]
        found = max(worst, default=len(names) - 1)
        return names[found] if found >= 0 else ""


class Finder:
    """One nomination; `only` are the flavors nominated before, on a recompute."""

    def __init__(
        self,
        world: World,
        work: Wl,
        queue: QuotaNode,
        resume: tuple[dict[str, int], ...] = (),
        only: list[dict[str, str]] | None = None,
    ) -> None:
        self.world, self.work, self.queue = world, work, queue
        self.resume, self.only = resume, only
        fungibility = queue.spec.get("flavorFungibility") or {}
        self.when_borrow = fungibility.get("whenCanBorrow", "MayStopSearch")
        self.when_preempt = fungibility.get("whenCanPreempt", "TryNextFlavor")
        self.preference = fungibility.get("preference", "")
        self.covered = {r: g for g in queue.groups for r in g.resources}

    def assign(self, counts: tuple[int, ...] | None = None) -> Plan:
        plan = Plan()
        for index, (count, total) in enumerate(self.work.totals(counts)):
            if "pods" in self.covered:
                total = {**total, "pods": count}
            name = self.work.pod_sets[index]["name"]
            part = Part(name, count, total)
            self._place(part, index, plan.usage)
            plan.parts.append(part)
            for resource, flavor in part.flavors.items():
                fr = (flavor, resource)
                plan.usage[fr] = plan.usage.get(fr, 0) + total[resource]
            if part.mode == NO_FIT:
                break
        return plan

    def _place(self, part: Part, index: int, used: dict[FR, int]) -> None:
        names = sorted(part.requests, key=lambda r: (fnv(r), r))
        for resource in names:
            group = self.covered.get(resource)
            if group is None:
                if part.requests[resource] == 0:
                    continue
                why = f"resource {resource} unavailable in ClusterQueue"
                self._fail(part, [why])
                return
            if resource in part.flavors:
                continue
            asked = [r for r in names if self.covered.get(r) is group]
            if not self._scan(part, index, used, group.flavors, resource, asked):
                return

    @staticmethod
    def _fail(part: Part, reasons: list[str]) -> None:
        part.flavors, part.modes, part.tried = {}, {}, {}
        part.reasons = reasons

    def _scan(
        self,
        part: Part,
        index: int,
        used: dict[FR, int],
        flavors: Any,
        trigger: str,
        asked: list[str],
    ) -> bool:
        start = 0
        if index < len(self.resume):
            start = self.resume[index].get(trigger, -1) + 1
        best: Mode = (NO_FIT, 0)
        chosen: tuple[str, dict[str, Mode]] | None = None
        reasons: list[str] = []
        severities: list[int] = []
        at = -1
        for at in range(start, len(flavors)):
            flavor = flavors[at]
            barred = self._barred(index, trigger, flavor)
            if barred:
                reasons.append(barred)
                severities.append(2)
                continue
            whole: Mode = (FIT, 0)
            modes: dict[str, Mode] = {}
            severity = 0
            for resource in asked:
                mode, why, severe = self._grant(
                    (flavor, resource), part.requests[resource], used
                )
                if why:
                    reasons.append(why)
                severity = max(severity, severe)
                modes[resource] = mode
                if better(whole, mode, self.preference):
                    whole = mode
            if whole[0] == NO_FIT:
                severities.append(severity)
            if not self._try_next(whole):
                best, chosen = whole, (flavor, modes)
                break
            if better(whole, best, self.preference):
                best, chosen = whole, (flavor, modes)
        part.severities.append(severities)
        if chosen is None:
            self._fail(part, reasons)
            return False
        for resource, mode in chosen[1].items():
            part.flavors[resource] = chosen[0]
            part.modes[resource] = mode
            part.tried[resource] = -1 if at == len(flavors) - 1 else at
        if best[0] != FIT:
            part.reasons += reasons
        return True

    def _barred(self, index: int, trigger: str, flavor: str) -> str:
        if self.only is not None:
            nominated = (
                self.only[index].get(trigger) if index < len(self.only) else None
            )
            if nominated != flavor:
                return (
                    f"skipping flavor {flavor} as it is not found in the nomination "
                    f"mapping for resource {trigger}"
                )
        return self.world.refusal(self.work.shapes[index], flavor)

    def _try_next(self, mode: Mode) -> bool:
        if mode[0] in (NO_FIT, NO_CANDIDATES):
            return True
        if mode[0] in (PREEMPT, RECLAIM) and self.when_preempt == "TryNextFlavor":
            return True
        return mode[1] != 0 and self.when_borrow == "TryNextFlavor"

    def _grant(
        self, fr: FR, request: int, used: dict[FR, int]
    ) -> tuple[Mode, str, int]:
        queue, (flavor, resource) = self.queue, fr
        before = used.get(fr, 0)
        value, most = before + request, queue.potential(fr)
        if value > most:
            why = (
                f"insufficient quota for {resource} in flavor {flavor}, previously "
                f"considered podsets requests ({text_of(resource, before)}) + current "
                f"podset request ({text_of(resource, request)}) > maximum capacity "
                f"({text_of(resource, most)})"
            )
            return (NO_FIT, 0), why, 1
        height, may_reclaim = queue.borrowing_height(fr, value)
        free = queue.available_non_negative(fr)
        if value <= free:
            return (FIT, height), "", 0
        why = (
            f"insufficient unused quota for {resource} in flavor {flavor}, "
            f"{text_of(resource, value - free)} more needed"
        )
        if queue.nominal(fr) >= value or may_reclaim or self._may_borrow():
            return self._simulate(fr, value), why, 0
        return (NO_FIT, height), why, 0

    def _may_borrow(self) -> bool:
        policy = self.queue.spec.get("preemption") or {}
        if (policy.get("borrowWithinCohort") or {}).get("policy", "Never") != "Never":
            return True
        return self.world.fair and policy.get("reclaimWithinCohort", "Never") != "Never"

    def _simulate(self, fr: FR, value: int) -> Mode:
        targets = search(self.world, self.work, self.queue, {fr: value}, {fr})
        if not targets:
            return NO_CANDIDATES, self.queue.borrowing_height(fr, value)[0]
        owner = {
            w: self.world.queues[n] for n, ws in self.world.holders.items() for w in ws
        }
        for c, _ in targets:
            for f, v in c.usage.items():
                owner[c].take(f, v)
        height = self.queue.borrowing_height(fr, value)[0]
        for c, _ in targets:
            for f, v in c.usage.items():
                owner[c].add(f, v)
        own = any(owner[c] is self.queue for c, _ in targets)
        return PREEMPT if own else RECLAIM, height

    def targets(self, plan: Plan) -> Targets:
        requests: dict[FR, int] = {}
        needed: set[FR] = set()
        for part in plan.parts:
            for resource, flavor in part.flavors.items():
                fr = (flavor, resource)
                if resource != "pods":
                    requests[fr] = requests.get(fr, 0) + part.requests[resource]
                if part.modes[resource][0] in (NO_CANDIDATES, PREEMPT, RECLAIM):
                    needed.add(fr)
        return search(self.world, self.work, self.queue, requests, needed)

    def find(self) -> tuple[Plan, Targets]:
        """Return the plan of all pods, or of fewer, and its victims."""
        full = self.assign()
        if full.mode == FIT:
            return full, []
        targets = self.targets(full) if full.mode == PREEMPT else []
        if targets:
            return full, targets
        return self._fewer() or (full, [])

    def _fewer(self) -> tuple[Plan, Targets] | None:
        parts = self.work.pod_sets
        spare = [p["count"] - p.get("minCount", p["count"]) for p in parts]
        total = sum(spare)
        if total <= 0:
            return None
        low, high, last, found = 0, total + 1, -1, None
        while low < high:
            mid = (low + high) // 2
            counts = tuple(
                p["count"] - d * mid // total for p, d in zip(parts, spare, strict=True)
            )
            plan = self.assign(counts)
            targets = self.targets(plan) if plan.mode == PREEMPT else []
            if plan.mode == FIT or targets:
                high, last, found = mid, mid, (plan, targets)
            else:
                low = mid + 1
        return found if low == last else None
