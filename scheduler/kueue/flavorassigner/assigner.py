"""The search for flavors: which flavor each resource of each podset gets.

Source: KUEUE.md 6 (Kueue, flavor fungibility).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler.amounts import text_of
from scheduler.kueue.flavorassigner.assignment import (
    Assignment,
    PodSetPlan,
    Severity,
)
from scheduler.kueue.flavorassigner.eligible import refusal
from scheduler.kueue.flavorassigner.modes import (
    WORST,
    Granted,
    Mode,
)
from scheduler.kueue.flavorassigner.resources import Step, steps_of
from scheduler.kueue.flavorassigner.search import Scan
from scheduler.kueue.preemption.targets import Search, Target
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.quota import (
    available,
    borrowing_height,
    charge_all,
    release_all,
)
from scheduler.kueue.tree.tree import (
    Cell,
    FlavorResource,
    Queue,
)
from scheduler.kueue.workload.info import Work
from scheduler.records.podset_template import PodShape
from scheduler.records.quota import Flavor
from scheduler.records.workload import Amounts, PodSet

PODS = "pods"
Refusals = dict[tuple[str, str], str]
Resume = Sequence[Mapping[str, int]]


class Assigner:
    """Searches flavors for one workload in one state of the quota tree.

    `resume` continues where an earlier attempt stopped; `only` restricts each
    (podset, resource) to the flavor nominated before.
    """

    __slots__ = ("fair", "flavors", "only", "queue", "refusals", "resume", "search",
                 "simulated", "trace", "work")  # fmt: skip

    def __init__(
        self,
        work: Work,
        queue: Queue,
        *,
        flavors: Mapping[str, Flavor],
        search: Search,
        refusals: Refusals,
        fair: bool,
        resume: Resume = (),
        only: Sequence[Mapping[str, str]] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.work = work
        self.queue = queue
        self.flavors = flavors
        self.search = search
        self.refusals = refusals
        self.fair = fair
        self.resume = resume
        self.only = only
        self.trace = trace
        self.simulated: dict[tuple[Cell, int], list[Target]] = {}

    def assign(self, counts: tuple[int, ...] | None = None) -> Assignment:
        """Return the flavors for all podsets, for fewer pods when `counts` says so.

        Stops at the first podset that cannot be placed. Source: KUEUE.md 6.1.
        """
        assignment = Assignment()
        for index, (part, count, total) in enumerate(self.work.scaled(counts)):
            plan = PodSetPlan(part.name, count, self._requests(total, count))
            cells = self._place(plan, part, index, assignment.usage)
            assignment.add(plan, cells)
            if plan.mode is Mode.NO_FIT:
                break
        return assignment

    def _requests(self, total: Amounts, count: int) -> Amounts:
        """Add the count of pods where quota covers it. Source: KUEUE.md 2.4."""
        return {**total, PODS: count} if PODS in self.queue.cover else total

    def _place(
        self, plan: PodSetPlan, part: PodSet, index: int, used: Mapping[Cell, int]
    ) -> dict[str, Cell]:
        """Fill the plan; return the cells by resource. Source: KUEUE.md 6.2."""
        for step in steps_of(self.queue, plan.requests):
            if step.group is None:
                if plan.requests[step.trigger]:
                    plan.fail([_uncovered(step.trigger)])
                    if self.trace is not None:
                        self.trace.note(
                            "uncovered",
                            podSet=plan.name,
                            resource=step.trigger,
                            requested=str(plan.requests[step.trigger]),
                            reason=_uncovered(step.trigger),
                        )
                    return {}
                continue
            if not self._place_group(plan, part.shape, step, index, used):
                return {}
        cells = self.queue.cells
        return {name: cells[plan.flavors[name], name] for name in plan.flavors}

    def _place_group(
        self,
        plan: PodSetPlan,
        shape: PodShape,
        step: Step,
        index: int,
        used: Mapping[Cell, int],
    ) -> bool:
        scan = Scan(self, plan, shape, step, index, used)
        scan.run()
        if self.trace is not None:
            self._trace_scan(scan, self.trace)
        if scan.severe:
            plan.severe.append(min(scan.severe))
        if not scan.found:
            plan.fail(scan.reasons)
            return False
        scan.settle()
        return True

    def _trace_scan(self, scan: Scan, trace: Trace) -> None:
        trace.note(
            "scan",
            podSet=scan.plan.name,
            resources=list(scan.step.resources),
            tried=list(scan.group.flavors[scan.start : scan.at + 1]),
            left=list(scan.group.flavors[scan.at + 1 :]),
            chosen={name: flavor for name, (flavor, _) in scan.found.items()},
        )

    def nominated(self, index: int, resource: str) -> str | None:
        """Return the only flavor allowed here, or None when any is."""
        if self.only is None:
            return None
        return self.only[index].get(resource, "") if index < len(self.only) else ""

    def start(self, index: int, resource: str) -> int:
        """Return the first flavor to try. Source: KUEUE.md 6.6."""
        if index >= len(self.resume):
            return 0
        return self.resume[index].get(resource, -1) + 1

    def refusal(self, shape: PodShape, name: str) -> str:
        """Return why the flavor cannot run such pods, or "". Remembered."""
        flavor = self.flavors.get(name)
        if flavor is None:
            return f"flavor {name} not found"
        reason = self.refusals.get((shape.identity, name))
        if reason is None:
            reason = self.refusals[shape.identity, name] = refusal(shape, flavor)
        return reason

    def grant(
        self, cell: Cell, amount: int, assigned: int
    ) -> tuple[Granted, str, Severity]:
        """Return how `amount` is served by a cell, with a reason unless it fits.

        `assigned` is the part of `amount` that earlier podsets ask.
        Source: KUEUE.md 6.4.
        """
        if amount > cell.most:
            reason = _exceeds(cell, amount - assigned, assigned)
            return WORST, reason, Severity.EXCEEDS
        borrow, may_reclaim = borrowing_height(cell, amount)
        free = available(cell)
        if amount <= free:
            return Granted(Mode.FIT, borrow), "", Severity.WAITING
        reason = _insufficient(cell, amount - free)
        if amount <= cell.nominal or may_reclaim or self.may_borrow_by_preempting:
            return self._simulate(cell, amount), reason, Severity.WAITING
        return Granted(Mode.NO_FIT, borrow), reason, Severity.WAITING

    @property
    def may_borrow_by_preempting(self) -> bool:
        """Tell whether preemption may happen while borrowing. Source: KUEUE.md 6.4."""
        spec = self.queue.spec
        if spec.borrow_policy != "Never":
            return True
        return self.fair and spec.reclaim != "Never"

    def _simulate(self, cell: Cell, amount: int) -> Granted:
        targets = self.simulated.get((cell, amount))
        if targets is None:
            needed = frozenset((cell.flavor_resource,))
            if self.trace is not None:
                self.trace.search("flavor", {cell: amount}, needed)
            targets = self.search(self.work, self.queue, {cell: amount}, needed)
            self.simulated[cell, amount] = targets
        if not targets:
            return Granted(Mode.NO_CANDIDATES, borrowing_height(cell, amount)[0])
        return Granted(
            _mode(targets, self.queue), _height_without(targets, cell, amount)
        )

    def targets(self, assignment: Assignment) -> list[Target]:
        """Return whom to preempt for the whole assignment.

        Source: KUEUE.md 8, inputs. The count of pods is not part of what the
        search frees; the fits check after it counts it.
        """
        requests: dict[Cell, int] = {}
        needed: set[FlavorResource] = set()
        for part in assignment.parts:
            for resource, granted in part.granted.items():
                cell = self.queue.cells[part.flavors[resource], resource]
                amount = 0 if resource == PODS else part.requests[resource]
                if amount:
                    requests[cell] = requests.get(cell, 0) + amount
                if granted.mode in _PREEMPTING:
                    needed.add(cell.flavor_resource)
        known = self._simulated_whole(requests, needed)
        if known is not None:
            return known
        if self.trace is not None:
            self.trace.search("assignment", requests, needed)
        return self.search(self.work, self.queue, requests, frozenset(needed))

    def _simulated_whole(
        self, requests: Mapping[Cell, int], needed: set[FlavorResource]
    ) -> list[Target] | None:
        """Return the targets already found for exactly this, if it was simulated."""
        if len(requests) != 1 or len(needed) != 1:
            return None
        ((cell, amount),) = requests.items()
        if cell.flavor_resource not in needed:
            return None
        return self.simulated.get((cell, amount))


_PREEMPTING = (Mode.NO_CANDIDATES, Mode.PREEMPT, Mode.RECLAIM)


def _mode(targets: Sequence[Target], queue: Queue) -> Mode:
    own = any(target.work.queue is queue for target in targets)
    return Mode.PREEMPT if own else Mode.RECLAIM


def _height_without(targets: Sequence[Target], cell: Cell, amount: int) -> int:
    for target in targets:
        release_all(target.work.held)
    height = borrowing_height(cell, amount)[0]
    for target in reversed(targets):
        charge_all(target.work.held)
    return height


def _uncovered(resource: str) -> str:
    return f"resource {resource} unavailable in ClusterQueue"


def _exceeds(cell: Cell, request: int, assigned: int) -> str:
    flavor, resource = cell.flavor_resource
    return (
        f"insufficient quota for {resource} in flavor {flavor}, "
        f"previously considered podsets requests ({text_of(resource, assigned)}) + "
        f"current podset request ({text_of(resource, request)}) > "
        f"maximum capacity ({text_of(resource, cell.most)})"
    )


def _insufficient(cell: Cell, missing: int) -> str:
    flavor, resource = cell.flavor_resource
    return (
        f"insufficient unused quota for {resource} in flavor {flavor}, "
        f"{text_of(resource, missing)} more needed"
    )
