"""NodeResourcesFit: what the pod asks must be free; three ways to score use."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, Ints, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Event, Handle, Hint, Plugin
from scheduler.engine.kube.framework.status import OK, Code, CycleState, Status
from scheduler.engine.kube.noderesources.scoring import (
    ResourceSpec,
    Rule,
    Shortage,
    column,
    ratio_rule,
    rules,
    skips,
)
from scheduler.model.errors import PolicyError
from scheduler.model.node import PODS, Node, is_extended
from scheduler.model.pod import Pod
from scheduler.model.problems import Problem
from scheduler.model.registry import register

TOO_MANY = "Too many pods"
Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]


class ShapePoint(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A point of the scoring line: utilization 0..100, score 0..10."""

    utilization: int = 0
    score: int = 0


class RatioParam(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The line of RequestedToCapacityRatio."""

    shape: list[ShapePoint] = []


class ScoringStrategy(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How to score, over which resources."""

    type: Strategy = "LeastAllocated"
    resources: list[ResourceSpec] = []
    requested_to_capacity_ratio: RatioParam | None = None


class NodeResourcesFitArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The arguments of NodeResourcesFit."""

    api_version: str = ""
    kind: str = ""
    ignored_resources: list[str] = []
    ignored_resource_groups: list[str] = []
    scoring_strategy: ScoringStrategy | None = None


@register(
    "plugin",
    "NodeResourcesFit",
    label="Resources fit",
    help="Filters out nodes too full for the pod's requests; scores by how full "
    "the node would be: LeastAllocated spreads, MostAllocated packs, "
    "RequestedToCapacityRatio follows a line of your own.",
    parameters=NodeResourcesFitArgs,
)
class NodeResourcesFit(Plugin):
    """Source: docs/semantics/kube-scheduler.md#noderesourcesfit-scoring-strategies."""

    name = "NodeResourcesFit"
    args_type = NodeResourcesFitArgs
    scope = "row"
    idle_points = ("pre_filter", "pre_score")

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        strategy = args.scoring_strategy or ScoringStrategy()
        self.resources = tuple(strategy.resources) or (
            ResourceSpec("cpu"),
            ResourceSpec("memory"),
        )
        for resource in self.resources:
            resource.check("NodeResourcesFit")
        self._rule = _rule(strategy)
        self._ignored = frozenset(args.ignored_resources)
        self._groups = frozenset(args.ignored_resource_groups)

    # --- filter

    def _needs(self, pod: Pod) -> Iterable[tuple[str, int]]:
        if not (self._ignored or self._groups):
            return pod.shape.requests.asked.items()
        return [
            (name, amount)
            for name, amount in pod.shape.requests.asked.items()
            if not self._is_ignored(name)
        ]

    def _is_ignored(self, resource: str) -> bool:
        if not is_extended(resource):
            return False
        return resource in self._ignored or resource.split("/")[0] in self._groups

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node where something is short; every shortage is a reason."""
        short = self.shortages(pod, node_info)
        full = len(node_info.pods) >= node_info.pod_limit
        if not (short or full):
            return OK
        reasons = tuple(
            sorted(([TOO_MANY] if full else []) + [s.reason for s in short])
        )
        never = any(s.asked > s.capacity for s in short)
        return Status(Code.UNRESOLVABLE if never else Code.UNSCHEDULABLE, reasons)

    def shortages(self, pod: Pod, node_info: NodeInfo) -> list[Shortage]:
        """Return the missing resources of the node, with amounts."""
        found = []
        for name, asked in self._needs(pod):
            taken, capacity = node_info.requested.get(name, 0), node_info.capacity(name)
            if asked > capacity - taken:
                found.append(Shortage(name, asked, taken, capacity))
        return found

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows where something is short."""
        codes: Codes = (view.pod_count >= view.pod_limit).astype(np.int8)
        for name, asked in self._needs(pod):
            capacity = view.allocatable(name)
            short = view.requested(name) > capacity - asked
            if short.any():
                codes = np.maximum(codes, short)
                codes[asked > capacity] = Code.UNRESOLVABLE
        return codes

    def histogram(self, state: CycleState, pod: Pod, view: View) -> dict[str, int]:
        """Count the shortages of the rows."""
        counts = {TOO_MANY: int((view.pod_count >= view.pod_limit).sum())}
        for name, asked in self._needs(pod):
            short = asked > view.allocatable(name) - view.requested(name)
            counts[f"Insufficient {name}"] = int(short.sum())
        return {reason: n for reason, n in counts.items() if n}

    # --- score

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Score one node, by the same line as the rows."""
        asked = pod.shape.requests.scored
        parts = []
        for spec in self.resources:
            capacity = node_info.capacity(spec.name)
            if capacity and not skips(spec.name, asked):
                taken = node_info.taken(spec.name, defaults=True)
                used = taken + asked.get(spec.name, 0)
                parts.append((spec.weight, used, capacity))
        return self._rule.one(parts)

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Score every row."""
        asked = pod.shape.requests.scored
        parts = [
            (
                spec.weight,
                column(view, spec.name, defaults=True) + asked.get(spec.name, 0),
                view.allocatable(spec.name),
            )
            for spec in self.resources
            if not skips(spec.name, asked)
        ]
        return self._rule.rows(parts, view.size)

    # --- queue

    def hints(self) -> dict[str, Hint | None]:
        """Try again when something was freed that the pod could use."""
        return {
            plugin.POD_DELETED: None,
            plugin.POD_CHANGED: _shrunk,
            plugin.NODE_ADDED: self._could_fit,
            plugin.NODE_CHANGED: self._grew,
        }

    def _could_fit(self, pod: Pod, event: Event) -> bool:
        return self._fits_empty(pod, event.node)

    def _grew(self, pod: Pod, event: Event) -> bool:
        before, now = event.old_node, event.node
        if not self._fits_empty(pod, now):
            return False
        if before is None or not self._fits_empty(pod, before):
            return True
        names = [name for name, _ in self._needs(pod)] + [PODS]
        return any(
            now.allocatable.get(name, 0) > before.allocatable.get(name, 0)
            for name in names
        )

    def _fits_empty(self, pod: Pod, node: Node) -> bool:
        if node.allocatable.get(PODS, 0) < 1:
            return False
        return all(
            asked <= node.allocatable.get(name, 0) for name, asked in self._needs(pod)
        )


def _rule(strategy: ScoringStrategy) -> Rule:
    if strategy.type != "RequestedToCapacityRatio":
        return rules[strategy.type]
    param = strategy.requested_to_capacity_ratio
    points = [(p.utilization, p.score) for p in (param.shape if param else [])]
    if not points:
        raise PolicyError(Problem.SHAPE_EMPTY.said())
    for (left, _), (right, _) in pairwise(points):
        if left >= right:
            raise PolicyError(Problem.SHAPE_RISES.said(first=left, last=right))
    for utilization, score in points:
        if not (0 <= utilization <= 100 and 0 <= score <= 10):
            raise PolicyError(Problem.SHAPE_RANGE.said(first=utilization, last=score))
    return ratio_rule(points)


def _shrunk(pod: Pod, event: Event) -> bool:
    """Return whether an assigned pod asks less of something than before."""
    before: Pod | None = event.old
    if before is None:
        return True
    now = event.pod.shape.requests.exact
    return any(
        now.get(name, 0) < amount
        for name, amount in before.shape.requests.exact.items()
    )
