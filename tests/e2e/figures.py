"""How the page may write each number of an answer of REST: its unit follows from where it stands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Row = dict[str, Any]

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_UNLIMITED = 2**62
_SHIFT = 2**31  # what kube-scheduler adds to each priority that it sums
_TICK_MS = 1000
_LISTED = 3  # names of a list that a sentence says before "and 2 more"
_SHARES = (
    "share",
    "shareAfter",
    "preemptorShare",
    "targetShareBefore",
    "targetShareAfter",
)
_RATIOS = (
    "goodput",
    "utilisation",
    "fragmentation",
    "shareError",
    "withinLimit",
    "nominalUse",
)


def written(answer: Any, name: str = "") -> Iterator[str]:
    """Yield every number of an answer as the page may write it: "8 GPU", "tick 7", "12".

    `name`: of the field that holds the answer; times end in "Ms", ticks in "tick".
    """
    if isinstance(answer, dict):
        yield from _of_record(answer)
    elif isinstance(answer, list):
        yield from _of_list(answer)
        for value in answer:
            yield from written(value, name)
    elif _is_number(answer):
        yield from _of_number(abs(answer), name)


def bare(resource: str, given: str | int) -> str:
    """Return an amount without its unit, as in a column whose head names the unit."""
    value = abs(int(given))
    if resource in ("cpu", "vcore"):
        return _rounded(value / 1000, 3 if value < 10_000 else 1)
    if unit_of(resource) == "GiB":
        return _rounded(value / 2**30, 3 if value < 2**30 else 1)
    return f"{value:,}"


def unit_of(resource: str) -> str:
    """Return the unit word of a resource."""
    if resource in ("memory", "ephemeral-storage") or "storage" in resource:
        return "GiB"
    last = resource.rsplit("/", 1)[-1]
    return {"cpu": "CPU", "gpu": "GPU"}.get(last, last)


def amounts(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the amounts of a row but pods, each with its resource: the one it names, or its key."""
    for name, value in row.items():
        resource = row.get("resource", name)
        if resource != "pods" and _is_amount(value):
            yield resource, value


def _is_amount(value: Any) -> bool:
    digits = isinstance(value, str) and value.lstrip("-").isdigit()
    return digits and abs(int(value)) < _UNLIMITED


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _of_record(row: Row) -> Iterator[str]:
    for resource, value in amounts(row):
        yield _quantity(resource, int(value))
        yield _quantity(resource, max(0, int(value)))  # a lack is nothing free
    if "measure" in row:
        for value in (*row["values"], *row["deltas"]):
            yield from () if value is None else _of_measure(row["measure"], abs(value))
    elif "rule" in row and "value" in row:
        yield from _of_cost(row["rule"], row["value"])
    else:
        for name, value in row.items():
            yield from written(value, name)


def _of_list(rows: list[Any]) -> Iterator[str]:
    """Yield how many a list has, in all and alike, and the sums of its amounts."""
    yield f"{len(rows):,}"
    if len(rows) > _LISTED:
        yield f"{len(rows) - _LISTED} more"
    records = [row for row in rows if isinstance(row, dict)]
    alike: Counter[tuple[str, str]] = Counter()
    sums: Counter[str] = Counter()
    for row in records:
        alike.update((n, v) for n, v in row.items() if isinstance(v, str))
        if row.get("resource", "pods") != "pods" and "amount" in row:
            sums[row["resource"]] += int(row["amount"])
    for count in alike.values():
        yield from (str(count), str(len(records) - count))
    yield from (_quantity(resource, value) for resource, value in sums.items())
    tried = alike["kind", "candidate"]
    yield from (f"Candidate {at + 1}" for at in range(tried))


def _of_number(value: float, name: str) -> Iterator[str]:
    if name.endswith("Ms"):
        yield from (span_text(value), _seconds(value))
        yield f"tick {math.ceil(value / _TICK_MS):,}"
    elif name.lower().endswith("tick"):
        yield f"tick {value:,}"
    elif name in _SHARES:
        yield from (f"{math.ceil(value - 1e-9):,}", _rounded(value, 2))
        yield f"{_rounded(value * 100, 0)} %"
    elif isinstance(value, int):
        yield f"{value:,}"
    else:
        yield from (_rounded(value, digits) for digits in range(4))
        yield f"{_rounded(value * 100, 0)} %"


def _of_measure(measure: str, value: float) -> Iterator[str]:
    """Yield a measure of a run with its unit."""
    first, _, of = measure.partition(".")
    if measure.endswith("Ms"):
        yield span_text(value) if value < 1000 or value >= 59_950 else _seconds(value)
    elif first in _RATIOS:
        yield f"{_rounded(value * 100, 1)} %"
    elif first in ("workLost", "usedHours"):
        unit = unit_of(of.split(".", 1)[1] if first == "usedHours" else of)
        size = _rounded(value / 2**30, 1) if unit == "GiB" else _rounded(value, 2)
        yield f"{size} {unit}·h"
    else:
        yield _rounded(value, 3 if first == "jain" else 2 if value < 10 else 1)
    if value < 1e-9:
        yield "0"  # of a change: none


def _of_cost(rule: str, value: float) -> Iterator[str]:
    """Yield what a rule counts: priorities without their shift, a start in seconds."""
    if rule == "latestStart":
        yield _seconds(abs(value))
    elif rule == "prioritySum":
        pods = max(1, round(value / _SHIFT))
        yield from (f"{abs(value - pods * _SHIFT):,}", f"{pods:,}")
    else:
        yield f"{value:,}"


def _quantity(resource: str, value: int) -> str:
    if unit_of(resource) != "GiB":
        return f"{bare(resource, value)} {unit_of(resource)}"
    size = abs(value)
    step = min(6, (size.bit_length() - 1) // 10) if size >= 1024 else 0
    return f"{_rounded(size / 1024**step, 1)} {_BINARY[step]}"


def _seconds(ms: float) -> str:
    return f"{_rounded(ms / 1000, 1)} s"


def span_text(ms: float) -> str:
    """Return a span in its two largest units."""
    if 0 < ms < 1000:
        return f"{_rounded(ms, 0)} ms"
    seconds = int(Decimal(ms / 1000).quantize(Decimal(1), ROUND_HALF_UP))
    minutes, rest, units = seconds // 60, seconds % 60, ("min", "s")
    if seconds < 60:
        return f"{seconds} s"
    if minutes >= 60:
        minutes, rest, units = minutes // 60, minutes % 60, ("h", "min")
    return f"{minutes:,} {units[0]}" + (f" {rest} {units[1]}" if rest else "")


def _rounded(value: float, digits: int) -> str:
    """Return a number with at most so many decimals; a half is rounded up."""
    text = f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,f}"
    return text.rstrip("0").rstrip(".") if digits else text
