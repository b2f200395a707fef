"""Tables of jobs, as Philly's and others: which column says what is found or given."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from scheduler.input.traces.formats.columns import (
    AMOUNTS,
    NEEDED,
    Column,
    guess,
    headless,
    read_columns,
)
from scheduler.input.traces.formats.rows import Row, first_line, number, rows_of
from scheduler.input.traces.options import MOST_PODS, Trace, TraceJob, TraceOptions
from scheduler.model import durations
from scheduler.model.errors import QuantityError
from scheduler.model.registry import register
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut, Taken

_CLOCK = re.compile(r"(?:([0-9]+)-)?([0-9]+):([0-9][0-9]):([0-9][0-9](?:\.[0-9]+)?)")
_DATED_S = 946_684_800  # the year 2000: from here on a time is one since 1970
_SHORT = 200  # a column with more values than these names no queue
#: What stands in `lacks` -> its words.
_LACKED = {one.english: one for one in (LeftOut.SUBMIT_OR_START, LeftOut.RUN_OR_END)}
_RESOURCES = {"cpu": "cpu", "memory": "memory", "gpu": "nvidia.com/gpu"}


@register(
    "trace",
    "table",
    label="table of jobs",
    help="*.csv: a row per job, or a row per event of a task as Google's of 2011; "
    "columns are found by their names, or given.",
)
class Table:
    """Any CSV of jobs."""

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether it is a CSV that is no other trace."""
        return file.lower().endswith(".csv") and len(first_line(text)) > 1

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return the jobs; what lacks a field that is needed has none, and `lacks`."""
        names = headless(text)
        header = names or first_line(text)
        fields = guess(header) | read_columns(options.columns, header, file)
        trace = Trace(file=file, header=list(header))
        trace.fields = {field: column.text for field, column in fields.items()}
        if names:
            trace.said.append(Taken.GOOGLE.said())
        trace.lacks = [
            f"{' or '.join(any_of)}"
            for any_of in NEEDED
            if not any(field in fields for field in any_of)
        ]
        if trace.lacks:
            _say_lacks(trace, header)
            return trace
        reader = _Reader(trace, fields, totals=options.totals)
        rows = list(rows_of(text, names))
        trace.columns = _columns(header, rows)
        reader.take(rows)
        return trace


def _say_lacks(trace: Trace, header: list[str]) -> None:
    found = ", ".join(header[:40])
    lacks = [_LACKED[one].said() for one in trace.lacks]
    both = LeftOut.NOR.said(first=lacks[0], last=lacks[-1])
    fields = lacks[0] if len(lacks) == 1 else both
    why = LeftOut.NO_COLUMN.said(fields=fields, found=found)
    trace.leave_out(1, LeftOut.ALL.said(), why)


def _columns(header: list[str], rows: list[Row]) -> list[str]:
    """Return what a queue may be chosen by: columns of few values."""
    found = []
    for name in header:
        values = {row.values.get(name, "") for row in rows}
        if 1 <= len(values - {""}) <= _SHORT:
            found.append(name)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """Seconds, as the row has them; None where it has none."""

    submit: float | None
    start: float | None
    run: float | None
    limit: float | None


class _Reader:
    """Makes jobs of rows, and reports why a row is not a job."""

    def __init__(
        self, trace: Trace, fields: dict[str, Column], *, totals: bool
    ) -> None:
        self.trace = trace
        self.fields = fields
        self.totals = totals
        self.odd: dict[str, list[str]] = defaultdict(list)  # field -> unread texts

    def take(self, rows: list[Row]) -> None:
        """Add the jobs of all rows; times count from the first submission."""
        if "event" in self.fields:
            rows = fold(rows, self.fields, self.trace)
        for row in rows:
            self._row(row)
        for field, texts in self.odd.items():
            column = self.fields[field].name
            given = f"{texts[0]!r:.40}"
            said = Taken.ODD.said(
                count=len(texts), column=column, field=field, given=given
            )
            self.trace.said.append(said)
        jobs = self.trace.jobs
        if not jobs:
            return
        begin = min(job.submit_s for job in jobs)
        if begin >= _DATED_S:
            self.trace.epoch_s = begin
        if begin:
            self.trace.jobs = [_moved(job, begin) for job in jobs]
            self.trace.said.append(Taken.FIRST_TIME.said())

    def _row(self, row: Row) -> None:
        name = f"{self._text(row, 'id') or row.line!r:.60}"
        given = LeftOut.ROW.said(name=name)
        if row.extra:
            self.trace.leave_out(row.line, given, LeftOut.COLUMNS.said())
            return
        times = self._times(row)
        pods = self._pods(row)
        requests = self._requests(row, pods or 1)
        reason = _reason(times, pods)
        if reason or requests is None or times.submit is None:
            reason = reason or LeftOut.AMOUNT.said()
            self.trace.leave_out(row.line, given, reason)
            return
        priority = number(self._text(row, "priority"))
        for field, value in (("limit", times.limit), ("priority", priority)):
            if value is None and (text := self._text(row, field)):
                self.odd[field].append(text)
        self.trace.jobs.append(
            TraceJob(
                line=row.line,
                name=self._text(row, "id") or str(row.line),
                submit_s=times.submit,
                start_s=times.start,
                run_s=times.run,
                limit_s=times.limit,
                pods=pods,
                requests=requests,
                user=self._text(row, "user"),
                queue=self._text(row, "queue"),
                priority=None if priority is None else round(priority),
                values={k: v for k, v in row.values.items() if v},
            )
        )

    def _text(self, row: Row, field: str) -> str:
        column = self.fields.get(field)
        return row.values.get(column.name, "") if column else ""

    def _times(self, row: Row) -> _Times:
        submit, start, end, run, limit = (
            self._seconds(row, field)
            for field in ("submit", "start", "end", "run", "limit")
        )
        submit = start if submit is None and "submit" not in self.fields else submit
        if run is None and end is not None:
            begin = submit if start is None and "start" not in self.fields else start
            run = None if begin is None else end - begin
        return _Times(submit=submit, start=start, run=run, limit=limit)

    def _seconds(self, row: Row, field: str) -> float | None:
        column, text = self.fields.get(field), self._text(row, field)
        if column is None or not text:
            return None
        value = number(text)
        if value is None and field in ("run", "limit"):
            value = _clock_s(text)
        elif value is not None:
            value *= column.factor
        if value is not None:
            return value
        try:
            return durations.stamp_us(_stamp(text)) / 1_000_000
        except QuantityError:
            return None

    def _pods(self, row: Row) -> int | None:
        value = number(self._text(row, "pods"))
        return None if value is None or value < 1 else int(value)

    def _requests(self, row: Row, pods: int) -> dict[str, str] | None:
        """Return what a pod asks for; None when something is no number."""
        found: dict[str, str] = {}
        for field in AMOUNTS:
            column, text = self.fields.get(field), self._text(row, field)
            if column is None or not text:
                continue
            value = number(text)
            if value is None or value < 0:
                return None
            value = value * column.factor / (pods if self.totals else 1)
            if amount := _amount(field, value):
                found[_RESOURCES[field]] = amount
        return found


def _amount(field: str, value: float) -> str:
    """Return a quantity; "" for none. A part of a device is a whole one."""
    if value <= 0:
        return ""
    if field == "cpu":
        return f"{max(1, round(value * 1000))}m"
    if field == "memory":
        return f"{max(1, round(value / 1024))}Ki"
    return str(max(1, -int(-value // 1)))


def _reason(times: _Times, pods: int | None) -> Sentence | None:
    if times.submit is None:
        return LeftOut.SUBMIT_TIME.said()
    if times.run is None:
        return LeftOut.RUN_TIME.said()
    if times.run < 0:
        return LeftOut.BACKWARDS.said()
    if pods is not None and pods > MOST_PODS:
        return LeftOut.PODS.said(most=MOST_PODS)
    return None


def _moved(job: TraceJob, begin: float) -> TraceJob:
    start = None if job.start_s is None else job.start_s - begin
    return replace(job, submit_s=job.submit_s - begin, start_s=start)


def _clock_s(text: str) -> float | None:
    """Return the seconds of `[DAYS-]HH:MM:SS`; None for anything else."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _stamp(text: str) -> str:
    """Return a date and time as RFC 3339 has it, at UTC when it names no zone."""
    text = text.replace(" ", "T", 1).replace("/", "-").replace(" ", "")
    date, _, time = text.partition("T")
    zoned = time.endswith("Z") or "+" in time or "-" in time
    return f"{date}T{time or '00:00:00'}{'' if zoned else 'Z'}"


# ------------------------------------------------------------------------
# Rows of events to rows of tasks: submitted, scheduled, ended.

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
