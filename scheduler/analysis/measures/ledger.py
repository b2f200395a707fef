"""Who holds what and who waits, now and summed over time, kept by deltas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler.analysis.measures.subjects import Amounts, Subject
from scheduler.model.objects import Key

Shares = dict[str, Amounts]  # queue or place -> amounts


@dataclass(slots=True, kw_only=True)
class QuotaHolding:
    """What one subject holds since `since_ms`."""

    queue: str
    usage: Amounts
    since_ms: int
    parts: tuple[tuple[str, Amounts], ...] = ()  # (place, amounts)


@dataclass(slots=True)
class Ledger:
    """Sums over subjects. Every entry is undone by the entry that ends it."""

    held: dict[Key, QuotaHolding] = field(default_factory=dict)
    waiting: dict[Key, Subject] = field(default_factory=dict)
    using: Shares = field(default_factory=dict)  # queue -> held now
    asking: Shares = field(default_factory=dict)  # queue -> waited for now
    taken: Shares = field(default_factory=dict)  # place -> held now
    shapes: Counter[tuple[str, tuple[tuple[str, int], ...]]] = field(
        default_factory=Counter
    )  # (queue, what must fit) -> how many wait
    spent: Shares = field(default_factory=dict)  # queue -> units x ms, ended ones
    version: int = 0  # grows with every change

    def wait(self, key: Key, subject: Subject) -> None:
        """Note that a subject waits; twice is once."""
        if key in self.waiting or key in self.held:
            return
        self.version += 1
        self.waiting[key] = subject
        _add(self.asking, subject.queue, subject.totals, 1)
        for shape in subject.shapes:
            self.shapes[subject.queue, shape] += 1

    def stop_waiting(self, key: Key) -> None:
        """Note that a subject waits no more."""
        subject = self.waiting.pop(key, None)
        if subject is None:
            return
        self.version += 1
        _add(self.asking, subject.queue, subject.totals, -1)
        for shape in subject.shapes:
            self.shapes[subject.queue, shape] -= 1
            if not self.shapes[subject.queue, shape]:
                del self.shapes[subject.queue, shape]

    def take(self, key: Key, reservation: QuotaHolding) -> None:
        """Note what a subject holds from now on."""
        self.stop_waiting(key)
        self.release(key, reservation.since_ms)
        self.version += 1
        self.held[key] = reservation
        _add(self.using, reservation.queue, reservation.usage, 1)
        self.occupy(reservation.parts, 1)

    def release(self, key: Key, now_ms: int) -> QuotaHolding | None:
        """Note that a subject holds nothing any longer; return what it held."""
        reservation = self.held.pop(key, None)
        if reservation is None:
            return None
        self.version += 1
        _add(self.using, reservation.queue, reservation.usage, -1)
        _add(
            self.spent,
            reservation.queue,
            reservation.usage,
            now_ms - reservation.since_ms,
        )
        self.occupy(reservation.parts, -1)
        return reservation

    def occupy(self, parts: tuple[tuple[str, Amounts], ...], sign: int) -> None:
        """Take capacity in places, or (-1) give it back."""
        self.version += 1
        for place, amounts in parts:
            _add(self.taken, place, amounts, sign)

    def spent_until(self, now_ms: int) -> Shares:
        """Return units x ms by queue, what is still held counted up to now."""
        total = {queue: dict(amounts) for queue, amounts in self.spent.items()}
        for reservation in self.held.values():
            _add(
                total,
                reservation.queue,
                reservation.usage,
                now_ms - reservation.since_ms,
            )
        return total


def _add(shares: Shares, name: str, amounts: Mapping[str, int], times: int) -> None:
    row = shares.setdefault(name, {})
    for resource, amount in amounts.items():
        row[resource] = row.get(resource, 0) + amount * times
