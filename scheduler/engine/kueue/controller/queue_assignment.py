"""Workloads in: each finds its queue, or takes the quota that it holds already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler.engine.kueue.cache.assumed import drop_quota, take_quota
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller.evictions import kept_out
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import (
    load_state,
    update_from_document,
    update_from_status,
)
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.model.decisions import Wait
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import (
    DEACTIVATION_TARGET,
    EVICTED,
    PENDING_PREEMPTION,
    PREEMPTED,
    PREEMPTOR_UID,
    QUOTA_RESERVED,
    REQUEUED,
    WAITING_FOR_PREEMPTED,
)

State = Mapping[str, Any]


class QueueAssignment:
    """Takes workloads and places them, later and together, where they belong."""

    def __init__(self, cluster: Cluster, life: Lifecycle, name: str) -> None:
        self.cluster = cluster
        self.life = life
        self.name = name  # under which objects hold our state
        self.edits = WorkloadEdits(cluster, life)
        self.preemptors = Preemptors(cluster)
        self.unplaced: dict[WorkloadInfo, None] = {}
        # Those that came with their queue: no backoff holds them.
        self.added: dict[WorkloadInfo, None] = {}
        self.restoring: dict[WorkloadInfo, State] = {}

    def assign_all(self) -> None:
        """Place the Workloads that came since the last call, oldest first."""
        for work in sorted(self.unplaced, key=lambda w: (w.created_us, w.uid)):
            self._assign(work, self.restoring.pop(work, None))
        self.unplaced.clear()
        self.added.clear()
        self.preemptors.settle()

    def put(self, obj: Object, restore: bool) -> None:
        """Take a Workload that is new or changed; raises QuantityError."""
        work = self.cluster.workloads.get(obj.key)
        if work is None:
            local_queue = self.cluster.local_queue(
                obj.key.namespace, obj.spec.get("queueName") or ""
            )
            work = WorkloadInfo(obj.key, obj.uid, local_queue)
            self.edits.read(work, obj)
            update_from_status(work, obj.status)
            self.cluster.workloads[obj.key] = work
        else:
            self.edits.take(work, obj)
        work.local_queue.workloads[work] = None
        if work.replaces is not None:
            self.cluster.successors[work.replaces] = work.key
        if self.cluster.families is not None:
            self.cluster.families.put(work)
        if work.pending_queue is None:
            self.unplaced[work] = None
        if restore:
            state = self.restoring[work] = obj.state.get(self.name) or {}
            if state.get("added"):
                self.added[work] = None
        else:
            self.life.hear_of(work)
            self._look_again(work)
            self.preemptors.note(work)

    def _look_again(self, work: WorkloadInfo) -> None:
        """Let the controller look at a workload, also after a restart."""
        self.life.dirty[work] = None
        self.life.context.journal.touch(work.key)
        if self.life.ledger is not None:
            self.life.ledger.changed[work.local_queue] = None

    def remove(self, key: Key) -> None:
        """Forget a Workload; what it held goes to others."""
        work = self.cluster.workloads.get(key)
        if work is None:
            return
        self.life.hear_of(work)
        if (queue := self.cluster.cluster_queue_of(work)) is not None:
            queue.pending.heard_us = self.life.context.now_us
        self.life.leave_queue(work)
        self.life.release_quota(work)
        if self.life.ledger is not None:
            self.life.ledger.forget(work)
            self.life.ledger.changed[work.local_queue] = None
        work.local_queue.workloads.pop(work, None)
        del self.cluster.workloads[key]
        if work.replaces is not None:
            self.cluster.successors.pop(work.replaces, None)
        if self.cluster.families is not None:
            self.cluster.families.remove(work)
        self.life.timers.drop(key)
        self.life.answers.drop(key)
        if self.life.retention is not None:
            self.life.retention.drop(key)
        for pending in (
            self.life.stopping,
            self.life.dirty,
            self.life.unready,
            self.unplaced,
            self.added,
        ):
            pending.pop(work, None)

    def reassign(self, works: Iterable[WorkloadInfo]) -> None:
        """Let workloads find their place anew."""
        for work in works:
            self.life.leave_queue(work)
            self.unplaced[work] = None
            self._look_again(work)

    def add(self, works: Iterable[WorkloadInfo]) -> None:
        """Let the workloads of a queue that is new find their place, backoff or not.

        Source: docs/semantics/kueue.md#held-localqueues.
        """
        works = list(works)
        self.reassign(works)
        self.added.update(dict.fromkeys(works))

    def readmit(self, queue: str) -> None:
        """Let the workloads admitted by a ClusterQueue that is new take their quota.

        Source: docs/semantics/kueue.md#subtree-quota-and-usage.
        """
        for work in self.cluster.workloads.values():
            if work.admission is not None and work.admission.queue == queue:
                self.unplaced[work] = None

    def reread_pod_sets(self, namespace: str | None) -> None:
        """Read the podsets of waiting workloads again; what adds to them changed."""
        waiting = [
            work
            for work in self.cluster.workloads.values()
            if namespace in (None, work.namespace) and not work.reserved
        ]
        for work in waiting:
            again = self.cluster.catalogue.pod_sets(work.pod_set_specs, work.namespace)
            if again != work.pod_sets:
                work.pod_sets = again
                self.reassign([work])

    def _assign(self, work: WorkloadInfo, state: State | None) -> None:
        if work.cluster_queue is not None or work.finished:
            work.refresh()
        elif work.reserved and work.admission is not None:
            self._place_admitted(work, holds=bool(state and state.get("holds")))
        else:
            self.life.enqueue(work, backing_off=work not in self.added)
        if state is not None:
            # Give a restored workload back what its object remembers of it.
            load_state(work, state)
            if state.get("alone") and work.pending_queue is not None:
                pending = work.pending_queue
                pending.remove(work)
                pending.add_inadmissible(work)
            if state.get("dirty"):
                self.life.dirty[work] = None
        self.life.arm_timer(work)

    def _place_admitted(self, work: WorkloadInfo, *, holds: bool) -> None:
        """Take the quota of a workload that came with it.

        An inactive one has none, but one that `holds` it until it is evicted.
        """
        assert work.admission is not None
        self.life.update_queue_order(work)
        work.refresh()
        queue = self.cluster.forest.queues.get(work.admission.queue)
        if self.cluster.is_parent(work):
            queue = None  # the quota is its variant's
        if queue is not None and (work.active or holds):
            take_quota(work, queue, self.cluster)
            self.life.note_second_pass(work)
        if work.evicted and work.parent is None:
            self.life.stopping[work] = None


# ------------------------------------------------------------------------
# Edits of workloads that are known: what they hold may shrink, and their queue
# change.


class WorkloadEdits:
    """Reads Workloads, and sees to what an edit of one changes.

    Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
    """

    def __init__(self, cluster: Cluster, life: Lifecycle) -> None:
        self.cluster = cluster
        self.life = life

    def read(self, work: WorkloadInfo, obj: Object) -> None:
        """Read into the workload what its document asks for; raises QuantityError."""
        cluster = self.cluster
        update_from_document(work, obj, cluster.catalogue, cluster.settings.gates)

    def take(self, work: WorkloadInfo, obj: Object) -> None:
        """Take an edit of a workload that is known; raises QuantityError, unchanged."""
        # Read first: an invalid quantity must leave everything as it was.
        self.cluster.catalogue.pod_sets(obj.spec.get("podSets") or (), work.namespace)
        before, queue = _deciding(work), work.cluster_queue
        active = work.active
        priority, done = work.priority, work.reclaimable
        if queue is not None:
            drop_quota(work, self.cluster)
        self.read(work, obj)
        if work.local_queue.key.name != work.local_queue_name:
            # Let a workload, without its quota for now, be of the LocalQueue it names.
            self.life.leave_queue(work)
            self.life.mark_queues_changed(work, None)
            work.local_queue.workloads.pop(work, None)
            if self.life.ledger is not None:
                self.life.ledger.forget(work)
            work.local_queue = self.cluster.local_queue(
                work.namespace, work.local_queue_name
            )
        if queue is not None:
            take_quota(work, queue, self.cluster)
            queue.generation += 1
            self.life.mark_queues_changed(work, queue)
        if _deciding(work) == before:
            return
        if not active:
            self._say_kept_out(work)
        self.life.leave_queue(work)
        freed = queue and (work.reclaimable != done or work.elastic)
        if work.priority != priority or freed or not work.active:
            self.life.request_requeue(work)

    def _say_kept_out(self, work: WorkloadInfo) -> None:
        """Tell that a workload was made active again and is not tried all the same."""
        reason = kept_out(work)
        if reason and not work.has_condition(DEACTIVATION_TARGET):
            self.life.context.journal.emit(
                Wait(
                    at_ms=self.life.context.now_ms,
                    subject=work.key,
                    reason=reason,
                    message=work.conditions[REQUEUED].message,
                    inadmissible=True,
                )
            )


def _deciding(work: WorkloadInfo) -> tuple[object, ...]:
    """Return what an edit must change to move a workload."""
    return (
        work.pod_sets,
        work.priority,
        work.local_queue_name,
        work.active,
        work.gated,
        work.max_execution_s,
        work.reclaimable,
        work.may_not_preempt,
    )


# ------------------------------------------------------------------------
# Edits, gathered until the trees are linked: who is requeued and looked at for them.


#: What an edit of a ClusterQueue means: its workloads are looked at again, quota
#: moved in its tree, its inadmissible workloads requeue and nothing else, another
#: left its tree and nobody requeues.
TOUCHED, QUOTA, REQUEUE, LEFT = 1, 2, 4, 8


class Edits:
    """ClusterQueues whose surroundings changed, and how, since the last `apply`."""

    def __init__(self, cluster: Cluster, life: Lifecycle) -> None:
        self.cluster = cluster
        self.life = life
        self.queues: dict[str, int] = {}  # ClusterQueue -> kind of edit
        self.cohorts: dict[str, None] = {}
        self.unreconciled: dict[str, None] = {}  # their workloads are dirty by an edit

    def queue(self, queue: ClusterQueue, kind: int = TOUCHED) -> None:
        """Note that a ClusterQueue's surroundings changed."""
        self.queues[queue.name] = kind | self.queues.get(queue.name, 0)
        self.life.touched_queues[queue] = None

    def tree(self, node: QuotaNode | None) -> None:
        """Note a change of quota for all ClusterQueues of a tree as it is linked."""
        for queue in self._tree(node):
            self.queue(queue, QUOTA)

    def _tree(self, node: QuotaNode | None) -> Iterator[ClusterQueue]:
        root = None if node is None else node.root
        if isinstance(root, Cohort):
            yield from root.subtree()
        elif isinstance(node, ClusterQueue):
            yield node

    def leave(self, node: QuotaNode | None) -> None:
        """Note that a ClusterQueue or cohort leaves its tree: nobody there is requeued.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        for queue in self._tree(node):
            if queue is not node:
                self.queue(queue, LEFT)

    def flavor(
        self, name: str, *, restore: bool = False, requeues: bool = True
    ) -> None:
        """Note a change of a ResourceFlavor, for those whose quota it is in.

        They are not looked at where it does not requeue them.
        """
        self.cluster.ineligibility.clear()
        self.cluster.needs_linking = True
        if requeues and not restore:
            for queue in self._queues_with(name):
                self.life.count_anew(queue)
                self.queue(queue, TOUCHED | QUOTA)

    def nodes(self, flavors: Iterable[str]) -> None:
        """Note that nodes of these flavors changed, for those whose quota is there.

        Source: docs/semantics/kueue-topology.md#re-activation.
        """
        for flavor in flavors:
            for queue in self._queues_with(flavor):
                self.queue(queue)

    def _queues_with(self, flavor: str) -> list[ClusterQueue]:
        return [
            queue
            for queue in self.cluster.forest.queues.values()
            if any(flavor in group.flavors for group in queue.spec.groups)
        ]

    def check(self, name: str, *, restore: bool = False) -> None:
        """Let the ClusterQueues that name a check see whether they still admit.

        Their inadmissible workloads requeue; nobody is reconciled for it.
        Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks.
        """
        self.cluster.needs_linking = True
        for queue in self.cluster.forest.queues.values():
            if not restore and any(check.name == name for check in queue.spec.checks):
                self.life.count_anew(queue)
                self.life.to_requeue[queue] = None
                self.life.touched_queues[queue] = None

    def namespace(self, name: str) -> None:
        """Note a change of a namespace's labels, for those that its LocalQueues name."""
        for (namespace, _), local_queue in self.cluster.local_queues.items():
            if namespace == name and local_queue.spec is not None:
                queue = self.cluster.forest.queues.get(local_queue.spec.queue)
                if queue is not None:
                    self.queue(queue)

    def apply(self) -> None:
        """Re-activate around what was edited, and let the controller look at it.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        for name in self.cohorts:
            self.tree(self.cluster.forest.cohorts.get(name))
        self.cohorts.clear()
        for root in {self._root(n): None for n, e in self.queues.items() if e & QUOTA}:
            self.tree(root)
        edited, self.queues = self.queues, {}
        for name, kind in edited.items():
            self._apply(name, kind)

    def _apply(self, name: str, kind: int) -> None:
        queue = self.cluster.forest.queues.get(name)
        if queue is None:
            return
        queue.generation += bool(kind & (QUOTA | LEFT))
        if kind != LEFT:
            self.life.to_requeue[queue] = None
        if kind & TOUCHED:
            self.unreconciled[name] = None
            for local_queue in self.cluster.local_queues_of.get(name, ()):
                self.life.dirty.update(local_queue.workloads)

    def _root(self, name: str) -> QuotaNode | None:
        queue = self.cluster.forest.queues.get(name)
        return None if queue is None else queue.root


# ------------------------------------------------------------------------
# Who stays at the head of its queue, because victims end for it.


class Preemptors:
    """Finds the preemptor of ClusterQueues that were restored or came with workloads.

    Source: docs/semantics/kueue.md#sticky-preemptor.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.restored: dict[str, Key] = {}  # ClusterQueue -> its preemptor
        self.came_waiting: list[WorkloadInfo] = []  # new, and victims end for them

    def note(self, work: WorkloadInfo) -> None:
        """Note a workload that is new, if it says that it waits for its victims."""
        reserved = work.conditions.get(QUOTA_RESERVED)
        if reserved is not None and self._waits_for_victims(reserved):
            self.came_waiting.append(work)

    def _waits_for_victims(self, reserved: Condition) -> bool:
        if self.cluster.settings.gates.fine_reasons:
            return reserved.reason == WAITING_FOR_PREEMPTED
        return not reserved.status and PENDING_PREEMPTION in reserved.message

    def settle(self) -> None:
        """Put the preemptors that were restored or noted at the heads of their queues."""
        self._restore()
        if self.came_waiting:
            self._take_over()
            self.came_waiting.clear()

    def _restore(self) -> None:
        for name, key in self.restored.items():
            queue = self.cluster.forest.queues.get(name)
            work = self.cluster.workloads.get(key)
            if (
                queue is not None
                and work is not None
                and work.pending_queue is queue.pending
            ):
                queue.pending.preemptor = work
        self.restored.clear()

    def _take_over(self) -> None:
        """Keep whoever preempted last at the head of its queue.

        A workload that comes from a running cluster says that it waits for its
        victims; only the latest of a ClusterQueue is its preemptor.
        """
        since = self._last_victims()
        for work in sorted(self.came_waiting, key=lambda w: since.get(w.uid, 0)):
            pending = work.pending_queue
            queue = self.cluster.cluster_queue_of(work)
            if pending is None or queue is None:
                continue
            if self.cluster.strategy(queue).sticky and not pending.is_inadmissible(
                work
            ):
                pending.preemptor = work

    def _last_victims(self) -> dict[str, int]:
        """Return UID of a preemptor -> when its last victim was evicted."""
        found: dict[str, int] = {}
        for work in self.cluster.workloads.values():
            evicted = work.conditions.get(EVICTED)
            named = evicted and PREEMPTOR_UID.search(evicted.message)
            if evicted and named and evicted.reason == PREEMPTED:
                found[named[1]] = max(found.get(named[1], 0), evicted.since_us)
        return found
