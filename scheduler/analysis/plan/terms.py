"""The measures that an assertion may name: their units, and which a queue has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Literal

from scheduler.model import durations
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected

Unit = Literal["time", "share", "count"]

#: A share of workloads by wait: waitP95, waitP99.
_QUANTILE = re.compile(r"waitP([0-9][0-9]?)")
#: What each queue has, and all work together.
OF_QUEUES: Mapping[str, Unit] = {
    "waitMean": "time",
    "waitP50": "time",
    "waitP90": "time",
    "waitP95": "time",
    "waitP99": "time",
    "waitMax": "time",
    "arrived": "count",
    "waiting": "count",
}
#: What only the whole run has. A dot leads to a resource.
OF_RUNS: Mapping[str, Unit] = {
    "finished": "count",
    "preemptions": "count",
    "preemptionsPerHour": "count",
    "evictions": "count",
    "evictionsPerHour": "count",
    "restarts": "count",
    "workLost": "time",
    "makespan": "time",
    "jain": "share",
    "shareError": "share",
    "timeToFair": "time",
    "timeToFairMax": "time",
    "searches": "count",
    "candidatesLookedAt": "count",
    "simulations": "count",
}
BY_RESOURCE: Mapping[str, Unit] = {
    "workLost": "count",
    "utilisation": "share",
    "goodput": "share",
    "fragmentation": "share",
}
#: More is better; of all others less is.
HIGH = frozenset({"finished", "jain", "utilisation", "goodput"})


def unit_of(measure: str) -> Unit | None:
    """Return the unit of a measure; None when there is no such measure."""
    name, dot, resource = measure.partition(".")
    if dot:
        return BY_RESOURCE.get(name) if resource else None
    if _QUANTILE.fullmatch(name):
        return "time"
    return OF_QUEUES.get(name) or OF_RUNS.get(name)


def quantile_of(measure: str) -> float | None:
    """Return 0.95 of "waitP95"; None for what is no quantile."""
    match = _QUANTILE.fullmatch(measure)
    return int(match[1]) / 100 if match else None


def has_queues(measure: str) -> bool:
    """Return whether each queue has the measure."""
    return measure in OF_QUEUES or quantile_of(measure) is not None


def known() -> list[str]:
    """Return the names for a message."""
    return [*OF_QUEUES, *OF_RUNS, *(f"{name}.RESOURCE" for name in BY_RESOURCE)]


def nearest(given: str, names: list[str]) -> str:
    """Return "; did you mean X?", or "" for nothing near."""
    near = difflib.get_close_matches(given, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def amount(text: object, unit: Unit) -> float:
    """Return a bound in the unit: milliseconds, a share of 1, a number.

    Raises QuantityError saying what was expected.
    """
    if unit == "time":
        if not isinstance(text, str):
            raise QuantityError(expected(Wanted.DURATION.said(example='"30s"'), text))
        return float(durations.span_ms(text.replace(" ", "")))
    if isinstance(text, str) and (found := percent(text)) is not None:
        if unit == "share":
            return found
    elif isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    wanted = Wanted.SHARE_LIKE if unit == "share" else Wanted.NUMBER
    raise QuantityError(expected(wanted, text))


def percent(text: str) -> float | None:
    """Return 0.1 of "10%"; None for what is no percentage."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    return float(match[1]) / 100 if match else None


def shown(value: float | None, unit: Unit) -> str:
    """Return a value for people: "1m30s", "82.1%", "2.4"."""
    if value is None:
        return "-"
    if unit == "share":
        return f"{100 * value:.1f}%"
    if unit == "count":
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    sign = "-" if value < 0 else ""
    ms = abs(value)
    whole = round(ms / 1000) * 1000 if ms >= 600_000 else round(ms / 100) * 100
    return sign + durations.duration_text(whole)
