"""Which Workloads are variants of which, and whose family changed.

Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.objects import Key
from scheduler.model.reasons import ADMITTED


class Families:
    """Parents by key, each with its variants; `changed` since the last look."""

    def __init__(self) -> None:
        self._variants: dict[Key, dict[WorkloadInfo, None]] = {}
        self.changed: dict[Key, None] = {}

    def put(self, work: WorkloadInfo) -> None:
        """Take a workload that is new or was read again."""
        if work.parent is not None:
            self._variants.setdefault(work.parent, {})[work] = None
        self.note(work)

    def remove(self, work: WorkloadInfo) -> None:
        """Forget a workload; the rest of its family is looked at again."""
        if work.parent is not None:
            self._variants.get(work.parent, {}).pop(work, None)
        self.note(work)

    def note(self, work: WorkloadInfo) -> None:
        """Have the family of a workload looked at."""
        self.changed[work.parent or work.key] = None

    def take_changed(self) -> list[Key]:
        """Return the parents whose families changed, sorted, and start anew."""
        changed = sorted(self.changed)
        self.changed.clear()
        return changed

    def variants(self, parent: Key, flavors: Sequence[str]) -> list[WorkloadInfo]:
        """Return the variants of a Workload in the order of these flavors.

        Those of other flavors come last.
        """
        places = {flavor: place for place, flavor in enumerate(flavors)}
        last = len(places)
        return sorted(
            self._variants.get(parent, ()),
            key=lambda work: (places.get(work.flavor, last), work.uid),
        )

    def admitted_sibling(
        self, work: WorkloadInfo, flavors: Sequence[str], *, preferred: bool
    ) -> WorkloadInfo | None:
        """Return an admitted variant of the same Workload with another flavor.

        Of a more preferred flavor, or else of a less preferred one.
        Source: docs/semantics/kueue-concurrent-admission.md#in-a-cycle.
        """
        if work.parent is None or work.flavor not in flavors:
            return None
        ours = flavors.index(work.flavor)
        for other in self.variants(work.parent, flavors):
            if other is work or other.flavor not in flavors:
                continue
            if other.cluster_queue is None or not other.has_condition(ADMITTED):
                continue
            if (flavors.index(other.flavor) < ours) == preferred:
                return other
        return None
