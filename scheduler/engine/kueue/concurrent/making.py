"""Variants that are to be made and deleted, and what is said of variants.

Source: docs/semantics/kueue-concurrent-admission.md#events.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model.decisions import Edit
from scheduler.model.objects import Key
from scheduler.model.reasons import (
    CREATED_VARIANT,
    DELETED_VARIANT,
    created_variant,
    deleted_variant,
)

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
