"""Partial admission: the fewest pods to leave out so that the rest gets in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from scheduler.model.workload import PodSet

T = TypeVar("T")


def reduce_counts(
    pod_sets: Sequence[PodSet], attempt: Callable[[tuple[int, ...]], T | None]
) -> T | None:
    """Return what `attempt` gave for the largest counts that succeed.

    Bisects over how much is left out, in Kueue's order of probes: where success
    is not monotonic, another order would find something else.
    Source: docs/semantics/kueue.md#partial-admission.
    """
    spare = [part.count - _least(part) for part in pod_sets]
    total = sum(spare)
    if total == 0:
        return None
    low, high, last, found = 0, total + 1, 0, None
    while low < high:
        middle = (low + high) // 2
        got = attempt(_counts(pod_sets, spare, middle, total))
        if got is None:
            low = middle + 1
        else:
            high = last = middle
            found = got
    return found if low == last else None


def _least(part: PodSet) -> int:
    return part.count if part.min_count is None else part.min_count


def _counts(
    pod_sets: Sequence[PodSet], spare: Sequence[int], step: int, total: int
) -> tuple[int, ...]:
    return tuple(
        part.count - less * step // total
        for part, less in zip(pod_sets, spare, strict=True)
    )
