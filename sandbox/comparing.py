"""Two sandboxes side by side: where they part, and who fares how."""

from __future__ import annotations

from typing import Any

from django.db.models import Min, QuerySet

from sandbox import history
from sandbox.models import Event, Sample, Sandbox

#: Decisions that a comparison is about; arrivals and waits are not.
_DECISIONS = ("Admit", "Preempt", "Evict", "Bind", "Finish", "Deactivate", "Fail")
MOST_LISTED = 500


def compare(a: Sandbox, b: Sandbox, to_tick: int | None = None) -> dict[str, Any]:
    """Return what differs between two sandboxes up to a tick that both reached.

    Times of workloads are ticks of their first admission; `delta` is b - a.
    """
    end = min(a.tick, b.tick) if to_tick is None else min(a.tick, b.tick, to_tick)
    sides = [_Side(sandbox, end) for sandbox in (a, b)]
    return {
        "a": a.pk,
        "b": b.pk,
        "toTick": end,
        "firstDifference": _first_difference(*sides),
        "workloads": _fares(*sides),
        "preemptions": _preemptions(*sides),
        "totals": _totals(*sides),
    }


class _Side:
    """The events and samples of one sandbox up to a tick."""

    def __init__(self, sandbox: Sandbox, end: int) -> None:
        self.sandbox = sandbox
        self.events: QuerySet[Event] = history.events(sandbox).filter(tick__lte=end)
        self.samples = Sample.objects.filter(
            history.within(history.lineage(sandbox), "revision"), tick__lte=end
        )

    def decisions(self) -> dict[int, list[tuple[Any, ...]]]:
        """Return what was decided, by tick, in an order that numbers do not touch."""
        found: dict[int, list[tuple[Any, ...]]] = {}
        rows = self.events.filter(type__in=_DECISIONS).values_list(
            "tick", "t_ms", "type", "subject", "by", "reason"
        )
        for tick, *rest in rows.order_by("revision", "seq").iterator():
            found.setdefault(tick, []).append(tuple(rest))
        return found

    def first(self, kind: str) -> dict[str, int]:
        """Return the tick of the first event of a type, by subject."""
        rows = self.events.filter(type=kind).values_list("subject")
        return dict(rows.annotate(first=Min("tick")))


def _first_difference(a: _Side, b: _Side) -> dict[str, Any] | None:
    one, other = a.decisions(), b.decisions()
    for tick in sorted(one.keys() | other.keys()):
        ours, theirs = one.get(tick, []), other.get(tick, [])
        if ours != theirs:
            return {"tick": tick, **_unequal(ours, theirs)}
    return None


def _unequal(
    ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]
) -> dict[str, Any]:
    """Return the first decision that is not the same; None = none is left there."""
    for n in range(max(len(ours), len(theirs))):
        left = ours[n] if n < len(ours) else None
        right = theirs[n] if n < len(theirs) else None
        if left != right:
            return {"a": _told(left), "b": _told(right)}
    return {"a": None, "b": None}


def _told(decision: tuple[Any, ...] | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    names = ("tMs", "type", "subject", "by", "reason")
    return dict(zip(names, decision, strict=True))


def _fares(a: _Side, b: _Side) -> dict[str, Any]:
    one, other = a.first("Admit"), b.first("Admit")
    both = sorted(one.keys() & other.keys())
    earlier = [key for key in both if other[key] < one[key]]
    later = [key for key in both if other[key] > one[key]]
    return {
        "same": len(both) - len(earlier) - len(later),
        "earlier": [_fare(key, one, other) for key in earlier[:MOST_LISTED]],
        "later": [_fare(key, one, other) for key in later[:MOST_LISTED]],
        "onlyInA": sorted(one.keys() - other.keys())[:MOST_LISTED],
        "onlyInB": sorted(other.keys() - one.keys())[:MOST_LISTED],
    }


def _fare(key: str, one: dict[str, int], other: dict[str, int]) -> dict[str, Any]:
    return {"workload": key, "a": one[key], "b": other[key]}


def _preemptions(a: _Side, b: _Side) -> dict[str, Any]:
    one, other = (
        set(side.events.filter(type="Preempt").values_list("tick", "subject", "by"))
        for side in (a, b)
    )
    return {
        "same": len(one & other),
        "removed": [_preemption(row) for row in sorted(one - other)[:MOST_LISTED]],
        "added": [_preemption(row) for row in sorted(other - one)[:MOST_LISTED]],
    }


def _preemption(row: tuple[int, str, str]) -> dict[str, Any]:
    return {"tick": row[0], "workload": row[1], "by": row[2]}


def _totals(a: _Side, b: _Side) -> list[dict[str, Any]]:
    one, other = _measures(a), _measures(b)
    return [
        {
            "measure": name,
            "a": one[name],
            "b": other[name],
            "delta": other[name] - value,
        }
        for name, value in one.items()
    ]


def _measures(side: _Side) -> dict[str, float]:
    bodies = [sample.body for sample in side.samples.order_by("revision")]
    arrived, admitted = side.first("Arrive"), side.first("Admit")
    waits = sorted(at - arrived[key] for key, at in admitted.items() if key in arrived)
    last = bodies[-1] if bodies else {"pending": 0, "admitted": 0, "finished": 0}
    return {
        "preemptions": sum(body["preemptions"] for body in bodies),
        "evictions": sum(body["evictions"] for body in bodies),
        "pending": last["pending"],
        "admitted": last["admitted"],
        "finished": last["finished"],
        "meanWaitTicks": sum(waits) / len(waits) if waits else 0.0,
        "p95WaitTicks": float(waits[int(0.95 * (len(waits) - 1))]) if waits else 0.0,
        "utilisation": _utilisation(bodies),
    }


def _utilisation(bodies: list[dict[str, Any]]) -> float:
    """Return the mean over ticks and resources of used / capacity."""
    shares = [
        int(body["used"].get(name, 0)) / int(capacity)
        for body in bodies
        for name, capacity in body["capacity"].items()
        if int(capacity)
    ]
    return sum(shares) / len(shares) if shares else 0.0
