"""Which variant of a Workload may preempt: one, and the next after five minutes.

Source: docs/semantics/kueue-concurrent-admission.md#one-preempts-at-a-time.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.variants import GATE
from scheduler.model.kueue.preemption_gates import OPEN, GateState
from scheduler.model.reasons import BLOCKED_ON_GATES

_US = 1_000_000
WAIT_US = 300 * _US


def next_to_open(variants: Iterable[WorkloadInfo]) -> tuple[WorkloadInfo | None, int]:
    """Return whose gate opens next, and from when on (us); variants by preference."""
    waiting = [work for work in variants if _may_be_admitted(work)]
    opened = [
        state.since_us
        for work in waiting
        if (state := work.gate_states.get(GATE)) and state.position == OPEN
    ]
    blocked = (
        work
        for work in waiting
        if work.has_condition(BLOCKED_ON_GATES) and not _is_open(work)
    )
    return next(blocked, None), max(opened) + WAIT_US if opened else 0


def open_gate(work: WorkloadInfo, now_us: int) -> None:
    """Let a variant preempt from now on, until it is evicted."""
    now = now_us // _US * _US  # an object holds whole seconds
    work.gate_states = {**work.gate_states, GATE: GateState(OPEN, now)}


def inherit(parent: WorkloadInfo, variant: WorkloadInfo) -> bool:
    """Have the gates of the parent stand likewise here; return whether any moved."""
    states = {
        name: parent.gate_states[name]
        for name in parent.preemption_gates
        if name in parent.gate_states
    }
    if states.items() <= variant.gate_states.items():
        return False
    variant.gate_states = {**variant.gate_states, **states}
    return True


def _is_open(work: WorkloadInfo) -> bool:
    state = work.gate_states.get(GATE)
    return state is not None and state.position == OPEN


def _may_be_admitted(work: WorkloadInfo) -> bool:
    return work.active and not (work.reserved or work.finished or work.gated)
