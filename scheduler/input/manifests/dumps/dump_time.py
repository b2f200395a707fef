"""What a dump of a running cluster says of its own time.

A cluster that was read while it ran has conditions with times. The latest of
them is when it was read, or a moment before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler.model import durations
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Object

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
