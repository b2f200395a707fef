"""What whoever imports a trace chooses: queues, pace, part, and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import msgspec

from scheduler.input.manifests.effects import Effect
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.traces.trace import Trace, cut
from scheduler.model import amounts, durations
from scheduler.model.errors import ManifestError, QuantityError, SourceLocation
from scheduler.model.problems.validation import said_of_value
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut

Pace = Annotated[float, msgspec.Meta(ge=0.001, le=1_000_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class TraceOptions(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"
):
    """Choices for the traces of one import; every default is the trace's own.

    `queue_by` is a column whose values name LocalQueues, by `queues` or as they
    are; other jobs go to `queue`. `columns` says which column gives which field
    of a table ("submit": "created:ms").
    """

    format: str = ""
    queue_by: str = ""
    queue: str = ""  # a LocalQueue: name, or namespace/name
    queues: dict[str, str] = {}  # a value of the column -> a LocalQueue
    pace: Pace = 1.0  # 2 = the jobs come twice as fast
    begin: str = ""  # a duration since the trace's begin
    end: str = ""
    most: Count = 0  # jobs; 0 = all
    columns: dict[str, str] = {}
    totals: bool = False  # amounts of a table are of a whole job, not of a pod
    cpu_per_processor: str = "1"


NO_OPTIONS = TraceOptions()


def read_options(given: Mapping[str, Any]) -> TraceOptions:
    """Return the options; ManifestError names the one that is wrong."""
    try:
        options = msgspec.convert(dict(given), TraceOptions)
    except msgspec.ValidationError as error:
        raise _wrong("", said_of_value(str(error))) from error
    for name in ("begin", "end"):
        _span_s(options, name)
    try:
        amounts.canonical("cpu", options.cpu_per_processor)
    except QuantityError as error:
        raise _wrong("cpuPerProcessor", error.said) from error
    return options


def _wrong(name: str, problem: Sentence) -> ManifestError:
    place = SourceLocation(file="traces", line=1, field=name)
    return ManifestError(problem, place=place)


def _span_s(options: TraceOptions, name: str) -> float | None:
    given = getattr(options, name)
    if not given:
        return None
    try:
        return durations.span_ms(given) / 1000
    except QuantityError as error:
        raise _wrong(name, error.said) from error


def select(trace: Trace, options: TraceOptions) -> Iterator[Finding]:
    """Keep the part that is asked for, at its pace; yield what is said of the rest."""
    begin, end = _span_s(options, "begin") or 0.0, _span_s(options, "end")
    if begin or end is not None:
        yield from _window(trace, begin, end)
    if options.most:
        yield from cut(trace, options.most)
    if options.pace != 1.0 or begin:
        trace.jobs = [
            replace(job, submit_s=(job.submit_s - begin) / options.pace)
            for job in trace.jobs
        ]
        for _, document in trace.documents:
            _move(document, begin, options.pace)


def _window(trace: Trace, begin: float, end: float | None) -> Iterator[Finding]:
    inside = [
        job
        for job in trace.jobs
        if job.submit_s >= begin and (end is None or job.submit_s < end)
    ]
    over = len(trace.jobs) - len(inside)
    trace.jobs = inside
    if over:
        yield Finding(
            "warning",
            SourceLocation(file=trace.file, line=1),
            LeftOut.WINDOW.said(
                over=over,
                jobs=over + len(inside),
                begin=float(begin),
                end=LeftOut.WINDOW_END.said()
                if end is None
                else LeftOut.WINDOW_SECONDS.said(end=float(end)),
            ),
            effect=Effect.FEWER_JOBS,
        )


def _move(document: dict[str, Any], begin: float, pace: float) -> None:
    """Give a change that comes in time its new time."""
    annotations = (document.get("metadata") or {}).get("annotations") or {}
    if (at := annotations.get(_ARRIVAL)) is not None:
        moved = (durations.span_ms(at) / 1000 - begin) / pace
        annotations[_ARRIVAL] = f"{max(0, round(moved * 1000))}ms"


_ARRIVAL = "quotalab.dev/arrival"
