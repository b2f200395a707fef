"""Numbers of cards and rows: what is requested, the rank in the queue, how long it waits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.view import in_units, numbers

Row = dict[str, Any]

KINDS = ("request", "rank", "wait", "free", "ready", "lendable", "asks")
_WAITING = ("pending", "inadmissible")
_MS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
_SPAN = re.compile(r"([\d,]+)\s(ms|min|s|h)\b")


_APPLICATIONS = {
    **dict.fromkeys(("New", "Accepted"), "pending"),
    **dict.fromkeys(("Starting", "Resuming"), "reserved"),
    **dict.fromkeys(("Running", "Completing"), "admitted"),
    "Completed": "finished",
}
_PODS = {
    "gated": "inactive",
    "pending": "pending",
    "waiting": "reserved",
    **dict.fromkeys(("bound", "running", "ready"), "admitted"),
    "succeeded": "finished",
    "failed": "failed",
}


def state_of(row: Row) -> str:
    """Return the state of a card; "" for what has none."""
    if row["kind"] == "Application":
        return _APPLICATIONS.get(row["state"], "failed")
    if row["kind"] == "Pod":
        return _PODS[row["phase"]]
    return str(row["phase"]) if row["kind"] == "Workload" else ""


def pairs_of(
    what: str, text: str, row: Row, rows: dict[str, Row]
) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact, each with the one that follows from REST's rows."""
    kind, _, of = what.partition(" ")
    match kind:
        case "request":
            shown = numbers(text.split(" · ")[0])
            yield math.prod(shown), requested(row)
        case "rank":
            yield numbers(text)[0], rank(row, rows)
        case "wait":
            yield waited_as_written(
                text, waited_ms(row, rows["Sandbox//sandbox"]["tMs"])
            )
        case "asks":
            expected = (row["asks"], row["allocations"])
            yield from zip(numbers(text), expected, strict=True)
        case "free" if text:
            left = int(row["allocatable"][of]) - int(row["used"].get(of, "0"))
            yield numbers(text)[0], in_units(of, left)
        case "ready":
            nodes = [one for one in rows.values() if one["kind"] == "Node"]
            ready = sum(node["state"] == "ready" for node in nodes)
            yield from zip(numbers(text), (ready, len(nodes)), strict=True)
        case "lendable":
            lent = {in_units(k, int(v)) for k, v in row["lendable"].items()}
            for one in numbers(text):
                yield one, min(lent, key=lambda value: abs(value - one))


def requested(row: Row) -> float:
    """Return what a card asks for in its main resource: a device, else CPU, else any."""
    totals = row.get("totals") or row.get("requests") or summed(row)
    names = [name for name, amount in totals.items() if int(amount) > 0]
    main = [name for name in names if "/" in name]
    main += [name for name in names if name in ("cpu", "vcore")] + names
    return in_units(main[0], int(totals[main[0]]))


def summed(application: Row) -> dict[str, int]:
    """Return what an application holds and waits for, by resource."""
    sides = (application["allocated"], application["pending"])
    names = {name for side in sides for name in side}
    return {name: sum(int(side.get(name, 0)) for side in sides) for name in names}


def rank(row: Row, rows: dict[str, Row]) -> int:
    """Return the place of a card among those that wait in its column, from 1."""
    if row["kind"] == "Pod":
        near = [one for one in rows.values() if one["kind"] == "Pod"]
        waiting = [one for one in near if one["phase"] == "pending"]
        waiting = [one for one in waiting if one["namespace"] == row["namespace"]]
        waiting.sort(key=lambda one: (-one["priority"], one["name"]))
    else:
        near = [one for one in rows.values() if one["kind"] == "Workload"]
        waiting = [one for one in near if one["phase"] in _WAITING]
        waiting = [one for one in waiting if one["clusterQueue"] == row["clusterQueue"]]
        waiting.sort(key=_queue_order)
    return waiting.index(row) + 1


def _queue_order(row: Row) -> tuple[bool, int, int, str]:
    return (not row["sticky"], -row["priority"], int(row["orderUs"]), row["uid"])


def waited_ms(row: Row, now_ms: int) -> int:
    """Return how long a workload has waited, or waited until its quota was reserved."""
    if row["phase"] in (*_WAITING, "inactive"):
        return max(0, now_ms - row["createdMs"])
    until = [row["reservedMs"], row["admittedMs"], now_ms]
    return max(0, next(one for one in until if one is not None) - row["createdMs"])


def waited_as_written(text: str, waited: int) -> tuple[float, float]:
    """Return what a span says and what it should, in units of its smallest."""
    parts = [(int(n.replace(",", "")), unit) for n, unit in _SPAN.findall(text)]
    assert parts, f"no span in {text!r}"
    shown = sum(n * _MS[unit] for n, unit in parts)
    seconds = round(waited / 1000)
    if waited < 1000:
        return shown, waited
    return shown / 1000, (seconds if seconds < 3600 else seconds // 60 * 60)
