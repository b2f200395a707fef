"""A pod in the scheduling queue, and what its attempts came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scheduler.records.pod import Pod

#: active: to be tried; backoff, error: tried again later; pool: until an event
#: helps; gated: PreEnqueue said no; flight: being tried or bound
QueuePlace = Literal["active", "backoff", "error", "pool", "gated", "flight"]


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
