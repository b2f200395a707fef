"""The Standard Workload Format: a line per job, 18 numbers, -1 for unknown."""

from __future__ import annotations

import math
import re

from scheduler.input.traces.options import (
    MOST_PODS,
    NO_OPTIONS,
    Trace,
    TraceJob,
    TraceOptions,
)
from scheduler.model.amounts import is_whole
from scheduler.model.errors import ManifestError
from scheduler.model.registry import register
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut, Taken

_FIELDS = 18
_LARGEST = 1e12  # beyond it a number is a slip: as seconds, 30,000 years
_PARTIAL = (2, 3, 4)  # status of a line that is one attempt of a job
_HEADER = re.compile(r";\s*(\w+):\s*(.*)")
_QUEUE = re.compile(r"([0-9]+)\s+(\S+)")
_COLUMNS = ("queue", "partition", "user", "group", "executable")


def read_trace(text: str, file: str, options: TraceOptions = NO_OPTIONS) -> Trace:
    """Return the jobs in the order of the lines, and a finding per line left out.

    Raises ManifestError when lines are there and none of them is of the format.
    Source: Standard Workload Format 2.2,
    <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>
    """
    reader = _Reader(file, options)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(";"):
            reader.header(line.strip())
        elif words := line.split(";", 1)[0].split():
            reader.wider += len(words) > _FIELDS
            reader.take(number, _numbers(words), line)
    trace = reader.trace
    if reader.wider:
        trace.said.append(Taken.WIDER.said(n=reader.wider, columns=_FIELDS))
    if reader.malformed and not trace.jobs:
        first = trace.left_out[0]
        if reader.malformed == len(trace.left_out):
            raise ManifestError(first.said, place=first.place)
    return trace


@register(
    "trace",
    "swf",
    label="Standard Workload Format",
    help="*.swf: a line of 18 numbers per job, as the Parallel Workloads Archive has.",
)
class Swf:
    """Files of the Parallel Workloads Archive."""

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether the name says so; the lines are of no other shape."""
        return file.lower().endswith(".swf")

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return the trace of the lines."""
        return read_trace(text, file, options)


class _Reader:
    """Collects the jobs; what the header says counts for the lines after it."""

    def __init__(self, file: str, options: TraceOptions) -> None:
        self.trace = Trace(file=file, columns=list(_COLUMNS))
        self.trace.fields = {"queue": "queue"}
        self.cpu = options.cpu_per_processor
        self.queues: dict[int, str] = {}  # names, by the header
        self.malformed = 0
        self.wider = 0  # lines with more columns than the format has

    def header(self, line: str) -> None:
        match = _HEADER.match(line)
        if match is None:
            return
        name, value = match.groups()
        if name == "MaxProcs" and is_whole(value.strip()):
            if size := min(int(value), MOST_PODS):
                self.trace.size["cpu"] = str(size)
        elif name == "UnixStartTime" and is_whole(value.strip()):
            self.trace.epoch_s = float(value)
        elif name == "Queue" and (queue := _QUEUE.match(value.strip())):
            self.queues[int(queue[1])] = queue[2]

    def take(self, number: int, values: list[float], line: str) -> None:
        self.malformed += not values
        if reason := _reason(values):
            job = LeftOut.JOB.said(name=f"{values[0]:.0f}") if values else None
            self.trace.leave_out(number, job or repr(line.strip()[:60]), reason)
        else:
            self.trace.jobs.append(self._job(number, values))

    def _job(self, line: int, values: list[float]) -> TraceJob:
        pods = int(values[4] if values[4] > 0 else values[7])
        requests = {"cpu": self.cpu}
        if (memory := max(values[9], 0) or max(values[6], 0)) > 0:
            requests["memory"] = f"{memory:.0f}Ki"
        queue = self._queue(values[14])
        user = f"user-{values[11]:.0f}" if values[11] >= 0 else ""
        names = {"queue": queue, "user": user}
        return TraceJob(
            line=line,
            name=f"{values[0]:.0f}",
            submit_s=values[1],
            run_s=values[3],
            start_s=values[1] + values[2] if values[2] >= 0 else None,
            limit_s=values[8] if values[8] > 0 else None,
            pods=pods if pods > 0 else None,
            requests=requests,
            user=user,
            queue=queue,
            values={**_values(values), **{k: v for k, v in names.items() if v}},
        )

    def _queue(self, number: float) -> str:
        if number < 0:
            return ""
        return self.queues.get(int(number)) or f"queue-{number:.0f}"


def _values(values: list[float]) -> dict[str, str]:
    """Return what else a queue may be chosen by."""
    at = {"group": 12, "executable": 13, "partition": 15}
    return {
        name: f"{name}-{values[field]:.0f}"
        for name, field in at.items()
        if values[field] >= 0
    }


def _numbers(words: list[str]) -> list[float]:
    """Return the first 18 of a line; [] when they are no numbers of the format."""
    try:
        values = [float(word) for word in words[:_FIELDS]]
    except ValueError:
        return []
    plain = all(math.isfinite(value) and abs(value) < _LARGEST for value in values)
    return values if plain and len(values) == _FIELDS else []


def _reason(values: list[float]) -> Sentence | None:
    """Return why a line is no job; None when it is one."""
    if not values:
        return LeftOut.NUMBERS.said(count=_FIELDS)
    if values[10] in _PARTIAL:
        return LeftOut.ATTEMPT.said()
    if values[1] < 0:
        return LeftOut.SUBMIT_FIELD.said()
    if values[3] < 0:
        return LeftOut.RUN_FIELD.said()
    if max(values[4], values[7]) > MOST_PODS:
        return LeftOut.PROCESSORS.said(most=MOST_PODS)
    return None
