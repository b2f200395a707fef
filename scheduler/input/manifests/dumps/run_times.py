"""How long the work of a running cluster takes, where nothing says it.

A dump has no run times. They are taken, for each Workload and Job that has not
ended, from the first of these that knows: its own annotation; what ended already
of the same family of names, else of the same queue; its deadline. What is used is
written into two annotations, so that everybody sees it and may change it. Where
nothing knows, the policy's default counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from scheduler.model import amounts, durations
from scheduler.model.annotations import FROM_DEADLINE, RUNTIME, RUNTIME_SOURCE
from scheduler.model.errors import QuantityError
from scheduler.model.jobs import QUEUE
from scheduler.model.kueue.deadlines import deadline_of
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import Sentence
from scheduler.words.read_as import Instant

_US = 1_000_000
_ORDINAL = re.compile(r"[-.]?[0-9a-f]*[0-9][0-9a-f]*$|-[a-z0-9]{5}$")
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_ENOUGH = 5
_STARTS = ("PodsReady", "Admitted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run time as an annotation's text, and what it was taken from."""

    span: str
    source: str


def estimate_run_times(objects: Sequence[Object], *, now: str) -> int:
    """Annotate what has not ended and says no run time; return how many.

    `now` is the time of the dump. What runs already gets a time longer than it
    has run for. Cost: O(objects).
    """
    now_us = durations.stamp_us(now)
    history = _history(objects)
    jobs = {obj.uid: obj for obj in objects if obj.key.kind == "Job" and obj.uid}
    count = 0
    for obj in objects:
        if obj.key.kind not in ("Workload", "Job") or _has_time(obj, jobs) or _end(obj):
            continue
        estimate = _estimate(obj, history, _elapsed(obj, now_us))
        if estimate is not None:
            given = obj.metadata.get("annotations") or {}
            ours = {RUNTIME: estimate.span, RUNTIME_SOURCE: estimate.source}
            obj.metadata["annotations"] = {**given, **ours}
            count += 1
    return count


def _has_time(obj: Object, jobs: Mapping[str, Object]) -> bool:
    owners = obj.metadata.get("ownerReferences") or ()
    found = [jobs[one["uid"]] for one in owners if one.get("uid") in jobs]
    return any(RUNTIME in one.annotations for one in (obj, *found))


def _estimate(
    obj: Object, history: Mapping[tuple[str, ...], list[float]], elapsed: float
) -> Estimate | None:
    for group, words in _groups(obj):
        times = history.get(group, ())
        if not times:
            continue
        longer = [one for one in times if one > elapsed]
        if longer:
            source = f"{len(longer)} of {len(times)} finished of {words}"
            source += ", those that ran longer" if len(longer) < len(times) else ""
            return Estimate(span=span_of(longer), source=source)
        source = f"runs longer than all {len(times)} of {words}: twice its time so far"
        return Estimate(span=f"{round(2 * elapsed)}s", source=source)
    given = obj.spec.get("maximumExecutionTimeSeconds")
    deadline = int(given) if given else deadline_of(obj.manifest)
    if deadline is None:
        return None
    return Estimate(span=f"{deadline}s", source=FROM_DEADLINE)


def span_of(times: Sequence[float]) -> str:
    """Return the median of few times, the quantiles of many."""
    ordered = sorted(times)
    if len(ordered) < _ENOUGH:
        return f"{round(ordered[len(ordered) // 2])}s"
    last = len(ordered) - 1
    found = [ordered[round(part * last)] for part in _QUANTILES]
    return "quantiles(" + ",".join(f"{round(one)}s" for one in found) + ")"


def _history(objects: Iterable[Object]) -> dict[tuple[str, ...], list[float]]:
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for obj in objects:
        if (seconds := ended_seconds(obj)) is not None:
            for group, _ in _groups(obj):
                found[group].append(seconds)
    return found


def ended_seconds(obj: Object) -> float | None:
    """Return how long a Workload or Job ran that ended; None of every other object."""
    if obj.key.kind not in ("Workload", "Job"):
        return None
    end, start = _end(obj), _start(obj)
    if end is None or start is None or end < start:
        return None
    return (end - start) / _US


