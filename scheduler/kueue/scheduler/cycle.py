"""One admission cycle: nominate all heads on one state, then take them in order.

Source: KUEUE.md 7 (Kueue, admission).
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.kueue.cache.borrowers import Borrowers
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.flavorassigner.modes import Mode
from scheduler.kueue.queue.requeue import Reason
from scheduler.kueue.scheduler.entries import (
    SEVERITY_REASONS,
    Entry,
    Fate,
)
from scheduler.kueue.scheduler.nominate import (
    nominate,
    note_attempt,
    search,
)
from scheduler.kueue.scheduler.preempting import Preempting
from scheduler.kueue.trace import Trace
from scheduler.kueue.tree.quota import (
    Amount,
    available,
    charge,
    charge_all,
    release,
    release_all,
)
from scheduler.kueue.tree.tree import Cell, Node
from scheduler.kueue.workload.info import Work
from scheduler.reasons import (
    NO_LONGER_FITS,
    OVERLAPPING,
    OVERLAPPING_FITS,
    WAITING_FOR_PREEMPTED,
    WAITING_FOR_QUOTA,
    pending_preemption,
)


class Cycle:
    """One cycle. Usage of those admitted stays; all else is undone at the end."""

    def __init__(
        self,
        cluster: Cluster,
        preempting: Preempting,
        *,
        gated: bool = False,
        blocked: bool = False,
        trace: Trace | None = None,
        traced: Work | None = None,
    ) -> None:
        self.cluster = cluster
        self.preempting = preempting
        self.gated = gated  # one is admitted at a time: its pods are waited for
        self.blocked = blocked  # pods are being waited for
        self.waiting: Entry | None = None  # who waits for them; the rest waits along
        self.trace = trace
        self.traced = traced
        self.preempted: dict[Work, Entry] = {}
        self.freed: dict[Node, dict[Cell, int]] = {}  # per root, by the preempted
        self.held_back: list[Amount] = []  # reserved for this cycle only

    def run(self, heads: list[Entry]) -> list[Entry]:
        """Return the entries in the order in which they were decided."""
        self._trace_heads(heads)
        borrowers = Borrowers()  # nominations leave the tree as it is
        for entry in heads:
            nominate(
                self.cluster,
                self.preempting,
                entry,
                borrowers=borrowers,
                trace=self._trace(entry),
            )
        able = [entry for entry in heads if entry.assignment is not None]
        decided = list(self._decide(able))
        for cell, amount in reversed(self.held_back):
            if amount > 0:
                release(cell, amount)
            else:  # a negative reservation never reached the parent
                cell.usage -= amount
        return decided + [entry for entry in heads if entry.assignment is None]

    def _trace(self, entry: Entry) -> Trace | None:
        return self.trace if entry.work is self.traced else None

    def _trace_heads(self, heads: list[Entry]) -> None:
        if self.trace is not None and any(e.work is self.traced for e in heads):
            names = [str(entry.work.key) for entry in heads]
            self.trace.note("cycle", number=self.cluster.cycle, heads=names)

    def _decide(self, entries: list[Entry]) -> Iterator[Entry]:
        for entry in self.preempting.order(entries):
            if self.waiting is None:
                self._take(entry)
            else:
                entry.hold()
            if self.trace is not None:
                self._trace_fate(entry, self.trace)
            yield entry

    def _trace_fate(self, entry: Entry, trace: Trace) -> None:
        trace.note(
            "decided",
            workload=str(entry.work.key),
            queue=entry.queue.name,
            traced=entry.work is self.traced,
            fate=entry.fate.value,
            borrow=entry.borrow,
            reason=entry.reason,
            message=entry.message,
            targets=[[str(t.work.key), t.reason] for t in entry.targets],
        )

    def _take(self, entry: Entry) -> None:
        """Decide one entry. Source: KUEUE.md 7.3."""
        assert entry.assignment is not None
        deferred = self._recompute(entry) if self._overlaps(entry) else False
        mode = entry.assignment.mode
        if mode is Mode.NO_FIT:
            reason = SEVERITY_REASONS[entry.assignment.severity()]
            entry.refuse(Reason.NO_FIT, reason, entry.assignment.message())
        elif mode is Mode.PREEMPT and not entry.targets:
            self._wait(entry)
        elif deferred:
            self._defer(entry)
        elif self._overlaps(entry):
            entry.skip(OVERLAPPING)
        elif not self._fits(entry):
            entry.skip(NO_LONGER_FITS)
        elif mode is Mode.PREEMPT:
            self._preempt(entry)
        else:
            self._admit(entry)

    def _overlaps(self, entry: Entry) -> bool:
        return any(target.work in self.preempted for target in entry.targets)

    def _recompute(self, entry: Entry) -> bool:
        """Search again without those already preempted; tell whether it fits then.

        Source: KUEUE.md 7.3 a.
        """
        assert entry.assignment is not None
        freed = self._freed(entry)
        release_all(freed)
        entry.assignment, entry.targets = search(
            self.cluster,
            self.preempting,
            entry,
            only=entry.assignment.chosen(),
            absent=self.preempted,
            trace=self._trace(entry),
        )
        charge_all(reversed(freed))
        note_attempt(self.cluster, entry)
        return entry.assignment.mode is Mode.FIT

    def _freed(self, entry: Entry) -> list[Amount]:
        return list(self.freed.get(entry.queue.root, {}).items())

    def _fits(self, entry: Entry) -> bool:
        """Tell whether it fits with all victims so far, and its own, gone."""
        assert entry.assignment is not None
        gone = self._freed(entry)
        for target in entry.targets:
            gone.extend(target.work.held)
        release_all(gone)
        fitting = all(
            available(cell) >= amount for cell, amount in entry.assignment.usage.items()
        )
        charge_all(reversed(gone))
        return fitting

    def _reserve(self, cell: Cell, amount: int) -> None:
        charge(cell, amount)
        self.held_back.append((cell, amount))

    def _wait(self, entry: Entry) -> None:
        """Nobody may be preempted; keep what it would take from going to others.

        Source: KUEUE.md 7.3 c.
        """
        assert entry.assignment is not None
        message = entry.assignment.message()
        entry.refuse(Reason.NO_CANDIDATES, WAITING_FOR_QUOTA, message)
        if entry.queue.spec.reclaim == "Any":
            return
        for cell, amount in entry.assignment.usage.items():
            if not entry.borrow:
                amount = max(0, min(amount, cell.nominal - cell.usage))
            elif cell.borrowing is not None:
                amount = min(amount, cell.nominal + cell.borrowing - cell.usage)
            self._reserve(cell, amount)

    def _defer(self, entry: Entry) -> None:
        entry.refuse(Reason.PENDING_PREEMPTION, WAITING_FOR_PREEMPTED, OVERLAPPING_FITS)
        entry.work.attempt = None
        self._reserve_usage(entry)

    def _reserve_usage(self, entry: Entry) -> None:
        assert entry.assignment is not None
        for cell, amount in entry.assignment.usage.items():
            self._reserve(cell, amount)

    def _preempt(self, entry: Entry) -> None:
        assert entry.assignment is not None
        entry.fate = Fate.PREEMPTING
        entry.requeue = Reason.PENDING_PREEMPTION
        entry.reason = WAITING_FOR_PREEMPTED
        message = entry.assignment.message()
        entry.message = pending_preemption(message, len(entry.targets))
        entry.work.attempt = None
        freed = self.freed.setdefault(entry.queue.root, {})
        for target in entry.targets:
            self.preempted[target.work] = entry
            for cell, amount in target.work.held:
                freed[cell] = freed.get(cell, 0) + amount
        self._reserve_usage(entry)

    def _admit(self, entry: Entry) -> None:
        """Admit, unless pods are waited for: then the cycle goes no further.

        Source: KUEUE.md 7.3 g, 11.4.
        """
        assert entry.assignment is not None
        if self.blocked:
            self.waiting = entry
            entry.hold()
            return
        entry.fate = Fate.ADMITTED
        charge_all(entry.assignment.usage.items())
        self.blocked = self.gated
