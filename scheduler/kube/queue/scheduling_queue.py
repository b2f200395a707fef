"""The scheduling queue: active, backing off, parked; who is tried next, and when."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from scheduler.kube.framework.events import Event
from scheduler.kube.framework.status import Status
from scheduler.kube.queue.heaps import (
    FixedOrder,
    MovingOrder,
    Order,
)
from scheduler.records.objects import Key
from scheduler.records.pod import Pod
from scheduler.stage import Context

#: active: to be tried; backoff, error: tried again later; pool: until an event
#: helps; gated: PreEnqueue said no; flight: being tried or bound
Place = Literal["active", "backoff", "error", "pool", "gated", "flight"]
ANY = "*"  # stands for an event that wakes whatever rejected the pod

_SECOND = 1000
_POOL_FLUSH_MS = 30_000
_POOL_AGE_MS = 300_000


@dataclass(slots=True, kw_only=True, eq=False)
class Queued:
    """A pod in the queue and what its attempts came to."""

    pod: Pod
    timestamp_us: int = 0  # of the last queueing
    first_us: int | None = None  # when it first entered the active queue
    seq: int = 0  # parts pods that were queued at one instant
    place: Place = "flight"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Backoff, and whether an idle scheduler cuts it short."""

    initial_ms: int = 1_000
    max_ms: int = 10_000
    pop_from_backoff: bool = True


