"""Pods that have a node and are not bound yet: Permit, the binding cycle, timers."""

from __future__ import annotations

import heapq
from typing import Any

from scheduler.engine.kube.framework.plugin import POD_DELETED, Event
from scheduler.engine.kube.framework.status import Code, Status
from scheduler.engine.kube.scheduling.event_handlers import (
    DELETED,
    EventHandlers,
    one_node,
)
from scheduler.engine.kube.scheduling.host import AssumedPod
from scheduler.model.durations import duration_text
from scheduler.model.objects import Key


class BindingCycles(EventHandlers):
    """Binding cycles beside the loop.

    Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
    """

    def run_binding_cycles(self) -> None:
        """Carry out what was signalled to one assumed pod, else bind one that may.

        Binding cycles run beside the scheduling loop: one gets its turn when
        the loop has no pod to try, and what it frees is tried for before the
        next has its turn.
        Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
        """
        while self.signals:
            key, status = self.signals.pop(0)
            assumed = self.assumed.get(key)
            if assumed is None:
                continue
            if status.ok:
                self._start_binding(assumed)
                continue
            self._reject(assumed, status)
            self._activate()
            return
        self._bind_next()

    def _start_binding(self, assumed: AssumedPod) -> None:
        assumed.bind_at = (
            self.context.now_ms
            + self.host.bind_latency_ms
            + self.extenders.bind_ms(assumed.pod)
        )
        self.queue_binding(assumed)

    def _end_deleted(self) -> None:
        """End the binding cycles of pods deleted while they waited.

        The cycle of such a pod ends while the loop tries its next one.
        """
        deleted, self.deleted = self.deleted, []
        for assumed in deleted:
            if self.assumed.get(assumed.pod.key) is assumed:
                self._reject(assumed, Status(Code.UNSCHEDULABLE, (DELETED,)))

    def ready(self) -> bool:
        """Return whether there is something to do at this instant."""
        if self.signals or (self.asking is None and self.queue.ready()):
            return True
        if self.asking is not None and self.asking[1] <= self.context.now_ms:
            return True
        return self.may_bind()

    def may_bind(self) -> bool:
        """Return whether a binding is to be written at this instant."""
        at = self._next_binding()
        return at is not None and at <= self.context.now_ms

    def _next_binding(self) -> int | None:
        """Return when the next binding is written; passes over those given up."""
        while self.bindings:
            at, _, assumed = self.bindings[0]
            if self.assumed.get(assumed.pod.key) is assumed:
                return at
            heapq.heappop(self.bindings)
        return None

    def _bind_next(self) -> None:
        """End the first binding cycle that is due."""
        at = self._next_binding()
        if at is not None and at <= self.context.now_ms:
            self._bind(heapq.heappop(self.bindings)[2])
            self._activate()

    def queue_binding(self, assumed: AssumedPod) -> None:
        """Take up the binding cycle of a pod whose `bind_at` is set."""
        assert assumed.bind_at is not None
        heapq.heappush(self.bindings, (assumed.bind_at, assumed.order, assumed))
        self.queue.done(assumed.queued)

    def _bind(self, assumed: AssumedPod) -> None:
        """End the binding cycle: PreBind, Bind, PostBind."""
        pod, node = assumed.pod, assumed.node
        extender = self.extenders.binder(pod)
        status = Status(Code.SKIP)
        if extender is not None:
            status = self.extenders.bind(extender, pod, node)
        if status.code is Code.SKIP:
            status = assumed.framework.bind(assumed.state, pod, node)
        if status.ok:
            status = self.host.commit(self, assumed)
        if status.ok:
            assumed.framework.post_bind(assumed.state, pod, node)
        else:
            failed = Status(Code.ERROR, status.reasons, status.plugin)
            self._reject(assumed, failed)

    def _reject(self, assumed: AssumedPod, status: Status) -> None:
        """Give the node back and queue the pod again.

        A rejected pod must not be woken by its own going; one that met an
        error may be.
        """
        pod = assumed.pod
        self._release(assumed)
        self._emit_unreserve(assumed, status.message)
        gone = Event(POD_DELETED, old=pod)
        if assumed.deleted:
            self.queue.move(gone)
        elif status.code is Code.ERROR:
            self.queue.move(gone)
            self._handle_failure(assumed.queued, status, status.message)
        else:
            self._handle_failure(assumed.queued, status, one_node(status))
            self.queue.move(gone, but=pod.key)

    # --- timers

    def timers(self) -> None:
        """Do what is due now: timeouts at Permit, bindings, backoffs."""
        now = self.context.now_ms
        for assumed in sorted(self.assumed.values(), key=lambda assumed: assumed.order):
            if assumed.waits and self.assumed.get(assumed.pod.key) is assumed:
                self._reject_waiting(assumed, now)
        self.queue.flush()

    def _reject_waiting(self, assumed: AssumedPod, now: int) -> None:
        due = [(at, plugin) for plugin, at in assumed.waits.items() if at <= now]
        if due:
            plugin = min(due)[1]
            waited = duration_text(assumed.waited_ms[plugin])
            reason = (
                f"rejected due to timeout after waiting {waited} at plugin {plugin}"
            )
            self.signal(assumed.pod.key, Status(Code.UNSCHEDULABLE, (reason,), plugin))

    @property
    def idle(self) -> bool:
        """Return whether no pod waits, is tried, or is being bound."""
        return not (self.queue.entries or self.assumed or self.signals or self.asking)

    def due(self) -> int | None:
        """Return the next instant with a timer."""
        times = [t for assumed in self.assumed.values() for t in assumed.waits.values()]
        binding = self._next_binding()
        if binding is not None:
            times.append(binding)
        if self.asking is not None:
            times.append(self.asking[1])
        later = self.queue.due()
        if later is not None:
            times.append(later)
        return min(times) if times else None

    def dump_state(self) -> dict[str, Any]:
        """Return what is kept beside the pods.

        What is usually empty is left out then: worlds that were stored before it
        was known keep their hash.
        """
        found: dict[str, Any] = {
            "scan": self.scan_start,
            "seq": self.queue.next_seq,
            "order": self.next_order,
            "active": [list(key) for key in self.queue.dump_order()],
            "plugins": {n: f.dump_state() for n, f in self.frameworks.items()},
        }
        if self.asking is not None:
            found["asking"] = [list(self.asking[0]), self.asking[1]]
        if self.signals:
            found["signals"] = [
                [list(key), int(status.code), list(status.reasons), status.plugin]
                for key, status in self.signals
            ]
        return found

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.scan_start = state.get("scan", 0)
        self.queue.next_seq = state.get("seq", 0)
        self.next_order = state.get("order", 0)
        self.queue.load_order_later([Key(*key) for key in state.get("active", ())])
        asking = state.get("asking")
        self.asking = None if asking is None else (Key(*asking[0]), asking[1])
        self.signals = [
            (Key(*key), Status(Code(code), tuple(reasons), plugin))
            for key, code, reasons, plugin in state.get("signals", ())
        ]
        for name, kept in state.get("plugins", {}).items():
            if name in self.frameworks:
                self.frameworks[name].load_state(kept)
