"""Trace files among manifests: their jobs come in time, with defaults that are said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler.errors import ManifestError, SourceLocation
from scheduler.manifests.documents import Document
from scheduler.manifests.load import Loaded, take_document
from scheduler.records.annotations import ARRIVAL, RUNTIME
from scheduler.records.objects import Key
from scheduler.traces.defaults import ONE_QUEUE, queue_manifests, size_of
from scheduler.traces.jobs import job_of
from scheduler.traces.remarks import remarks
from scheduler.traces.swf import Trace, TraceJob, read_trace

ENDING = ".swf"
_CPU = "1"

Files = Iterable[tuple[str, str]]


def is_trace(name: str) -> bool:
    """Return whether a file of this name is read as a trace."""
    return name.lower().endswith(ENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queues:
    """Where the jobs go: the queue of each number of the trace, and of the others."""

    namespace: str
    named: dict[int, str]
    other: str  # "" = no queue
    said: str


def take_traces(
    loaded: Loaded,
    files: Files,
    *,
    present: Iterable[Key] = (),
    stack: str = "kueue",
    start_ms: int = 0,
) -> None:
    """Add the jobs of the traces among `files` to what was loaded.

    `present` are the objects of the world that they come to, `start_ms` is its
    time, from which submit times count. Jobs go to the LocalQueue that has the
    name of their queue in the trace, else to the first; where there is none, and
    no Node, a queue of the machine's size is made. All of it becomes findings.
    Never raises for bad input. Cost: O(lines).
    """
    for file, text in files:
        if is_trace(file):
            try:
                trace = read_trace(text, file)
            except ManifestError as error:
                loaded.complain(error)
                loaded.outcomes[file, "trace line", "refused"] += 1
            else:
                keys = {*present, *loaded.places}
                _take(loaded, trace, _queues(loaded, trace, keys, stack), start_ms)
            loaded.files.append(file)


def _take(loaded: Loaded, trace: Trace, queues: _Queues, start_ms: int) -> None:
    loaded.findings += trace.left_out
    if trace.left_out:
        count = len(trace.left_out)
        loaded.outcomes[trace.file, "trace line", "refused"] += count
    place = SourceLocation(file=trace.file, line=1)
    if not trace.jobs:
        loaded.warn(place, "holds no job; nothing was taken of it")
        return
    for text in (queues.said, *remarks(trace, start_ms=start_ms, cpu=_CPU)):
        loaded.warn(place, text)
    for name, job in _named(trace):
        manifest = _manifest(job, name, queues, start_ms)
        take_document(loaded, Document(file=trace.file, data=manifest, line=job.line))


def _named(trace: Trace) -> Iterator[tuple[str, TraceJob]]:
    """Yield the jobs with names; a number that comes again gets its line behind it."""
    stem = _label(re.split(r"[\\/]", trace.file)[-1].rsplit(".", 1)[0])[:30]
    prefix = stem.strip("-") or "swf"
    seen: set[int] = set()
    for job in trace.jobs:
        again = f"-{job.line}" if job.number in seen else ""
        seen.add(job.number)
        yield f"{prefix}-{job.number}{again}", job


def _manifest(
    job: TraceJob, name: str, queues: _Queues, start_ms: int
) -> dict[str, Any]:
    queue = queues.other if job.queue is None else queues.named.get(job.queue)
    made = job_of(
        job,
        namespace=queues.namespace,
        queue=queues.other if queue is None else queue,
        cpu=_CPU,
    )
    made["metadata"]["name"] = name
    made["metadata"]["annotations"] = {
        ARRIVAL: f"{start_ms + round(job.submit_s * 1000)}ms",
        RUNTIME: f"{round(job.run_s * 1000)}ms",
    }
    return made


def _queues(loaded: Loaded, trace: Trace, keys: set[Key], stack: str) -> _Queues:
    found = sorted(key for key in keys if key.kind == "LocalQueue")
    if found:
        return _of_given(trace, found)
    if stack != "kueue" or any(key.kind == "Node" for key in keys):
        said = "there is no LocalQueue: the jobs have no queue, their pods come at once"
        return _Queues(namespace="default", named={}, other="", said=said)
    names = {number: _queue_name(trace, number) for number in _numbers(trace)}
    listed = sorted({*names.values(), ONE_QUEUE})
    for manifest in queue_manifests(trace, listed, cpu=_CPU):
        take_document(loaded, Document(file=trace.file, data=manifest, line=1))
    said = (
        f"there is no LocalQueue and no Node: made ClusterQueue {ONE_QUEUE} of "
        f"{size_of(trace)} cpu ({_source(trace)}) with LocalQueue {', '.join(listed)}"
    )
    return _Queues(namespace="default", named=names, other=ONE_QUEUE, said=said)


def _of_given(trace: Trace, found: list[Key]) -> _Queues:
    first = found[0]
    known = {key.name for key in found if key.namespace == first.namespace}
    named = {number: _queue_name(trace, number) for number in _numbers(trace)}
    named = {number: name for number, name in named.items() if name in known}
    said = f"the jobs go to LocalQueue {first.path}"
    if len(found) > 1:
        said += f", the first of {len(found)}"
    if named:
        listed = ", ".join(sorted(set(named.values())))
        said += f"; those of a queue named in the trace to it: {listed}"
    return _Queues(namespace=first.namespace, named=named, other=first.name, said=said)


def _numbers(trace: Trace) -> list[int]:
    return sorted({job.queue for job in trace.jobs if job.queue is not None})


def _queue_name(trace: Trace, number: int) -> str:
    return _label(trace.queues.get(number, "")) or f"queue-{number}"


def _label(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:50].strip("-")


def _source(trace: Trace) -> str:
    return "MaxProcs of its header" if trace.processors else "its largest job"
