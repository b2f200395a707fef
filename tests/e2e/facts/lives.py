"""What is said of each whom a what-if moves: by how much, and its life on both sides."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts import ghost
from tests.e2e.figures import span_text

Row = dict[str, Any]

#: Each place that tells of one: the key of whom, what is said, both lives.
READ = """() => [...document.querySelectorAll('[data-life], [data-lives], button[data-ghost]')]
  .filter((node) => node.checkVisibility())
  .map((node) => ({
    key: node.dataset.life ?? node.dataset.ghost ?? node.closest('[data-key]')?.dataset.key ?? '',
    said: node.querySelector('[data-shift], .says > b')?.innerText.trim() ?? null,
    sides: [...node.querySelectorAll('[role=img]')].map((bar) => bar.ariaLabel),
    texts: [...node.querySelectorAll('.side + * + .second')].map((text) => text.title),
  }))"""
OF_CHANGE = {
    "onlyWith": "added by the change",
    "onlyWithout": "taken away by the change",
    "moved": "moved by the change",
    "elsewhere": "runs elsewhere",
    "only": "runs, else waits",
}


def wrong(seen: list[Row], verdict: Row, tick_ms: int) -> Iterator[str]:
    """Yield what a page says of those whom a what-if moves and REST does not."""
    moved = verdict["seeds"][0]["verdict"]["workloads"]
    by_key = {key: row for row in moved for key in (row["subject"], *row["members"])}
    for one in seen:
        row = by_key.get(one["key"])
        if row is None:
            yield f"a life of {one['key']!r}, which REST says of nobody"
            continue
        sides = [course(row[side], verdict, tick_ms) for side in ("changed", "without")]
        for shown in (one["sides"], one["texts"]):
            if shown and shown != sides:
                yield f"life of {one['key']}: {shown}, not {sides}"
        if one["said"] is not None and one["said"] != text(row, verdict):
            yield f"{one['key']}: {one['said']!r}, not {text(row, verdict)!r}"


def name(key: str) -> str:
    """Return what people call a workload: the name of the Job that it came from."""
    return re.sub(r"^job-(.*)-[a-z0-9]{5}$", r"\1", key.rsplit("/", 1)[1])


def shift(row: Row) -> tuple[int, bool]:
    """Return by how much a row is done later or earlier, and whether that is the least."""
    open_ = {row["start"], row["end"]} & {"never", "only"}
    return abs(row["laterMs"]), bool(open_)


def at_least(ms: float, open_: bool) -> str:
    """Return a span, "≥" before one that is the least."""
    return f"≥ {ghost.written_span(ms)}" if open_ else ghost.written_span(ms)


def text(row: Row, verdict: Row) -> str:
    """Return what is said of one: "1:25 later", "never runs, in 10 min"."""
    fate = row["fates"][0]
    if fate == "never":
        return f"never runs, in {span_text(verdict['toMs'] - verdict['fromMs'])}"
    if fate in OF_CHANGE:
        return OF_CHANGE[fate]
    if row["laterMs"]:
        word = "later" if row["laterMs"] > 0 else "earlier"
        return f"{at_least(*shift(row))} {word}"
    return "" if fate == "equal" else more(row)


def more(row: Row) -> str:
    """Return what else befalls one: "evicted 2 times more, 1:15 of work lost"."""
    told = []
    if evicted := row["changed"]["evictions"] - row["without"]["evictions"]:
        times = f"{abs(evicted)} time{'s' if abs(evicted) > 1 else ''}"
        told.append(f"evicted {times} {'more' if evicted > 0 else 'less'}")
    if lost := row["lostMs"]:
        word = "of work lost" if lost > 0 else "less work lost"
        told.append(f"{ghost.written_span(abs(lost))} {word}")
    return ", ".join(told)


def course(one: Row | None, verdict: Row, tick_ms: int) -> str:
    """Return a life in words, up to the horizon."""
    if one is None:
        return "not there"
    start, end, out = one["startedMs"], one["finishedMs"], one["evictions"]
    told = ["waits"]
    if start is not None:
        tick = math.ceil(start / tick_ms)
        told = [f"starts at tick {tick:,}"]
        if start < verdict["fromMs"]:
            told = ["runs from before"]
    if end is not None:
        told.append(f"ends at tick {math.ceil(end / tick_ms):,}")
    told.append(one["place"])
    if out:
        times = f"{out} time{'s' if out > 1 else ''}"
        lost = span_text(one["lostMs"]) if one["lostMs"] else "0 ms"
        told.append(f"evicted {times}, {lost} lost")
    return ", ".join(part for part in told if part)
