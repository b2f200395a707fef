"""The verdict of a what-if in a few lines: whom it is about, the sums, who else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.assistants.fields import Edit
from api.assistants.wording import plain, span
from api.notebook.verdicts import Verdict

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
    return f"{subject} {_STARTS[one['start']]}: {with_it} with it, {without} without."


def _course(course: dict[str, Any], begin: int) -> str:
    """Return when a start was that holds, and an end, from the begin on."""
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
