"""A recording of a real control plane as a log: its workloads and first admissions."""

from __future__ import annotations

import re

import msgspec

from scheduler.input.traces.trace import Trace, TraceJob
from scheduler.model.errors import SchedulerError

_COUNTER = re.compile(r"([-_.]?[0-9]+)+$")


class _Admission(msgspec.Struct):
    at: float


class _Arrival(msgspec.Struct, rename="camel"):
    """What is read of one line of `arrivals.json`; seconds since t=0."""

    name: str
    namespace: str
    seen_at: float
    cluster_queue: str = ""
    parallelism: int | None = None
    runtime_seconds: float | None = None
    actual_run_seconds: float | None = None
    admissions: list[_Admission] = []


def recorded_trace(data: bytes, file: str) -> Trace:
    """Return the workloads of `arrivals.json` as jobs of a trace.

    Those never admitted have no start, and no wait that could be scored. Raises
    SchedulerError for what is not of the format.
    """
    try:
        arrivals = msgspec.json.decode(data, type=list[_Arrival])
    except msgspec.DecodeError as error:
        raise SchedulerError(
            f"{file}: expected arrivals of a recording: {error}"
        ) from error
    jobs = [_job(line, arrival) for line, arrival in enumerate(arrivals, start=1)]
    return Trace(file=file, format="recording", jobs=jobs)


def _job(line: int, arrival: _Arrival) -> TraceJob:
    run = arrival.actual_run_seconds or arrival.runtime_seconds or 0.0
    first = arrival.admissions[0].at if arrival.admissions else None
    return TraceJob(
        line=line,
        name=arrival.name,
        submit_s=arrival.seen_at,
        run_s=run,
        start_s=first,
        pods=arrival.parallelism,
        user=arrival.namespace,
        queue=arrival.cluster_queue,
        values={"executable": _COUNTER.sub("", arrival.name)},
    )
