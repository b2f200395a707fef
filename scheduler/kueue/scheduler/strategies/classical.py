"""Classical preemption as a strategy, with its order of admission."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scheduler.kueue.cache.borrowers import Borrowers, Needed
from scheduler.kueue.preemption.classical import ClassicalSearch
from scheduler.kueue.preemption.fair import Rule
from scheduler.kueue.preemption.targets import Requests, Target
from scheduler.kueue.scheduler.entries import Entry
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.tree import Queue
from scheduler.kueue.workload.info import Work
from scheduler.registry import register


@register(
    "preemption",
    "Classical",
    label="Classical",
    help="Lent quota is reclaimed and lower priorities make room; entries that "
    "borrow least go first.",
)
class Classical:
    """Source: KUEUE.md 7.2, 8."""

    fair = False

    @staticmethod
    def search(
        work: Work,
        queue: Queue,
        requests: Requests,
        needed: Needed,
        *,
        borrowers: Borrowers,
        rules: Sequence[Rule] = (),
        absent: Collection[Work] = (),
        trace: Trace | None = None,
    ) -> list[Target]:
        """Return whom to preempt."""
        search = ClassicalSearch(
            work,
            queue,
            requests,
            needed,
            borrowers=borrowers,
            absent=absent,
            trace=trace,
        )
        return search.find()

    @staticmethod
    def order(entries: Sequence[Entry]) -> Iterator[Entry]:
        """Yield entries: those that borrow lowest, then by priority, then by age."""
        yield from sorted(
            entries,
            key=lambda entry: (
                entry.borrow,
                -entry.work.priority,
                entry.work.queued_us,
                entry.work.uid,
            ),
        )
