"""Rows of events to rows of tasks: submitted, scheduled, ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.input.traces.formats.columns import Column
from scheduler.input.traces.formats.rows import Row
from scheduler.input.traces.options import Trace
from scheduler.words.traces import LeftOut

_SUBMIT, _SCHEDULE = ("0", "submit"), ("1", "schedule")
_ENDS = {
    "2": "evicted",
    "3": "failed",
    "4": "finished",
    "5": "killed",
    "6": "lost",
    "evict": "evicted",
    "fail": "failed",
    "finish": "finished",
    "kill": "killed",
    "lost": "lost",
}


def fold(rows: list[Row], fields: dict[str, Column], trace: Trace) -> list[Row]:
    """Return a row per task, with its last start and its end; changes `fields`.

    A task that was evicted and came again is one: it runs from its last schedule
    to its last end. One that never ended is left out, with a finding.
    Source: <https://github.com/google/cluster-data/blob/master/ClusterData2011_2.md>
    """
    time = fields["submit"]
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tasks.setdefault(_identity(row, fields), []).append(row)
    folded = list(_folded(tasks, fields, trace))
    for field, name in (("submit", "#submit"), ("start", "#start"), ("end", "#end")):
        fields[field] = Column(name, time.factor)
    fields["id"] = Column("#id")
    return folded


def _identity(row: Row, fields: Mapping[str, Column]) -> tuple[str, str]:
    names = (fields[field].name for field in ("id", "task") if field in fields)
    job, task = (*(row.values.get(name, "") for name in names), "", "")[:2]
    return job, task


def _folded(
    tasks: dict[tuple[str, str], list[Row]], fields: Mapping[str, Column], trace: Trace
) -> Iterator[Row]:
    time, event = fields["submit"].name, fields["event"].name
    for (job, task), rows in tasks.items():
        submit = start = end = ""
        for row in rows:
            kind = row.values.get(event, "").lower()
            at = row.values.get(time, "")
            if kind in _SUBMIT:
                submit, end = submit or at, ""
            elif kind in _SCHEDULE:
                start, end = at, ""
            elif kind in _ENDS and start:
                end = at
        first = rows[0]
        if not (submit and start and end):
            lacking = "submit" if not submit else "schedule" if not start else "end"
            part = LeftOut.TASK.said(name=f"{job}-{task}")
            trace.leave_out(first.line, part, LeftOut.NO_EVENT.said(event=lacking))
            continue
        times = {"#submit": submit, "#start": start, "#end": end}
        name = {"#id": f"{job}-{task}" if task else job}
        yield Row(first.line, {**first.values, **times, **name})
