"""Answers in words: short, quotable, and with nothing in them that draws on a terminal.

Names, titles and messages are data of a sandbox that somebody wrote: they lose line
ends and control characters and are cut, so that each stays one value in one line.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

#: Letters of one answer, whatever was asked.
MOST = 6_000
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def plain(value: object, *, most: int = 200) -> str:
    """Return a value as one line without control or invisible characters."""
    text = " ".join(str(value).split())
    kept = "".join(c for c in text if unicodedata.category(c) not in _DROPPED)
    return kept if len(kept) <= most else f"{kept[:most]}…"


def quoted(value: object, *, most: int = 120) -> str:
    """Return free text that a user wrote, in quotes."""
    return json.dumps(plain(value, most=most), ensure_ascii=False)


def answer(lines: Iterable[str], link: str = "") -> str:
    """Return an answer of these lines, at most MOST letters, with its link last."""
    text = "\n".join(lines)
    if len(text) > MOST:
        text = text[:MOST].rsplit("\n", 1)[0] + "\n(cut; ask for less, or see the page)"
    return f"{text}\n{link}" if link else text


def span(ms: float | None) -> str:
    """Return a time: "90 s", "2 min 30 s", "1 h 5 min"."""
    if ms is None:
        return "beyond the horizon"
    seconds = round(ms / 1000)
    if seconds < 120:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 120:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def patches(change: dict[str, Any] | None, *, most: int = 2_500) -> list[str]:
    """Return the merge patches of a change, one a line, in the order to apply them."""
    if change is None:
        return []
    found = [
        json.dumps(edit, sort_keys=True, ensure_ascii=False)
        for edit in (*change["pause"], *change["edits"])
    ]
    if sum(map(len, found)) > most:
        return ["patches: too long to quote; see the page"]
    return [f"patch: {one}" for one in found]
