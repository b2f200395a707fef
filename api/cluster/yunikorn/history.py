"""What was: applications and containers over time, and events, as YuniKorn returns them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.cluster.yunikorn.partition_view import PartitionView
from sandbox.world import history

#: One record per minute and the newest of them, as the real one keeps.
EVERY_MS = 60_000
MOST_RECORDS = 1440
MOST_EVENTS = 10_000
_GONE = ("Finish", "Evict", "Preempt", "Fail")
#: Our decision -> (type, change) of an EventRecord: request 1, application 2, node
#: 3; set 1, add 2, remove 3. Details of changes are left out.
_CHANGES = {
    "Arrive": (1, 2),
    "Bind": (2, 2),
    "Finish": (2, 3),
    "Preempt": (2, 3),
    "Evict": (2, 3),
    "Fail": (1, 0),
    "NodeChange": (3, 1),
}


def containers(view: PartitionView) -> list[dict[str, Any]]:
    """Return how many containers ran at the end of each minute."""
    return [
        {"timestamp": view.nanoseconds(at), "totalContainers": str(count)}
        for at, count in _over_time(view, applications=False)
    ]


def applications(view: PartitionView) -> list[dict[str, Any]]:
    """Return how many applications had containers at the end of each minute."""
    return [
        {"timestamp": view.nanoseconds(at), "totalApplications": str(count)}
        for at, count in _over_time(view, applications=True)
    ]


def _over_time(view: PartitionView, *, applications: bool) -> list[tuple[int, int]]:
    owner = {
        f"Pod/{ask.key}": app.id
        for app in view.partition.apps.values()
        for ask in (*app.allocations.values(), *app.asks.values())
    }
    running: set[str] = set()
    found: list[tuple[int, int]] = []
    minute = 0
    for type_, subject, t_ms in _pods(view):
        while t_ms >= (minute + 1) * EVERY_MS:
            minute += 1
            found.append((minute * EVERY_MS, _count(running, owner, applications)))
        if type_ == "Bind":
            running.add(subject)
        else:
            running.discard(subject)
    found.append((view.sandbox.now_ms, _count(running, owner, applications)))
    return found[-MOST_RECORDS:]


def _count(running: set[str], owner: dict[str, str], applications: bool) -> int:
    if not applications:
        return len(running)
    return len({owner.get(pod, pod.rpartition("-")[0]) for pod in running})


def _pods(view: PartitionView) -> Iterator[tuple[str, str, int]]:
    sandbox = view.sandbox
    yield from (
        history.events(sandbox)
        .filter(
            type__in=("Bind", *_GONE),
            subject__startswith="Pod/",
            revision__lte=sandbox.revision,
        )
        .order_by("revision", "seq")
        .values_list("type", "subject", "t_ms")
        .iterator()
    )


def batch(view: PartitionView, start: int, count: int) -> dict[str, Any]:
    """Return events from an id on, counted from 0 over the run."""
    sandbox = view.sandbox
    query = history.events(sandbox).filter(
        type__in=_CHANGES, revision__lte=sandbox.revision
    )
    total = query.count()
    found = query.order_by("revision", "seq")[start : start + min(count, MOST_EVENTS)]
    return {
        "InstanceUUID": sandbox.pk,
        "LowestID": 0,
        "HighestID": max(0, total - 1),
        "EventRecords": [
            {
                "type": _CHANGES[event.type][0],
                "objectID": event.subject.partition("/")[2],
                "referenceID": event.by,
                "message": event.message or event.reason,
                "timestampNano": view.nanoseconds(event.t_ms),
                "eventChangeType": _CHANGES[event.type][1],
            }
            for event in found
        ],
    }
