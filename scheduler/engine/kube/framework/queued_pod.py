"""A pod in the scheduling queue, and what its attempts came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scheduler.model.pod import Pod

#: active: to be tried; backoff, error: tried again later; pool: until an event
#: helps; gated: PreEnqueue said no; flight: being tried or bound
QueuePlace = Literal["active", "backoff", "error", "pool", "gated", "flight"]

MAX_FAILURES = 8  # different messages that are counted per pod


@dataclass(slots=True, kw_only=True, eq=False)
class QueuedPodInfo:
    """A pod in the queue and what its attempts came to."""

    pod: Pod
    timestamp_us: int = 0  # of the last queueing
    first_us: int | None = None  # when it first entered the active queue
    seq: int = 0  # parts pods that were queued at one instant
    place: QueuePlace = "flight"
    attempts: int = 0
    rejections: int = 0
    errors: int = 0  # in a row
    ready_ms: int = 0  # when a backoff ends
    rejectors: set[str] = field(default_factory=set)
    waiting_on: set[str] = field(default_factory=set)  # rejected as Pending
    woken: set[str] = field(default_factory=set)  # plug-ins an event helped in flight
    attempt_ms: int = -1  # instant of the last attempt
    tried_before_ms: int = -1  # and of the one before
    message: str = ""
    reason: str = ""
    #: message of a failure -> how often, and since when (ms); the last few only
    failures: dict[str, tuple[int, int]] = field(default_factory=dict)

    def note_failure(self, message: str, now_ms: int) -> tuple[int, int]:
        """Count a failure; return how often it happened, and since when (ms)."""
        count, since = self.failures.pop(message, (0, now_ms))
        self.failures[message] = count + 1, since
        while len(self.failures) > MAX_FAILURES:
            del self.failures[next(iter(self.failures))]
        return self.failures[message]
