"""How large the benchmarks are: full size, or tiny to see that each still runs.

`./dev test` sets QUOTALAB_BENCH=tiny. A tiny run prints a figure that means nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

TINY = os.environ.get("QUOTALAB_BENCH") == "tiny"


def sized(full: T, tiny: T) -> T:
    """Return the full size, or the tiny one."""
    return tiny if TINY else full


def some(cases: Iterable[T]) -> list[T]:
    """Return all cases, or the first one of a tiny run."""
    found = list(cases)
    return found[:1] if TINY else found
