"""Amounts, shares and names as an English sentence says them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol

from scheduler.model.ranges import INTEGER

_SIZES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEP = 1024
#: Beyond this many of a list, the rest is a number.
_MOST = 3


class Amount(Protocol):
    """An amount of one resource, canonical."""

    resource: str
    amount: str


def quantity(resource: str, amount: int | str) -> str:
    """Return "1.5 CPU", "2 GiB", "8 GPU" or "3 example.com/foo"."""
    value = int(amount)
    if value >= INTEGER.most:
        return f"unlimited {_unit(resource)}"
    if resource == "cpu":
        return f"{_short(Decimal(value) / 1000)} CPU"
    if resource == "vcore":
        return f"{_short(Decimal(value) / 1000)} vcore"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return _size(value)
    if resource == "pods":
        return counted(value, "pod")
    return f"{value} {_unit(resource)}"


def _unit(resource: str) -> str:
    if resource == "cpu":
        return "CPU"
    return "GPU" if resource.endswith("/gpu") else resource


def _size(value: int) -> str:
    number, at = Decimal(value), 0
    while abs(number) >= _STEP and at + 1 < len(_SIZES):
        number, at = number / _STEP, at + 1
    return f"{_short(number)} {_SIZES[at]}B"


def _short(number: Decimal) -> str:
    text = f"{number:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def several(parts: Iterable[Amount]) -> str:
    """Return amounts joined as a sentence lists them."""
    return listed([quantity(part.resource, part.amount) for part in parts])


def share(value: float | None) -> str:
    """Return a weighted share, rounded up as Kueue does: "80", "134", "∞"."""
    return "∞" if value is None else str(math.ceil(value - 1e-9))


def listed(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and 4 more"."""
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return names[0] if names else "nobody"


def bare(key: str) -> str:
    """Return the name of a key text without its kind and namespace."""
    return key.rpartition("/")[2]


def counted(number: int, one: str, many: str = "") -> str:
    """Return "1 workload", "2 workloads"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "11th"."""
    teen = 10 < number % 100 < 14
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
