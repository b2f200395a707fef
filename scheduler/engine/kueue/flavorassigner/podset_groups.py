"""Podsets that get one flavor together: found, joined into one, and shared out again.

Source: docs/semantics/kueue-topology.md#flavors-of-a-group.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.kueue.flavorassigner.assignment import (
    PodSetPlan,
)
from scheduler.model.workload import Amounts, PodSet


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


def share_out(whole: PodSetPlan, plan: PodSetPlan) -> None:
    """Give a podset of a group the flavors of what it requests.

    One that requests nothing gets all of them.
    """
    own = [name for name in whole.flavors if name in plan.requests]
    for name in own or whole.flavors:
        plan.flavors[name] = whole.flavors[name]
        plan.fits[name] = whole.fits[name]
        plan.tried[name] = whole.tried[name]
    plan.reasons = list(whole.reasons)
    plan.severe, plan.searched = list(whole.severe), list(whole.searched)
