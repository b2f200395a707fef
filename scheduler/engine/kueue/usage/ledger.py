"""What each LocalQueue has consumed, and what it is charged on entry.

Source: docs/semantics/kueue-admission-fair-sharing.md#the-ledger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from scheduler.engine.kueue.usage.decay import (
    Usage,
    add,
    decayed,
    nano,
    scale,
    share_of_now,
)
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model.kueue.usage_settings import UsageFairSharing
from scheduler.model.objects import Key

_US = 1_000_000


class UsageEntry(msgspec.Struct):
    """One LocalQueue: consumed, entry penalties by workload, when it was sampled."""

    last_us: int
    consumed: Usage = {}
    pending: dict[str, Usage] = {}  # workload, "namespace/name"
    seeded: bool = False
    shown: Usage = {}  # what the status shows, and since when
    shown_us: int | None = None


class UsageLedger:
    """The entries of all LocalQueues."""

    def __init__(
        self,
        settings: UsageFairSharing,
        context: Context,
        is_sampled: Callable[[LocalQueue], bool],
    ) -> None:
        self.settings = settings
        self.context = context
        self.is_sampled = is_sampled  # neither it nor its ClusterQueue is stopped
        self.entries: dict[LocalQueue, UsageEntry] = {}
        self.changed: dict[LocalQueue, None] = {}  # to be looked at
        self.stored: dict[Key, Usage] = {}  # consumption of an earlier run

    # ---- order ----

    def value(self, local_queue: LocalQueue) -> float:
        """Return the usage by which workloads of a ClusterQueue are ordered.

        Source: docs/semantics/kueue-admission-fair-sharing.md#usage-of-a-localqueue.
        """
        spec = local_queue.spec
        weight = 1.0 if spec is None else spec.weight
        if weight <= 0:
            return math.inf
        entry = self.entries.get(local_queue)
        if entry is None:
            return 0.0
        total = add((entry.consumed, *entry.pending.values()))
        weights = self.settings.weights
        usage = sum(
            weights.get(name, 1.0) * (float(total[name]) * 1e-9)
            for name in sorted(total)
        )
        return usage / weight

    # ---- entry penalties ----

    def add_entry_penalty(self, work: WorkloadInfo) -> None:
        """Record the entry penalty of a workload that got quota.

        Source: docs/semantics/kueue-admission-fair-sharing.md#entry-penalty.
        """
        assert work.admission is not None
        requests = add(
            {name: nano(name, amount) for name, amount in part.usage.items()}
            for part in work.admission.pod_sets
        )
        entry = self.entries.get(work.local_queue)
        if entry is None:
            entry = self.entries[work.local_queue] = self._entry()
        share = self._share(self.settings.interval_us)
        entry.pending = {**entry.pending, work.name: scale(requests, share)}
        self.note(work.local_queue)

    def _entry(self) -> UsageEntry:
        return UsageEntry(last_us=self.context.now_us)

    def settle(self, work: WorkloadInfo) -> None:
        """Charge the penalty of a workload that became admitted."""
        entry = self.entries.get(work.local_queue)
        if entry is None or work.name not in entry.pending:
            return
        penalty = entry.pending[work.name]
        self._decay(work.local_queue, entry)
        entry.consumed = add((entry.consumed, penalty))
        self.forget(work)

    def forget(self, work: WorkloadInfo) -> None:
        """Drop the penalty of a workload without charging it."""
        entry = self.entries.get(work.local_queue)
        if entry is not None and work.name in entry.pending:
            kept = {n: p for n, p in entry.pending.items() if n != work.name}
            entry.pending = kept
            self.note(work.local_queue)

    # ---- sampling ----

    def note(self, local_queue: LocalQueue) -> None:
        """Note that a LocalQueue, or a workload of it, changed."""
        self.changed[local_queue] = None
        self.context.journal.touch(local_queue.key)

    def look(self) -> None:
        """Look at the LocalQueues that changed.

        Source: docs/semantics/kueue-admission-fair-sharing.md#sampling.
        """
        for local_queue in list(self.changed):
            self._look(local_queue)
        self.changed.clear()

    def sample_due(self) -> None:
        """Sample the LocalQueues whose interval is over, by name."""
        now = self.context.now_us
        due = [lq for lq, at in self._dues() if at <= now]
        for local_queue in sorted(due, key=lambda lq: lq.key):
            self._look(local_queue)

    def due(self) -> int | None:
        """Return the next instant (ms) with a sampling, or None."""
        at = min((at for _, at in self._dues()), default=None)
        return None if at is None else self.context.ms(at + 999)

    def _dues(self) -> list[tuple[LocalQueue, int]]:
        return [
            (local_queue, entry.last_us + self.settings.interval_us)
            for local_queue, entry in self.entries.items()
            if entry.seeded and self.is_sampled(local_queue)
        ]

    def _look(self, local_queue: LocalQueue) -> None:
        if not self.is_sampled(local_queue):
            return
        entry = self.entries.get(local_queue)
        if entry is None or not entry.seeded:
            self._seed(local_queue, entry or self._entry())
            return
        interval = self.context.now_us - entry.last_us
        owes = any(
            amount for part in entry.pending.values() for amount in part.values()
        )
        if owes or interval >= self.settings.interval_us:
            self._sample(local_queue, entry)

    def _seed(self, local_queue: LocalQueue, entry: UsageEntry) -> None:
        """Take over what an earlier run stored in the status, once."""
        stored = self.stored.pop(local_queue.key, {})
        entry.consumed = add((entry.consumed, stored))
        entry.seeded = True
        self.entries[local_queue] = entry
        self._sample(local_queue, entry)

    def _sample(self, local_queue: LocalQueue, entry: UsageEntry) -> None:
        self._decay(local_queue, entry)
        if self.settings.half_life_s == 0:
            entry.consumed = {}
        entry.shown, entry.shown_us = entry.consumed, self.context.now_us
        self.context.journal.touch(local_queue.key)

    def _decay(self, local_queue: LocalQueue, entry: UsageEntry) -> None:
        now = self.context.now_us
        usage: Usage = {}
        for (_, resource), amount in local_queue.admitted_usage.items():
            usage[resource] = usage.get(resource, 0) + nano(resource, amount)
        share = self._share(now - entry.last_us)
        entry.consumed = decayed(entry.consumed, usage, share)
        entry.last_us = now

    def _share(self, us: int) -> float:
        return share_of_now(us / _US, self.settings.half_life_s)

    # ---- storage ----

    def drop(self, local_queue: LocalQueue) -> None:
        """Forget a LocalQueue with its history."""
        self.entries.pop(local_queue, None)
        self.changed.pop(local_queue, None)

    def dump(self, local_queue: LocalQueue) -> dict[str, Any]:
        """Return the entry as plain values; nothing where there is none."""
        entry = self.entries.get(local_queue)
        state: dict[str, Any] = {}
        if entry is not None:
            state["usage"] = msgspec.to_builtins(entry)
        if local_queue.key in self.stored:
            state["stored"] = self.stored[local_queue.key]
        return state

    def load(self, local_queue: LocalQueue, state: Mapping[str, Any]) -> None:
        """Take back what `dump` returned."""
        if "usage" in state:
            self.entries[local_queue] = msgspec.convert(state["usage"], UsageEntry)
        if "stored" in state:
            self.stored[local_queue.key] = dict(state["stored"])
