"""What would come of traces, before they are taken: columns, queues, the first jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.input.manifests.report import FindingGroup, groups_of
from scheduler.input.traces import formats
from scheduler.input.traces.formats.columns import FIELDS
from scheduler.input.traces.options import Trace, TraceJob, TraceOptions, select
from scheduler.input.traces.queues import plan, value_of
from scheduler.input.traces.taking import Files, is_trace, take_nodes
from scheduler.model import registry
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object

#: Values of a column, and jobs, that are shown.
MOST_VALUES, MOST_JOBS = 20, 5


class Counted(msgspec.Struct, kw_only=True, rename="camel"):
    """A value of a column, or a queue, with the number of its jobs."""

    value: str
    jobs: int


class ColumnPreview(msgspec.Struct, kw_only=True, rename="camel"):
    """What a queue may be chosen by: the values that most jobs have."""

    name: str
    distinct: int
    values: list[Counted]


class JobPreview(msgspec.Struct, kw_only=True, rename="camel"):
    """One job as it would come."""

    name: str
    queue: str  # the LocalQueue; "" = none
    submit_s: float
    run_s: float | None
    limit_s: float | None
    pods: int | None
    requests: Mapping[str, str]
    user: str


class TracePreview(msgspec.Struct, kw_only=True, rename="camel"):
    """One trace: what it holds, and what of it would come."""

    file: str
    format: str
    label: str
    jobs: int = 0  # that would come
    left_out: int = 0
    nodes: int = 0
    last_s: float = 0.0  # when the last one comes
    columns: list[ColumnPreview] = []
    header: list[str] = []  # every column of a table
    mapping: dict[str, str] = {}  # field -> column
    lacks: list[str] = []
    queues: list[Counted] = []  # where the jobs would go
    first: list[JobPreview] = []
    findings: list[FindingGroup] = []


class TracePreviews(msgspec.Struct, kw_only=True, rename="camel"):
    """Of all traces among some files; the other files are not looked at further."""

    traces: list[TracePreview] = []
    queues: list[str] = []  # LocalQueues that are there
    table_fields: list[str] = msgspec.field(default_factory=lambda: sorted(FIELDS))


def preview(
    files: Files,
    options: TraceOptions,
    *,
    present: Mapping[Key, Object],
    stack: str = "kueue",
) -> TracePreviews:
    """Return a preview of the traces among `files`; changes nothing.

    Never raises for bad input: a trace that cannot be read has an error as finding.
    """
    given = list(files)
    traces = [file for file in given if is_trace(*file)]
    loaded = load([f for f in given if f not in traces]) if traces else Loaded()
    read = [_Read(file, text, options, loaded) for file, text in traces]
    objects = {**present, **{obj.key: obj for obj in loaded.objects}}
    found = TracePreviews(
        queues=[key.path for key in sorted(objects) if _is_queue(key)]
    )
    for one in read:
        found.traces.append(one.preview(options, objects, stack))
    return found


def _is_queue(key: Key) -> bool:
    return key.kind == "LocalQueue"


class _Read:
    """One trace, read, with its nodes among what was loaded."""

    def __init__(
        self, file: str, text: str, options: TraceOptions, loaded: Loaded
    ) -> None:
        self.loaded = Loaded()
        self.trace: Trace | None = None
        chosen = formats.find(file, text)
        name = options.format or (chosen.name if chosen else "")
        labels = {entry.name: entry.label for entry in registry.entries("trace")}
        self.shown = TracePreview(file=file, format=name, label=labels.get(name, name))
        try:
            self.trace = formats.read(text, file, options)
        except SchedulerError as error:
            self.loaded.refuse(file, error)
        else:
            take_nodes(loaded, self.trace)

    def preview(
        self, options: TraceOptions, objects: Mapping[Key, Object], stack: str
    ) -> TracePreview:
        shown, trace = self.shown, self.trace
        if trace is not None:
            _describe(shown, trace)
            try:
                self.loaded.findings += trace.left_out
                self.loaded.findings += select(trace, options)
                self._place(trace, options, objects, stack)
            except SchedulerError as error:
                self.loaded.refuse(trace.file, error)
        shown.findings = groups_of(self.loaded.findings)
        return shown

    def _place(
        self,
        trace: Trace,
        options: TraceOptions,
        objects: Mapping[Key, Object],
        stack: str,
    ) -> None:
        shown = self.shown
        if not trace.jobs:
            return
        queues = plan(trace, options, objects, stack=stack)
        shown.jobs = len(trace.jobs)
        shown.last_s = max(job.submit_s for job in trace.jobs)
        names = Counter("/".join(queues.of(job)) for job in trace.jobs)
        shown.queues = [Counted(value=q, jobs=n) for q, n in names.most_common()]
        shown.first = [
            _shown(job, "/".join(queues.of(job))) for job in trace.jobs[:MOST_JOBS]
        ]


def _describe(shown: TracePreview, trace: Trace) -> None:
    shown.left_out = len(trace.left_out)
    shown.nodes = sum(data["kind"] == "Node" for _, data in trace.documents)
    shown.mapping, shown.lacks = dict(trace.fields), list(trace.lacks)
    shown.header = list(trace.header)
    for name in trace.columns:
        counts = Counter(value_of(job, name) for job in trace.jobs)
        del counts[""]
        values = [Counted(value=v, jobs=n) for v, n in counts.most_common(MOST_VALUES)]
        if values:
            column = ColumnPreview(name=name, distinct=len(counts), values=values)
            shown.columns.append(column)


def _shown(job: TraceJob, queue: str) -> JobPreview:
    return JobPreview(
        name=job.name,
        queue=queue if not queue.endswith("/") else "",
        submit_s=job.submit_s,
        run_s=job.run_s,
        limit_s=job.limit_s,
        pods=job.pods,
        requests=dict(job.requests),
        user=job.user,
    )
