"""In which order the resources of a podset are looked at, and by which group."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from scheduler.engine.kueue.tree.tree import ClusterQueue, GroupSearch

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_64_BITS = 2**64 - 1


@lru_cache(maxsize=4096)
def fnv1a(name: str) -> int:
    """Return the 64 bit FNV-1a hash of a resource name."""
    value = _FNV_OFFSET
    for byte in name.encode():
        value = ((value ^ byte) * _FNV_PRIME) & _64_BITS
    return value


def in_order(names: Iterable[str]) -> list[str]:
    """Return resource names in the order in which Kueue looks at them.

    Source: docs/semantics/kueue.md#order-of-resources.
    """
    return sorted(names, key=lambda name: (fnv1a(name), name))


def group_searches_of(
    queue: ClusterQueue, names: Iterable[str]
) -> tuple[GroupSearch, ...]:
    """Return the searches for these resources in a ClusterQueue; remembered there."""
    known = frozenset(names)
    steps = queue.group_searches.get(known)
    if steps is None:
        steps = queue.group_searches[known] = tuple(_steps(queue, in_order(known)))
    return steps


def _steps(queue: ClusterQueue, names: list[str]) -> Iterable[GroupSearch]:
    searched: set[int] = set()
    for name in names:
        index = queue.group_of.get(name)
        if index is None:
            yield GroupSearch(None, name, (name,))
        elif index not in searched:
            searched.add(index)
            resources = tuple(n for n in names if queue.group_of.get(n) == index)
            yield GroupSearch(queue.spec.groups[index], name, resources)
