"""Whom a preemption is aimed at, and the port through which searches are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scheduler.kueue.trace import Trace
from scheduler.kueue.trace import shares as trace_shares
from scheduler.kueue.tree.protocols import FlavorResource
from scheduler.kueue.tree.quota import (
    add_usages,
    available_non_negative,
    remove_usages,
)
from scheduler.kueue.tree.tree import ClusterQueue, ResourceNode
from scheduler.kueue.workload.info import WorkloadInfo


class Target(NamedTuple):
    """A victim and the reason that its Preempted condition gets."""

    work: WorkloadInfo
    reason: str


Requests = dict[ResourceNode, int]
TargetSearch = Callable[
    [WorkloadInfo, ClusterQueue, Requests, frozenset[FlavorResource]], list[Target]
]


def fits(requests: Requests, *, borrowing: bool) -> bool:
    """Return whether all requests fit now, within nominal quota unless `borrowing`.

    Source: docs/semantics/kueue.md#removing-candidates.
    """
    for cell, amount in requests.items():
        if not borrowing and cell.usage + amount > cell.nominal:
            return False
        if amount > available_non_negative(cell):
            return False
    return True


def fill_back(
    targets: list[Target],
    requests: Requests,
    *,
    borrowing: bool,
    trace: Trace | None = None,
) -> list[Target]:
    """Spare those who turn out not to be needed; usage is left without the rest.

    A victim equal to one that could not be spared cannot be either, as usage
    only grows here. The order of what remains is Kueue's.
    Source: docs/semantics/kueue.md#fill-back.
    """
    needed: set[object] = set()
    for index in range(len(targets) - 2, -1, -1):
        work = targets[index].work
        held = work.usage
        if held in needed and trace is None:
            continue
        add_usages(held)
        fitting = held not in needed and fits(requests, borrowing=borrowing)
        if trace is not None:
            trace.put_back(work, requests, borrowing=borrowing, fits=fitting)
        if fitting:
            targets[index] = targets[-1]
            targets.pop()
        else:
            remove_usages(held)
            needed.add(held)
    return targets


def restore(targets: list[Target]) -> None:
    """Give the usage of all targets back."""
    for target in reversed(targets):
        add_usages(target.work.usage)


def trace_targets(
    trace: Trace, queue: ClusterQueue, targets: list[Target], requests: Requests
) -> None:
    """Note whom a search ends with; their usage is out of the tree now.

    The shares are those with the preemptor in and its victims out.
    """
    add_usages(requests.items())
    after = trace_shares(queue)
    remove_usages(reversed(requests.items()))
    found = [[str(target.work.key), target.reason] for target in targets]
    trace.note("targets", targets=found, shares=after)
