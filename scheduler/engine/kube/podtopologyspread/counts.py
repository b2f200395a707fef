"""What is counted for spread constraints: pods per domain, for hard and for soft ones.

Source: docs/semantics/kube-scheduler.md#podtopologyspread-filter.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

import numpy as np

from scheduler.engine.kube.cache.node_table import (
    Codes,
    Ints,
    Mask,
    View,
)
from scheduler.engine.kube.framework.status import (
    Code,
    Fixed,
)
from scheduler.model.node import HOSTNAME
from scheduler.model.pod import Spread
from scheduler.model.selectors import Selector


class EligibleNodes(dict[str, list[bool]]):
    """Which constraints count a node, worked out when a dry run asks."""

    def __init__(self, names: list[str], masks: list[Mask]) -> None:
        super().__init__()
        self._names, self._masks = names, masks

    def __missing__(self, name: str) -> list[bool]:
        # Rows are in name order.
        row = bisect.bisect_left(self._names, name)
        found = self[name] = [bool(mask[row]) for mask in self._masks]
        return found


@dataclass(slots=True)
class DomainCounts:
    """One hard constraint: pods counted per domain; `own` counts the pod itself."""

    spread: Spread
    own: int
    counts: dict[str, int]
    selector: Selector

    def allows(self, value: str) -> bool:
        """Return whether one more in this domain keeps the skew allowed."""
        return self.counts.get(value, 0) + self.own - self.least <= self.spread.max_skew

    @property
    def least(self) -> int:
        """Return the smallest count; 0 while there are too few domains."""
        if len(self.counts) < self.spread.min_domains or not self.counts:
            return 0
        return min(self.counts.values())


@dataclass(slots=True)
class PreFilterState:
    """Hard constraints with their counts, and the nodes that they count."""

    domains: list[DomainCounts]
    eligible: EligibleNodes  # node name -> counts for constraint i

    def copy(self) -> PreFilterState:
        """Return counts of their own, for a dry run."""
        copies = [
            DomainCounts(d.spread, d.own, dict(d.counts), d.selector)
            for d in self.domains
        ]
        return PreFilterState(copies, self.eligible)


@dataclass(slots=True)
class PreScoreState(Fixed):
    """Soft constraints with the count and weight of each domain."""

    spreads: list[Spread]
    whole: bool  # a node needs the labels of all constraints to count
    counts: list[dict[str, int]]  # by domain value; by node name for hostnames
    weights: list[float] = field(default_factory=list)

    def counted(self, view: View) -> Mask:
        """Return which rows take part; the others score 0."""
        return nodes_with_keys(self.spreads if self.whole else [], view)


def nodes_with_keys(spreads: list[Spread], view: View) -> Mask:
    """Return which rows have the label of every constraint."""
    good: Mask = view.full(1, np.bool_)
    for spread in spreads:
        good &= view.by_label(spread.topology_key, lambda v: v is not None, np.bool_)
    return good


def domain_codes(domain: DomainCounts, view: View) -> Codes:
    """Return per row whether one more pod keeps the skew of a constraint allowed."""
    highest = domain.spread.max_skew - domain.own + domain.least

    def code(value: str | None) -> int:
        if value is None:
            return int(Code.UNRESOLVABLE)
        full = domain.counts.get(value, 0) > highest
        return int(Code.UNSCHEDULABLE) if full else 0

    return view.by_label(domain.spread.topology_key, code, np.int8)


def counts_by_row(spread: Spread, counts: dict[str, int], view: View) -> Ints:
    """Return the count of the domain of each row."""
    if spread.topology_key == HOSTNAME:
        return view.each(lambda node_info: counts.get(node_info.node.name, 0), np.int64)
    return view.by_label(
        spread.topology_key, lambda v: counts.get(v or "", 0), np.int64
    )
