"""Exact arithmetic of decaying usage: amounts in billionths of a unit.

cpu in cores, memory in bytes, all else in units; results of a multiplication are
cut toward zero. Source: docs/semantics/kueue-admission-fair-sharing.md#arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache

from scheduler.model.amounts import CPU

Usage = dict[str, int]  # resource -> billionths

NANO = 10**9
_LN_HALF = math.log(0.5)


def nano(resource: str, amount: int) -> int:
    """Return an amount in canonical units in billionths."""
    return amount * (NANO // 1000 if resource == CPU else NANO)


def half_to(x: float) -> float:
    """Return 0.5 ** x for x >= 0, by whole and fractional part."""
    part, whole = math.modf(x)
    if part > 0.5:
        part, whole = part - 1.0, whole + 1.0
    return math.ldexp(math.exp(part * _LN_HALF), -int(min(whole, 1e6)))


def share_of_now(seconds: float, half_life_s: float) -> float:
    """Return how much of the present usage counts after so many seconds."""
    if half_life_s == 0:
        return 0.0
    return 1.0 - half_to(max(seconds, 0.0) / half_life_s)


def scale(usage: Mapping[str, int], factor: float) -> Usage:
    """Return the usage times a factor, each amount cut toward zero."""
    numerator, denominator = _ratio(factor)
    return {
        name: _cut(amount * numerator, denominator) for name, amount in usage.items()
    }


@lru_cache(maxsize=4096)
def _ratio(factor: float) -> tuple[int, int]:
    """Return the shortest decimal that reads back as `factor`, as a ratio."""
    return Decimal(repr(factor)).as_integer_ratio()


def _cut(numerator: int, denominator: int) -> int:
    whole = abs(numerator) // denominator
    return whole if numerator >= 0 else -whole


def add(parts: Iterable[Mapping[str, int]]) -> Usage:
    """Return the sum, resource by resource."""
    total: Usage = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total


def decayed(consumed: Mapping[str, int], usage: Mapping[str, int], now: float) -> Usage:
    """Return the decayed consumption: the old one weighs 1 - `now`, the present usage `now`."""
    return add((scale(consumed, 1.0 - now), scale(usage, now)))
