"""Cycles until nothing changes, by the text.

Source: docs/semantics/kueue-lifecycle.md#pending-outside-of-a-cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model import durations
from tests.scheduler.kueue.reference.cycle import Cycle, pending, podsets, requeue
from tests.scheduler.kueue.reference.state import Wl, World
from tests.scheduler.kueue.reference.tree import QuotaNode

SECOND = 1_000_000
PATHS = {
    "InClusterQueue": "prioritization in the ClusterQueue",
    "InCohortReclamation": "reclamation within the cohort",
    "InCohortFairSharing": "Fair Sharing within the cohort",
    "InCohortReclaimWhileBorrowing": "reclamation within the cohort while borrowing",
}
STALE = ("Pending", "PendingEvaluation", "Deactivated", "Suspended")
BYPASSED = (
    "Bypassed scheduling evaluation because an equivalent workload recently failed"
)


def path(node: QuotaNode) -> str:
    return "".join(f"/{n.name}" for n in [*reversed(node.path()), node])


class Settle:
    """Drives one world; `events` as a vector has them."""

    def __init__(self, vector: Mapping[str, Any]) -> None:
        self.world = World(vector)
        self.start = self.world.now
        self.stopping = [
            w for w in self.world.works if w.true("Evicted") and w.true("QuotaReserved")
        ]
        self.requeue_later: list[QuotaNode] = []
        self.dirty: list[Wl] = list(self.world.works)
        self.event: dict[str, list[dict[str, Any]]] = {}
        self.converged = True

    def run(self) -> dict[str, Any]:
        world, events, quiet = self.world, [], 0
        self._controllers()
        for number in range(201):
            if self.event:
                events.append({"cycle": number, **self.event})
            self.event = {}
            before = self._places()
            world.now = self.start + (number + 1) * SECOND
            if not any(q.active and world.heaps[n] for n, q in world.queues.items()):
                break
            self._cycle()
            self._controllers()
            quiet = 0 if self.event or self._places() != before else quiet + 1
            if quiet == 2:
                break
        else:
            self.converged = False
        return {
            "converged": self.converged,
            "events": events,
            "finalAdmitted": self._admitted_workloads(),
            "finalPending": pending(world, {}),
        }

    def _places(self) -> tuple[frozenset[Wl], frozenset[Wl]]:
        queued = frozenset(w for ws in self.world.heaps.values() for w in ws)
        return queued, frozenset(
            w for ws in self.world.inadmissible.values() for w in ws
        )

    def _admitted_workloads(self) -> dict[str, Any]:
        rows = {}
        for name, works in self.world.holders.items():
            for work in works:
                rows[work.name] = {
                    "clusterQueue": name,
                    "podSets": [
                        {
                            "name": p["name"],
                            "count": p["count"],
                            "flavors": p["flavors"],
                            "usage": p["resourceUsage"],
                        }
                        for p in work.admission["podSetAssignments"]
                    ],
                }
        return rows

    # ---- the cycle and what it leaves ----

    def _cycle(self) -> None:
        cycle = Cycle(self.world)
        for e in cycle.run():
            requeue(self.world, e)
            if e.admitted:
                assert e.plan is not None
                parts = podsets(e.plan)
                row = {"wl": e.work.name, "clusterQueue": e.queue.name}
                self.event.setdefault("admitted", []).append({**row, "podSets": parts})
                self._admit(e.work, e.queue, parts)
        for target, (reason, by) in cycle.preempted.items():
            if not target.true("Evicted"):
                self._preempt(target, reason, by)
        for rows in self.event.values():
            rows.sort(key=lambda row: row["wl"])

    def _admit(self, work: Wl, queue: QuotaNode, parts: list[dict[str, Any]]) -> None:
        self._say(work, "QuotaReserved", True, "QuotaReserved", "")
        for kind in ("Evicted", "Preempted"):
            if work.true(kind):
                self._say(work, kind, False, "QuotaReserved", "")
        if self.world.sticky.get(queue.name) is work:
            self.world.sticky[queue.name] = None
        assignments = [{**p, "resourceUsage": p["usage"]} for p in parts]
        work.admission = {"podSetAssignments": assignments}
        self.world.hold(work, queue)
        work.tried = None

    def _preempt(self, target: Wl, reason: str, by: Wl) -> None:
        queue, victim = self.world.queue_of(by), self._owner(target)
        assert queue is not None
        assert victim is not None
        message = (
            f"Preempted to accommodate a workload (UID: {by.uid}, JobUID: UNKNOWN) due "
            f"to {PATHS[reason]}; preemptor path: {path(queue)}; preemptee path: "
            f"{path(victim)}"
        )
        row = {"wl": target.name, "reason": reason, "by": by.name}
        self.event.setdefault("preempted", []).append(row)
        self._say(target, "Preempted", True, reason, message)
        self._evict(target, "Preempted", message)

    def _owner(self, work: Wl) -> QuotaNode | None:
        for name, works in self.world.holders.items():
            if work in works:
                return self.world.queues[name]
        return None

    def _say(self, w: Wl, kind: str, status: bool, reason: str, message: str) -> None:
        known = w.conditions.get(kind, {})
        since = known.get("lastTransitionTime")
        if known.get("status") != str(status):
            since = durations.stamp_text(self.world.now)
        w.conditions[kind] = {
            "status": str(status),
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }

    # ---- controllers ----

    def _controllers(self) -> None:
        self._reconcile()
        while self.stopping:
            for work in sorted(self.stopping, key=lambda w: w.name):
                self._stopped(work)
            self.stopping.clear()
            self._reconcile()

    def _reconcile(self) -> None:
        world = self.world
        for work in self.dirty:
            self._look(work)
        self.dirty = []
        for queue in self.requeue_later:
            for member in world.queues.values():
                if member.root() is queue.root():
                    self._requeue_inadmissible(member)
        self.requeue_later = []

    def _requeue_inadmissible(self, queue: QuotaNode) -> None:
        world, name = self.world, queue.name
        world.remembered[name].clear()
        for work in list(world.inadmissible[name]):
            if world.matches(queue, work.namespace) and world.ready(work, world.now):
                world.inadmissible[name].remove(work)
                world.heaps[name].append(work)

    def _look(self, w: Wl) -> None:
        if not w.active:
            self._deactivate(w)
        elif w.true("QuotaReserved"):
            self._look_at_running(w)
        else:
            self._look_at_waiting(w)

    def _deactivate(self, w: Wl) -> None:
        self.world.leave(w)
        if not w.true("Evicted"):
            self._evict_reported(w, "Deactivated", "The workload is deactivated")
        self._release(w)
        if not w.true("QuotaReserved"):
            self._pend(w, "Deactivated", "The workload is deactivated")

    def _evict_reported(self, w: Wl, reason: str, message: str) -> None:
        row = {"wl": w.name, "reason": reason}
        self.event.setdefault("evicted", []).append(row)
        self._evict(w, reason, message)

    def _evict(self, w: Wl, reason: str, message: str) -> None:
        self._say(w, "Evicted", True, reason, message)
        owner = self._owner(w)
        if owner is not None:
            self.world.generation[owner.name] += 1
        if w.true("QuotaReserved"):
            self.stopping.append(w)

    def _look_at_running(self, w: Wl) -> None:
        local_queue = self.world.local_queues.get((w.namespace, w.local_queue))
        if w.true("Evicted") or local_queue is None:
            return
        stop = local_queue.get("stopPolicy", "None")
        queue = self.world.queues.get(local_queue["clusterQueue"])
        if stop == "HoldAndDrain":
            self._evict_reported(w, "LocalQueueStopped", "The LocalQueue is stopped")
        elif stop == "None" and queue is not None and not queue.active:
            self._look_at_drained(w, queue)

    def _look_at_drained(self, w: Wl, queue: QuotaNode) -> None:
        if queue.spec.get("stopPolicy") == "HoldAndDrain":
            self._evict_reported(
                w, "ClusterQueueStopped", "The ClusterQueue is stopped"
            )

    def _pend(self, w: Wl, reason: str, message: str) -> None:
        self._say(w, "QuotaReserved", False, reason, message)

    def _look_at_waiting(self, w: Wl) -> None:
        world, name = self.world, w.local_queue
        local_queue = world.local_queues.get((w.namespace, name))
        if local_queue is None:
            self._pend(w, "Misconfigured", f"LocalQueue {name} doesn't exist")
            return
        queue = world.queues.get(local_queue["clusterQueue"])
        if local_queue.get("stopPolicy", "None") != "None":
            self._pend(w, "Suspended", f"LocalQueue {name} is inactive")
        elif queue is None:
            text = f"ClusterQueue {local_queue['clusterQueue']} doesn't exist"
            self._pend(w, "Misconfigured", text)
        elif not queue.active:
            self._pend(w, "Suspended", f"ClusterQueue {queue.name} is inactive")
        elif not world.matches(queue, w.namespace):
            text = "workload namespace doesn't match ClusterQueue selector"
            self._pend(w, "Misconfigured", text)
        else:
            self._refresh(w, queue)

    def _refresh(self, w: Wl, queue: QuotaNode) -> None:
        known = w.conditions.get("QuotaReserved")
        if known is None:
            return
        failed = self.world.remembered[queue.name].get(w.hash())
        if w in self.world.inadmissible[queue.name] and failed:
            if known["reason"] in STALE:
                self._pend(w, failed, BYPASSED)
        elif known["reason"] in STALE and known["reason"] != "PendingEvaluation":
            text = "Workload is pending evaluation in the scheduling queue"
            self._pend(w, "PendingEvaluation", text)

    def _release(self, w: Wl) -> None:
        owner = self._owner(w)
        if owner is not None:
            for fr, amount in w.usage.items():
                owner.take(fr, amount)
            w.usage = {}
            self.world.holders[owner.name].remove(w)
            self.world.generation[owner.name] += 1
        # Who held quota frees it where it was held, wherever its LocalQueue leads now.
        queue = owner or self.world.queue_of(w)
        if queue is not None and self.world.local_queue_of(w) is not None:
            self.requeue_later.append(queue)

    def _stopped(self, w: Wl) -> None:
        evicted = w.conditions["Evicted"]
        again = evicted["reason"] in ("Preempted", "NodeFailures")
        self._say(w, "Requeued", again, evicted["reason"], evicted["message"])
        self._release(w)
        reason = "PendingEvaluation" if w.active else "Deactivated"
        self._pend(w, reason, evicted["message"])
        w.admission = None
        self.world.enqueue(w)
        self.dirty.append(w)


def settle(vector: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is expected of a vector in mode `settle`."""
    return Settle(vector).run()
