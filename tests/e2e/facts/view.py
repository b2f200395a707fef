"""Numbers of the other views: each says in `data-fact` where REST has it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

Row = dict[str, Any]

_NUMBER = re.compile(r"∞|-?\d[\d,]*(?:\.\d+)?")
_UNLIMITED = 2**62
_TIB = {"B": 2**-30, "KiB": 2**-20, "MiB": 2**-10, "GiB": 1, "TiB": 2**10}


def numbers(text: str) -> list[float]:
    """Return every number of a text, in order; sizes in GiB."""
    plain = text.replace("\u2212", "-").replace("\xa0", " ")
    found = re.finditer(rf"({_NUMBER.pattern})(?: ([KMGT]?i?B)\b)?", plain)
    return [_value(one[1]) * _TIB.get(one[2] or "", 1) for one in found]


def _value(text: str) -> float:
    return math.inf if text == "∞" else float(text.replace(",", ""))


KINDS = ("at", "cell", "cells", "amounts", "rows", "nodes")
#: What REST also says of a tick of the past; it refuses a parameter that it does not read.
_IN_THE_PAST = ("/state", "/tables", "/fairness", "/explain", "/waiting")


def fetched(page: Page, path: str, tick: int | None = None) -> Any:
    """Return what REST says of the sandbox that the page shows, at the tick it shows.

    `tick`: the one that a page showed which plays; None: that of the address, or the last.
    """
    host, _, rest = page.url.partition("/s/")
    past = re.search(r"[?&]tick=(\d+)", rest)
    at = tick if tick is not None or past is None else int(past[1])
    if at is not None and path.startswith(_IN_THE_PAST) and "tick=" not in path:
        path += f"{'&' if '?' in path else '?'}tick={at}"
    sandbox = re.split(r"[/?]", rest)[0]
    answer = page.request.get(f"{host}/api/v1/sandboxes/{sandbox}{path}")
    return json.loads(answer.text())


def pairs_of(
    what: str, text: str, row: Row, rows: dict[str, Row]
) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact of any view, each with REST's."""
    kind, *rest = what.split(" ")
    match kind:
        case "at":
            yield from _at(rest, text, row)
        case "cell":
            yield from _cell(rest[0], text, row)
        case "cells":
            cells = [cell for cell in row["cells"] if cell["resource"] == rest[1]]
            values = [cell[rest[0]] for cell in cells]
            if None not in values:  # else there is no limit, in words
                total = sum(map(int, values))
                yield numbers(text)[0], in_units(rest[1], total)
        case "amounts":
            held = {k: v for k, v in row[rest[0]].items() if k != "pods"}
            values = sorted(in_units(name, int(n)) for name, n in held.items())
            yield from zip(sorted(numbers(text)), values, strict=True)
        case "rows":
            count = sum(one["kind"] == rest[0] for one in rows.values())
            yield numbers(text)[-1], count
        case "nodes":
            yield from zip(sorted(numbers(text)), _nodes(rows), strict=True)


def _cell(column: str, text: str, row: Row) -> Iterator[tuple[float, float]]:
    """Yield the number of a table's cell, or whether it is the time that it should be."""
    value = row[column]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if column.endswith("Ms"):
            yield float(text.strip() == clock(int(value))), 1
        else:
            yield numbers(text)[0], float(value)


def clock(ms: int) -> str:
    """Return virtual time as the page writes it."""
    seconds = ms // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _nodes(rows: dict[str, Row]) -> list[float]:
    states = [row["state"] for row in rows.values() if row["kind"] == "Node"]
    counts = [states.count(name) for name in ("ready", "cordoned", "failed")]
    return sorted([*map(float, counts), float(len(states))])


def _at(rest: list[str], text: str, found: Any) -> Iterator[tuple[float, float]]:
    """Yield a number and the one at its place: names and indexes, parted by "|"."""
    path, unit = rest[0], rest[1] if len(rest) > 1 else ""
    for part in path.split("|"):
        found = found[int(part)] if isinstance(found, list) else found.get(part)
    if unit == "share":
        found = math.inf if found is None else math.ceil(float(found) - 1e-9)
    elif unit == "ticks":
        found = found if found is None else math.ceil(int(found) / 1000)
    elif unit == "before":
        found = int(found) - 1
    elif unit:
        found = in_units(unit, int(found or 0))
    shown = numbers(text)
    yield (shown[0] if shown else 0.0), float(found or 0)


def in_units(resource: str, value: int) -> float:
    """Return canonical units as the page writes them: CPUs, GiB; inf for no limit."""
    if value >= _UNLIMITED:
        return math.inf
    if resource in ("cpu", "vcore"):
        return value / 1000
    return value / 2**30 if resource == "memory" else float(value)


def wrong_searches(page: Page, text: str, tick: int) -> list[str]:
    """Return what the sum of the searches for victims says and should not."""
    samples = fetched(page, f"/samples?limit=5000&toTick={tick}")["items"]
    names = ("searches", "candidatesLookedAt", "simulations")
    expected = [sum(one[name] for one in samples) for name in names]
    shown = numbers(text)
    return [] if shown == expected else [f"searches {shown}, not {expected}"]


def wrong_preemptions(page: Page, text: str, tick: int) -> list[str]:
    """Return what the summary of the preemptions says and should not."""
    listed = fetched(page, "/events?type=Preempt&limit=2000")["items"]
    past = [event for event in listed if event["tick"] <= tick]
    expected = [len({(e["by"], e["tick"]) for e in past}), len(past)]
    shown = numbers(text)[:2]
    return [] if shown == expected else [f"preemptions {shown}, not {expected}"]


def wrong_timeline(page: Page, tick: int) -> list[str]:
    """Return what the timeline says and should not: the tick shown and the last one."""
    slider = page.get_by_role("slider", name="Tick shown")
    if slider.count() == 0:
        return []
    shown = [slider.get_attribute(f"aria-value{end}") for end in ("now", "max")]
    expected = [str(tick), str(fetched(page, "")["tick"])]
    return [] if shown == expected else [f"timeline {shown}, not {expected}"]
