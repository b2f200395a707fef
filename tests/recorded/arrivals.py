"""When each Job's Workload came, was admitted and evicted, from its watch events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler.model.reasons import condition, is_true
from scheduler.recorded.qrec.reading import Followed
from tests.recorded.recording import Admission, Arrival, Eviction
from tests.recorded.steps import job_of

Item = dict[str, Any]
_US = 1_000_000


@dataclass(slots=True)
class _Row:
    """What was seen of one Workload; seconds since the begin."""

    first: Item
    seen_at: float
    admissions: list[Admission] = field(default_factory=list)
    evictions: list[Eviction] = field(default_factory=list)
    holds: bool = False
    evicted: bool = False

    def see(self, at: float, status: Item) -> None:
        holds, evicted = is_true(status, "QuotaReserved"), is_true(status, "Evicted")
        if holds and not self.holds:
            self.admissions.append(Admission(at=at))
        if evicted and not self.evicted:
            self.evictions.append(Eviction(at=at, reason=_reason(status)))
        if self.holds and not holds and self.evictions:
            last = self.evictions[-1]
            if last.quota_released_at is None:
                self.evictions[-1] = Eviction(
                    at=last.at, reason=last.reason, quota_released_at=at
                )
        self.holds, self.evicted = holds, evicted


def arrivals_of(found: Followed) -> list[Arrival]:
    """Return a row per Workload that a Job owns, in the order of arrival.

    What stood at the begin was seen at 0, and admitted at 0 if it held quota.
    """
    rows: dict[tuple[str, str], _Row] = {}
    for item in found.standing:
        _see(rows, 0.0, item)
    for seen in found.events:
        if seen.type != "DELETED":
            _see(rows, (seen.at_us - found.start_us) / _US, seen.object)
    return [_arrival(place, row) for place, row in rows.items()]


def _see(rows: dict[tuple[str, str], _Row], at: float, item: Item) -> None:
    if item["kind"] == "Workload" and (job := job_of(item)):
        place = item["metadata"].get("namespace", ""), job
        row = rows.setdefault(place, _Row(first=item, seen_at=at))
        row.see(at, item.get("status") or {})


def _arrival(place: tuple[str, str], row: _Row) -> Arrival:
    metadata = row.first["metadata"]
    return Arrival(
        name=place[1],
        namespace=place[0],
        uid=metadata.get("uid", ""),
        seen_at=row.seen_at,
        creation_timestamp=metadata.get("creationTimestamp", ""),
        admissions=row.admissions,
        evictions=row.evictions,
    )


def _reason(status: Item) -> str:
    found = condition(status, "Evicted")
    return str((found or {}).get("reason", ""))
