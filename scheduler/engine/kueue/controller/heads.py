"""The entries of a cycle: the head of every queue, second passes, and heads held back."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.queue.requeue import backoff_over
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.model.conditions import condition
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import WAITING_FOR_PODS_READY
from scheduler.model.releases.kueue_words import coarse


class Heads:
    """Takes heads out of their queues for a cycle.

    Where each admission waits for the pods of those before it, the heads behind
    are `held` and make the next cycle by themselves.
    """

    def __init__(self, life: Lifecycle) -> None:
        self.life = life
        self.cluster = life.cluster
        self.held: list[Key] = []
        self._waits_for_pods = (
            WAITING_FOR_PODS_READY
            if life.fine_reasons
            else coarse(WAITING_FOR_PODS_READY)
        )
        self._held_since = ""  # when a head that came so began to wait

    @property
    def gated(self) -> bool:
        """Return whether each admission waits for the pods of those before it."""
        waiting = self.cluster.settings.waiting
        return waiting is not None and waiting.block

    @property
    def blocked(self) -> bool:
        """Return whether admissions wait for pods now.

        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        return self.gated and bool(self.life.unready)

    @property
    def waiting(self) -> bool:
        """Return whether the cycle goes on only when pods are ready."""
        return bool(self.held) and self.blocked

    def take(self) -> list[Entry]:
        """Return the entries of the next cycle, out of their queues; [] for none."""
        if self.waiting:
            return []
        heads = self._held_heads() if self.held else []
        heads = heads or list(self._queue_heads())
        return heads + self._second_passes() if self.life.second_passes else heads

    def hold(self, entry: Entry, *, first: bool) -> None:
        """Put a head back until pods are ready; only the first gets the reason."""
        self.held.append(entry.work.key)
        pending, now = entry.queue.pending, self.life.context.now_us
        pending.clear_inflight(entry.work)
        if backoff_over(entry.work, now):
            pending.push(entry.work)
        else:  # it was tried before its time, as after an edit of its queue
            pending.push_backing_off(entry.work)
        if first:
            self.life.report_not_admitted(entry, inadmissible=False)

    def go_on_with(self, workload: Object) -> None:
        """Hold a head that came with the condition that it waits for others' pods.

        The cycle goes on with it alone: which heads stood behind it is not said, and
        the next cycle takes them. Of several the last that began to wait is held, as
        a condition may be left from before.
        """
        found = condition(workload.status, "QuotaReserved") or {}
        waits = found.get("reason") == self._waits_for_pods
        since = str(found.get("lastTransitionTime") or "")
        if self.gated and waits and since >= self._held_since:
            self.held, self._held_since = [workload.key], since

    def exist(self) -> bool:
        """Return whether a cycle would have a head to try."""
        if self.waiting:
            return False
        for queue in self.cluster.forest.queues.values():
            if queue.pending.pending_active and queue.active:
                return True
        return False

    def _held_heads(self) -> list[Entry]:
        """Return the heads of the cycle that waited; they stayed in their queues.

        Whoever left the queue meanwhile is out of the cycle.
        """
        held, self.held = self.held, []
        found = []
        for key in held:
            work = self.cluster.workloads.get(key)
            queue = self.cluster.cluster_queue_of(work) if work is not None else None
            if work is None or queue is None or not queue.active:
                continue
            if work.pending_queue is queue.pending and queue.pending.pop_workload(work):
                found.append(Entry(work, queue))
        return found

    def _queue_heads(self) -> Iterator[Entry]:
        queues = self.cluster.forest.queues
        active = [name for name, q in queues.items() if q.pending.pending_active]
        for name in sorted(active):
            queue = queues[name]
            work = queue.pending.pop() if queue.active else None
            if work is not None:
                yield Entry(work, queue)

    def _second_passes(self) -> list[Entry]:
        """Return the workloads that look for other places, as further entries.

        One whose ClusterQueue is inactive has to wait once more.
        """
        found = []
        for work in self.life.due_second_passes():
            queue = work.cluster_queue
            if queue is not None and queue.active:
                found.append(Entry(work, queue, second_pass=True))
            else:
                self.life.note_second_pass(work)
        return found
