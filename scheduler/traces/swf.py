"""The Standard Workload Format: a line per job, 18 numbers, -1 for unknown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from scheduler.errors import ManifestError, SourceLocation
from scheduler.manifests.load import Finding

_FIELDS = 18
_LARGEST = 1e12  # beyond it a number is a slip: as seconds, 30,000 years
_MOST_PROCESSORS = 1_000_000
_PARTIAL = (2, 3, 4)  # status of a line that is one attempt of a job
_HEADER = re.compile(r";\s*(\w+):\s*(.*)")
_QUEUE = re.compile(r"(\d+)\s+(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """One job of a trace; times in seconds, None for what the trace lacks."""

    line: int
    number: int
    submit_s: float
    run_s: float
    processors: int | None
    limit_s: float | None
    user: int | None
    queue: int | None
    has_memory: bool


@dataclass(slots=True, kw_only=True)
class Trace:
    """What a trace file says, and which of its lines are left out."""

    file: str
    jobs: list[TraceJob] = field(default_factory=list)
    left_out: list[Finding] = field(default_factory=list)
    processors: int | None = None  # of the machine, by the header
    queues: dict[int, str] = field(default_factory=dict)  # names, by the header


def read_trace(text: str, file: str) -> Trace:
    """Return the jobs in the order of the lines, and a finding per line left out.

    Raises ManifestError when lines are there and none of them is of the format.
    Source: Standard Workload Format 2.2,
    <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>
    """
    trace = Trace(file=file)
    malformed = 0
    for number, line in enumerate(text.splitlines(), start=1):
        place = SourceLocation(file=file, line=number)
        if line.lstrip().startswith(";"):
            _read_header(trace, line.strip())
        elif words := line.split(";", 1)[0].split():
            values = _numbers(words)
            malformed += not values
            _take(trace, place, values, line)
    if malformed and malformed == len(trace.left_out) and not trace.jobs:
        first = trace.left_out[0]
        raise ManifestError(first.problem, place=first.place)
    return trace


def cut(trace: Trace, most: int) -> Iterator[Finding]:
    """Keep the first `most` jobs; yield what is said of the others, if any."""
    over = trace.jobs[most:]
    if not over:
        return
    del trace.jobs[most:]
    yield Finding(
        level="warning",
        place=SourceLocation(file=trace.file, line=over[0].line),
        problem=f"from this line on {len(over)} of {len(over) + most} jobs of the "
        f"trace are left out: `most` is {most}",
    )


def _read_header(trace: Trace, line: str) -> None:
    match = _HEADER.match(line)
    if match is None:
        return
    name, value = match.groups()
    if name == "MaxProcs" and value.strip().isdecimal():
        trace.processors = min(int(value), _MOST_PROCESSORS) or None
    elif name == "Queue" and (queue := _QUEUE.match(value.strip())):
        trace.queues[int(queue[1])] = queue[2]


def _numbers(words: list[str]) -> list[float]:
    """Return the line's numbers; [] when it is not of the format."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        return []
    plain = all(math.isfinite(value) and abs(value) < _LARGEST for value in values)
    return values if plain and len(values) == _FIELDS else []


def _take(trace: Trace, place: SourceLocation, values: list[float], line: str) -> None:
    if reason := _reason(values):
        given = f"job {values[0]:.0f}" if values else repr(line.strip()[:60])
        _leave_out(trace, place, given, reason)
        return
    trace.jobs.append(_job(place.line, values))


def _leave_out(trace: Trace, place: SourceLocation, given: str, reason: str) -> None:
    finding = Finding(
        level="unsupported",
        place=place,
        problem=f"{given} of the trace is left out: {reason}",
        sort=f"a line of the trace is left out: {reason}",
    )
    trace.left_out.append(finding)


def _reason(values: list[float]) -> str:
    """Return why a line is no job; "" when it is one."""
    if not values:
        return f"expected {_FIELDS} numbers"
    if values[10] in _PARTIAL:
        return "one attempt of a job (status 2, 3 or 4), its whole has another line"
    if values[1] < 0:
        return "its submit time (field 2) is unknown"
    if values[3] < 0:
        return "its run time (field 4) is unknown"
    if max(values[4], values[7]) > _MOST_PROCESSORS:
        return f"over {_MOST_PROCESSORS} processors (fields 5 and 8)"
    return ""


def _job(line: int, values: list[float]) -> TraceJob:
    processors = int(values[4] if values[4] > 0 else values[7])
    return TraceJob(
        line=line,
        number=int(values[0]),
        submit_s=values[1],
        run_s=values[3],
        processors=processors if processors > 0 else None,
        limit_s=values[8] if values[8] > 0 else None,
        user=int(values[11]) if values[11] >= 0 else None,
        queue=int(values[14]) if values[14] >= 0 else None,
        has_memory=max(values[6], values[9]) > 0,
    )
