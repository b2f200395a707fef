"""Curves of every branch over the same ticks."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import Any

from sandbox.explain.comparing.branches import Branch
from sandbox.explain.comparing.shapes import Curves, Series
from sandbox.explain.comparing.timelines import Timelines
from scheduler.analysis.measures import Waits

Body = dict[str, Any]  # a sample


def series(
    branches: Sequence[Branch], timelines: Sequence[Timelines], points: int
) -> Series:
    """Return curves over at most `points` ticks, the last always among them."""
    ticks = _ticks(branches, points)
    return Series(
        ticks=ticks,
        branches=[
            _curves(branch, own, ticks)
            for branch, own in zip(branches, timelines, strict=True)
        ],
    )


def _ticks(branches: Sequence[Branch], points: int) -> list[int]:
    every = sorted({body["tick"] for branch in branches for body in branch.samples})
    apart = max(1, -(-len(every) // max(1, points)))
    return every[::-1][::apart][::-1]


def _curves(branch: Branch, timelines: Timelines, ticks: list[int]) -> Curves:
    bodies = {body["tick"]: body for body in branch.samples}
    found = [bodies.get(tick) for tick in ticks]
    resources = sorted({r for body in found if body for r in body["capacity"]})
    queues = sorted({q["queue"] for body in found if body for q in body["queues"]})
    return Curves(
        pending=[_count(body, "pending") for body in found],
        running=[_count(body, "admitted") for body in found],
        wait_p50_ms=_waits(timelines, found),
        utilisation={r: [_share(body, r) for body in found] for r in resources},
        shares={q: [_of(body, q, "share") for body in found] for q in queues},
        used={
            q: {r: [_used(body, q, r) for body in found] for r in resources}
            for q in queues
        },
    )


def _count(body: Body | None, name: str) -> int | None:
    return None if body is None else int(body[name])


def _share(body: Body | None, resource: str) -> float | None:
    if body is None or not int(body["capacity"].get(resource, 0)):
        return None
    return int(body["used"].get(resource, 0)) / int(body["capacity"][resource])


def _of(body: Body | None, queue: str, field: str) -> Any:
    for line in body["queues"] if body else ():
        if line["queue"] == queue:
            return line[field]
    return None


def _used(body: Body | None, queue: str, resource: str) -> int | None:
    used = _of(body, queue, "used")
    return None if used is None else int(used.get(resource, 0))


def _waits(timelines: Timelines, bodies: Iterable[Body | None]) -> list[float | None]:
    """Return the median wait by each sample's time, of all that had come by then.

    The bodies are in order of time. O(workloads) for each.
    """
    known = [
        (one.arrived_ms, one.first_ms)
        for one in timelines.values()
        if one.arrived_ms is not None
    ]
    arrivals = sorted(arrived for arrived, _ in known)
    starts = sorted((first, arrived) for arrived, first in known if first is not None)
    waits: list[int] = []  # of those that started, in order
    waiting: list[int] = []  # when those that wait came, in order
    came = started = 0
    found = list[float | None]()
    for body in bodies:
        if body is None:
            found.append(None)
            continue
        now = body["tMs"]
        while came < len(arrivals) and arrivals[came] <= now:
            waiting.append(arrivals[came])
            came += 1
        while started < len(starts) and starts[started][0] <= now:
            first, arrived = starts[started]
            bisect.insort(waits, first - arrived)
            del waiting[bisect.bisect_left(waiting, arrived)]
            started += 1
        so_far = [now - arrived for arrived in reversed(waiting)]
        every = Waits(ordered=sorted(waits + so_far), never_started=len(waiting))
        found.append(every.quantile(0.5))
    return found
