"""What a search for flavors found: per podset and as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import msgspec

from scheduler.engine.kueue.topology.cache import DomainUsage
from scheduler.engine.kueue.tree.quota import Amount
from scheduler.engine.kueue.tree.tree import ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.topology import TopologyAssignment
from scheduler.model.workload import (
    Admission,
    Amounts,
    PodSet,
    PodSetAssignment,
    plain_assignment,
    remaining_usage,
)

# ------------------------------------------------------------------------
# How well a flavor serves a request, and which of two ways is preferred.


class Mode(IntEnum):
    """How a request can be served in a flavor; greater is better by default."""

    NO_FIT = 0
    NO_CANDIDATES = 1  # preemption would be needed, and nobody may be preempted
    PREEMPT = 2  # somebody of the same ClusterQueue goes
    RECLAIM = 3  # only workloads of other ClusterQueues go
    FIT = 4


class FlavorFit(NamedTuple):
    """A mode, and how high in the tree the ClusterQueue must borrow for it."""

    mode: Mode
    borrow: int


class Ranking(NamedTuple):
    """How flavors are compared in a release: `scheduler/model/releases/rules.py`."""

    no_candidates_last: bool = True
    preference_as_written: bool = True


class Attempt(NamedTuple):
    """A flavor that was looked at: the worst of its resources, and why."""

    flavor: str
    fit: FlavorFit
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as Kueue's event QuotaReserved has it."""
        said = [_ATTEMPTS[self.fit.mode]]
        if self.fit.borrow:
            said.append(f"borrow={self.fit.borrow}")
        return f"{self.flavor}({';'.join([*said, *sorted(self.reasons)])})"


_ATTEMPTS = {
    Mode.NO_FIT: "NoFit",
    Mode.NO_CANDIDATES: "preemptionMode=NoCandidates",
    Mode.PREEMPT: "preemptionMode=Preempt",
    Mode.RECLAIM: "preemptionMode=Reclaim",
    Mode.FIT: "Fit",
}
BEST = FlavorFit(Mode.FIT, 0)
WORST = FlavorFit(Mode.NO_FIT, 0)

TRY_NEXT = "TryNextFlavor"
LESS_BORROWING = "PreemptionOverBorrowing"


def preferred(
    left: FlavorFit,
    right: FlavorFit,
    preference: str,
    ranking: Ranking = Ranking(),  # noqa: B008 - it cannot change
) -> bool:
    """Return whether `left` is strictly better than `right`.

    Source: docs/semantics/kueue.md#preference-between-flavors.
    """
    if left.mode is Mode.NO_FIT:
        return False
    if right.mode is Mode.NO_FIT:
        return True
    left_stuck = left.mode is Mode.NO_CANDIDATES
    right_stuck = right.mode is Mode.NO_CANDIDATES
    if ranking.no_candidates_last and left_stuck != right_stuck:
        return right_stuck
    by_mode, by_borrow = left.mode - right.mode, right.borrow - left.borrow
    by_borrow_first = preference == LESS_BORROWING
    if preference and not ranking.preference_as_written:
        by_borrow_first = not by_borrow_first
    if by_borrow_first:
        return (by_borrow or by_mode) > 0
    return (by_mode or by_borrow) > 0


def should_try_next(granted: FlavorFit, when_borrow: str, when_preempt: str) -> bool:
    """Return whether the search goes on to the next flavor.

    Source: docs/semantics/kueue.md#when-the-flavor-search-stops.
    """
    if granted.mode <= Mode.NO_CANDIDATES:
        return True
    if granted.mode is not Mode.FIT and when_preempt == TRY_NEXT:
        return True
    return granted.borrow != 0 and when_borrow == TRY_NEXT


# ------------------------------------------------------------------------
# What a search for flavors found: per podset and as a whole.


class Severity(IntEnum):
    """Why a flavor did not fit, mildest first; the conditions' reasons.

    Source: docs/semantics/kueue.md#reason-of-a-workload-that-does-not-fit.
    """

    NONE = 0  # nothing failed but what no flavor can help
    TOPOLOGY = 1
    WAITING = 2
    EXCEEDS = 3
    NO_MATCH = 4


class PodSetPlan:
    """The flavors for one podset; no flavors at all when it cannot be placed."""

    __slots__ = (
        "considered",
        "count",
        "delayed",
        "error",
        "fits",
        "flavors",
        "name",
        "reasons",
        "replaced",
        "requests",
        "searched",
        "severe",
        "topology",
        "tried",
    )  # fmt: skip

    def __init__(self, name: str, count: int, requests: Amounts) -> None:
        self.name = name
        self.count = count
        self.requests = requests
        self.replaced: PodSetAssignment | None = None  # of the slice before it
        self.flavors: dict[str, str] = {}
        self.fits: dict[str, FlavorFit] = {}
        self.tried: dict[str, int] = {}
        self.reasons: list[str] = []
        self.considered: list[Attempt] = []  # but those that fit without borrowing
        self.severe: list[Severity] = []  # mildest failure of each group searched
        self.searched: list[str] = []  # the flavor that each of them chose, or ""
        self.error = ""  # why no flavor can be worked out for it at all
        self.topology: TopologyAssignment | None = None
        self.delayed = ""  # places are found when its nodes are there

    def held(self, resource: str) -> int:
        """Return what of a request the slice before it holds already."""
        return 0 if self.replaced is None else self.replaced.usage.get(resource, 0)

    def fail(self, reasons: list[str]) -> None:
        """Give up on the podset for these reasons."""
        self.flavors, self.fits, self.tried = {}, {}, {}
        self.reasons = reasons

    @property
    def mode(self) -> Mode:
        """Return FIT, PREEMPT or NO_FIT.

        Source: docs/semantics/kueue.md#mode-of-an-assignment.
        """
        if self.error:
            return Mode.NO_FIT
        if not self.reasons:
            return Mode.FIT
        if not self.flavors:
            return Mode.NO_FIT
        worst = min(granted.mode for granted in self.fits.values())
        return worst if worst in (Mode.FIT, Mode.NO_FIT) else Mode.PREEMPT


