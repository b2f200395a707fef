"""Which answers of admission checks, and positions of gates, a Workload would take.

Source: docs/semantics/kueue-admission-checks.md#states-of-a-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler.model import durations
from scheduler.model.errors import ManifestError
from scheduler.model.kueue.check_state import STATES
from scheduler.model.objects import Object
from scheduler.model.problems import Problem, Wanted, expected, in_field
from scheduler.model.reasons import is_true


def check_answers(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse answers of checks that a Workload does not list, or unknown states.

    Raises ManifestError; the object is not changed.
    """
    listed = [item["name"] for item in obj.status.get("admissionChecks") or ()]
    for index, item in enumerate(given):
        path = f"status.admissionChecks[{index}]"
        name, state = item.get("name"), item.get("state")
        _refuse_unknown(f"{path}.name", Wanted.CHECK_OF, name, listed)
        if state not in STATES:
            wanted = Wanted.LITERAL.said(literal=", ".join(STATES))
            raise ManifestError(in_field(f"{path}.state", expected(wanted, state)))


def check_gate_positions(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse gates that a Workload does not name, and unknown positions.

    Raises ManifestError; the object is not changed.
    Source: docs/semantics/kueue.md#preemption-gates.
    """
    named = [item["name"] for item in obj.spec.get("preemptionGates") or ()]
    for index, item in enumerate(given):
        path = f"status.preemptionGates[{index}]"
        name, position = item.get("name"), item.get("position")
        _refuse_unknown(f"{path}.name", Wanted.GATE_OF, name, named)
        if position not in POSITIONS:
            wanted = Wanted.LITERAL.said(literal=" or ".join(POSITIONS))
            raise ManifestError(
                in_field(f"{path}.position", expected(wanted, position))
            )


def _refuse_unknown(path: str, wanted: Wanted, name: Any, known: Sequence[str]) -> None:
    if name not in known:
        names = ", ".join(known) or "none"
        problem = expected(wanted.said(known=names), name)
        raise ManifestError(in_field(path, problem))


# ------------------------------------------------------------------------
# Which change of reclaimable pods the API would take.


def check_reclaimable(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse reclaimable pods that a Workload cannot have.

    They name podsets, count up to the podset's count, and only grow while quota
    is held. Raises ManifestError; the object is not changed.
    """
    counts = {
        part["name"]: int(part["count"]) for part in obj.spec.get("podSets") or ()
    }
    before = {
        item["name"]: int(item["count"])
        for item in obj.status.get("reclaimablePods") or ()
    }
    held = is_true(obj.status, "QuotaReserved")
    listed: dict[str, int] = {}
    for index, item in enumerate(given):
        path = f"status.reclaimablePods[{index}]"
        name, count = _item(item, path, counts)
        if held and count < before.get(name, 0):
            raise ManifestError(
                in_field(
                    f"{path}.count",
                    Problem.RECLAIMABLE_LEAST.said(
                        least=before[name], name=name, given=count
                    ),
                )
            )
        listed[name] = count
    missing = sorted(
        name for name, count in before.items() if count and name not in listed
    )
    if held and missing:
        raise ManifestError(
            in_field(
                "status.reclaimablePods",
                Problem.RECLAIMABLE_STAYS.said(name=missing[0]),
            )
        )


def _item(
    item: Mapping[str, Any], path: str, counts: Mapping[str, int]
) -> tuple[str, int]:
    name, count = str(item.get("name")), item.get("count")
    if name not in counts:
        known = ", ".join(counts)
        raise ManifestError(
            in_field(f"{path}.name", expected(Wanted.ONE_OF.said(known=known), name))
        )
    if isinstance(count, bool) or not isinstance(count, int):
        raise ManifestError(in_field(f"{path}.count", expected(Wanted.WHOLE, count)))
    if not 0 <= count <= counts[name]:
        raise ManifestError(
            in_field(
                f"{path}.count",
                expected(
                    Wanted.PODSET_COUNT.said(least="0", most=counts[name]), given=count
                ),
            )
        )
    return name, count


# ------------------------------------------------------------------------
# Preemption gates of a workload: while one is closed, it preempts nobody.
#
# Source: docs/semantics/kueue.md#preemption-gates.

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
