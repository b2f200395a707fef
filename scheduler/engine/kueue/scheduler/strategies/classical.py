"""Classical preemption as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.engine.kueue.preemption.classical import ClassicalPreemption
from scheduler.engine.kueue.preemption.targets import PreemptionQuestion, Target
from scheduler.engine.kueue.scheduler.preempting import PreemptionStrategy
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.model.kueue.feature_gates import FeatureGates
from scheduler.model.registry import register


@register(
    "preemption",
    "Classical",
    label="Classical",
    help="Lent quota is reclaimed and lower priorities make room; entries that "
    "borrow least go first.",
)
class Classical(PreemptionStrategy):
    """Source: docs/semantics/kueue.md#order-of-entries."""

    fair = False

    @staticmethod
    def search(question: PreemptionQuestion) -> list[Target]:
        """Return the workloads to preempt."""
        return ClassicalPreemption(question).find()

    @staticmethod
    def order(entries: Sequence[Entry], gates: FeatureGates) -> Iterator[Entry]:
        """Yield entries: those that hold quota already, then those that
        borrow lowest, then by priority, then by age.
        """
        weighs = gates.sorts_by_priority
        yield from sorted(
            entries,
            key=lambda entry: (
                not entry.second_pass,
                entry.borrow,
                -entry.work.priority if weighs else 0,
                entry.work.queue_order_us,
                entry.work.uid,
            ),
        )
