"""What a report says of a trace that was taken: the defaults, and what is not used."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.traces.options import TraceOptions
from scheduler.traces.trace import Trace


def remarks(trace: Trace, options: TraceOptions, *, start_ms: int) -> Iterator[str]:
    """Yield the sentences; the trace has at least one job."""
    yield _times(trace, options, start_ms)
    yield from trace.said
    if all(job.manifest is None for job in trace.jobs):
        yield _limits(trace)
        unknown = sum(job.pods is None for job in trace.jobs)
        if unknown and (trace.format == "swf" or "pods" in trace.fields):
            yield f"{unknown} jobs of unknown size are taken as 1 pod"
    if unused := [name for name in _unused(trace) if name != options.queue_by]:
        yield f"not used: {', '.join(unused)}"


def _unused(trace: Trace) -> list[str]:
    """Return the columns that decide nothing."""
    if trace.format == "swf":
        return ["processor time", "preceding job", "think time"]
    used = {column.partition(":")[0] for column in trace.fields.values()}
    return [name for name in trace.columns if name not in used]


def _times(trace: Trace, options: TraceOptions, start_ms: int) -> str:
    last = max(job.submit_s for job in trace.jobs)
    since = f"{start_ms / 1000:g} s, the time now" if start_ms else "0"
    pace = "the trace's own" if options.pace == 1 else f"{options.pace:g} times its own"
    said = (
        f"{len(trace.jobs)} jobs arrive at their submit times (the last at "
        f"{last:.0f} s, counted from {since}) at {pace} pace"
    )
    if trace.format == "swf":
        said += f", a pod of {options.cpu_per_processor} cpu per processor"
    if trace.fields and trace.format == "table":
        read = ", ".join(f"{f}={column}" for f, column in trace.fields.items())
        said += f"; columns read: {read}"
    return f"{said}; another pace, part or queue is chosen when it is imported"


def _limits(trace: Trace) -> str:
    limited = [job for job in trace.jobs if job.limit_s is not None]
    if not limited:
        return "no job has a requested time: none has a limit"
    over = sum(
        (job.run_s or 0) >= job.limit_s for job in limited if job.limit_s is not None
    )
    return (
        f"{len(limited)} jobs have their requested time as limit; {over} ran as long or "
        "longer in the trace, and Kueue stops them at it (it counts from admission)"
    )
