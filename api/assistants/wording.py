"""Answers in words: short, quotable, and with nothing in them that draws on a terminal.

Names, titles and messages are data of a sandbox that somebody wrote: they lose line
ends and control characters and are cut, so that each stays one value in one line.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import convert

from api.assistants.fields import Edit
from api.notebook.verdicts import Verdict
from scheduler.analysis.measures import bill
from scheduler.analysis.measures.verdict import NEUTRAL, ChangeVerdict

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


# ------------------------------------------------------------------------
# The verdict of a what-if in a few lines: whom it is about, the sums, who else.


_MOST_NAMED = 15
_STARTS = {
    "earlier": "starts earlier",
    "later": "starts later",
    "never": "does not start with it",
    "only": "starts with it alone",
    "same": "starts at the same time",
}


def change_of(edit: Edit) -> dict[str, Any]:
    """Return a merge patch as a change of a what-if."""
    if edit.kind == "Policy":
        return {"policy": edit.patch}
    key = {"kind": edit.kind, "namespace": edit.namespace, "name": edit.name}
    return {"patch": {**key, "body": edit.patch}}


def lines_of(verdict: dict[str, Any], name: str) -> Iterator[str]:
    """Yield what happens to the Workload asked about, the sums, and the other changes."""
    begin = verdict["fromMs"]
    within = span(verdict["toMs"] - begin)
    rows = verdict["seeds"][0]["verdict"]["workloads"]
    mine = of_name(verdict, name)
    if name and not mine:
        yield f"{name} comes out the same within {within}."
    yield from (_row(one, begin) for one in mine)
    yield f"Within {within}: {Verdict(verdict)}"
    first = convert(verdict["seeds"][0]["verdict"], ChangeVerdict)
    yield from (plain(line, most=600) for line in bill.lines_of(first))
    others = [one for one in rows if one not in mine]
    yield from (_row(one, begin) for one in others[:_MOST_NAMED])
    if len(others) > _MOST_NAMED:
        yield f"and {len(others) - _MOST_NAMED} more"


def of_name(verdict: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of a verdict whose Workload, or pod, has this name."""
    rows = verdict["seeds"][0]["verdict"]["workloads"]
    return [one for one in rows if one["subject"].partition("/")[2] == name]


def _row(one: dict[str, Any], begin: int) -> str:
    subject = plain(one["subject"].partition("/")[2])
    sides = (_course(one[side], begin) for side in ("changed", "without"))
    with_it, without = sides
    fate = one["fates"][0]
    said = bill.FATES[fate] if fate in NEUTRAL else _STARTS[one["start"]]
    return f"{subject} {said}: {with_it} with it, {without} without."


def _course(course: dict[str, Any] | None, begin: int) -> str:
    """Return when it first runs, and ends, from the begin on; None: it is not there."""
    if course is None:
        return "not there"
    started, ended = course["startedMs"], course["finishedMs"]
    if started is None:
        said = "waits"
    elif started < begin:
        said = "runs"
    else:
        said = f"starts in {span(started - begin)}"
    if ended is not None:
        said += f", ends in {span(ended - begin)}"
    if course["evictions"]:
        said += f", evicted {course['evictions']} times"
    return said
