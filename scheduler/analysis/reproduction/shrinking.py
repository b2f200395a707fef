"""Shrinking a list: leave out what is not needed, large parts first.

Source: delta debugging (ddmin), <https://doi.org/10.1109/32.988498>, with complements
only, as what is left must show it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
Shows = Callable[[list[T]], bool]
GoOn = Callable[[], bool]


def shrink(items: Sequence[T], shows: Shows[T], go_on: GoOn) -> tuple[list[T], bool]:
    """Return a part of `items` that still shows it, and whether it is minimal.

    Minimal: no single item can be left out. `items` must show it. Stops where it
    is when `go_on` says no. Cost: O(n log n) runs when little is needed, O(n²)
    at worst.
    """
    kept = list(items)
    size = max(1, len(kept) // 2)
    while True:
        kept, removed, whole = _sweep(kept, size, shows, go_on)
        if not whole:
            return kept, False
        if size > 1:
            size = (min(size, len(kept)) + 1) // 2 if len(kept) > 1 else 1
        elif not removed:
            return kept, True


def _sweep(
    kept: list[T], size: int, shows: Shows[T], go_on: GoOn
) -> tuple[list[T], bool, bool]:
    """Try each stretch of `size`; return what is left, if it shrank, if all was tried."""
    at, removed = 0, False
    while at < len(kept):
        if not go_on():
            return kept, removed, False
        left = kept[:at] + kept[at + size :]
        if shows(left):
            kept, removed = left, True
        else:
            at += size
    return kept, removed, True


def shrink_groups(
    items: Sequence[T], group: Callable[[T], Hashable], shows: Shows[T], go_on: GoOn
) -> list[T]:
    """Return `items` without the groups that are not needed; one run per group."""
    kept = list(items)
    for name in dict.fromkeys(group(item) for item in items):
        left = [item for item in kept if group(item) != name]
        if not go_on():
            return kept
        if len(left) < len(kept) and shows(left):
            kept = left
    return kept
