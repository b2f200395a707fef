"""What a report says of a trace that was taken: the defaults, and what is not used."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.traces.swf import Trace


def remarks(trace: Trace, *, start_ms: int, cpu: str) -> Iterator[str]:
    """Yield the sentences; the trace has at least one job."""
    yield _times(trace, start_ms, cpu)
    yield _limits(trace)
    if unknown := sum(job.processors is None for job in trace.jobs):
        yield f"{unknown} jobs of unknown size (fields 5 and 8) are taken as 1 pod"
    unused = ["wait", "processor time", "group", "executable", "partition"]
    if any(job.has_memory for job in trace.jobs):
        unused.insert(0, "memory")
    yield f"not used: {', '.join(unused)}, preceding job and think time"


def _times(trace: Trace, start_ms: int, cpu: str) -> str:
    last = max(job.submit_s for job in trace.jobs)
    since = f"{start_ms / 1000:g} s, the time now" if start_ms else "0"
    return (
        f"{len(trace.jobs)} jobs arrive at their submit times (the last at "
        f"{last:.0f} s, counted from {since}) at the trace's own pace, a pod of "
        f"{cpu} cpu per processor; for another pace or queue give a Scenario with an "
        "arrival of the process swf"
    )


def _limits(trace: Trace) -> str:
    limited = [job for job in trace.jobs if job.limit_s is not None]
    if not limited:
        return "no job has a requested time (field 9): none has a limit"
    over = sum(job.run_s >= job.limit_s for job in limited if job.limit_s is not None)
    return (
        f"{len(limited)} jobs have their requested time as limit; {over} ran as long or "
        "longer in the trace, and Kueue stops them at it (it counts from admission)"
    )
