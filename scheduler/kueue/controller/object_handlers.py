"""Objects in: what is new or edited finds its place in the cluster.

Nothing is decided here. Edits are gathered and take effect together in
`settle`, so that objects may come in any order and linking is done once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler.kueue.cache.assumed import drop_quota
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.controller import status
from scheduler.kueue.controller.lifecycle import Lifecycle
from scheduler.kueue.controller.node_failures import note_node
from scheduler.kueue.controller.queue_assignment import QueueAssignment
from scheduler.kueue.queue.pending import PendingQueue
from scheduler.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
)
from scheduler.kueue.workload.local_queue import LocalQueue
from scheduler.records.admission_check import ACTIVE_CHECK, read_admission_check
from scheduler.records.objects import Key, Object
from scheduler.records.quota import (
    LocalQueueSpec,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_queue,
)
from scheduler.records.topology import read_topology

State = Mapping[str, Any]
#: What an edit of a ClusterQueue means: its workloads are looked at again, quota
#: moved in its tree.
_TOUCHED, _QUOTA = 1, 2


def _leads_the_same_way(before: LocalQueueSpec | None, spec: LocalQueueSpec) -> bool:
    """Return whether an edit of a LocalQueue is at most one of its weight."""
    return before is not None and (before.queue, before.stop) == (spec.queue, spec.stop)


class ObjectHandlers:
    """Takes objects and edits; `settle` puts everything where it belongs."""

    def __init__(self, cluster: Cluster, life: Lifecycle, name: str) -> None:
        self.cluster = cluster
        self.life = life
        self.name = name  # under which objects hold our state
        self.assignment = QueueAssignment(cluster, life, name)
        self.edited: dict[str, int] = {}  # ClusterQueue -> kind of edit
        self.edited_cohorts: dict[str, None] = {}
        self.changed_nodes: dict[str, None] = {}
        self.watches_nodes = True  # whether a failed node is noted on workloads
        self._put: dict[str, Callable[[Object, bool], None]] = {
            "AdmissionCheck": self._put_check,
            "ClusterQueue": self._put_queue,
            "Cohort": self._put_cohort,
            "LocalQueue": self._put_local_queue,
            "ResourceFlavor": self._put_flavor,
            "Namespace": self._put_namespace,
            "RuntimeClass": self._put_runtime_class,
            "LimitRange": self._put_limit_range,
            "Topology": self._put_topology,
            "Node": self._put_node,
            "Pod": self._put_pod,
            "Workload": self.assignment.put,
        }
        self._remove: dict[str, Callable[[Key], None]] = {
            "AdmissionCheck": self._remove_check,
            "ClusterQueue": self._remove_queue,
            "Cohort": self._remove_cohort,
            "LocalQueue": self._remove_local_queue,
            "ResourceFlavor": self._remove_flavor,
            "Namespace": self._remove_namespace,
            "RuntimeClass": self._remove_runtime_class,
            "LimitRange": self._remove_limit_range,
            "Topology": self._remove_topology,
            "Node": self._remove_node,
            "Pod": self._remove_pod,
            "Workload": self.assignment.remove,
        }

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object; kinds that Kueue does not read are ignored."""
        take = self._put.get(obj.key.kind)
        if take is not None:
            take(obj, restore)

    def remove(self, key: Key) -> None:
        """Forget an object; kinds that Kueue does not read are ignored."""
        forget = self._remove.get(key.kind)
        if forget is not None:
            forget(key)

    # ---- edits ----

    def edit(self, queue: ClusterQueue, kind: int = _TOUCHED) -> None:
        """Note that a ClusterQueue's surroundings changed."""
        self.edited[queue.name] = kind | self.edited.get(queue.name, 0)
        self.life.touched_queues[queue] = None

    def _edit_tree(self, node: QuotaNode | None) -> None:
        """Note a change of quota for all ClusterQueues of a tree as it is linked."""
        if isinstance(node, ClusterQueue):
            for queue in self.cluster.tree_queues(node):
                self.edit(queue, _QUOTA)
        elif isinstance(node, Cohort):
            root = node.root
            for queue in root.subtree() if isinstance(root, Cohort) else ():
                self.edit(queue, _QUOTA)

    # ---- queues and what they refer to ----

    def _put_queue(self, obj: Object, restore: bool) -> None:
        spec = read_queue(obj.manifest)
        known = self.cluster.forest.queues.get(spec.name)
        if known is not None and known.spec == spec and not restore:
            return
        if known is not None:
            self._edit_tree(known)
        queue = self.cluster.put_queue(spec)
        if not restore and (known is None or self._renew_pending_queue(queue)):
            for local_queue in self.cluster.local_queues_of.get(queue.name, ()):
                self.assignment.add(local_queue.workloads)
        if queue.active_since_us is None:
            queue.active_since_us = status.active_since(obj.status)
        if restore:
            self._restore_queue(queue, obj.state.get(self.name) or {})
        else:
            self.edit(queue, _TOUCHED | _QUOTA)

    def _renew_pending_queue(self, queue: ClusterQueue) -> bool:
        """Replace the pending queue if the strategy changed; return whether it did."""
        equivalence_hashing = self.cluster.strategy(queue).equivalence_hashing
        usage_of = self.cluster.usage_order(queue.spec)
        known = queue.pending.equivalence_hashing, queue.pending.usage_of
        if known == (equivalence_hashing, usage_of):
            return False
        for work in list(queue.pending.workloads()):
            self.assignment.reassign([work])
        queue.pending = PendingQueue(
            equivalence_hashing=equivalence_hashing, usage_of=usage_of
        )
        return True

    def _restore_queue(self, queue: ClusterQueue, state: State) -> None:
        queue.generation = state.get("generation", 0)
        queue.pending.failed_hashes = dict(state.get("remembered") or {})
        if state.get("sticky"):
            self.assignment.sticky[queue.name] = Key(*state["sticky"])
        if state.get("edited"):
            self.edited[queue.name] = state["edited"]

    def _remove_queue(self, key: Key) -> None:
        queue = self.cluster.forest.queues.get(key.name)
        if queue is None:
            return
        self._edit_tree(queue)
        self.cluster.needs_linking = True
        for work in list(queue.admitted.workloads):
            drop_quota(work)
        for local_queue in self.cluster.local_queues_of.get(key.name, ()):
            self.assignment.reassign(local_queue.workloads)
        del self.cluster.forest.queues[key.name]
        self.edited.pop(key.name, None)
        self.life.touched_queues.pop(queue, None)

    def _put_cohort(self, obj: Object, restore: bool) -> None:
        spec = read_cohort(obj.manifest)
        if self.cluster.forest.specs.get(spec.name) == spec:
            return
        self.cluster.needs_linking = True
        if not restore:
            self._edit_tree(self.cluster.forest.cohorts.get(spec.name))
            self.edited_cohorts[spec.name] = None
        self.cluster.forest.specs[spec.name] = spec

    def _remove_cohort(self, key: Key) -> None:
        self._edit_tree(self.cluster.forest.cohorts.get(key.name))
        self.cluster.needs_linking = True
        self.cluster.forest.specs.pop(key.name, None)

    def _put_flavor(self, obj: Object, restore: bool) -> None:
        flavor = read_flavor(obj.manifest)
        if self.cluster.flavors.get(flavor.name) == flavor:
            return
        self.cluster.flavors[flavor.name] = flavor
        self.cluster.topologies.put_flavor(flavor)
        self._edit_flavor(flavor.name, restore=restore)

    def _remove_flavor(self, key: Key) -> None:
        self.cluster.flavors.pop(key.name, None)
        self.cluster.topologies.remove_flavor(key.name)
        self._edit_flavor(key.name)

    def _edit_flavor(self, name: str, *, restore: bool = False) -> None:
        self.cluster.ineligibility.clear()
        self.cluster.needs_linking = True
        if restore:
            return
        for queue in self.cluster.forest.queues.values():
            if any(name in group.flavors for group in queue.spec.groups):
                self.edit(queue, _TOUCHED | _QUOTA)

    def _put_check(self, obj: Object, restore: bool) -> None:
        status = obj.status
        if self.life.answers.simulated:  # its controller is there, if not said else
            status = {"conditions": [ACTIVE_CHECK, *(status.get("conditions") or ())]}
        check = read_admission_check(obj.manifest, status)
        if self.cluster.checks.get(check.name) != check or not restore:
            self.cluster.checks[check.name] = check
            self._edit_check(check.name, restore=restore)

    def _remove_check(self, key: Key) -> None:
        self.cluster.checks.pop(key.name, None)
        self._edit_check(key.name)

    def _edit_check(self, name: str, *, restore: bool = False) -> None:
        """Let the ClusterQueues that name a check see whether they still admit.

        Their inadmissible workloads requeue; nobody is reconciled for it.
        Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks.
        """
        self.cluster.needs_linking = True
        for queue in self.cluster.forest.queues.values():
            if not restore and any(check.name == name for check in queue.spec.checks):
                self.life.to_requeue[queue] = None
                self.life.touched_queues[queue] = None

    def _put_local_queue(self, obj: Object, restore: bool) -> None:
        spec = read_local_queue(obj.manifest)
        before = self.cluster.local_queue(spec.namespace, spec.name).spec
        local_queue = self.cluster.put_local_queue(spec)
        if local_queue.active_since_us is None:
            local_queue.active_since_us = status.active_since(obj.status)
        self._note_usage(local_queue, obj, restore=restore)
        if not restore and not _leads_the_same_way(before, spec):
            self._edit_local_queue(local_queue)

    def _note_usage(
        self, local_queue: LocalQueue, obj: Object, *, restore: bool
    ) -> None:
        """Take what a LocalQueue has consumed, from our state or an earlier run."""
        ledger = self.life.ledger
        if ledger is None:
            return
        if restore:
            ledger.load(local_queue, obj.state.get(self.name) or {})
            return
        stored = status.consumed_resources(obj.status)
        if stored and local_queue not in ledger.entries:
            ledger.stored[local_queue.key] = stored
        ledger.note(local_queue)

    def _edit_local_queue(self, local_queue: LocalQueue) -> None:
        """Let its workloads find their place anew; nobody else is requeued by that.

        Source: docs/semantics/kueue.md#held-localqueues.
        """
        self.assignment.add(local_queue.workloads)
        self.life.touched_local_queues[local_queue] = None
        queue = (
            self.cluster.forest.queues.get(local_queue.spec.queue)
            if local_queue.spec
            else None
        )
        if queue is not None:
            self.life.touched_queues[queue] = None

    def _remove_local_queue(self, key: Key) -> None:
        local_queue = self.cluster.local_queue(key.namespace, key.name)
        self.assignment.reassign(local_queue.workloads)
        self.cluster.remove_local_queue(local_queue)
        if self.life.ledger is not None:
            self.life.ledger.drop(local_queue)

    def _put_namespace(self, obj: Object, restore: bool) -> None:
        before = self.cluster.namespaces.get(obj.key.name)
        self.cluster.namespaces[obj.key.name] = obj.labels
        if not restore and before != obj.labels:
            self._edit_namespace(obj.key.name)

    def _remove_namespace(self, key: Key) -> None:
        self.cluster.namespaces.pop(key.name, None)
        self._edit_namespace(key.name)

    def _edit_namespace(self, name: str) -> None:
        for (namespace, _), local_queue in self.cluster.local_queues.items():
            if namespace == name and local_queue.spec is not None:
                queue = self.cluster.forest.queues.get(local_queue.spec.queue)
                if queue is not None:
                    self.edit(queue)

    def _put_runtime_class(self, obj: Object, restore: bool) -> None:
        self.cluster.catalogue.put_runtime_class(obj.manifest)
        self.assignment.reread_pod_sets(None)

    def _remove_runtime_class(self, key: Key) -> None:
        self.cluster.catalogue.remove_runtime_class(key.name)
        self.assignment.reread_pod_sets(None)

    def _put_limit_range(self, obj: Object, restore: bool) -> None:
        self.cluster.catalogue.put_limit_range(obj.manifest)
        self.assignment.reread_pod_sets(obj.key.namespace)

    def _remove_limit_range(self, key: Key) -> None:
        self.cluster.catalogue.remove_limit_range(key.namespace, key.name)
        self.assignment.reread_pod_sets(key.namespace)

    # ---- topology ----

    def _put_topology(self, obj: Object, restore: bool) -> None:
        topology = read_topology(obj.manifest)
        if self.cluster.topologies.put_topology(topology):
            self._edit_topology(topology.name, restore=restore)

    def _remove_topology(self, key: Key) -> None:
        self.cluster.topologies.remove_topology(key.name)
        self._edit_topology(key.name, restore=False)

    def _edit_topology(self, name: str, *, restore: bool) -> None:
        self.cluster.needs_linking = True
        for flavor in self.cluster.topologies.flavors.values():
            if flavor.topology == name:
                self._edit_flavor(flavor.name, restore=restore)

    def _put_node(self, obj: Object, restore: bool) -> None:
        self._edit_places(self.cluster.topologies.put_node(obj), restore=restore)
        if not restore:
            self.changed_nodes[obj.key.name] = None

    def _remove_node(self, key: Key) -> None:
        self._edit_places(self.cluster.topologies.remove_node(key.name))
        self.changed_nodes[key.name] = None

    def _put_pod(self, obj: Object, restore: bool) -> None:
        self._edit_places(self.cluster.topologies.put_pod(obj), restore=restore)

    def _remove_pod(self, key: Key) -> None:
        self._edit_places(self.cluster.topologies.remove_pod(key))

    def _edit_places(self, flavors: Iterable[str], *, restore: bool = False) -> None:
        """Re-activate the ClusterQueues whose nodes changed.

        Source: docs/semantics/kueue-topology.md#re-activation.
        """
        if restore:
            return
        for flavor in flavors:
            for queue in self.cluster.forest.queues.values():
                if any(flavor in group.flavors for group in queue.spec.groups):
                    self.edit(queue)

    # ---- everything into its place ----

    def settle(self) -> None:
        """Link the trees and place every new workload; idle when nothing came."""
        if not (
            self.edited
            or self.assignment.unplaced
            or self.cluster.needs_linking
            or self.changed_nodes
        ):
            return
        self.cluster.link()
        self.assignment.assign_all()
        self._note_nodes()
        self._apply_edits()

    def _note_nodes(self) -> None:
        changed, self.changed_nodes = self.changed_nodes, {}
        if self.watches_nodes and self.cluster.topologies.holders:
            for name in changed:
                note_node(self.life, name)

    def _apply_edits(self) -> None:
        """Re-activate around what was edited, and let the controller look at it.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        for name in self.edited_cohorts:
            self._edit_tree(self.cluster.forest.cohorts.get(name))
        self.edited_cohorts.clear()
        for root in {self._root(n): None for n, e in self.edited.items() if e & _QUOTA}:
            self._edit_tree(root)
        edited, self.edited = self.edited, {}
        for name, kind in edited.items():
            queue = self.cluster.forest.queues.get(name)
            if queue is None:
                continue
            queue.generation += bool(kind & _QUOTA)
            self.life.to_requeue[queue] = None
            if kind & _TOUCHED:
                for local_queue in self.cluster.local_queues_of.get(name, ()):
                    self.life.dirty.update(local_queue.workloads)

    def _root(self, name: str) -> QuotaNode | None:
        queue = self.cluster.forest.queues.get(name)
        return None if queue is None else queue.root

    def start_over(self) -> None:
        """Try all again and note their pods anew, as a restarted controller does."""
        self.settle()
        for queue in self.cluster.forest.queues.values():
            self.edit(queue)
        for work in self.cluster.workloads.values():
            if work.reserved and not work.finished:
                self.life.note_pods_ready(work, ready=work.pods_ready)