def _groups(obj: Object) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what the object has in common with others, the nearest first."""
    kind, namespace, name = obj.key
    family = family_of(obj, name)
    yield (kind, namespace, "family", family), f"family {family}"
    queue = obj.spec.get("queueName") or obj.labels.get(QUEUE) or ""
    if queue:
        yield (kind, namespace, "queue", str(queue)), f"queue {namespace}/{queue}"
    yield (kind, namespace), f"namespace {namespace}"


def family_of(obj: Object, name: str) -> str:
    """Return the name of the object's owner, else `name`; without the numbers at its end."""
    for one in obj.metadata.get("ownerReferences") or ():
        name = str(one.get("name") or name)
    shorter = _ORDINAL.sub("", name)
    while shorter and shorter != name:
        name, shorter = shorter, _ORDINAL.sub("", shorter)
    return name


def _end(obj: Object) -> int | None:
    """Return when a Workload or Job ended, in microseconds; None while it lives."""
    if obj.key.kind == "Job":
        text = obj.status.get("completionTime") or _since(obj, "Complete", "Failed")
    else:
        text = _since(obj, "Finished")
    return _us(text)


def _start(obj: Object) -> int | None:
    if obj.key.kind == "Job":
        return _us(obj.status.get("startTime"))
    return _us(_since(obj, *_STARTS))


def _elapsed(obj: Object, now_us: int) -> float:
    start = _start(obj)
    return 0.0 if start is None else max(0, now_us - start) / _US


def _since(obj: Object, *types: str) -> str | None:
    conditions = {
        one.get("type"): one
        for one in obj.status.get("conditions") or ()
        if one.get("status") == "True"
    }
    for name in types:
        if name in conditions:
            time: str | None = conditions[name].get("lastTransitionTime")
            return time
    return None


def _us(text: object) -> int | None:
    try:
        return durations.stamp_or_none(str(text)) if text else None
    except QuantityError:
        return None


# ------------------------------------------------------------------------
# What a dump of a running cluster says of its own time.


#: Kinds whose status has times only where something ran.
_RUNNING = ("Workload", "Pod", "Job")
_STATUS_TIMES = ("startTime", "completionTime", "lastScheduleTime")
_METADATA_TIMES = ("creationTimestamp",)


def time_of(objects: Iterable[Object]) -> str | None:
    """Return the latest time that the objects say, as RFC 3339 text.

    None when nothing in them ran: no Workload, Pod or Job has a condition with
    a time. Times of things to come (deadlines, requeueAt) do not count.
    """
    found = list(objects)
    if not any(_ran(obj) for obj in found):
        return None
    times = [us for obj in found for us in _times(obj)]
    return durations.stamp_text(max(times)) if times else None


def _ran(obj: Object) -> bool:
    return obj.key.kind in _RUNNING and any(_condition_times(obj.status))


def _times(obj: Object) -> Iterator[int]:
    """Yield every time of an object that has passed, in microseconds."""
    texts = [obj.metadata.get(name) for name in _METADATA_TIMES]
    texts += [obj.status.get(name) for name in _STATUS_TIMES]
    texts += _condition_times(obj.status)
    for text in texts:
        try:
            if text and (us := durations.stamp_or_none(str(text))) is not None:
                yield us
        except QuantityError:
            continue


def _condition_times(status: Mapping[str, Any]) -> list[str]:
    conditions = status.get("conditions")
    return [
        str(one["lastTransitionTime"])
        for one in (conditions if isinstance(conditions, list) else ())
        if isinstance(one, Mapping) and one.get("lastTransitionTime")
    ]


# ------------------------------------------------------------------------
# Which statuses of a dump's ClusterQueues are of another instant than its Workloads.


Usage = dict[tuple[str, str], int]  # (flavor, resource) -> amount
Change = tuple[str, int, Usage]  # when, 1 for quota reserved and -1 for released, what

#: Changes before the dump among which the instant of a status is looked for.
_MOST_CHANGES = 200


