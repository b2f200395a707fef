"""What a report says of a trace that was taken: the defaults, and what is not used."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.input.traces.options import TraceOptions
from scheduler.input.traces.trace import Trace
from scheduler.model.sentence import Sentence
from scheduler.words.traces import Taken


def remarks(
    trace: Trace, options: TraceOptions, *, start_ms: int
) -> Iterator[Sentence]:
    """Yield the sentences; the trace has at least one job."""
    yield _times(trace, options, start_ms)
    yield from trace.said
    if all(job.manifest is None for job in trace.jobs):
        yield _limits(trace)
        unknown = sum(job.pods is None for job in trace.jobs)
        if unknown and (trace.format == "swf" or "pods" in trace.fields):
            yield Taken.ONE_POD.said(jobs=unknown)
    if trace.format == "swf":
        yield Taken.NOT_USED_SWF.said()
    elif unused := [name for name in _unused(trace) if name != options.queue_by]:
        yield Taken.NOT_USED.said(names=", ".join(unused))


def _unused(trace: Trace) -> list[str]:
    """Return the columns that decide nothing."""
    used = {column.partition(":")[0] for column in trace.fields.values()}
    return [name for name in trace.columns if name not in used]


def _times(trace: Trace, options: TraceOptions, start_ms: int) -> Sentence:
    last = max(job.submit_s for job in trace.jobs)
    pace = Taken.TIMES_PACE.said(pace=float(options.pace))
    said = Taken.ARRIVE.said(
        jobs=len(trace.jobs),
        last=round(last),
        since=Taken.SINCE_NOW.said(start=start_ms / 1000) if start_ms else "0",
        pace=Taken.OWN_PACE.said() if options.pace == 1 else pace,
    )
    if trace.format == "swf":
        said = Taken.PER_PROCESSOR.said(what=said, cpu=options.cpu_per_processor)
    if trace.fields and trace.format == "table":
        read = ", ".join(f"{f}={column}" for f, column in trace.fields.items())
        said = Taken.COLUMNS_READ.said(what=said, columns=read)
    return Taken.CHOSEN.said(what=said)


def _limits(trace: Trace) -> Sentence:
    limited = [job for job in trace.jobs if job.limit_s is not None]
    if not limited:
        return Taken.NO_LIMITS.said()
    over = sum(
        (job.run_s or 0) >= job.limit_s for job in limited if job.limit_s is not None
    )
    return Taken.LIMITS.said(jobs=len(limited), over=over)
