"""Decisions of Kueue as its vectors write them.

Source: docs/semantics/kueue-lifecycle.md#recorded-decisions.
"""

from __future__ import annotations

from typing import Any

from scheduler.model.amounts import text_of
from scheduler.model.decisions import (
    Admit,
    Decision,
    Evict,
    Finish,
    PodSetAdmission,
    Preempt,
    ReserveQuota,
)

Row = dict[str, Any]

#: What is reported, and in which order at one instant.
#: Source: docs/semantics/kueue-lifecycle.md#one-instant.
REPORTED: dict[type, int] = {
    Finish: 0,
    Admit: 1,
    ReserveQuota: 1,
    Preempt: 2,
    Evict: 3,
}


def admission_row(queue: str, pod_sets: tuple[PodSetAdmission, ...]) -> Row:
    """Return an admission."""
    return {"clusterQueue": queue, "podSets": [pod_set_row(part) for part in pod_sets]}


def pod_set_row(part: PodSetAdmission) -> Row:
    """Return the part of an admission that one podset got."""
    written = {
        "name": part.name,
        "count": part.count,
        "flavors": part.flavors,
        "usage": {name: text_of(name, amount) for name, amount in part.usage.items()},
    }
    if part.topology is not None:
        written["topologyAssignment"] = part.topology.expanded()
    return written


def in_order(decisions: list[Decision]) -> list[Decision]:
    """Return those of one pass that are reported, in the order of the vectors."""
    reported = [decision for decision in decisions if type(decision) in REPORTED]
    return sorted(reported, key=lambda d: (REPORTED[type(d)], d.subject.path))


def event_row(decision: Decision, *, messages: bool = False) -> Row:
    """Return one event; `messages`: those of evictions are stated."""
    row: Row = {"tMs": decision.at_ms, "wl": decision.subject.path}
    match decision:
        case Admit() | ReserveQuota():
            admission = admission_row(decision.queue, decision.pod_sets)
            what = "admit" if isinstance(decision, Admit) else "reserve"
            return {**row, "ev": what, "admission": admission}
        case Preempt():
            by = decision.by.path if decision.by else ""
            return {**row, "ev": "preempt", "by": by, "reason": decision.reason}
        case Evict():
            row |= {"ev": "evict", "reason": decision.reason}
            return {**row, "message": decision.message} if messages else row
        case _:
            return {**row, "ev": "finish"}
