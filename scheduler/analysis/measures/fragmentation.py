"""Free but useless: capacity where nothing that waits fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from scheduler.analysis.measures.capacity import Capacity
from scheduler.analysis.measures.subjects import Amounts, Shape

Grouped = tuple[str, Shape]  # the cohort tree ("" = any) and what fits or not

#: As many places as are faster one by one.
_FEW = 24
#: More than any request: a place that does not know a resource does not forbid it.
_PLENTY = np.iinfo(np.int64).max


def useless(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: Iterable[Grouped]
) -> dict[str, float]:
    """Return per resource the share of capacity that is free where nothing fits.

    A shape fits a place by amounts alone; selectors and taints are not asked.
    Quota pools forbid only what they hold. O(places x shapes), vectorised where
    there are many places.
    """
    if not capacities.places or not capacities.capacity:
        return {}
    if len(capacities.places) <= _FEW:
        return one_by_one(capacities, taken, list(shapes))
    return by_arrays(capacities, taken, shapes)


def by_arrays(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: Iterable[Grouped]
) -> dict[str, float]:
    """Return it for many places. O(places x shapes), vectorised."""
    resources = sorted(capacities.capacity)
    free = _free(capacities, taken, resources)
    useful = np.zeros(len(capacities.places), dtype=bool)
    groups = np.array([place.group for place in capacities.places.values()])
    for group, shape in shapes:
        fits = _fits(free, resources, shape)
        useful |= fits & (groups == group) if group else fits
    idle = np.where(free == _PLENTY, 0, free)[~useful].astype(float).sum(axis=0)
    return {
        resource: float(idle[n] / capacities.capacity[resource])
        for n, resource in enumerate(resources)
        if capacities.capacity[resource]
    }


def one_by_one(
    capacities: Capacity, taken: Mapping[str, Amounts], shapes: list[Grouped]
) -> dict[str, float]:
    """Return it for few places, without arrays: they cost more than they save."""
    idle = dict.fromkeys(sorted(capacities.capacity), 0)
    for name, place in capacities.places.items():
        used = taken.get(name, {})
        free = {r: max(0, n - used.get(r, 0)) for r, n in place.amounts.items()}
        if not any(
            group in ("", place.group) and _fits_in(free, shape, capacities)
            for group, shape in shapes
        ):
            for resource in free.keys() & idle.keys():
                idle[resource] += free[resource]
    return {
        r: n / capacities.capacity[r] for r, n in idle.items() if capacities.capacity[r]
    }


def _fits_in(free: Amounts, shape: Shape, capacities: Capacity) -> bool:
    """Return whether a place has room; a pool must have some of what is asked for."""
    asked = [(r, n) for r, n in shape if n and r in capacities.capacity]
    absent = 0 if capacities.on_nodes else _PLENTY
    return all(free.get(r, absent) >= n for r, n in asked) and (
        not asked or capacities.on_nodes or any(r in free for r, _ in asked)
    )


def _free(
    capacities: Capacity, taken: Mapping[str, Amounts], resources: list[str]
) -> npt.NDArray[np.int64]:
    absent = 0 if capacities.on_nodes else _PLENTY
    rows = []
    for name, place in capacities.places.items():
        used = taken.get(name, {})
        rows.append(
            [
                max(0, place.amounts[r] - used.get(r, 0))
                if r in place.amounts
                else absent
                for r in resources
            ]
        )
    return np.array(rows, dtype=np.int64)


def _fits(
    free: npt.NDArray[np.int64], resources: list[str], shape: Shape
) -> npt.NDArray[np.bool_]:
    asked = dict(shape)
    wanted = np.array([asked.get(r, 0) for r in resources], dtype=np.int64)
    fits: npt.NDArray[np.bool_] = np.all(free >= wanted, axis=1)
    if not wanted.any():
        return fits
    # A pool that has none of what is asked for is of no use to it.
    has_some: npt.NDArray[np.bool_] = np.any((free != _PLENTY) & (wanted > 0), axis=1)
    return np.logical_and(fits, has_some)
