"""Preemption gates of a workload: while one is closed, it preempts nobody.

Source: docs/semantics/kueue.md#preemption-gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scheduler.model import durations

OPEN, CLOSED = "Open", "Closed"
POSITIONS = (OPEN, CLOSED)
Document = Mapping[str, Any]


class GateState(NamedTuple):
    """Where a gate stands, and since when (microseconds)."""

    position: str
    since_us: int


States = dict[str, GateState]


def read_gates(spec: Document, status: Document) -> tuple[tuple[str, ...], States]:
    """Return the gates that a Workload names, and what its status says of them."""
    states = {
        item["name"]: GateState(
            item.get("position") or CLOSED,
            durations.stamp_or_none(item.get("lastTransitionTime")) or 0,
        )
        for item in status.get("preemptionGates") or ()
    }
    names = tuple(item["name"] for item in spec.get("preemptionGates") or ())
    return names, states


def any_closed(names: Iterable[str], states: States) -> bool:
    """Return whether a gate is closed; one that no status names yet is."""
    closed = GateState(CLOSED, 0)
    return any(states.get(name, closed).position == CLOSED for name in names)


def closed_again(states: States, now_us: int) -> States:
    """Return the states after an eviction: every gate closed."""
    return {
        name: state if state.position == CLOSED else GateState(CLOSED, now_us)
        for name, state in states.items()
    }


def written(states: States) -> list[dict[str, Any]]:
    """Return the states as the API shows them."""
    return [
        {
            "name": name,
            "position": state.position,
            **(
                {"lastTransitionTime": durations.stamp_text(state.since_us)}
                if state.since_us
                else {}
            ),
        }
        for name, state in states.items()
    ]
