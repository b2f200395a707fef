"""PodTopologySpread: equal pods spread evenly over zones, hosts, anything."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, Ints, Mask, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import (
    MAX_SCORE,
    CountingPlugin,
    Event,
    Handle,
    Hint,
)
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    Code,
    CycleState,
    Fixed,
    Status,
    unresolvable,
    unschedulable,
)
from scheduler.engine.kube.plugins.node_affinity import selected
from scheduler.engine.kube.plugins.taint_toleration import refuses
from scheduler.model.errors import PolicyError
from scheduler.model.node import HOSTNAME, ZONE
from scheduler.model.pod import Pod, Spread, read_spread
from scheduler.model.problems import Problem, in_field
from scheduler.model.registry import register
from scheduler.model.selectors import Selector

SKEW = "node(s) didn't match pod topology spread constraints"
NO_LABEL = f"{SKEW} (missing required label)"
#: What spreads pods that have no constraints of their own.
SYSTEM = (
    {"topologyKey": HOSTNAME, "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"},
    {"topologyKey": ZONE, "maxSkew": 5, "whenUnsatisfiable": "ScheduleAnyway"},
)


class PodTopologySpreadArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Constraints for pods that have none and are selected by a Service or made by
    a ReplicaSet or StatefulSet: the system's own, or a list.
    """

    api_version: str = ""
    kind: str = ""
    default_constraints: list[dict[str, Any]] = []
    defaulting_type: Literal["System", "List"] = "System"


