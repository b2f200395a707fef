"""Records of YuniKorn's web service: amounts by resource, percents, nothing empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.engine.yunikorn.objects.model import SchedulingNode

PARTITION = "default"
CLUSTER = "quotalab"
ENDED = frozenset({"Completed", "Failed", "Rejected", "Expired"})

Record = dict[str, Any]


def sparse(record: Record) -> Record:
    """Return the record without what is empty, as the real answers leave it out."""
    return {name: value for name, value in record.items() if value}


def amounts(values: Mapping[str, int] | None) -> dict[str, int]:
    """Return amounts by resource, in order of their names."""
    return {name: int(amount) for name, amount in sorted((values or {}).items())}


def summed(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of amounts."""
    total: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + int(amount)
    return amounts(total)


def percent(part: Mapping[str, int], whole: Mapping[str, int] | None) -> dict[str, int]:
    """Return whole percents of what there is."""
    return {
        name: 100 * int(part.get(name, 0)) // int(amount)
        for name, amount in sorted((whole or {}).items())
        if amount
    }


def allocated_on(node: SchedulingNode) -> dict[str, int]:
    """Return what a node's allocations take of it."""
    return {
        name: int(amount) - node.available.get(name, 0) - node.occupied.get(name, 0)
        for name, amount in node.capacity.items()
    }
