"""Numbers of both sides of an open what-if: beside bars, shares, counts and on nodes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.board import load
from tests.e2e.facts.view import in_units, numbers

Row = dict[str, Any]
Apart = tuple[float, float]  # with the change, and without it

#: The tick that ghosts are of, and each: of which object and number, and what it says.
PLACES = "[data-instead], [data-ghost-held]"
READ = f"""() => ({{
  at: document.querySelector('[data-testid=ghost-at]')?.innerText ?? '',
  equal: [...document.querySelectorAll('[data-paired] [data-fact], [data-paired][data-fact]')]
    .filter((node) => node.checkVisibility() && !node.querySelector('{PLACES}') && /\\d/.test(node.innerText))
    .map((node) => ({{ key: node.closest('[data-key]').dataset.key, what: node.dataset.fact, text: node.innerText }})),
  drawn: [...document.querySelectorAll('{PLACES}')]
    .filter((node) => node.checkVisibility())
    .map((node) => ({{
      key: node.closest('[data-key]')?.dataset.key ?? '',
      what: node.closest('[data-fact]')?.dataset.fact
        ?? (node.closest('header, .share') ? 'share' : ''),
      text: node.dataset.instead ?? node.dataset.ghostHeld ?? node.innerText,
    }})),
  marks: [...document.querySelectorAll('[data-card] [data-mark]')]
    .map((node) => [node.closest('[data-card]').dataset.card, node.dataset.mark, node.innerText]),
}})"""
#: What lines are of the numbers of a queue.
_OF = {
    "usage": "used",
    "queued": "used",
    "load": "used",
    "share": "share",
    "pending": "waiting",
    "admitted": "held",
}
HALF = 0.051


def wrong(
    seen: Row, verdict: Row, rows: dict[str, Row], at_ms: int | None = None
) -> Iterator[str]:
    """Yield what the ghosts of a view say and REST does not.

    `seen`: what truth.READ found; `verdict`: of the what-if; `rows`: of the run at the
    tick that was shown; `at_ms`: of which ghosts are, None for that tick, at which the
    run is the side without the change.
    """
    run = rows["Sandbox//sandbox"]
    if at_ms is None:
        at_ms = run["tMs"]
    tick = math.ceil(at_ms / run["tickMs"])
    if seen["ghosts"]["at"] and numbers(seen["ghosts"]["at"])[0] != tick:
        yield f"ghosts: {seen['ghosts']['at']!r} at tick {tick}"
    drawn = {}
    for one in seen["ghosts"]["drawn"]:
        place = one["key"], one["what"]
        drawn[place] = numbers(one["text"])
        sides = [*sides_of(*place, verdict["lines"], at_ms, rows)]
        if not any(said(drawn[place], one) for one in sides):
            yield f"ghost of {place}: {one['text']!r}, not {sides}"
    for one in seen["ghosts"]["equal"]:
        place = one["key"], one["what"]
        if place[1].split()[0] not in _OF or place[1].endswith("memory"):
            continue
        sides = [*sides_of(*place, verdict["lines"], at_ms, rows, equal=True)]
        shown = numbers(one["text"].split("/")[0])[:1]
        if not any(said(shown * 2, both) for both in sides):
            yield f"equal in {place}: {one['text']!r}, not {sides}"
    for fact in seen["facts"]:
        place = fact["key"], fact["what"]
        if not fact["key"].startswith(("ClusterQueue/", "Node/")):
            continue
        if not place[1].startswith(("usage ", "share", "used ")):
            continue
        sides = list(sides_of(*place, verdict["lines"], at_ms, rows))
        if sides and place not in drawn:
            yield f"no ghost of {place}: {sides}"
    yield from wrong_marks(seen["ghosts"]["marks"], verdict)
    if at_ms == run["tMs"]:
        yield from wrong_baseline(verdict["lines"], rows, at_ms)


def wrong_marks(marks: list[list[str]], verdict: Row) -> Iterator[str]:
    """Yield the cards that say of themselves what the verdict does not."""
    rows = verdict["seeds"][0]["verdict"]["workloads"]
    by_key = {row["subject"]: row for row in rows}
    for key, group, text in marks:
        row = by_key.get(key)
        if row is None or group_of(row) != group:
            yield f"mark of {key}: {text!r}, and REST has {row}"
        elif group in ("earlier", "later") and row["laterMs"]:
            sign = "+" if row["laterMs"] > 0 else "−"
            by = sign + written_span(abs(row["laterMs"]))
            if text != by and row["fates"][0] != "only":
                yield f"mark of {key}: {text!r}, not {by}"


def group_of(row: Row) -> str:
    """Return the group of a row, by the worst of its fates."""
    first = row["fates"][0]
    if first in ("never", "equal"):
        return str(first)
    if first in ("onlyWithout", "onlyWith", "moved", "elsewhere"):
        return "other"
    later = ("endsLater", "evictedMore", "losesMore", "startsLater", "waitsLonger")
    return "later" if first in later else "earlier"


def written_span(ms: float) -> str:
    """Return a span as a mark says it: "436 ms", "5 s", "1:25", "1:00:25"."""
    seconds = math.floor(ms / 1000 + 0.5)
    if ms < 1000:
        return f"{math.floor(ms + 0.5)} ms"
    if ms < 60_000:
        return f"{seconds} s" if seconds < 60 else "1 min"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    long = f"{hours}:{minutes:02}" if hours else str(minutes)
    return f"{long}:{rest:02}"


def wrong_baseline(lines: list[Row], rows: dict[str, Row], at_ms: int) -> Iterator[str]:
    """Yield where the side without the change is not what the run became."""
    for line in lines:
        found = rows.get(f"ClusterQueue//{line['queue']}")
        if line["of"] != "used" or found is None:
            continue
        place = line["flavor"], line["resource"]
        used = [
            int(cell["used"])
            for cell in found["cells"]
            if (cell["flavor"], cell["resource"]) == place
        ]
        expected = value_at(line["without"], at_ms)
        if used != [expected]:
            yield f"without the change {line['queue']} uses {expected}, the run {used}"


def sides_of(
    key: str,
    what: str,
    lines: list[Row],
    at_ms: int,
    rows: dict[str, Row],
    *,
    equal: bool = False,
) -> Iterator[Apart]:
    """Yield what a place may say of both sides in the page's units; nothing: they are equal.

    `equal`: those that are equal, too.
    A node's box does not name the resource that it is drawn by: one of those.
    """
    kind, _, name = key.partition("//")
    word, _, of = what.partition(" ")
    flavor, _, resource = of.partition("/")
    if kind == "Node":
        found = [one for one in lines if (one["of"], one["queue"]) == ("node", name)]
        found = [one for one in found if not of or one["resource"] == of]
    else:
        of_line = _OF.get(word)
        if kind == "Cohort" and of_line is not None:
            of_line = f"cohort{of_line.capitalize()}"
        found = [one for one in lines if (one["of"], one["queue"]) == (of_line, name)]
        if word in ("usage", "load"):
            wanted = flavor, resource
            found = [o for o in found if (o["flavor"], o["resource"]) == wanted]
        elif word == "queued":
            found = [one for one in found if one["resource"] == of]
    for line in found:
        sides = [value_at(line[side], at_ms) for side in ("changed", "without")]
        if equal or sides[0] != sides[1]:
            if word == "share" and kind != "Queue":
                yield written_share(sides[0]), written_share(sides[1])
                continue
            if word == "load":
                after, before = (load(rows[key], of, int(v or 0)) for v in sides)
                yield after, before
                continue
            if word == "share":
                yield sides[0] or 0, sides[1] or 0
                continue
            after, before = (in_units(line["resource"], int(v or 0)) for v in sides)
            yield after, before


def said(shown: list[float], sides: Apart) -> bool:
    """Return whether numbers are both sides."""
    return len(shown) == len(sides) and all(
        a == b or abs(a - b) < HALF for a, b in zip(shown, sides, strict=True)
    )


def written_share(value: float | None) -> float:
    """Return a share as the page writes it; None is infinite."""
    return math.inf if value is None else math.ceil(value - 1e-9)


def value_at(run: Row, at_ms: int) -> float | None:
    """Return the value of a side at an instant; 0 before its first."""
    known = zip(run["atMs"], run["values"], strict=True)
    return ([value for ms, value in known if ms <= at_ms] or [0])[-1]


def number_of(address: str) -> str:
    """Return the number of the what-if that an address names."""
    found = re.search(r"what-if=(\d+)", address)
    assert found is not None, address
    return found[1]
