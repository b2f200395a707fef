"""Philly's job log: a JSON list of jobs with their attempts, each with its machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from scheduler.input.traces.options import Trace, TraceJob, TraceOptions
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import FileProblem
from scheduler.model.registry import register
from scheduler.words.traces import LeftOut, Taken

_GPU = "nvidia.com/gpu"
_LOOKED_AT = 4_000
_TIME = "%Y-%m-%d %H:%M:%S"
_NAMES = ('"jobid"', '"attempts"', '"submitted_time"')


@register(
    "trace",
    "philly",
    label="Philly job log",
    help="cluster_job_log of Microsoft's Philly traces: JSON.",
)
class Philly:
    """The job log of the Philly traces of 2017.

    Source: <https://github.com/msr-fiddle/philly-traces>
    """

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether it is a list that begins with a job of Philly's."""
        del file
        begin = text[:_LOOKED_AT].lstrip()
        return begin.startswith("[") and all(name in begin for name in _NAMES)

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return its jobs; those that never ran are left out."""
        del options
        trace = _Reader(file, [*_jobs(text, file)]).trace
        bare = sum(1 for job in trace.jobs if not job.requests)
        if bare:
            trace.said.append(Taken.NO_GPU.said(jobs=bare))
        return trace


def _jobs(text: str, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each job with its line. Raises ManifestError. Cost: O(text)."""
    data, line, at, end = text.encode(), 1, 0, 0
    try:
        for raw in msgspec.json.decode(data, type=list[msgspec.Raw]):
            here = data.index(raw, end)
            line += data.count(b"\n", at, here)
            at, end = here, here + len(bytes(raw))
            yield line, msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:
        place = SourceLocation(file=file, line=line)
        problem = FileProblem.JOB_LIST.said(problem=error)
        raise ManifestError(problem, place=place) from error


class _Reader:
    """Reads job by job; times count from the first one submitted."""

    def __init__(self, file: str, found: list[tuple[int, dict[str, Any]]]) -> None:
        self.trace = Trace(file=file, columns=["vc", "user", "status"])
        self.trace.fields = {"queue": "vc", "user": "user", "submit": "submitted_time"}
        self.trace.said.append(Taken.PHILLY.said())
        times = [_seconds(one.get("submitted_time")) for _, one in found]
        begin = min((one for one in times if one is not None), default=0.0)
        for (line, one), submitted in zip(found, times, strict=True):
            self._take(one, submitted, begin, line)

    def _take(
        self, one: dict[str, Any], submitted: float | None, begin: float, line: int
    ) -> None:
        name = str(one.get("jobid") or "")
        attempts = _documents(one.get("attempts"))
        spans = [_span(attempt) for attempt in attempts]
        if submitted is None:
            reason = LeftOut.UNKNOWN.said(field="submitted_time")
        elif not attempts:
            reason = LeftOut.NO_ATTEMPT.said()
        elif None in spans:
            reason = LeftOut.OPEN_ATTEMPT.said()
        else:
            machines = _machines(attempts[-1])
            gpus = sum(machines)
            started = _seconds(attempts[0].get("start_time"))
            values = {key: str(one.get(key) or "") for key in self.trace.columns}
            pods = len(machines) or 1
            self.trace.jobs.append(
                TraceJob(
                    line=line,
                    name=name,
                    submit_s=submitted - begin,
                    run_s=sum(span for span in spans if span is not None),
                    start_s=None if started is None else started - begin,
                    pods=pods,
                    requests={_GPU: str(math.ceil(gpus / pods))} if gpus else {},
                    user=str(one.get("user") or ""),
                    queue=str(one.get("vc") or ""),
                    values=values,
                )
            )
            return
        self.trace.leave_out(line, LeftOut.JOB.said(name=f"{name!r:.60}"), reason)


def _machines(attempt: dict[str, Any]) -> list[int]:
    """Return the number of GPUs on each machine of an attempt."""
    given = [one.get("gpus") for one in _documents(attempt.get("detail"))]
    return [len(gpus) if isinstance(gpus, list) else 0 for gpus in given]


def _documents(given: Any) -> list[dict[str, Any]]:
    """Return the items of a list that are objects; other items are dropped."""
    items = given if isinstance(given, list) else []
    return [one for one in items if isinstance(one, dict)]


def _span(attempt: dict[str, Any]) -> float | None:
    begin, end = (_seconds(attempt.get(key)) for key in ("start_time", "end_time"))
    return None if begin is None or end is None else max(0.0, end - begin)


def _seconds(given: Any) -> float | None:
    try:
        return datetime.strptime(str(given), _TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
