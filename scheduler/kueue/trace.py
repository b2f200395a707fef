"""What a decision looked at, step by step: filled only when somebody asks."""

from __future__ import annotations

from typing import Any

from scheduler.amounts import text_of
from scheduler.kueue.modes import Granted
from scheduler.kueue.tree import Cell, Node


class Trace:
    """The steps of a cycle for one workload, in order, as plain values."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []

    def note(self, step: str, **values: Any) -> None:
        """Append one step."""
        self.steps.append({"step": step, **values})

    def flavor(
        self, pod_set: str, cell: Cell, amount: int, granted: Granted, reason: str
    ) -> None:
        """Append what one flavor offers for one resource, and its arithmetic."""
        flavor, resource = cell.flavor_resource
        self.note(
            "flavor",
            podSet=pod_set,
            flavor=flavor,
            resource=resource,
            requested=text_of(resource, amount),
            mode=granted.mode.name,
            borrow=granted.borrow,
            reason=reason,
            chain=chain(cell),
        )


def chain(cell: Cell) -> list[dict[str, str]]:
    """Return quota and usage of a cell and all above it, nearest first."""
    rows = []
    at: Cell | None = cell
    while at is not None:
        rows.append(_row(at))
        at = at.parent
    return rows


def _row(cell: Cell) -> dict[str, str]:
    resource = cell.flavor_resource[1]
    node: Node = cell.node
    numbers = {
        "nominal": cell.nominal,
        "subtree": cell.subtree,
        "used": cell.usage,
        "borrowed": max(0, cell.usage - cell.subtree),
        "lendable": max(0, cell.subtree - cell.local),
        "borrowingLimit": cell.borrowing,
        "lendingLimit": cell.lending,
    }
    written = {
        name: text_of(resource, amount)
        for name, amount in numbers.items()
        if amount is not None
    }
    return {"kind": node.kind, "name": node.name, **written}
