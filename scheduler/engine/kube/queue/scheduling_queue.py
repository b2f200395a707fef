"""The scheduling queue: active, backing off, unschedulable; who is tried next, and when."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

from scheduler.engine.kube.framework.plugin import Event, QueuedPodInfo, QueuePlace
from scheduler.engine.kube.framework.status import Status
from scheduler.engine.kube.queue.heaps import (
    ActiveHeap,
    BackoffHeap,
    ChangingKeyHeap,
    FixedKeyHeap,
)
from scheduler.engine.stage import Context
from scheduler.model.kube.configuration import BackoffSettings
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

ANY = "*"  # stands for an event that requeues whatever rejected the pod

_SECOND = 1000
_POOL_FLUSH_MS = 30_000
_POOL_AGE_MS = 300_000


class SchedulingQueue:
    """One queue for all profiles of a scheduler.

    Source: docs/semantics/kube-scheduler.md#scheduling-queue.
    """

    def __init__(
        self,
        context: Context,
        *,
        timing: BackoffSettings,
        sort_key: Callable[[QueuedPodInfo], tuple[Any, ...]],
        moving: bool,
        pre_enqueue: Callable[[Pod], Status],
        helped: Callable[[Pod, Event, Iterable[str] | None], set[str]],
        may_help: Callable[[Event], Iterable[str]],
    ) -> None:
        self.context = context
        self.timing = timing
        self._sort_key = sort_key
        self._pre_enqueue = pre_enqueue
        self._helped = helped
        self._may_help = may_help
        self.entries: dict[Key, QueuedPodInfo] = {}
        self._active: ActiveHeap = (ChangingKeyHeap if moving else FixedKeyHeap)(
            sort_key
        )
        self._later: list[tuple[int, int, QueuedPodInfo]] = []
        # Those that may be tried early; None where their order moves meanwhile.
        self._early: BackoffHeap | None = None
        if timing.pop_from_backoff and not moving:
            self._early = BackoffHeap(sort_key)
        # Set aside until an event helps, the longest first.
        self._pool: dict[Key, QueuedPodInfo] = {}
        # They and the gated, by the plug-ins that turned them back: an event asks about
        # these alone.
        self._turned_back: dict[str, dict[Key, QueuedPodInfo]] = {}
        self._by: dict[Key, tuple[str, ...]] = {}
        self._in_flight: dict[Key, QueuedPodInfo] = {}
        self.next_seq = 0
        self._order: list[Key] = []
        self._order_pool = False  # pods were restored, which come in the order of names

    # --- in and out

    def add(self, pod: Pod) -> QueuedPodInfo:
        """Take a new pod."""
        self._apply_order()
        queued = QueuedPodInfo(pod=pod)
        self.entries[pod.key] = queued
        self._stamp(queued)
        self._to_active(queued)
        return queued

    def update(self, pod: Pod) -> None:
        """Take a changed pod; one that is set aside is tried again, unless it ends."""
        self._apply_order()
        queued = self.entries[pod.key]
        queued.pod = pod
        if queued.place == "gated":
            self._to_active(queued)
        elif queued.place == "pool" and not pod.terminating:
            self._after_backoff(queued)
        elif queued.place == "active":
            self._active.push(queued)
        elif queued.place == "backoff" and self._early is not None:
            self._early.push(queued)
        elif queued.place == "flight":
            queued.woken.add(ANY)

    def remove(self, key: Key) -> QueuedPodInfo | None:
        """Forget a pod; heaps drop it when it comes up."""
        self._apply_order()
        queued = self.entries.pop(key, None)
        if queued is not None:
            self._leave(queued)
            queued.place = "flight"
        return queued

    def pop(self) -> QueuedPodInfo | None:
        """Return the next pod to try, None when there is none now."""
        self._apply_order()
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

    def done(self, queued: QueuedPodInfo) -> None:
        """Note that the pod cannot be rejected any longer: events do not matter."""
        self._in_flight.pop(queued.pod.key, None)

    def failed(self, queued: QueuedPodInfo, *, error: bool) -> None:
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
            place: QueuePlace = "error" if error else "backoff"
            self._set_backoff(queued, place, self._backoff_end(queued))
            return
        if queued.woken:
            self._requeue(queued, queued.woken)
        if queued.place == "flight":
            self._set(queued, "pool")

    # --- events

    def move(self, event: Event, *, but: Key | None = None) -> None:
        """Let an event requeue the unschedulable pods that it may help.

        O(pods turned back by a plug-in that it may help), not of all that wait.
        """
        self._apply_order()
        found: dict[Key, QueuedPodInfo] = {}
        for name in self._may_help(event):
            found |= self._turned_back.get(name, {})
        for queued in sorted(found.values(), key=_seq):
            key = queued.pod.key
            if key != but:
                self._requeue(queued, self._helped(queued.pod, event, self._by[key]))
        for queued in self._in_flight.values():
            helped = self._helped(queued.pod, event, None)
            if not helped <= queued.woken:
                queued.woken |= helped
                self.context.journal.touch(queued.pod.key)

    def activate(self, keys: Iterable[Key]) -> None:
        """Move pods to the active queue at once, wherever they wait."""
        self._apply_order()
        for key in keys:
            queued = self.entries.get(key)
            if queued is None:
                continue
            if queued.place == "flight":
                queued.woken.add(ANY)
            elif queued.place != "active":
                self._to_active(queued)

    def _requeue(self, queued: QueuedPodInfo, helped: set[str]) -> None:
        if helped & queued.waiting_on:
            self._to_active(queued)
        elif ANY in helped or helped & queued.rejectors:
            self._after_backoff(queued)

    def _after_backoff(self, queued: QueuedPodInfo) -> None:
        if queued.place == "gated":
            self._to_active(queued)
            return
        ready_ms = self._backoff_end(queued)
        if ready_ms >= self._window(self.context.now_ms):
            self._set_backoff(queued, "backoff", ready_ms)
        else:
            self._to_active(queued)

    # --- timers

    def flush(self) -> None:
        """Move the pods whose backoff is over, and those set aside for too long."""
        self._apply_order()
        now = self.context.now_ms
        self._flush_backoff(now - now % _SECOND)
        if self._early is not None:
            self._early.first()  # passes over those whose backoff is over
        oldest_us = self.context.us(now - now % _POOL_FLUSH_MS - _POOL_AGE_MS)
        for queued in list(
            takewhile(lambda q: q.timestamp_us < oldest_us, self._longest_first())
        ):
            self._after_backoff(queued)

    def ready(self) -> bool:
        """Return whether `pop` would return a pod now."""
        if len(self._active):
            return True
        if self._early is not None:
            return self._early.first() is not None
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
        if self._pool:
            oldest = self.context.ms(next(iter(self._longest_first())).timestamp_us)
            times.append(_up(oldest + _POOL_AGE_MS + 1, _POOL_FLUSH_MS))
        return max(min(times), self.context.now_ms + 1) if times else None

    # --- places

    def _stamp(self, queued: QueuedPodInfo) -> None:
        queued.timestamp_us = self.context.now_us
        queued.seq = self.next_seq
        self.next_seq += 1

    def _leave(self, queued: QueuedPodInfo) -> None:
        key, place = queued.pod.key, queued.place
        if place == "active":
            self._active.drop(queued)
        elif place == "flight":
            self._in_flight.pop(key, None)
        elif place in ("pool", "gated"):
            self._pool.pop(key, None)
            for name in self._by.pop(key, ()):
                del self._turned_back[name][key]

    def _set(self, queued: QueuedPodInfo, place: QueuePlace) -> None:
        self._leave(queued)
        queued.place = place
        key = queued.pod.key
        if place == "flight":
            self._in_flight[key] = queued
        elif place in ("pool", "gated"):
            if place == "pool":
                self._pool[key] = queued  # it has just failed
            self._by[key] = tuple(queued.rejectors | queued.waiting_on)
            for name in self._by[key]:
                self._turned_back.setdefault(name, {})[key] = queued
        self.context.journal.touch(key)

    def _to_active(self, queued: QueuedPodInfo) -> None:
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            queued.rejectors.add(status.plugin)
            queued.reason, queued.message = "SchedulingGated", status.message
            self._set(queued, "gated")
            return
        if queued.first_us is None:
            queued.first_us = self.context.now_us
        self._set(queued, "active")
        self._active.push(queued)

    def _set_backoff(
        self, queued: QueuedPodInfo, place: QueuePlace, ready_ms: int
    ) -> None:
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            self._to_active(queued)
            return
        queued.ready_ms = ready_ms
        self._set(queued, place)
        self._push_later(queued)

    def _push_later(self, queued: QueuedPodInfo) -> None:
        heapq.heappush(self._later, (queued.ready_ms, queued.seq, queued))
        if self._early is not None and queued.place == "backoff":
            self._early.push(queued)

    def _backoff_end(self, queued: QueuedPodInfo) -> int:
        return self._window(
            self.context.ms(queued.timestamp_us) + self._backoff(queued)
        )

    def _window(self, at_ms: int) -> int:
        """Return the start of the second, which is what backoffs are counted in.

        A backoff is over in the second after the one that it ends in.
        """
        return at_ms - at_ms % _SECOND if self.timing.pop_from_backoff else at_ms

    def _backoff(self, queued: QueuedPodInfo) -> int:
        count = queued.errors or queued.rejections
        if count == 0 or self.timing.max_ms == 0:
            return 0
        return min(self.timing.initial_ms << min(count - 1, 40), self.timing.max_ms)

    # --- heaps

    def _pop_backoff(self) -> QueuedPodInfo | None:
        """Return the pod to try early: soonest second first, then by QueueSort."""
        queued = self._first_early()
        if queued is None:
            return None
        status = self._pre_enqueue(queued.pod)
        if not status.ok:
            self._to_active(queued)
            return self._pop_backoff()
        return queued

    def _first_early(self) -> QueuedPodInfo | None:
        if self._early is not None:
            return self._early.first()
        early = [
            (ready, self._sort_key(queued), seq, queued)
            for ready, seq, queued in self._later
            if queued.place == "backoff" and queued.seq == seq and self._known(queued)
        ]
        return min(early, key=lambda item: item[:3])[3] if early else None

    def _drop_stale(
        self, heap: list[tuple[int, int, QueuedPodInfo]], places: tuple[QueuePlace, ...]
    ) -> None:
        while heap and (
            heap[0][2].place not in places
            or heap[0][2].seq != heap[0][1]
            or not self._known(heap[0][2])
        ):
            heapq.heappop(heap)

    def _known(self, queued: QueuedPodInfo) -> bool:
        return self.entries.get(queued.pod.key) is queued

    # --- state

    def restore(self, queued: QueuedPodInfo) -> None:
        """Take an entry back as it was stored."""
        self.entries[queued.pod.key] = queued
        place, queued.place = queued.place, "flight"
        self._set(queued, place)
        if place == "pool":
            self._order_pool = True
        if place == "active":
            self._active.push(queued)
        elif place in ("backoff", "error"):
            self._push_later(queued)

    def dump_order(self) -> list[Key]:
        """Return how the active queue lies, where the sort keys do not say it."""
        return [queued.pod.key for queued in self._active.dump_order()]

    def load_order_later(self, keys: list[Key]) -> None:
        """Note how the active queue lay; it is laid so once all are restored."""
        self._order = keys

    def _apply_order(self) -> None:
        keys, self._order = self._order, []
        if keys and all(key in self.entries for key in keys):
            self._active.load_order(self.entries[key] for key in keys)

    def _longest_first(self) -> Iterable[QueuedPodInfo]:
        """Return the pods that are set aside, in the order in which they failed."""
        if self._order_pool:
            self._order_pool = False
            kept = sorted(self._pool.values(), key=_seq)
            self._pool = {queued.pod.key: queued for queued in kept}
        return self._pool.values()


def _seq(queued: QueuedPodInfo) -> int:
    return queued.seq


def _up(at_ms: int, step: int) -> int:
    return -(-at_ms // step) * step
