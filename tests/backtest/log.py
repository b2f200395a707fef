"""A log as a backtest reads it: works, run times, and when each of them started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.analysis.forecast.arrivals import HOUR_MS
from scheduler.analysis.forecast.run_times import WorkloadProfile
from scheduler.input.traces.options import Trace, TraceJob
from scheduler.model.errors import SchedulerError
from tests.backtest.futures import (
    Claim,
    CompactCluster,
    CompactRun,
    CompactState,
)

#: Fewer jobs are no history to learn from.
LEAST_JOBS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What came, in order of time; lists by the `ident` of the work, times in ms."""

    name: str
    works: Sequence[WorkloadProfile]
    runs: Sequence[int]
    starts: Sequence[int]
    processors: int
    strict: bool = False
    hour_ms: float = HOUR_MS
    left_out: int = 0
    cluster: CompactCluster = field(init=False)

    def __post_init__(self) -> None:
        cluster = CompactCluster(quota=(self.processors,), strict=(self.strict,))
        object.__setattr__(self, "cluster", cluster)

    def claim(self, ident: int) -> Claim:
        """Return the resources that a job of the log needs."""
        work = self.works[ident]
        return Claim(ident, work.order, 0, ((0, work.size),))


def real_log(trace: Trace) -> Log:
    """Return the log with its recorded waits. Raises SchedulerError without them."""
    jobs = [job for job in trace.jobs if job.start_s is not None]
    if not jobs:
        raise SchedulerError(
            f"{trace.file}: expected recorded waits (field 3), found none; give --load"
        )
    works, runs, left_out = _works(trace, jobs, 1.0)
    started = {job.line: round(1000 * (job.start_s or 0)) for job in jobs}
    starts = [max(started[line], work.submit_ms) for line, work in works.items()]
    return _log(trace, works, runs, starts, left_out + len(trace.jobs) - len(jobs))


def policy_log(trace: Trace, *, load: float | None, strict: bool) -> Log:
    """Return the log as one ClusterQueue of the machine's size would have run it.

    Arrivals are moved together or apart so that the work offered is `load` of the
    machine. Raises SchedulerError for a trace that is too small.
    """
    own = load_of(trace)
    scale = own / load if load else 1.0
    works, runs, left_out = _works(trace, trace.jobs, scale)
    bare = _log(trace, works, runs, [], left_out, scale=scale, strict=strict)
    found = run_through(bare)
    starts = [found[work.ident] for work in bare.works]
    return _log(trace, works, runs, starts, left_out, scale=scale, strict=strict)


def run_through(log: Log) -> Mapping[int, int]:
    """Return when each work starts under the policy, with its real run time."""
    run = CompactRun(
        CompactState(cluster=log.cluster), lambda claim: log.runs[claim.ident]
    )
    coming = ((work.submit_ms, log.claim(work.ident)) for work in log.works)
    return run.advance(coming, until_ms=float("inf"))


def load_of(trace: Trace) -> float:
    """Return the work offered by the trace as a share of its machine."""
    if len(trace.jobs) < LEAST_JOBS:
        raise SchedulerError(
            f"{trace.file}: expected at least {LEAST_JOBS} jobs, got {len(trace.jobs)}"
        )
    submits = [job.submit_s for job in trace.jobs]
    span = max(submits) - min(submits)
    size = size_of(trace)
    work = sum(_run_s(job) * _size(job) for job in trace.jobs if _size(job) <= size)
    if not span or not work:
        raise SchedulerError(f"{trace.file}: its jobs come at one time or take none")
    return work / span / size


def _log(
    trace: Trace,
    works: Mapping[int, WorkloadProfile],
    runs: list[int],
    starts: list[int],
    left_out: int,
    *,
    scale: float = 1.0,
    strict: bool = False,
) -> Log:
    return Log(
        name=trace.file,
        works=list(works.values()),
        runs=runs,
        starts=starts,
        processors=size_of(trace),
        strict=strict,
        hour_ms=HOUR_MS * scale,
        left_out=left_out,
    )


def _works(
    trace: Trace, jobs: Sequence[TraceJob], scale: float
) -> tuple[dict[int, WorkloadProfile], list[int], int]:
    """Return the works by line, in order of time, their run times, and who is too large."""
    size = size_of(trace)
    taken = sorted(
        (job for job in jobs if _size(job) <= size), key=lambda job: job.submit_s
    )
    works = {
        job.line: WorkloadProfile(
            ident=ident,
            submit_ms=round(job.submit_s * 1000 * scale),
            size=_size(job),
            queue=job.queue,
            user=job.user,
            family=job.values.get("executable", ""),
            limit_ms=None if job.limit_s is None else round(job.limit_s * 1000),
        )
        for ident, job in enumerate(taken)
    }
    runs = [max(round(_run_s(job) * 1000), 1) for job in taken]
    return works, runs, len(jobs) - len(taken)


def _size(job: TraceJob) -> int:
    return job.pods or 1


def _run_s(job: TraceJob) -> float:
    """Return the run time, which ends at the requested limit."""
    run = job.run_s or 0.0
    return run if job.limit_s is None else min(run, job.limit_s)


def size_of(trace: Trace) -> int:
    """Return how many processors the machine has: by the header, or its largest job."""
    given = trace.size.get("cpu")
    return int(given) if given else max(map(_size, trace.jobs), default=1)
