"""Reasons of a Workload's conditions that releases spell otherwise.

With the gate UnadmittedWorkloadsObservability, which decides between the two, Kueue
says why each pending Workload waits; without it the reasons are coarse, and Admitted
does not exist before the first admission.
Source: docs/semantics/kueue-lifecycle.md#why-a-workload-has-no-quota.
"""

from __future__ import annotations

from scheduler.model import reasons

PENDING = "Pending"
INADMISSIBLE = "Inadmissible"
WAITING = "Waiting"
UNSATISFIED_CHECKS = "UnsatisfiedChecks"
NO_RESERVATION_UNSATISFIED_CHECKS = "NoReservationUnsatisfiedChecks"
NEITHER_SENTENCE = "The workload has no reservation and not all checks ready"

#: What QuotaReserved=False may say without the gate, and hardly with it.
COARSE = frozenset({PENDING, INADMISSIBLE, WAITING, reasons.ON_HOLD})
#: What the scheduler says with the gate -> without; all others are Pending.
_BY_SCHEDULER = {
    reasons.WAITING_FOR_PODS_READY: WAITING,
    reasons.ADMISSION_GATED: reasons.ADMISSION_GATED,
    reasons.ON_HOLD: reasons.ON_HOLD,
}
#: What the controllers say with the gate -> without; all others are Pending.
_BY_CONTROLLER = {
    **_BY_SCHEDULER,
    reasons.MISCONFIGURED: INADMISSIBLE,
    reasons.SUSPENDED: INADMISSIBLE,
}
_OF_ADMITTED = {reasons.UNSATISFIED_CHECKS: UNSATISFIED_CHECKS}


def coarse(reason: str, *, by_scheduler: bool = False) -> str:
    """Return the reason of QuotaReserved=False without the gate."""
    table = _BY_SCHEDULER if by_scheduler else _BY_CONTROLLER
    return table.get(reason, PENDING)


def coarse_admitted(reason: str) -> str:
    """Return the reason of Admitted=False without the gate."""
    return _OF_ADMITTED.get(reason, reason)
