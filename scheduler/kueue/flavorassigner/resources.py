"""In which order the resources of a podset are looked at, and by which group."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from scheduler.kueue.tree.tree import Queue
from scheduler.records.quota import ResourceGroup

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_64_BITS = 2**64 - 1


class Step(NamedTuple):
    """A group to search for these resources; None when `trigger` has no quota."""

    group: ResourceGroup | None
    trigger: str  # the resource that led here
    resources: tuple[str, ...]


@lru_cache(maxsize=4096)
def fnv1a(name: str) -> int:
    """Return the 64 bit FNV-1a hash of a resource name."""
    value = _FNV_OFFSET
    for byte in name.encode():
        value = ((value ^ byte) * _FNV_PRIME) & _64_BITS
    return value


def in_order(names: Iterable[str]) -> list[str]:
    """Return resource names in the order in which Kueue looks at them.

    Source: KUEUE.md 2.8.
    """
    return sorted(names, key=lambda name: (fnv1a(name), name))


def steps_of(queue: Queue, names: Iterable[str]) -> tuple[Step, ...]:
    """Return the searches for these resources in a ClusterQueue; remembered there."""
    known = frozenset(names)
    steps = queue.plans.get(known)
    if steps is None:
        steps = queue.plans[known] = tuple(_steps(queue, in_order(known)))
    return steps


def _steps(queue: Queue, names: list[str]) -> Iterable[Step]:
    searched: set[int] = set()
    for name in names:
        index = queue.cover.get(name)
        if index is None:
            yield Step(None, name, (name,))
        elif index not in searched:
            searched.add(index)
            resources = tuple(n for n in names if queue.cover.get(n) == index)
            yield Step(queue.spec.groups[index], name, resources)
