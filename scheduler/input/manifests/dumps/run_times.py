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

from scheduler.model import durations
from scheduler.model.annotations import FROM_DEADLINE, RUNTIME, RUNTIME_SOURCE
from scheduler.model.errors import QuantityError
from scheduler.model.kueue.deadlines import deadline_of
from scheduler.model.objects import Object

_US = 1_000_000
_ORDINAL = re.compile(r"[-.]?[0-9a-f]*[0-9][0-9a-f]*$|-[a-z0-9]{5}$")
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_ENOUGH = 5
_QUEUE = "kueue.x-k8s.io/queue-name"
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
    deadline = _deadline(obj)
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
    queue = obj.spec.get("queueName") or obj.labels.get(_QUEUE) or ""
    if queue:
        yield (kind, namespace, "queue", str(queue)), f"queue {namespace}/{queue}"
    yield (kind, namespace), f"namespace {namespace}"


def family_of(obj: Object, name: str) -> str:
    """Return the name of what made it, else its name without numbers at the end."""
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


def _deadline(obj: Object) -> int | None:
    given = obj.spec.get("maximumExecutionTimeSeconds")
    return int(given) if given else deadline_of(obj.manifest)