def status_instants(objects: Iterable[Object]) -> Iterator[tuple[Key, Sentence]]:
    """Yield each ClusterQueue whose status differs from the Workloads, and how.

    Cost: O(objects) and, for a queue that differs, O(its changes).
    """
    found = list(objects)
    queues = [obj for obj in found if _is_counted(obj)]
    if not queues:
        return
    changes = _changes(found)
    for queue in queues:
        theirs = _reserved(queue.status)
        own = changes.get(queue.key.name, [])
        ours = _sum(own)
        if ours != theirs:
            cells, when = _cells(theirs, ours), _when(theirs, ours, own)
            name = queue.key.name
            yield queue.key, Instant.STATUS.said(queue=name, cells=cells, when=when)


def _is_counted(obj: Object) -> bool:
    return obj.key.kind == "ClusterQueue" and "flavorsReservation" in obj.status


def _reserved(status: Mapping[str, Any]) -> Usage:
    found: Usage = {}
    for flavor in status.get("flavorsReservation") or ():
        for one in flavor.get("resources") or ():
            _add(found, (flavor["name"], one["name"]), one.get("total", 0), 1.0)
    return {cell: amount for cell, amount in found.items() if amount}


def _changes(objects: Iterable[Object]) -> dict[str, list[Change]]:
    """Return when quota was reserved and released, by queue, as Workloads say it."""
    found: dict[str, list[Change]] = defaultdict(list)
    for obj in objects:
        admission = obj.status.get("admission")
        if obj.key.kind != "Workload" or not admission:
            continue
        times = {
            one.get("type"): str(one.get("lastTransitionTime") or "")
            for one in obj.status.get("conditions") or ()
            if one.get("status") == "True"
        }
        name, held = str(admission.get("clusterQueue")), _held(obj, admission)
        found[name].append((times.get("QuotaReserved", ""), 1, held))
        if "Finished" in times:
            found[name].append((times["Finished"], -1, held))
    return found


def _held(obj: Object, admission: Mapping[str, Any]) -> Usage:
    """Return what a Workload holds: without the pods that are given back."""
    found: Usage = {}
    gone = {
        one["name"]: one["count"] for one in obj.status.get("reclaimablePods") or ()
    }
    asked = {
        one.get("name"): one.get("count", 1) for one in obj.spec.get("podSets") or ()
    }
    for part in admission.get("podSetAssignments") or ():
        name, count = part.get("name"), part.get("count") or 1
        left = min(count, asked.get(name, count) - gone.get(name, 0))
        usage = part.get("resourceUsage") or {}
        for resource, flavor in (part.get("flavors") or {}).items():
            _add(found, (flavor, resource), usage.get(resource, 0), left / count)
    return found


def _add(usage: Usage, cell: tuple[str, str], text: object, share: float) -> None:
    try:
        amount = round(amounts.canonical(cell[1], str(text)) * share)
    except QuantityError:
        return  # said when the object is checked
    usage[cell] = usage.get(cell, 0) + amount


def _sum(changes: Iterable[Change]) -> Usage:
    total: Usage = defaultdict(int)
    for _, sign, usage in changes:
        for cell, amount in usage.items():
            total[cell] += sign * amount
    return {cell: amount for cell, amount in total.items() if amount}


def _cells(theirs: Usage, ours: Usage) -> Sentence:
    """Return where two usages differ; they do somewhere."""
    cells = [c for c in sorted({*theirs, *ours}) if theirs.get(c) != ours.get(c)]
    each = [
        Instant.CELL.said(
            theirs=amounts.text_of(resource, theirs.get((flavor, resource), 0)),
            resource=resource,
            flavor=flavor,
            ours=amounts.text_of(resource, ours.get((flavor, resource), 0)),
        )
        for flavor, resource in cells
    ]
    return reduce(lambda said, one: Instant.CELLS.said(first=said, rest=one), each)


def _when(theirs: Usage, ours: Usage, changes: list[Change]) -> Sentence:
    """Return since when the status is no longer true, going back change by change."""
    if not ours:
        return Instant.EMPTY.said()
    left = sorted(changes, key=lambda one: one[0])
    for count in range(1, min(len(left), _MOST_CHANGES) + 1):
        time = left.pop()[0]
        if _sum(left) == theirs:
            return Instant.BEFORE.said(time=time, count=count)
    return Instant.NONE.said()