class Assignment:
    """The plans of all podsets that were looked at, and what they use together."""

    __slots__ = ("borrow", "mode", "parts", "topology_usage", "usage")

    def __init__(self) -> None:
        self.parts: list[PodSetPlan] = []
        self.usage: dict[ResourceNode, int] = {}
        self.topology_usage: tuple[DomainUsage, ...] = ()
        self.borrow = 0
        self.mode = Mode.FIT

    def add(self, part: PodSetPlan, resource_nodes: Mapping[str, ResourceNode]) -> None:
        """Take the plan of one more podset; `resource_nodes` by resource."""
        self.parts.append(part)
        self.mode = min(self.mode, part.mode)
        for resource, resource_node in resource_nodes.items():
            amount = part.requests.get(resource, 0)
            if part.replaced is not None:
                amount -= part.held(resource)
            self.usage[resource_node] = self.usage.get(resource_node, 0) + amount
            self.borrow = max(self.borrow, part.fits[resource].borrow)

    def amounts(self) -> Iterable[Amount]:
        """Return what the assignment would use, by resource node."""
        return self.usage.items()

    def message(self) -> str:
        """Return why the assignment is not a plain fit.

        Source: docs/semantics/kueue.md#messages-of-an-assignment.
        """
        return "; ".join(
            f"failed to assign flavors to pod set {part.name}: {part.error}"
            if part.error
            else f"couldn't assign flavors to pod set {part.name}: "
            f"{', '.join(sorted(part.reasons))}"
            for part in self.parts
            if part.reasons or part.error
        )

    def considered(self) -> str:
        """Return the flavors that were looked at, less what fits without borrowing.

        Source: docs/semantics/kueue.md#messages-of-an-assignment.
        """
        return " | ".join(
            f"{part.name}: {', '.join(map(str, sorted(part.considered)))}"
            for part in self.parts
            if part.considered
        )

    def severity(self) -> Severity:
        """Return the reason for a NO_FIT: the gravest of the podsets without a place.

        Source: docs/semantics/kueue.md#reason-of-a-workload-that-does-not-fit.
        """
        return max(
            (
                max(part.severe, default=Severity.NO_MATCH)
                for part in self.parts
                if part.mode is Mode.NO_FIT
            ),
            default=Severity.NONE,
        )

    def tried(self) -> tuple[dict[str, int], ...]:
        """Return where the search stopped, for the next attempt."""
        return tuple(part.tried for part in self.parts)

    def chosen(self) -> list[dict[str, str]]:
        """Return the flavors per podset and resource."""
        return [part.flavors for part in self.parts]

    def admission(self, queue: str) -> Admission:
        """Return the assignment as an admission. Source: docs/semantics/kueue.md#admission."""
        return Admission(
            queue=queue, pod_sets=tuple(_assigned(part) for part in self.parts)
        )


def _assigned(part: PodSetPlan) -> PodSetAssignment:
    flavors, requests = part.flavors, part.requests
    usage = [(name, requests.get(name, 0)) for name in flavors]
    found = plain_assignment(
        part.name, part.count, tuple(flavors.items()), tuple(usage)
    )
    if part.topology is None and not part.delayed:
        return found
    return PodSetAssignment(
        part.name, part.count, flavors, found.usage, part.topology, part.delayed
    )


# ------------------------------------------------------------------------
# Podsets that get one flavor together: found, joined into one, and shared out again.


def podset_groups(
    scaled: Sequence[tuple[PodSet, int, Amounts]],
) -> list[list[tuple[PodSet, int, Amounts]]]:
    """Return the podsets that get their flavors together, in order of the first."""
    groups: dict[tuple[str, str], list[tuple[PodSet, int, Amounts]]] = {}
    for each in scaled:
        request = each[0].topology
        name = request.group if request is not None else ""
        key = ("group", name) if name else ("podset", each[0].name)
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def joined(plans: Sequence[PodSetPlan]) -> PodSetPlan:
    """Return a plan that asks for what several podsets ask together."""
    requests: Amounts = {}
    for plan in plans:
        for name, amount in plan.requests.items():
            requests[name] = requests.get(name, 0) + amount
    whole = PodSetPlan(plans[0].name, sum(plan.count for plan in plans), requests)
    return whole


def share_out(
    whole: PodSetPlan, plan: PodSetPlan, inherited: Collection[str] = ()
) -> None:
    """Give a podset of a group the flavors of what it requests.

    One that requests nothing gets those of the group that are `inherited`.
    """
    for name, flavor in whole.flavors.items():
        if name not in plan.requests and (plan.requests or flavor not in inherited):
            continue
        plan.flavors[name] = flavor
        plan.fits[name] = whole.fits[name]
        plan.tried[name] = whole.tried[name]
    plan.reasons, plan.considered = list(whole.reasons), whole.considered
    plan.severe, plan.searched = list(whole.severe), list(whole.searched)


# ------------------------------------------------------------------------
# What the slice before holds, podset by podset: a new slice needs only the rest.


def held_by_pod_set(work: WorkloadInfo) -> dict[str, PodSetAssignment]:
    """Return the assignments of a slice by podset, with what they use now."""
    assert work.admission is not None
    left = {part.name: work.count_after_reclaim(part) for part in work.pod_sets}
    return {
        part.name: msgspec.structs.replace(
            part, usage=remaining_usage(part, left.get(part.name, part.count))
        )
        for part in work.admission.pod_sets
    }
