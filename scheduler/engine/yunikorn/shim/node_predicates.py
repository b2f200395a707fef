"""Predicates that look at the node alone: selector, required affinity, taints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scheduler.engine.yunikorn.objects.model import Predicate, SchedulingNode
from scheduler.model.node import Node as NodeRecord
from scheduler.model.pod import Shape
from scheduler.model.selectors import tolerated

if TYPE_CHECKING:
    from scheduler.engine.yunikorn.objects.model import Ask


class NodePredicate:
    """Where pods of one shape may run: selector, affinity and taints."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def __call__(self, node: SchedulingNode, gone: Sequence[Ask] = ()) -> str | None:
        """Return why a node is not for this shape, or None.

        `gone`: pods on the node that would have left; they do not matter here.
        """
        record = node.record
        if not isinstance(record, NodeRecord):
            return None
        shape = self.shape
        if any(record.labels.get(k) != v for k, v in shape.node_selector):
            return "node(s) didn't match Pod's node affinity/selector"
        terms = shape.node_required
        if terms is not None and not any(
            term.matches(record.name, record.labels) for term in terms
        ):
            return "node(s) didn't match Pod's node affinity/selector"
        for taint in record.taints:
            hard = taint.effect in ("NoSchedule", "NoExecute")
            if hard and not tolerated(taint, shape.tolerations):
                return "node(s) had untolerated taint(s)"
        return None


def predicate_of(shape: Shape, *, tainted: bool) -> Predicate | None:
    """Return the predicate of a shape; None when it may run anywhere.

    `tainted`: whether any node has a taint.
    """
    if shape.node_selector or shape.node_required is not None or tainted:
        return NodePredicate(shape)
    return None
