"""What whoever imports a trace chooses: queues, pace, part, and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import msgspec

from scheduler.input.manifests.loading.loaded import Finding
from scheduler.model import amounts, durations
from scheduler.model.errors import ManifestError, QuantityError, SourceLocation
from scheduler.model.problems.validation import said_of_value
from scheduler.model.sentence import Sentence
from scheduler.words.effects import Effect
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


# ------------------------------------------------------------------------
# What a trace says, whatever its format: jobs, nodes, and which lines are left out.


#: Beyond it a number of pods is a slip.
MOST_PODS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """One job of a trace; times in seconds since its begin, None for the unknown."""

    line: int
    name: str  # a number or a name, as the trace has it
    submit_s: float
    run_s: float | None
    start_s: float | None = None
    limit_s: float | None = None
    pods: int | None = None
    requests: Mapping[str, str] = field(default_factory=dict)  # of a pod
    user: str = ""
    queue: str = ""  # by its name in the trace
    priority: int | None = None
    models: tuple[str, ...] = ()  # of GPU cards, any of which will do
    values: Mapping[str, str] = field(default_factory=dict)  # column -> value


@dataclass(slots=True, kw_only=True)
class Trace:
    """What a trace file says, and which of its lines are left out."""

    file: str
    format: str = ""
    jobs: list[TraceJob] = field(default_factory=list)
    documents: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    left_out: list[Finding] = field(default_factory=list)
    said: list[Sentence] = field(default_factory=list)  # defaults that were taken
    size: dict[str, str] = field(default_factory=dict)  # of the machine, by a header
    epoch_s: float | None = (
        None  # Unix time of its second 0, by a header or by its dates
    )
    columns: list[str] = field(default_factory=list)  # what a queue may be chosen by
    fields: dict[str, str] = field(default_factory=dict)  # field -> its column
    header: list[str] = field(default_factory=list)  # every column of a table
    lacks: list[str] = field(default_factory=list)  # fields that no column gives

    def leave_out(self, line: int, part: Sentence | str, why: Sentence) -> None:
        """Note a line that is no job, and why."""
        self.left_out.append(
            Finding(
                "unsupported",
                SourceLocation(file=self.file, line=line),
                LeftOut.LINE.said(part=part, why=why),
                sort=LeftOut.LINES.said(why=why),
                effect=Effect.FEWER_JOBS,
            )
        )


def cut(trace: Trace, most: int) -> Iterator[Finding]:
    """Keep the first `most` jobs; yield what is said of the others, if any."""
    over = trace.jobs[most:]
    if not over:
        return
    del trace.jobs[most:]
    yield Finding(
        "warning",
        SourceLocation(file=trace.file, line=over[0].line),
        LeftOut.MOST.said(over=len(over), jobs=len(over) + most, most=most),
        effect=Effect.FEWER_JOBS,
    )
