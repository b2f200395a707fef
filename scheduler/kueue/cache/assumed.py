"""Quota that a workload holds: taken on admission, given back when it is gone."""

from __future__ import annotations

from scheduler.kueue.cache.cluster import Door
from scheduler.kueue.tree.quota import charge_all, release_all
from scheduler.kueue.tree.tree import Cell, Queue
from scheduler.kueue.workload.info import Work
from scheduler.reasons import ADMITTED
from scheduler.records.workload import remaining_usage


def take_quota(work: Work, queue: Queue) -> None:
    """Let a workload hold what its admission says, less what it reclaims.

    Source: KUEUE.md 2.5, 2.7.
    """
    usage = _usage(work, queue)
    work.queue = queue
    work.held = tuple((cell, amount) for cell, amount in usage.items() if amount)
    work.signature = frozenset(cell.flavor_resource for cell in usage)
    charge_all(work.held)
    queue.shelf.put(work)
    _count(work.door, work, 1)


def drop_quota(work: Work) -> None:
    """Let a workload hold nothing any more."""
    queue = work.queue
    assert queue is not None
    queue.shelf.drop(work)
    release_all(work.held)
    _count(work.door, work, -1)
    work.queue, work.held, work.signature = None, (), frozenset()


def _usage(work: Work, queue: Queue) -> dict[Cell, int]:
    assert work.admission is not None
    left = {part.name: work.count(part) for part in work.pod_sets}
    usage: dict[Cell, int] = {}
    for part in work.admission.pod_sets:
        totals = part.usage
        if work.reclaimable:
            totals = remaining_usage(part, left.get(part.name, part.count))
        for resource, flavor in part.flavors.items():
            cell = queue.cell((flavor, resource))
            usage[cell] = usage.get(cell, 0) + totals.get(resource, 0)
    return usage


def _count(door: Door, work: Work, sign: int) -> None:
    door.reserving += sign
    if work.holds(ADMITTED):
        door.admitted += sign
    for cell, amount in work.held:
        known = door.usage.get(cell.flavor_resource, 0)
        door.usage[cell.flavor_resource] = known + sign * amount
