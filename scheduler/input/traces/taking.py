"""Trace files among manifests: their jobs come in time, with defaults that are said."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from scheduler.input.files.unpacking import UnreadText
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.dumps.formats import GPU_MODEL
from scheduler.input.manifests.load import take_document
from scheduler.input.manifests.loading.checking import label_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.traces import formats
from scheduler.input.traces.options import (
    NO_OPTIONS,
    Trace,
    TraceJob,
    TraceOptions,
    select,
)
from scheduler.input.traces.queues import Queues, plan
from scheduler.model.annotations import ARRIVAL, MAX_EXECUTION, RUNTIME
from scheduler.model.errors import SchedulerError, SourceLocation
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import Sentence
from scheduler.words.effects import Effect
from scheduler.words.traces import Sent, Taken

PRIORITY = "kueue.x-k8s.io/priority-class"

Files = Iterable[tuple[str, str]]


def is_trace(name: str, text: str) -> bool:
    """Return whether a file is read as a trace."""
    return not isinstance(text, UnreadText) and formats.find(name, text) is not None


def take_traces(
    loaded: Loaded,
    files: Files,
    *,
    options: TraceOptions = NO_OPTIONS,
    present: Mapping[Key, Object] | None = None,
    stack: str = "kueue",
    start_ms: int = 0,
) -> None:
    """Add the jobs of the traces among `files` to what was loaded.

    `present` are the objects of the world that they come to, `start_ms` is its
    time, from which submit times count. Where the jobs go: `queues.plan`. All that
    was assumed, changed or left out becomes findings. Never raises for bad input.
    Cost: O(lines).
    """
    traces = [(name, text) for name, text in files if is_trace(name, text)]
    read: list[Trace] = []
    for name, text in traces:
        loaded.files.append(name)
        try:
            read.append(formats.read(text, name, options))
        except SchedulerError as error:
            _refuse(loaded, name, error)
    for trace in read:
        take_nodes(loaded, trace)
    for trace in read:
        try:
            loaded.findings += select(trace, options)
            if _has_jobs(loaded, trace):
                objects = {**(present or {}), **{o.key: o for o in loaded.objects}}
                queues = plan(trace, options, objects, stack=stack)
                _take(loaded, trace, queues, options, start_ms)
        except SchedulerError as error:
            _refuse(loaded, trace.file, error)


def _refuse(loaded: Loaded, file: str, error: SchedulerError) -> None:
    loaded.refuse(file, error)
    loaded.outcomes[file, "trace line", "refused"] += 1


def take_nodes(loaded: Loaded, trace: Trace) -> None:
    """Take the nodes of a trace, before anything is looked for among the objects."""
    for line, data in trace.documents:
        if data["kind"] != "Change":
            take_document(loaded, Document(file=trace.file, data=data, line=line))


def _has_jobs(loaded: Loaded, trace: Trace) -> bool:
    """Return whether jobs come of the trace; what does not is said."""
    place = SourceLocation(file=trace.file, line=1)
    if trace.lacks:
        loaded.findings.append(_error(trace.left_out[0], place))
        loaded.outcomes[trace.file, "trace line", "refused"] += 1
        return False
    loaded.findings += trace.left_out
    if trace.left_out:
        count = len(trace.left_out)
        loaded.outcomes[trace.file, "trace line", "refused"] += count
    if not trace.jobs and not trace.documents:
        loaded.warn(place, Taken.NO_JOB.said())
    return bool(trace.jobs)


def _error(left_out: Finding, place: SourceLocation) -> Finding:
    return replace(
        left_out, level="error", place=place, sort=None, effect=Effect.LEFT_OUT
    )


def _take(
    loaded: Loaded, trace: Trace, queues: Queues, options: TraceOptions, start_ms: int
) -> None:
    place = SourceLocation(file=trace.file, line=1)
    dropped: Counter[tuple[str, str]] = Counter()
    jobs = [_within_quota(job, queues, dropped) for job in trace.jobs]
    for said in (*queues.said, *remarks(trace, options, start_ms=start_ms)):
        loaded.warn(place, said)
    for (name, queue), count in dropped.items():
        loaded.warn(place, Sent.NO_QUOTA.said(jobs=count, resource=name, queue=queue))
    for line, manifest in _manifests(trace, jobs, queues, start_ms):
        take_document(loaded, Document(file=trace.file, data=manifest, line=line))


def _within_quota(
    job: TraceJob, queues: Queues, dropped: Counter[tuple[str, str]]
) -> TraceJob:
    """Return the job without what its queue has no quota of: it would wait forever."""
    target = queues.of(job)
    covered = queues.covered.get(target)
    if covered is None or covered >= set(job.requests):
        return job
    for name in set(job.requests) - covered:
        dropped[name, "/".join(target)] += 1
    kept = {name: v for name, v in job.requests.items() if name in covered}
    return replace(job, requests=kept)


def _manifests(
    trace: Trace, jobs: list[TraceJob], queues: Queues, start_ms: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    for made in queues.made:
        yield 1, made
    for value in sorted({j.priority for j in jobs if j.priority is not None}):
        yield 1, _priority_class(value)
    for name, job in _named(trace, jobs):
        yield job.line, _manifest(job, name, queues, start_ms)


def _priority_class(value: int) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": _class_name(value)},
        "value": value,
    }


def _class_name(value: int) -> str:
    return f"trace-{'minus-' if value < 0 else ''}{abs(value)}"


def _named(trace: Trace, jobs: list[TraceJob]) -> Iterator[tuple[str, TraceJob]]:
    """Yield the jobs with names; a name that comes again gets its line behind it."""
    stem = label_of(re.split(r"[\\/]", trace.file)[-1].rsplit(".", 1)[0])[:30]
    prefix = stem.strip("-") or trace.format
    seen: set[str] = set()
    for job in jobs:
        own = label_of(job.name) or str(job.line)
        again = f"-{job.line}" if own in seen else ""
        seen.add(own)
        yield f"{prefix}-{own}{again}", job


def _manifest(
    job: TraceJob, name: str, queues: Queues, start_ms: int
) -> dict[str, Any]:
    namespace, queue = queues.of(job)
    made = job_of(job, namespace=namespace, queue=queue)
    made["metadata"]["name"] = name
    metadata = made["metadata"]
    if job.priority is not None and queue:
        metadata["labels"][PRIORITY] = _class_name(job.priority)
    annotations = metadata.setdefault("annotations", {})
    annotations[ARRIVAL] = f"{start_ms + round(job.submit_s * 1000)}ms"
    if job.run_s is not None:
        annotations.setdefault(RUNTIME, f"{round(job.run_s * 1000)}ms")
    return made


# ------------------------------------------------------------------------
# What a report says of a trace that was taken: the defaults, and what is not used.


def remarks(
    trace: Trace, options: TraceOptions, *, start_ms: int
) -> Iterator[Sentence]:
    """Yield the sentences; the trace has at least one job."""
    yield _times(trace, options, start_ms)
    yield from trace.said
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


# ------------------------------------------------------------------------
# A job of a trace as a Job: size, requests, user, and the requested time as limit.


USER = "user"
_YUNIKORN_USER = "yunikorn.apache.org/user.info"


def job_of(
    job: TraceJob, *, namespace: str, queue: str, limited: bool = True
) -> dict[str, Any]:
    """Return the Job without a name: `pods` pods, 1 where the trace has no number.

    Without a `queue` it has no queue label.
    """
    labels = {QUEUE: queue} if queue else {}
    if job.user:
        labels[USER] = label_of(job.user) or "user"
    if limited and job.limit_s is not None:
        labels[MAX_EXECUTION] = str(math.ceil(job.limit_s))
    pods = job.pods or 1
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": namespace, "labels": labels},
        "spec": {"parallelism": pods, "completions": pods, "template": _template(job)},
    }


def _template(job: TraceJob) -> dict[str, Any]:
    resources: dict[str, Any] = {"requests": dict(job.requests)}
    if devices := {k: v for k, v in job.requests.items() if "/" in k}:
        resources["limits"] = devices  # an extended resource must have its limit
    container = {"name": "main", "image": "trace", "resources": resources}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
    if job.models:
        spec["affinity"] = _affinity(job.models)
    if not job.user:
        return {"spec": spec}
    user = msgspec.json.encode({"user": job.user}).decode()
    return {"metadata": {"annotations": {_YUNIKORN_USER: user}}, "spec": spec}


def _affinity(models: tuple[str, ...]) -> dict[str, Any]:
    wanted = {"key": GPU_MODEL, "operator": "In", "values": list(models)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
