"""What a recording holds, as far as a run of it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, in_field

Item = dict[str, Any]
_Found = TypeVar("_Found")
Attempts = dict[str, tuple[float, int]]  # result -> (seconds, how many)
_US_PER_MS = 1000
#: Kinds by whose watch events time is measured.
MEASURED_KINDS = frozenset({"Job", "Workload", "Pod"})
#: The source that is Kueue's Configuration, where there is one.
CONFIGURATION = "config.yaml"


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


class Event(msgspec.Struct, frozen=True):
    """One watch event, at its time of receipt."""

    at: str
    type: str
    object: Item


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
    """Return the rows of an arrivals.json.

    Raises SchedulerError that names the file and what was expected.
    """
    return _decode(text, list[Arrival], place)


def read_events(lines: Iterable[bytes], place: str) -> Iterator[Event]:
    """Yield the watch events but bookmarks, which change nothing.

    Raises SchedulerError with file and line, also of an error of the watch.
    """
    for number, line in enumerate(lines, start=1):
        try:
            event = msgspec.json.decode(line, type=Event)
        except msgspec.MsgspecError as error:
            raise SchedulerError(
                in_field(
                    f"{place}:{number}", FileProblem.WATCH_EVENT.said(problem=error)
                )
            ) from error
        if event.type == "BOOKMARK":
            continue
        item = event.object
        if not (item.get("kind") and (item.get("metadata") or {}).get("name")):
            said = item.get("message") or item.get("kind") or "none"
            raise SchedulerError(
                in_field(
                    f"{place}:{number}",
                    FileProblem.WATCHED.said(
                        given=event.type, problem=f"{said!s:.200}"
                    ),
                )
            )
        yield event


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


def _decode(data: bytes, kind: type[_Found], place: str) -> _Found:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise SchedulerError(
            in_field(place, FileProblem.NOT_RECORDED.said(problem=error))
        ) from error
