"""YuniKorn inside a world: Pods and Nodes in, placements and preemptions out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects import partition as application_states
from scheduler.engine.yunikorn.objects import partition as invariants
from scheduler.engine.yunikorn.objects.model import Ask
from scheduler.engine.yunikorn.objects.partition import CYCLE_MS
from scheduler.engine.yunikorn.preemption import quota_change
from scheduler.engine.yunikorn.scheduling import cycle
from scheduler.engine.yunikorn.scheduling.cycle import outstanding
from scheduler.engine.yunikorn.shim import pods, recorder, state
from scheduler.engine.yunikorn.shim.pod_handlers import (
    NODE,
    POD,
    PRIORITY_CLASS,
    NodeHandlers,
)
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import APPLICATION_REJECTED, RESERVATION_TIMEOUT


class YunikornStage(NodeHandlers):
    """yunikorn-core and its shim as a stage.

    Cycles run on multiples of 100 ms of virtual time.
    """

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or (restore) one from storage."""
        self.partition.now_ms = self.context.now_ms
        if not restore:
            self.finish_restore()
        match obj.key.kind:
            case "Pod":
                self._put_pod(obj, restore=restore)
            case "Node":
                self._put_node(obj, restore=restore)
            case "PriorityClass":
                text = obj.annotations.get(pods.ALLOW_PREEMPTION)
                self.opted_out[obj.key.name] = text == "false"
            case "Namespace":
                self.namespaces[obj.key.name] = dict(obj.labels)
                self.annotations[obj.key.name] = dict(obj.annotations)
                self._update_namespaces()
            case _:
                pass  # the other kinds say nothing to YuniKorn

    def remove(self, key: Key) -> None:
        """Remove an object; what a pod held is free again at once."""
        self.finish_restore()
        self.partition.now_ms = self.context.now_ms
        if key.kind == POD:
            ask = self.partition.asks.get(key.path)
            self._drop(key)
            if ask is not None:
                placeholders.delete_with(self.partition, ask.app, key.path)
        elif key.kind == NODE and key.name in self.partition.nodes.by_name:
            for ask in self.partition.remove_node(key.name):
                self._store(ask)
            if self.predicate_context is not None:
                self.predicate_context.remove_node(key.name)
        elif key.kind == PRIORITY_CLASS:
            self.opted_out.pop(key.name, None)

    def write(self, obj: Object) -> None:
        """Write conditions and state into a Pod, the order score into a Node."""
        if obj.key.kind == POD:
            ask = self.partition.asks.get(obj.key.path)
            rejected = self.rejected.get(obj.key)
            if obj.key in self.timed_out:
                why = RESERVATION_TIMEOUT, messages.TIMED_OUT
                recorder.fail_pod(obj, *why, self.name)
            elif rejected:
                why = APPLICATION_REJECTED, f" {rejected.partition(':')[0]}"
                recorder.fail_pod(obj, *why, self.name)
            else:
                recorder.write_pod(obj, ask, rejected, self.name)
        elif obj.key.kind == NODE:
            node = self.partition.nodes.by_name.get(obj.key.name)
            recorder.write_node(obj, node, self.partition.nodes, self.name)

    def due(self) -> int | None:
        """Return the instant of the next cycle that may decide something."""
        self.finish_restore()
        partition, now = self.partition, self.context.now_ms
        times = [application_states.due(partition), placeholders.due(partition)]
        quota = quota_change.enabled(partition)
        if quota:
            times.append(quota_change.due(partition))
        if partition.pending or quota:
            times.append(now if partition.dirty else partition.due_ms)
        known = [at for at in times if at is not None]
        return self._slot(max(now, min(known))) if known else None

    def outstanding(self) -> list[Ask]:
        """Return the requests that quota lets in and no node takes, in their order."""
        self.finish_restore()
        self.partition.now_ms = self.context.now_ms
        return [*outstanding(self.partition)]

    def awaited(self) -> str:
        """Return in words what `due` names."""
        return f"a scheduling cycle for {self.partition.pending} asks"

    def _slot(self, at_ms: int) -> int:
        """Return the first time for a cycle from `at_ms` on."""
        slot = -(-at_ms // CYCLE_MS) * CYCLE_MS
        if self.last_cycle_ms is not None and slot <= self.last_cycle_ms:
            return self.last_cycle_ms + CYCLE_MS
        return slot

    def cycle(self) -> bool:
        """Run cycles until one places nothing; return whether any pod was placed.

        A placement makes the next cycle follow at once; a reservation or a
        preemption waits for the next 100 ms.
        Source: docs/semantics/yunikorn.md#scheduling-cycle
        """
        self.finish_restore()
        partition = self.partition
        partition.now_ms = self.last_cycle_ms = self.context.now_ms
        quota_change.advance(partition)
        placed = False
        while cycle.run(partition):
            placed = True
            self._give_up_placeholders()
        self._give_up_placeholders()
        if not partition.only_due:
            self._mark_outstanding()
        timed_out, self.recorder.timed_out = self.recorder.timed_out, []
        for ask in timed_out:
            self._fail(ask)
        return placed

    def _mark_outstanding(self) -> None:
        """Tell pods that more nodes would help them; they keep it.

        Source: docs/semantics/yunikorn.md#outstanding-requests
        """
        unmarked = self.partition.unmarked
        for ask in outstanding(self.partition) if unmarked else ():
            if unmarked.pop(ask.key, None) is not None:
                ask.scale_up = True
                if ask.pod is not None:
                    self.context.journal.touch(ask.pod.key)

    def _give_up_placeholders(self) -> None:
        """Let preempted placeholders go: no pod of the world stands behind them."""
        leaving, self.recorder.leaving = self.recorder.leaving, []
        for ask in leaving:
            if ask.node is not None:
                placeholders.note_used(ask)
                self.partition.release(ask)

    def dump_state(self) -> dict[str, Any]:
        """Return the state outside of objects: created queues and special applications."""
        self.finish_restore()
        return state.dump_state(self)

    def load_state(self, kept: dict[str, Any]) -> None:
        """Take back what `dump_state` returned, before any object is restored."""
        state.load_state(self, kept)

    def finish_restore(self) -> None:
        """Finish restoring, once: gangs need the nodes to be there."""
        if self.stored_clock is not None:
            state.finish_restore(self)

    def violations(self) -> Iterator[str]:
        """Yield a sentence per sum that is not what it sums."""
        self.finish_restore()
        yield from invariants.violations(self.partition)
