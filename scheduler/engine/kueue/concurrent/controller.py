"""The controller of variants: makes them, lets them run or not, and keeps the parent.

Source: docs/semantics/kueue-concurrent-admission.md#what-the-controller-does.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.kueue.concurrent import admissions
from scheduler.engine.kueue.concurrent.admissions import (
    VariantMaking,
    admit_parent,
    standing,
    sync_pods_ready,
)
from scheduler.engine.kueue.controller import evictions
from scheduler.engine.kueue.controller.evictions import finish
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.families import Families
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.objects import Key
from scheduler.model.quota import Migration
from scheduler.model.reasons import (
    ACTIVATED_VARIANT,
    ADMITTED,
    CONCURRENT_ADMISSION,
    DEACTIVATED_VARIANT,
    DEACTIVATION_TARGET,
    FINISHED,
    NO_VARIANT_RUNS,
    UNGATED_VARIANT,
    VARIANT_EVICTED,
    VARIANT_EVICTED_SENTENCE,
    activated_for,
    deactivated_for,
    ungated_variant,
)

Variants = Sequence[WorkloadInfo]


class VariantController:
    """Looks at families that changed, until none does."""

    def __init__(self, life: Lifecycle, families: Families) -> None:
        self.life = life
        self.cluster = life.cluster
        self.families = families
        self.making = VariantMaking(life.context)
        self._due: dict[Key, int] = {}  # parent -> when (us) a gate may open

    def due(self) -> int | None:
        """Return when (us) a gate may open next, or None."""
        for key in self.families.changed:  # as after a restart
            self._arm(key)
        return min(self._due.values(), default=None)

    def reconcile(self) -> bool:
        """Look at every family that changed or is due; return whether there was any."""
        now = self.life.context.now_us
        for key in [key for key, at in self._due.items() if at <= now]:
            self.families.changed[key] = None
        changed = self.families.take_changed()
        for key in changed:
            self._due.pop(key, None)
            self._reconcile(key)
        return bool(changed)

    def _arm(self, key: Key) -> None:
        """Note when the gate of a variant may open, if one waits for that."""
        parent = self.cluster.workloads.get(key)
        queue = None if parent is None else self.cluster.cluster_queue_of(parent)
        if queue is None:
            return
        variants = self.families.variants(key, _flavors(queue))
        work, at = admissions.next_to_open(variants)
        if work is not None and at > self.life.context.now_us:
            self._due[key] = at

    def _reconcile(self, key: Key) -> None:
        parent = self.cluster.workloads.get(key)
        if parent is None:  # what a deleted object owns is deleted
            self.making.give_up(self.families.variants(key, ()))
            return
        queue = self.cluster.cluster_queue_of(parent)
        if not self.cluster.is_parent(parent) or queue is None:
            return
        if not parent.is_parent:
            # Take a Workload out of its queue: from now on its variants are tried.
            parent.is_parent = True
            self.life.leave_queue(parent)
            self.life.context.journal.touch(parent.key)
        variants = self.families.variants(key, _flavors(queue))
        if parent.finished:
            self._finish(parent, variants)
            return
        stay = self.making.complete(parent, variants, _flavors(queue))
        self._look_after(parent, stay, queue)

    def _look_after(
        self, parent: WorkloadInfo, variants: Variants, queue: ClusterQueue
    ) -> None:
        """Evict, deactivate, activate, admit: in this order, as the real one does."""
        if self._evict_with_variant(parent, variants):
            return
        for work in variants if parent.preemption_gates else ():
            if admissions.inherit(parent, work):
                self._tried_again(work)
        flavors = _flavors(queue)
        migration = queue.spec.migration or Migration()
        self._follow(parent, variants, flavors, migration)
        self._sync(parent, variants, queue)
        self._open_gate(parent, variants)

    def _evict_with_variant(self, parent: WorkloadInfo, variants: Variants) -> bool:
        """Take the quota of evicted variants; the job of an admitted one ends first.

        Returns whether that is waited for.
        """
        for work in variants:
            if not (work.evicted and work.reserved):
                continue
            if parent.reserved and work.has_condition(ADMITTED):
                if not parent.evicted:
                    evictions.evict(
                        self.life, parent, VARIANT_EVICTED, VARIANT_EVICTED_SENTENCE
                    )
                return True
            evictions.finish_eviction(self.life, work)
            self.life.dirty[work] = None
        return False

    def _follow(
        self,
        parent: WorkloadInfo,
        variants: Variants,
        flavors: Sequence[str],
        migration: Migration,
    ) -> None:
        """Deactivate the variants that are not to go on, and activate the others.

        One that Kueue itself deactivated, as for its time, stays so.
        """
        admitted = _admitted(variants)
        for active in (False, True):
            for work in variants:
                to_be, why = standing(parent, work, admitted, flavors, migration)
                to_be = to_be and not work.has_condition(DEACTIVATION_TARGET)
                if to_be == active != work.active:
                    self._set_active(work, active, why)

    def _set_active(self, work: WorkloadInfo, active: bool, why: str) -> None:
        work.active = active
        said = (DEACTIVATED_VARIANT, deactivated_for(why))
        if active:
            said = (ACTIVATED_VARIANT, activated_for(why))
        self.making.report(work.key, *said)
        self._look_again(work)
        if active:
            self.life.enqueue(work)

    def _look_again(self, work: WorkloadInfo) -> None:
        self.life.context.journal.touch(work.key)
        self.life.dirty[work] = None
        self.families.note(work)

    def _sync(
        self, parent: WorkloadInfo, variants: Variants, queue: ClusterQueue
    ) -> None:
        """Have the parent admitted as its admitted variant is, or not at all."""
        admitted = _admitted(variants)
        if admitted is None:
            if parent.has_condition(ADMITTED) and not parent.evicted:
                evictions.evict(
                    self.life, parent, CONCURRENT_ADMISSION, NO_VARIANT_RUNS
                )
            return
        sync_pods_ready(self.life, parent, admitted)
        if not parent.has_condition(ADMITTED):
            admit_parent(self.life, parent, admitted, queue)

    def _open_gate(self, parent: WorkloadInfo, variants: Variants) -> None:
        """Let the next variant preempt, five minutes after the last one at the earliest."""
        work, at = admissions.next_to_open(variants)
        if work is None:
            return
        now = self.life.context.now_us
        if at > now:
            self._due[parent.key] = at
            return
        admissions.open_gate(work, now)
        self.making.report(work.key, UNGATED_VARIANT, ungated_variant(work.key.path))
        self._tried_again(work)

    def _tried_again(self, work: WorkloadInfo) -> None:
        """Let a variant be tried whose gates moved."""
        self._look_again(work)
        self.life.enqueue(work)

    def _finish(self, parent: WorkloadInfo, variants: Variants) -> None:
        how = parent.conditions[FINISHED]
        for work in variants:
            if not work.finished:
                finish(self.life, work, how.reason, how.message)


def _flavors(queue: ClusterQueue) -> Sequence[str]:
    """Return the flavors in which a Workload is tried; none in a queue without groups."""
    return queue.spec.groups[0].flavors if queue.spec.groups else ()


def _admitted(variants: Variants) -> WorkloadInfo | None:
    return next((work for work in variants if work.has_condition(ADMITTED)), None)
