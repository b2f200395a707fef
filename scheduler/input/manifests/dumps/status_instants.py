"""Which statuses of a dump's ClusterQueues are of another instant than its Workloads.

The lists of a dump are read one after the other, and Kueue writes the status of a
queue after the Workloads that it counts.
How often: docs/benchmarks-history.md, "Running clusters, continued".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import Sentence
from scheduler.words.read_as import Instant

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
