"""Which LocalQueue each job of a trace goes to; one ClusterQueue where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.input.manifests.loading.checking import label_of
from scheduler.input.traces.options import Trace, TraceJob, TraceOptions
from scheduler.model import amounts
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.objects import Key, Object
from scheduler.model.problems import RequestProblem, in_field
from scheduler.model.sentence import Sentence
from scheduler.words.traces import Sent

ONE_QUEUE = "trace"
_API = "kueue.x-k8s.io/v1beta2"

Target = tuple[str, str]  # namespace, LocalQueue; "" = no queue


@dataclass(slots=True, kw_only=True)
class Queues:
    """Where jobs go, and what was said and made for it."""

    by: str  # the column that names a job's queue
    named: dict[str, Target] = field(default_factory=dict)
    other: Target = ("default", "")
    covered: dict[Target, frozenset[str]] = field(default_factory=dict)
    made: list[dict[str, Any]] = field(default_factory=list)
    said: list[Sentence] = field(default_factory=list)

    def of(self, job: TraceJob) -> Target:
        """Return where the job goes."""
        return self.named.get(value_of(job, self.by), self.other)


def value_of(job: TraceJob, column: str) -> str:
    """Return the queue name of a job: the value of a column, else its own; "" without one."""
    return job.values.get(column, "") if column else job.queue


def plan(
    trace: Trace, options: TraceOptions, objects: Mapping[Key, Object], *, stack: str
) -> Queues:
    """Return where the jobs go.

    By the column that is asked for, else by the trace's own queue: to the LocalQueue
    that `options.queues` gives for the value, else to the one of that name, else to
    `options.queue`, else to the first. Where there is no LocalQueue (and no Node, or
    a queue is asked for), LocalQueues of one ClusterQueue are made, as large as the
    machine. Raises ManifestError for a queue or column that does not exist.
    """
    if options.queue_by and options.queue_by not in trace.columns:
        known = ", ".join(trace.columns) or "none"
        problem = in_field(
            "queueBy",
            RequestProblem.NO_COLUMN_KNOWN.said(
                name=repr(options.queue_by), known=known
            ),
        )
        raise _wrong(trace, problem)
    found = sorted(key for key in objects if key.kind == "LocalQueue")
    if found:
        return _of_given(trace, options, objects, found)
    asked = options.queue_by or options.queue or options.queues
    nodes = [obj for key, obj in objects.items() if key.kind == "Node"]
    if stack != "kueue" or (nodes and not asked):
        return Queues(by=options.queue_by, said=[Sent.NO_QUEUE.said()])
    return _made(trace, options, nodes)


def _of_given(
    trace: Trace, options: TraceOptions, objects: Mapping[Key, Object], found: list[Key]
) -> Queues:
    first = _given(trace, options.queue, found) if options.queue else found[0]
    queues = Queues(by=options.queue_by, other=(first.namespace, first.name))
    names = {key.name: key for key in found if key.namespace == first.namespace}
    for value in _values(trace, options.queue_by):
        if chosen := options.queues.get(value):
            key = _given(trace, chosen, found)
        elif (label := label_of(value)) in names:
            key = names[label]
        else:
            continue
        queues.named[value] = (key.namespace, key.name)
    queues.covered = dict(_covered(objects, found))
    said = Sent.QUEUE.said(name=first.path)
    if len(found) > 1 and not options.queue:
        said = Sent.FIRST.said(name=first.path, count=len(found))
    if queues.named:
        listed = ", ".join(sorted({name for _, name in queues.named.values()}))
        said = Sent.NAMED.said(what=said, names=listed)
    queues.said.append(said)
    return queues


def _given(trace: Trace, path: str, found: list[Key]) -> Key:
    for key in found:
        if path in (key.path, key.name):
            return key
    known = ", ".join(key.path for key in found[:20])
    raise _wrong(
        trace, RequestProblem.NO_LOCAL_QUEUE.said(name=repr(path), known=known)
    )


def _covered(
    objects: Mapping[Key, Object], found: Iterable[Key]
) -> Iterator[tuple[Target, frozenset[str]]]:
    """Yield which resources the ClusterQueue of each LocalQueue has quota of."""
    for key in found:
        name = str(objects[key].spec.get("clusterQueue") or "")
        queue = objects.get(Key("ClusterQueue", "", name))
        if queue is not None:
            groups = queue.spec.get("resourceGroups") or ()
            covered = {r for g in groups for r in g.get("coveredResources") or ()}
            yield (key.namespace, key.name), frozenset(covered)


def _values(trace: Trace, column: str) -> list[str]:
    return sorted({value_of(job, column) for job in trace.jobs} - {""})


def _made(trace: Trace, options: TraceOptions, nodes: list[Object]) -> Queues:
    queues = Queues(by=options.queue_by, other=("default", ONE_QUEUE))
    if options.queue:
        queues.other = ("default", options.queue.rpartition("/")[2])
    for value in _values(trace, options.queue_by):
        name = options.queues.get(value, "").rpartition("/")[2] or label_of(value)
        queues.named[value] = ("default", name or ONE_QUEUE)
    listed = sorted({name for _, name in (*queues.named.values(), queues.other)})
    size, source = _size(trace, nodes)
    queues.made = list(_manifests(size, listed))
    amounts_ = ", ".join(f"{amount} {name}" for name, amount in size.items())
    words = Sent.MADE if nodes else Sent.MADE_NO_NODE
    queues.said.append(
        words.said(
            queue=ONE_QUEUE, amounts=amounts_, source=source, names=", ".join(listed)
        )
    )
    return queues


def _manifests(size: Mapping[str, str], names: list[str]) -> Iterator[dict[str, Any]]:
    yield _manifest("ResourceFlavor", ONE_QUEUE, {})
    quota = [{"name": name, "nominalQuota": amount} for name, amount in size.items()]
    flavor = {"name": ONE_QUEUE, "resources": quota}
    groups = [{"coveredResources": list(size), "flavors": [flavor]}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups}
    yield _manifest("ClusterQueue", ONE_QUEUE, spec)
    for name in names:
        made = _manifest("LocalQueue", name, {"clusterQueue": ONE_QUEUE})
        made["metadata"]["namespace"] = "default"
        yield made


def _manifest(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}


def _size(trace: Trace, nodes: list[Object]) -> tuple[dict[str, str], Sentence]:
    """Return how much the machine has of each resource, and how that is known."""
    asked = sorted({name for job in trace.jobs for name in job.requests}) or ["cpu"]
    if nodes:
        found = {name: _of_nodes(nodes, name) for name in asked}
        return _texts(found), Sent.OF_NODES.said()
    known = {name: amounts.canonical(name, v) for name, v in trace.size.items()}
    source = Sent.OF_HEADER.said() if known else _source(trace)
    used = _largest(trace)
    found = {name: known.get(name) or used.get(name, 0) for name in asked}
    if known.get("cpu") and used.get("cpu"):
        for name in set(asked) - set(known):  # in the proportion that jobs ask for
            found[name] = used[name] * max(1, -(-known["cpu"] // used["cpu"]))
    return _texts(found), source


def _texts(found: Mapping[str, int]) -> dict[str, str]:
    return {name: amounts.request_text(name, value) for name, value in found.items()}


def _of_nodes(nodes: list[Object], name: str) -> int:
    total = 0
    for node in nodes:
        allocatable = node.status.get("allocatable") or {}
        if name in allocatable:
            total += amounts.canonical(name, allocatable[name])
    return total


def _source(trace: Trace) -> Sentence:
    if any(job.start_s is not None for job in trace.jobs):
        return Sent.OF_RUNNING.said()
    return Sent.OF_LARGEST.said()


def _largest(trace: Trace) -> dict[str, int]:
    """Return the most that ran at one time, and no less than the largest job."""
    steps: list[tuple[float, int, dict[str, int]]] = []
    most: dict[str, int] = {}
    for job in trace.jobs:
        whole = _whole(job)
        for name, amount in whole.items():
            most[name] = max(most.get(name, 0), amount)
        if job.start_s is not None and job.run_s:
            steps.append((job.start_s, 1, whole))
            steps.append((job.start_s + job.run_s, -1, whole))
    running: dict[str, int] = {}
    for _, sign, whole in sorted(steps, key=lambda step: step[:2]):
        for name, amount in whole.items():
            running[name] = running.get(name, 0) + sign * amount
            most[name] = max(most.get(name, 0), running[name])
    return most


def _whole(job: TraceJob) -> dict[str, int]:
    return {
        name: amounts.canonical(name, amount) * (job.pods or 1)
        for name, amount in job.requests.items()
    }


def _wrong(trace: Trace, problem: Sentence) -> ManifestError:
    return ManifestError(problem, place=SourceLocation(file=trace.file, line=1))
