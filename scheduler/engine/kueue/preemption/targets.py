"""Whom a preemption is aimed at, and the port through which searches are called."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.trace import shares as trace_shares
from scheduler.engine.kueue.tree.protocols import FlavorResource
from scheduler.engine.kueue.tree.quota import (
    add_usages,
    available_non_negative,
    remove_usages,
    undo_usages,
)
from scheduler.engine.kueue.tree.tree import ClusterQueue, ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import SearchTally


class Target(NamedTuple):
    """A victim and the reason that its Preempted condition gets."""

    work: WorkloadInfo
    reason: str


Requests = dict[ResourceNode, int]


class Placement(Protocol):
    """Whether pods that ask for topology have places, with victims out of the trees."""

    def remove(self, work: WorkloadInfo) -> None:
        """Take a victim's pods off their places."""

    def add(self, work: WorkloadInfo) -> None:
        """Put them back."""

    def fits(self) -> bool:
        """Return whether the preemptor's pods have places now."""


class TargetSearch(Protocol):
    """A search for victims with everything bound but the question."""

    def __call__(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue,
        requests: Requests,
        needed: frozenset[FlavorResource],
        placement: Placement | None = None,
    ) -> list[Target]:
        """Return the workloads to preempt."""


def take_out(work: WorkloadInfo, placement: Placement | None) -> None:
    """Try a state without a workload."""
    remove_usages(work.usage)
    if placement is not None:
        placement.remove(work)


def put_back(work: WorkloadInfo, placement: Placement | None) -> None:
    """Undo `take_out`."""
    add_usages(work.usage)
    if placement is not None:
        placement.add(work)


def fits(
    requests: Requests, *, borrowing: bool, placement: Placement | None = None
) -> bool:
    """Return whether all requests fit now, within nominal quota unless `borrowing`.

    Where topology is asked for, the pods must have places, too.
    Source: docs/semantics/kueue.md#removing-candidates.
    """
    for resource_node, amount in requests.items():
        if not borrowing and resource_node.usage + amount > resource_node.nominal:
            return False
        if amount > available_non_negative(resource_node):
            return False
    return placement is None or placement.fits()


def fill_back(
    targets: list[Target],
    requests: Requests,
    *,
    borrowing: bool,
    tally: SearchTally,
    placement: Placement | None = None,
    trace: Trace | None = None,
) -> list[Target]:
    """Keep victims that turn out not to be needed; the usage excludes the remaining ones.

    A victim equal to one that could not be spared cannot be either, as usage
    only grows here; places differ, though. It is counted as tried all the same, as
    Kueue tries each. The order of what remains is Kueue's.
    Source: docs/semantics/kueue.md#fill-back.
    """
    needed: set[object] = set()
    for index in range(len(targets) - 2, -1, -1):
        work = targets[index].work
        held = work.usage
        tally.simulations += 1
        if held in needed and trace is None and placement is None:
            continue
        put_back(work, placement)
        fitting = (held not in needed or placement is not None) and fits(
            requests, borrowing=borrowing, placement=placement
        )
        if trace is not None:
            trace.put_back(work, requests, borrowing=borrowing, fits=fitting)
        if fitting:
            targets[index] = targets[-1]
            targets.pop()
        else:
            take_out(work, placement)
            needed.add(held)
    return targets


def restore(targets: list[Target], placement: Placement | None = None) -> None:
    """Give the usage of all targets back."""
    for target in reversed(targets):
        put_back(target.work, placement)


def trace_targets(
    trace: Trace, queue: ClusterQueue, targets: list[Target], requests: Requests
) -> None:
    """Note the victims that a search ends with; their usage is out of the tree now.

    The shares are those with the preemptor in and its victims out.
    """
    add_usages(requests.items())
    after = trace_shares(queue)
    undo_usages(reversed(requests.items()))
    found = [[str(target.work.key), target.reason] for target in targets]
    trace.note("targets", targets=found, shares=after)