class SchedulingQueue:
    """One queue for all profiles of a scheduler.

    Source: docs/semantics/kube-scheduler.md#scheduling-queue.
    """

    def __init__(
        self,
        context: Context,
        *,
        timing: Timing,
        sort_key: Callable[[Queued], tuple[Any, ...]],
        moving: bool,
        pre_enqueue: Callable[[Pod], Status],
        helped: Callable[[Pod, Event], set[str]],
    ) -> None:
        self.context = context
        self.timing = timing
        self._sort_key = sort_key
        self._pre_enqueue = pre_enqueue
        self._helped = helped
        self.entries: dict[Key, Queued] = {}
        self._active: Order = (MovingOrder if moving else FixedOrder)(sort_key)
        self._later: list[tuple[int, int, Queued]] = []
        self._parked: dict[Key, Queued] = {}
        self._flying: dict[Key, Queued] = {}
        self.next_seq = 0
        self._layout: list[Key] = []

    # --- in and out

    def add(self, pod: Pod) -> Queued:
        """Take a new pod."""
        self._lay()
        queued = Queued(pod=pod)
        self.entries[pod.key] = queued
        self._stamp(queued)
        self._to_active(queued)
        return queued

    def update(self, pod: Pod) -> None:
        """Take a changed pod; one that is parked is tried again."""
        self._lay()
        queued = self.entries[pod.key]
        queued.pod = pod
        if queued.place == "gated":
            self._to_active(queued)
        elif queued.place == "pool":
            self._after_backoff(queued)
        elif queued.place == "active":
            self._active.push(queued)
        elif queued.place == "flight":
            queued.woken.add(ANY)

    def remove(self, key: Key) -> Queued | None:
        """Forget a pod; heaps drop it when it comes up."""
        self._lay()
        queued = self.entries.pop(key, None)
        if queued is not None:
            self._leave(queued)
            queued.place = "flight"
        return queued

    def pop(self) -> Queued | None:
        """Return the next pod to try, None when there is none now."""
        self._lay()
        queued = self._active.pop()
        if queued is None and self.timing.pop_from_backoff:
            queued = self._pop_backoff()
        if queued is None:
            return None
        self._set(queued, "flight")
        queued.attempts += 1
        queued.rejectors.clear()
        queued.waiting_on.clear()
        queued.woken.clear()
        queued.tried_before_ms = queued.attempt_ms
        queued.attempt_ms = self.context.now_ms
        return queued

    def done(self, queued: Queued) -> None:
        """Note that the pod cannot be rejected any more: events do not matter."""
        self._flying.pop(queued.pod.key, None)

    def failed(self, queued: Queued, *, error: bool) -> None:
        """Put a pod back after an attempt that came to nothing.

        `rejectors` and `waiting_on` say who rejected it; an error has neither.
        """
        if error:
            queued.errors += 1
        else:
            queued.rejections += 1
            queued.errors = 0
        self._stamp(queued)
        if error or not (queued.rejectors or queued.waiting_on):
            self._set_backoff(queued, "error" if error else "backoff")
            return
        self._wake(queued, queued.woken)
        if queued.place == "flight":
            self._park(queued, "pool")

    # --- events

    def move(self, event: Event, *, but: Key | None = None) -> None:
        """Let an event wake the parked pods that it may help."""
        self._lay()
        for queued in sorted(self._parked.values(), key=_seq):
            if queued.pod.key != but:
                self._wake(queued, self._helped(queued.pod, event))
        for queued in self._flying.values():
            helped = self._helped(queued.pod, event)
            if not helped <= queued.woken:
                queued.woken |= helped
                self.context.journal.touch(queued.pod.key)

    def activate(self, keys: Iterable[Key]) -> None:
        """Move pods to the active queue at once, wherever they wait."""
        self._lay()
        for key in keys:
            queued = self.entries.get(key)
            if queued is None:
                continue
            if queued.place == "flight":
                queued.woken.add(ANY)
            elif queued.place != "active":
                self._to_active(queued)

    def _wake(self, queued: Queued, helped: set[str]) -> None:
        if helped & queued.waiting_on:
            self._to_active(queued)
        elif ANY in helped or helped & queued.rejectors:
            self._after_backoff(queued)

    def _after_backoff(self, queued: Queued) -> None:
        if queued.place == "gated":
            self._to_active(queued)
        elif self._backoff_end(queued) >= self._window(self.context.now_ms):
            self._set_backoff(queued, "backoff")
        else:
            self._to_active(queued)

    # --- timers

    def flush(self) -> None:
        """Move the pods whose backoff is over, and those parked for too long."""
        self._lay()
        now = self.context.now_ms
        self._flush_backoff(now - now % _SECOND)
        flushed = now - now % _POOL_FLUSH_MS
        for queued in sorted(self._parked.values(), key=_seq):
            parked = self.context.ms(queued.timestamp_us)
            if queued.place == "pool" and flushed - parked > _POOL_AGE_MS:
                self._after_backoff(queued)

    def ready(self) -> bool:
        """Tell whether `pop` would return a pod now."""
        if len(self._active):
            return True
        return self.timing.pop_from_backoff and any(
            queued.place == "backoff" and queued.seq == seq and self._known(queued)
            for _, seq, queued in self._later
        )

    def _flush_backoff(self, now: int) -> None:
        while self._later:
            ready, seq, queued = self._later[0]
            if ready >= now:
                return
            heapq.heappop(self._later)
            if queued.place in ("backoff", "error") and queued.seq == seq:
                self._to_active(queued)

    def due(self) -> int | None:
        """Return the next instant at which `flush` has something to do."""
        self._drop_stale(self._later, ("backoff", "error"))
        times = []
        if self._later:
            times.append(_up(self._later[0][0] + 1, _SECOND))
        aged = [q for q in self._parked.values() if q.place == "pool"]
        if aged:
            oldest = min(self.context.ms(q.timestamp_us) for q in aged)
            times.append(_up(oldest + _POOL_AGE_MS + 1, _POOL_FLUSH_MS))
        return max(min(times), self.context.now_ms + 1) if times else None

    # --- places

    def _stamp(self, queued: Queued) -> None:
        queued.timestamp_us = self.context.now_us
        queued.seq = self.next_seq
        self.next_seq += 1

    def _leave(self, queued: Queued) -> None:
        if queued.place == "active":
            self._active.drop(queued)
        self._parked.pop(queued.pod.key, None)
        self._flying.pop(queued.pod.key, None)

    def _set(self, queued: Queued, place: Place) -> None:
        self._leave(queued)
        queued.place = place
        if place == "flight":
            self._flying[queued.pod.key] = queued
        elif place in ("pool", "gated"):
            self._parked[queued.pod.key] = queued
        self.context.journal.touch(queued.pod.key)

    def _park(self, queued: Queued, place: Place) -> None:
        self._set(queued, place)

    def _to_active(self, queued: Queued) -> None:
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            queued.rejectors.add(status.plugin)
            queued.reason, queued.message = "SchedulingGated", status.message
            self._park(queued, "gated")
            return
        if queued.first_us is None:
            queued.first_us = self.context.now_us
        self._set(queued, "active")
        self._active.push(queued)

    def _set_backoff(self, queued: Queued, place: Place) -> None:
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            self._to_active(queued)
            return
        queued.ready_ms = self._backoff_end(queued)
        self._set(queued, place)
        heapq.heappush(self._later, (queued.ready_ms, queued.seq, queued))

    def _backoff_end(self, queued: Queued) -> int:
        return self._window(
            self.context.ms(queued.timestamp_us) + self._backoff(queued)
        )

    def _window(self, at_ms: int) -> int:
        """Return the start of the second, which is what backoffs are counted in.

        A backoff is over in the second after the one that it ends in.
        """
        return at_ms - at_ms % _SECOND if self.timing.pop_from_backoff else at_ms

    def _backoff(self, queued: Queued) -> int:
        count = queued.errors or queued.rejections
        if count == 0 or self.timing.max_ms == 0:
            return 0
        return min(self.timing.initial_ms << min(count - 1, 40), self.timing.max_ms)

    # --- heaps

    def _pop_backoff(self) -> Queued | None:
        """Return the pod to try early: soonest second first, then by QueueSort."""
        self._drop_stale(self._later, ("backoff", "error"))
        early = [
            (ready, self._sort_key(queued), seq, queued)
            for ready, seq, queued in self._later
            if queued.place == "backoff" and queued.seq == seq and self._known(queued)
        ]
        if not early:
            return None
        queued = min(early, key=lambda item: item[:3])[3]
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            self._to_active(queued)
            return self._pop_backoff()
        return queued

    def _drop_stale(
        self, heap: list[tuple[int, int, Queued]], places: tuple[Place, ...]
    ) -> None:
        while heap and (
            heap[0][2].place not in places
            or heap[0][2].seq != heap[0][1]
            or not self._known(heap[0][2])
        ):
            heapq.heappop(heap)

    def _known(self, queued: Queued) -> bool:
        return self.entries.get(queued.pod.key) is queued

    # --- memory

    def restore(self, queued: Queued) -> None:
        """Take an entry back as it was remembered."""
        self.entries[queued.pod.key] = queued
        place, queued.place = queued.place, "flight"
        self._set(queued, place)
        if place == "active":
            self._active.push(queued)
        elif place in ("backoff", "error"):
            heapq.heappush(self._later, (queued.ready_ms, queued.seq, queued))

    def layout(self) -> list[Key]:
        """Return how the active queue lies, where the sort keys do not say it."""
        return [queued.pod.key for queued in self._active.layout()]

    def lay_later(self, keys: list[Key]) -> None:
        """Note how the active queue lay; it is laid so once all are restored."""
        self._layout = keys

    def _lay(self) -> None:
        keys, self._layout = self._layout, []
        if keys and all(key in self.entries for key in keys):
            self._active.lay(self.entries[key] for key in keys)


def _seq(queued: Queued) -> int:
    return queued.seq


def _up(at_ms: int, step: int) -> int:
    return -(-at_ms // step) * step
