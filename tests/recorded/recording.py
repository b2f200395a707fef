"""What a recording holds, as far as a run of it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler.cli.recording_folder import Event
from scheduler.model import durations
from scheduler.model.errors import SchedulerError

Item = dict[str, Any]
Attempts = dict[str, tuple[float, int]]  # result -> (seconds, how many)
_US_PER_MS = 1000
#: Kinds by whose watch events time is measured.
MEASURED_KINDS = frozenset({"Job", "Workload", "Pod"})


class Admission(msgspec.Struct, frozen=True):
    """One admission; seconds since t=0."""

    at: float


class Eviction(msgspec.Struct, frozen=True, rename="camel"):
    """One eviction; seconds since t=0."""

    at: float
    reason: str
    quota_released_at: float | None = None


class Arrival(msgspec.Struct, frozen=True, rename="camel"):
    """One Workload of the recording, by its Job. Times are seconds since t=0."""

    name: str
    namespace: str
    uid: str
    seen_at: float
    creation_timestamp: str
    admissions: list[Admission] = []
    evictions: list[Eviction] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A folder that was read. `events` can be gone through once per call.

    `start` is the wall time of t=0, `attempts` what Kueue's metrics said by some
    instants (ms, ascending) of its admission attempts, `notes` what it leaves out.
    """

    name: str
    start: str
    sources: list[tuple[str, str]]
    arrivals: list[Arrival]
    events: list[Event]
    standing: list[Item] = field(default_factory=list)  # pods that were there at t=0
    attempts: list[tuple[int, Attempts]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def start_us(self) -> int:
        """Return t=0 as microseconds since the Unix epoch."""
        return durations.stamp_us(self.start)

    def ms(self, stamp: str) -> int:
        """Return a time of receipt as milliseconds since t=0."""
        return (durations.stamp_us(stamp) - self.start_us) // _US_PER_MS

    @property
    def end_ms(self) -> int:
        """Return the time of the last event."""
        return self.ms(self.events[-1].at) if self.events else 0


def read_arrivals(text: bytes, place: str) -> list[Arrival]:
    """Return the rows of an arrivals.json. Raises SchedulerError that names it."""
    try:
        return msgspec.json.decode(text, type=list[Arrival])
    except msgspec.MsgspecError as error:
        raise SchedulerError(f"{place}: expected arrivals: {error}") from error


def read_attempts(text: str) -> Attempts:
    """Return result -> (seconds, how many) of Kueue's admission attempts."""
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        if not line.startswith(_ATTEMPTS):
            continue
        words, value = line.rsplit(" ", 1)
        if 'result="' in words and ("_sum{" in words or "_count{" in words):
            result = words.split('result="')[1].split('"')[0]
            pair = found.setdefault(result, [0.0, 0.0])
            pair["_count{" in words] = float(value)
    return {result: (total, int(count)) for result, (total, count) in found.items()}


_ATTEMPTS = "kueue_admission_attempt_duration_seconds_"
