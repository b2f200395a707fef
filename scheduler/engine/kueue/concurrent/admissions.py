"""A parent is admitted as its variant is; the variant knows of the job's pods by it.

Source: docs/semantics/kueue-concurrent-admission.md#what-the-controller-does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler.engine.kueue.controller.admissions import emit_admission
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.families import GATE
from scheduler.engine.kueue.workload.info import WorkloadInfo, clear_eviction
from scheduler.engine.stage import Context
from scheduler.model.decisions import Admit, Edit
from scheduler.model.kueue.check_answers import OPEN, GateState
from scheduler.model.objects import Key
from scheduler.model.quota import RETAIN_FIRST, Migration
from scheduler.model.reasons import (
    ADMITTED,
    BLOCKED_ON_GATES,
    CREATED_VARIANT,
    DELETED_VARIANT,
    PODS_DO_NOT_RUN,
    PODS_READY,
    QUOTA_RESERVED,
    WAIT_FOR_START,
    created_variant,
    deleted_variant,
    reserved_in,
    variant_admitted,
)


def admit_parent(
    life: Lifecycle, parent: WorkloadInfo, variant: WorkloadInfo, queue: ClusterQueue
) -> None:
    """Write the admission of a variant into its parent, which takes no quota by it."""
    sentence = variant_admitted(variant.key.name)
    parent.admission = variant.admission
    life.set_condition(
        parent, QUOTA_RESERVED, True, QUOTA_RESERVED, reserved_in(queue.name)
    )
    clear_eviction(parent, life.context.now_us)
    life.set_condition(parent, ADMITTED, True, ADMITTED, sentence)
    if life.cluster.settings.waiting is not None:
        life.set_condition(parent, PODS_READY, False, WAIT_FOR_START, PODS_DO_NOT_RUN)
    life.arm_timer(parent)
    emit_admission(life, parent, Admit, ADMITTED, sentence)


def sync_pods_ready(
    life: Lifecycle, parent: WorkloadInfo, variant: WorkloadInfo
) -> None:
    """Have a variant say of pods what its parent says."""
    known = parent.conditions.get(PODS_READY)
    if known is None or not parent.has_condition(ADMITTED):
        return
    variant.pods_ready = parent.pods_ready
    if life.set_condition(
        variant, PODS_READY, known.status, known.reason, known.message
    ):
        life.arm_timer(variant)


# ------------------------------------------------------------------------
# Which variants go on while one is admitted.


def standing(
    parent: WorkloadInfo,
    work: WorkloadInfo,
    admitted: WorkloadInfo | None,
    flavors: Sequence[str],
    migration: Migration,
) -> tuple[bool, str]:
    """Return whether a variant is to be active, and why.

    The admitted one stays as it is while its parent is active.
    """
    if not parent.active:
        return False, f'Parent Workload "{parent.key.path}" not active'
    if work is admitted:
        return work.active, ""
    if admitted is None:
        return True, "no other Variant being admitted"
    other, last = admitted.key.path, migration.last_acceptable
    if migration.mode == RETAIN_FIRST:
        return False, f'RetainFirstAdmission: another Variant "{other}" is admitted'
    if not migration.reaches(work.flavor, flavors):
        below = f'being below lastAcceptableFlavor: "{last}"'
        return False, f'{below} and another Variant admitted "{other}"'
    if flavors.index(work.flavor) > flavors.index(admitted.flavor):
        return False, f'being lower priority than admitted Variant "{other}"'
    higher = f'higher priority than admitted Variant "{other}"'
    above = f'at least lastAcceptableFlavor: "{last}" and ' if last else ""
    return True, f"being {above}{higher}"


# ------------------------------------------------------------------------
# Variants that are to be made and deleted, and what is said of variants.


Variants = Sequence[WorkloadInfo]
Wanted = list[tuple[Key, str, int]]  # parent, flavor, place of the flavor


class VariantMaking:
    """What the driver is to put and to delete: Kueue's stage makes no objects."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._wanted: dict[tuple[Key, str], int] = {}
        self._gone: dict[Key, None] = {}

    def complete(
        self, parent: WorkloadInfo, variants: Variants, flavors: Sequence[str]
    ) -> Variants:
        """Ask for the variants that lack, give up those of other flavors.

        Returns those that are there and stay.
        """
        there = {work.flavor for work in variants}
        for place, flavor in enumerate(flavors):
            if flavor not in there:
                self._wanted[parent.key, flavor] = place
        for work in variants:
            if work.flavor not in flavors and work.key not in self._gone:
                self._gone[work.key] = None
                sentence = deleted_variant(work.key.path, work.flavor)
                self.report(parent.key, DELETED_VARIANT, sentence)
        return [work for work in variants if work.flavor in flavors]

    def give_up(self, variants: Variants) -> None:
        """Have variants deleted whose parent is gone."""
        self._gone.update(dict.fromkeys(work.key for work in variants))

    def take(self) -> tuple[Wanted, list[Key]]:
        """Return what is to be made and what is to be deleted, and start anew."""
        wanted = [(key, flavor, at) for (key, flavor), at in self._wanted.items()]
        gone = list(self._gone)
        self._wanted.clear()
        self._gone.clear()
        return wanted, gone

    def made(self, parent: Key, variant: Key) -> None:
        """Report a variant that the driver has put."""
        self.report(parent, CREATED_VARIANT, created_variant(variant.path))

    def report(self, subject: Key, reason: str, message: str) -> None:
        """Say what was done to a parent or a variant."""
        self.context.journal.emit(
            Edit(
                at_ms=self.context.now_ms,
                subject=subject,
                reason=reason,
                message=message,
                action=reason,
            )
        )


# ------------------------------------------------------------------------
# Which variant of a Workload may preempt: one, and the next after five minutes.


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
