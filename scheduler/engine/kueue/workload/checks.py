"""Which admission checks a workload needs, and whether they are met.

Source: docs/semantics/kueue-admission-checks.md#which-checks-a-workload-needs.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler.model.kueue.check_state import READY, REJECTED, RETRY, States
from scheduler.model.quota import ClusterQueueSpec
from scheduler.model.workload import Admission

#: Where a podset's delayedTopologyRequest stands.
PENDING_TOPOLOGY, READY_TOPOLOGY = "Pending", "Ready"


class Delays(NamedTuple):
    """Flavors that are placed in a second pass; whether another cluster places."""

    flavors: frozenset[str] = frozenset()
    elsewhere: bool = False


def required_checks(spec: ClusterQueueSpec, admission: Admission | None) -> list[str]:
    """Return the names of the checks needed, in order.

    With an admission those of its flavors; before it those of all flavors.
    """
    if not spec.checks:
        return []
    if admission is None:
        every = {name for group in spec.groups for name in group.flavors}
        return [check.name for check in spec.checks if every <= check.flavors]
    assigned = {
        flavor for part in admission.pod_sets for flavor in part.flavors.values()
    }
    return [
        check.name for check in spec.checks if not check.flavors.isdisjoint(assigned)
    ]


def all_ready(states: States) -> bool:
    """Return whether every listed check is ready; true for none."""
    return all(check.state == READY for check in states.values())


def waits_for_places(states: States, admission: Admission | None) -> bool:
    """Return whether all checks are ready and podsets are still to be placed.

    Source: docs/semantics/kueue-topology.md#delayed-assignments.
    """
    return (
        admission is not None
        and any(part.delayed == PENDING_TOPOLOGY for part in admission.pod_sets)
        and bool(states)
        and all_ready(states)
    )


def failed(states: States) -> bool:
    """Return whether a check says Retry or Rejected."""
    return any(check.state in (RETRY, REJECTED) for check in states.values())
