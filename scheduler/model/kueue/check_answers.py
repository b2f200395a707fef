"""Which answers of admission checks, and positions of gates, a Workload would take.

Source: docs/semantics/kueue-admission-checks.md#states-of-a-check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler.model.errors import ManifestError
from scheduler.model.kueue.check_state import STATES
from scheduler.model.kueue.preemption_gates import POSITIONS
from scheduler.model.objects import Object
from scheduler.model.problems import Wanted, expected, in_field


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
