"""How long work really ran, as its pods or its Workload showed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.model import durations
from scheduler.model.conditions import is_true
from scheduler.model.errors import QuantityError
from scheduler.recorded.qrec.reading import RecordedChange

Item = dict[str, Any]
Owner = tuple[str, str, str]  # kind, namespace, name
_US = 1_000_000


def run_times(events: Iterable[RecordedChange]) -> dict[Owner, float]:
    """Return the seconds that each owner of work ran, of those that succeeded.

    Pods say it best: the longest of their containers. Without pods it is the time
    from the last admission of the Workload to its end, as the watch showed them.
    """
    by_pods: dict[Owner, float] = {}
    by_workload: dict[Owner, float] = {}
    admitted: dict[Owner, int] = {}
    for seen in events:
        owner = owner_of(seen.object)
        if owner is None or seen.type == "DELETED":
            continue
        if seen.object["kind"] == "Pod":
            if (span := _span(seen.object)) is not None:
                by_pods[owner] = max(span, by_pods.get(owner, 0))
        elif seen.object["kind"] == "Workload":
            _workload(seen, owner, admitted, by_workload)
    return by_workload | by_pods


def _workload(
    seen: RecordedChange,
    owner: Owner,
    admitted: dict[Owner, int],
    found: dict[Owner, float],
) -> None:
    status = seen.object.get("status") or {}
    if is_true(status, "Finished"):
        if owner in admitted:
            found[owner] = (seen.at_us - admitted.pop(owner)) / _US
    elif is_true(status, "Admitted"):
        admitted.setdefault(owner, seen.at_us)
    else:
        admitted.pop(owner, None)


def owner_of(item: Item) -> Owner | None:
    """Return the object that controls this one."""
    metadata = item["metadata"]
    for one in metadata.get("ownerReferences") or ():
        if one.get("controller"):
            return one["kind"], metadata.get("namespace", ""), one["name"]
    return None


def _span(pod: Item) -> float | None:
    """Return how long the longest container of a pod that succeeded ran."""
    status = pod.get("status") or {}
    if status.get("phase") != "Succeeded":
        return None
    ends = [
        one["state"]["terminated"]
        for one in status.get("containerStatuses") or ()
        if "terminated" in one.get("state", {})
    ]
    try:
        return max(
            (
                durations.stamp_us(end["finishedAt"])
                - durations.stamp_us(end["startedAt"])
            )
            / _US
            for end in ends
        )
    except (KeyError, ValueError, QuantityError):
        return None
