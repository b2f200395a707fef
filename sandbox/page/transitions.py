"""Phases of a Workload: which it is in, and from which it may go to which.

The phase is told from the conditions, here and nowhere else. Between two
commits a Workload may have been through several phases; the table lists
which pairs of ends can come of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from sandbox.page.wire import Phase
from scheduler.errors import InvariantError

PHASES: tuple[str, ...] = get_args(Phase)
_LIVE = frozenset({"pending", "inadmissible", "reserved", "admitted"})

#: From a phase to those that a tick may end in. Only an edit leaves `finished`
#: or `inactive`.
LEGAL: dict[str, frozenset[str]] = {
    phase: _LIVE | {"finished", "inactive"} for phase in _LIVE
} | {
    "finished": frozenset({"finished"}),
    "inactive": frozenset({"inactive", "finished"}),
}


class IllegalTransitionError(InvariantError):
    """A Workload went where it cannot go; tells its story so far."""


def conditions_of(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the conditions by type."""
    return {c["type"]: c for c in status.get("conditions") or ()}


def is_true(conditions: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Tell whether the condition is there and "True"."""
    condition = conditions.get(name)
    return condition is not None and condition.get("status") == "True"


def phase_of(
    spec: Mapping[str, Any], *, held: Callable[[str], bool], parked: bool = False
) -> Phase:
    """Return the phase.

    `held` tells whether a condition is True; `parked`, that its queue will not
    try the Workload until something changes. Source: KUEUE.md, conditions.
    """
    if held("Finished"):
        return "finished"
    if held("Admitted"):
        return "admitted"
    if held("QuotaReserved"):
        return "reserved"
    if spec.get("active") is False:
        return "inactive"
    return "inadmissible" if parked else "pending"


def check(key: str, before: str, after: str, story: Iterable[str]) -> None:
    """Refuse a step that no tick can take.

    Raises IllegalTransitionError with the Workload's events so far.
    """
    if after not in LEGAL[before]:
        told = "; ".join(story) or "nothing is known of it"
        raise IllegalTransitionError(
            f"{key} cannot go from {before} to {after} by itself. So far: {told}"
        )
