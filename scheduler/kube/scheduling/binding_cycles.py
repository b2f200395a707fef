"""Pods that have a node and are not bound yet: Permit, the binding cycle, timers."""

from __future__ import annotations

from typing import Any

from scheduler.decisions import Unreserve
from scheduler.durations import duration_text
from scheduler.kube.framework import events
from scheduler.kube.framework.events import Event
from scheduler.kube.framework.status import Code, Status
from scheduler.kube.scheduling.event_handlers import Desk, one_node
from scheduler.kube.scheduling.handle import Held
from scheduler.records.objects import Key


class Holding(Desk):
    """Binding cycles beside the loop.

    Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
    """

    def settle(self) -> None:
        """Carry out what was signalled to one held pod, else bind those that may.

        Binding cycles run beside the scheduling loop: one gets its turn when
        the loop has no pod to try, and what it frees is tried for before the
        next has its turn.
        Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
        """
        while self.signals:
            key, status = self.signals.pop(0)
            held = self.held.get(key)
            if held is None:
                continue
            if status.ok:
                self._start_binding(held)
                continue
            self._turn_back(held, status)
            self._activate()
            return
        self._bind_due()

    def _start_binding(self, held: Held) -> None:
        held.bind_at = self.context.now_ms + self.house.bind_latency_ms
        self.queue.done(held.queued)

    def _bind_due(self) -> None:
        """End the binding cycles whose time has come, in the order of choosing."""
        now = self.context.now_ms
        for held in sorted(self.held.values(), key=lambda held: held.order):
            due = held.bind_at is not None and held.bind_at <= now
            if due and not held.waits and self.held.get(held.pod.key) is held:
                self._bind(held)
                self._activate()

    def _bind(self, held: Held) -> None:
        """End the binding cycle: PreBind, Bind, PostBind."""
        pod, node = held.pod, held.node
        extender = self.extenders.binder(pod)
        status = Status(Code.SKIP)
        if extender is not None:
            status = self.extenders.bind(extender, pod, node)
        if status.code is Code.SKIP:
            status = held.framework.bind(held.state, pod, node)
        if status.ok:
            status = self.house.commit(self, held)
        if status.ok:
            held.framework.post_bind(held.state, pod, node)
        else:
            failed = Status(Code.ERROR, status.reasons, status.plugin)
            self._turn_back(held, failed)

    def _turn_back(self, held: Held, status: Status) -> None:
        """Give the node back and queue the pod again.

        A rejected pod must not be woken by its own going; one that met an
        error may be.
        """
        pod = held.pod
        del self.held[pod.key]
        held.framework.unreserve(held.state, pod, held.node)
        self.cluster.unplace(pod.key)
        self.house.unlock(self, held.node)
        self._say(
            Unreserve(
                at_ms=self.context.now_ms,
                subject=pod.key,
                node=held.node,
                message=status.message,
            )
        )
        gone = Event(events.POD_DELETED, old=pod)
        if status.code is Code.ERROR:
            self.queue.move(gone)
            self._give_up(held.queued, status, status.message)
        else:
            self._give_up(held.queued, status, one_node(status))
            self.queue.move(gone, but=pod.key)

    # --- timers

    def timers(self) -> None:
        """Do what is due now: timeouts at Permit, bindings, backoffs."""
        now = self.context.now_ms
        for held in sorted(self.held.values(), key=lambda held: held.order):
            if held.waits and self.held.get(held.pod.key) is held:
                self._time_out(held, now)
        self.queue.flush()

    def _time_out(self, held: Held, now: int) -> None:
        due = [(at, plugin) for plugin, at in held.waits.items() if at <= now]
        if due:
            plugin = min(due)[1]
            waited = duration_text(held.waited_ms[plugin])
            reason = (
                f"rejected due to timeout after waiting {waited} at plugin {plugin}"
            )
            self.signal(held.pod.key, Status(Code.UNSCHEDULABLE, (reason,), plugin))

    def due(self) -> int | None:
        """Return the next instant with a timer."""
        times = [t for held in self.held.values() for t in held.waits.values()]
        times += [
            held.bind_at
            for held in self.held.values()
            if held.bind_at is not None and not held.waits
        ]
        later = self.queue.due()
        if later is not None:
            times.append(later)
        return min(times) if times else None

    def remember(self) -> dict[str, Any]:
        """Return what is kept beside the pods."""
        return {
            "scan": self.scan_start,
            "seq": self.queue.next_seq,
            "order": self.next_order,
            "active": [list(key) for key in self.queue.layout()],
            "plugins": {n: f.remember() for n, f in self.frameworks.items()},
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `remember` returned."""
        self.scan_start = memory.get("scan", 0)
        self.queue.next_seq = memory.get("seq", 0)
        self.next_order = memory.get("order", 0)
        self.queue.lay_later([Key(*key) for key in memory.get("active", ())])
        for name, kept in memory.get("plugins", {}).items():
            if name in self.frameworks:
                self.frameworks[name].recall(kept)