@register(
    "plugin",
    "PodTopologySpread",
    label="Topology spread",
    help="Filters out nodes where a spread constraint would be broken; prefers "
    "domains with fewer matching pods.",
    parameters=PodTopologySpreadArgs,
)
class PodTopologySpread(CountingPlugin):
    """Source: docs/semantics/kube-scheduler.md#podtopologyspread-filter."""

    name = "PodTopologySpread"
    args_type = PodTopologySpreadArgs
    scope = "cluster"

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.by_system = args.defaulting_type == "System"
        if self.by_system and args.default_constraints:
            raise PolicyError(Problem.SYSTEM_CONSTRAINTS.said(), self.name)
        if any("labelSelector" in item for item in args.default_constraints):
            raise PolicyError(
                in_field("defaultConstraints", Problem.DEFAULT_SELECTOR.said()),
                self.name,
            )
        given = SYSTEM if self.by_system else args.default_constraints
        self._defaults = tuple(read_spread(item) for item in given)

    def constraints(self, pod: Pod, *, hard: bool) -> list[Spread]:
        """Return the pod's own constraints of one kind, else the default ones.

        Source: docs/semantics/kube-scheduler.md#podtopologyspread-score.
        """
        if pod.shape.spread:
            return [spread for spread in pod.shape.spread if spread.hard is hard]
        wanted = [spread for spread in self._defaults if spread.hard is hard]
        selector = self.handle.cluster.selecting.of(pod) if wanted else None
        if selector is None:
            return []
        return [msgspec.structs.replace(s, selector=selector) for s in wanted]

    # --- filter

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether no hard constraint concerns the pod, whatever its labels are."""
        return not any(s.hard for s in pod.shape.spread or self._defaults)

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Count the matching pods per domain of the hard constraints."""
        spreads = self.constraints(pod, hard=True)
        if not spreads:
            return SKIP, None
        view = self.handle.cluster.node_table.all()
        keyed = nodes_with_keys(spreads, view)
        domains, masks = [], []
        for spread in spreads:
            selector = _narrowed(spread, pod)
            counting = keyed & self._counting(spread, pod, view)
            counts = self._by_domain(spread, selector, pod, view, counting)
            own = int(selector.matches(pod.labels))
            domains.append(DomainCounts(spread, own, counts, selector))
            masks.append(counting)
        eligible = EligibleNodes(self.handle.cluster.node_table.names, masks)
        state.data[self.name] = PreFilterState(domains, eligible)
        return OK, None

    def _counting(self, spread: Spread, pod: Pod, view: View) -> Mask:
        """Return which nodes a constraint looks at."""
        good: Mask = view.full(1, np.bool_)
        if spread.honour_affinity:
            good &= selected(pod, view)
        if spread.honour_taints:
            held = pod.shape.tolerations
            good &= view.by_taints(lambda taints: not refuses(taints, held), np.bool_)
        return good

    def _by_domain(
        self, spread: Spread, selector: Selector, pod: Pod, view: View, counting: Mask
    ) -> dict[str, int]:
        """Return the matching pods per label value of the nodes that count.

        An empty selector counts nobody.
        """
        groups = view.node_table.labels(spread.topology_key)
        codes = groups.codes[counting]
        counts = {groups.values[code]: 0 for code in np.unique(codes)}
        cluster = self.handle.cluster
        for node, number in self._matching(pod, selector).items():
            node_info = cluster.node_infos.get(node)
            if node_info is not None and counting[node_info.row]:
                counts[node_info.node.labels[spread.topology_key]] += number
        return counts

    def _matching(self, pod: Pod, selector: Selector) -> dict[str, int]:
        if not selector.requirements:
            return {}
        return self.handle.cluster.matching(pod.namespace, selector)

    def count(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo, by: int
    ) -> None:
        """Count a pod in or out, terminating or not, and by an empty selector too."""
        hard = state.data.get(self.name)
        if not isinstance(hard, PreFilterState):
            return
        if other.namespace != pod.namespace:
            return
        counting = hard.eligible[node_info.node.name]
        for domain, counts in zip(hard.domains, counting, strict=True):
            if counts and domain.selector.matches(other.labels):
                domain.counts[node_info.node.labels[domain.spread.topology_key]] += by

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node without the label, or where the skew would be too large."""
        hard = state.data[self.name]
        assert isinstance(hard, PreFilterState)
        for domain in hard.domains:
            value = node_info.node.labels.get(domain.spread.topology_key)
            if value is None:
                return unresolvable(NO_LABEL)
            if not domain.allows(value):
                return unschedulable(SKEW)
        return OK

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Do the same for rows; the first broken constraint says how."""
        hard = state.data[self.name]
        assert isinstance(hard, PreFilterState)
        codes: Codes = view.full(0, np.int8)
        for domain in hard.domains:
            given = domain_codes(domain, view)
            codes = np.where(codes == 0, given, codes)
        return codes

    # --- score

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Count pods per domain of the feasible nodes; skip without soft ones.

        The system's constraints also score nodes that lack a label.
        """
        spreads = self.constraints(pod, hard=False)
        if not spreads:
            return SKIP
        whole = self.handle.cluster.node_table.all()
        soft = PreScoreState(spreads, bool(pod.shape.spread) or not self.by_system, [])
        keyed = soft.counted(whole)
        scored = keyed if view.rows is None else keyed[view.rows]
        for spread in spreads:
            selector = _narrowed(spread, pod)
            if spread.topology_key == HOSTNAME:
                counts = self._matching(pod, selector)
                size = int(scored.sum())
            else:
                values = view.by_label(spread.topology_key, lambda v: v or "", object)
                wanted = set(values[scored])
                counting = keyed & self._counting(spread, pod, whole)
                counting &= nodes_with_keys([spread], whole)
                found = self._by_domain(spread, selector, pod, whole, counting)
                counts = {value: found.get(value, 0) for value in wanted}
                size = len(wanted)
            soft.counts.append(counts)
            soft.weights.append(math.log(size + 2))
        state.data[f"{self.name}/score"] = soft
        return OK

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the weighted count; a node without the labels has none."""
        soft = state.data[f"{self.name}/score"]
        assert isinstance(soft, PreScoreState)
        node, total = node_info.node, 0.0
        missing = [s for s in soft.spreads if s.topology_key not in node.labels]
        if soft.whole and missing:
            return 0
        for spread, counts, weight in zip(
            soft.spreads, soft.counts, soft.weights, strict=True
        ):
            at = node.labels.get(spread.topology_key)
            if at is None:
                continue
            count = counts.get(node.name if spread.topology_key == HOSTNAME else at, 0)
            total += count * weight + float(spread.max_skew - 1)
        return math.floor(total + 0.5)

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return the same for rows."""
        soft = state.data[f"{self.name}/score"]
        assert isinstance(soft, PreScoreState)
        total = np.zeros(view.size)
        for spread, counts, weight in zip(
            soft.spreads, soft.counts, soft.weights, strict=True
        ):
            worth = counts_by_row(spread, counts, view) * weight + (spread.max_skew - 1)
            total += np.where(nodes_with_keys([spread], view), worth, 0.0)
        scores = np.floor(total + 0.5).astype(np.int64)
        return np.where(soft.counted(view), scores, 0)

    def normalize(self, state: CycleState, pod: Pod, view: View, raw: Ints) -> Ints:
        """Turn round: the fewest pods score highest."""
        soft = state.data[f"{self.name}/score"]
        assert isinstance(soft, PreScoreState)
        counted = soft.counted(view)
        if not counted.any():
            return np.zeros(len(raw), dtype=np.int64)
        low, high = int(raw[counted].min()), int(raw[counted].max())
        if high == 0:
            return np.where(counted, MAX_SCORE, 0)
        return np.where(counted, MAX_SCORE * (high + low - raw) // high, 0)

    # --- queue

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a counted pod came or went, or a node."""
        return {
            plugin.POD_ADDED: self._counts,
            plugin.POD_CHANGED: self._counts,
            plugin.POD_DELETED: self._counts,
            plugin.NODE_ADDED: self._has_keys,
            plugin.NODE_DELETED: None,
            plugin.NODE_CHANGED: self._has_keys,
        }

    def _counts(self, pod: Pod, event: Event) -> bool:
        other = event.pod
        return other.namespace == pod.namespace and any(
            _narrowed(spread, pod).matches(other.labels)
            for spread in self.constraints(pod, hard=True)
        )

    def _has_keys(self, pod: Pod, event: Event) -> bool:
        labels = event.node.labels
        wanted = self.constraints(pod, hard=True)
        return all(spread.topology_key in labels for spread in wanted)


def _narrowed(spread: Spread, pod: Pod) -> Selector:
    return spread.selector.also(pod.labels, spread.match_keys, "In")


# ------------------------------------------------------------------------
# What is counted for spread constraints: pods per domain, for hard and for soft ones.


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
