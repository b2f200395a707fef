"""Objects in: what is new or edited finds its place in the cluster.

Nothing is decided here. Edits are gathered and take effect together in
`settle`, so that objects may come in any order and linking is done once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.engine.kueue.cache.assumed import count_anew, drop_quota
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller import status
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.controller.node_failures import note_node
from scheduler.engine.kueue.controller.queue_assignment import (
    QUOTA,
    TOUCHED,
    Edits,
    QueueAssignment,
)
from scheduler.engine.kueue.queue.pending import PendingQueue
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import LocalQueue
from scheduler.model.admission_check import (
    ACTIVE_CHECK,
    MULTI_KUEUE,
    NO_PARAMETERS,
    PROVISIONING,
    read_admission_check,
)
from scheduler.model.objects import Key, Object
from scheduler.model.quota import (
    LocalQueueSpec,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_queue,
)
from scheduler.model.topology import read_topology

State = Mapping[str, Any]


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
        self.edits = Edits(cluster, life)
        self.references = refs = ReferenceHandlers(self.edits, self.assignment)
        self._put: dict[str, Callable[[Object, bool], None]] = {
            "AdmissionCheck": refs.put_check,
            "ClusterQueue": self._put_queue,
            "Cohort": self._put_cohort,
            "LocalQueue": self._put_local_queue,
            "ResourceFlavor": refs.put_flavor,
            "Namespace": refs.put_namespace,
            "RuntimeClass": refs.put_runtime_class,
            "LimitRange": refs.put_limit_range,
            "Topology": refs.put_topology,
            "Node": refs.put_node,
            "Pod": refs.put_pod,
            "Workload": self.assignment.put,
        }
        self._remove: dict[str, Callable[[Key], None]] = {
            "AdmissionCheck": refs.remove_check,
            "ClusterQueue": self._remove_queue,
            "Cohort": self._remove_cohort,
            "LocalQueue": self._remove_local_queue,
            "ResourceFlavor": refs.remove_flavor,
            "Namespace": refs.remove_namespace,
            "RuntimeClass": refs.remove_runtime_class,
            "LimitRange": refs.remove_limit_range,
            "Topology": refs.remove_topology,
            "Node": refs.remove_node,
            "Pod": refs.remove_pod,
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

    # ---- queues ----

    def _put_queue(self, obj: Object, restore: bool) -> None:
        spec = read_queue(obj.manifest)
        known = self.cluster.forest.queues.get(spec.name)
        if known is not None:
            known.asked = True  # an edit may change what was asked before
            if known.spec == spec and not restore:
                return
        if known is not None:
            if known.spec.cohort != spec.cohort:
                self.edits.leave(known)
            if known.spec.groups != spec.groups:
                # Their statuses list the flavors of its groups.
                listing = self.cluster.local_queues_of.get(spec.name, ())
                self.life.touched_local_queues.update(dict.fromkeys(listing))
        queue = self.cluster.put_queue(spec)
        if not restore and (known is None or self._renew_pending_queue(queue)):
            for local_queue in self.cluster.local_queues_of.get(queue.name, ()):
                self.assignment.add(local_queue.workloads)
        if not restore and known is None:
            self.assignment.readmit(queue.name)
        if queue.active_since_us is None:
            queue.active_since_us = status.active_since(obj.status)
        if restore:
            state = obj.state.get(self.name) or {}
            queue.generation = state.get("generation", 0)
            queue.pending.failed_hashes = dict(state.get("remembered") or {})
            if state.get("sticky"):
                self.assignment.preemptors.restored[queue.name] = Key(*state["sticky"])
            if state.get("edited"):
                self.edits.queues[queue.name] = state["edited"]
            queue.pending.heard_us = state.get("heard")
            if "shown" in state:
                queue.pending.shown = state["shown"]
                told = state["told"]
                queue.pending.told = None if told is None else (told[0], told[1])
                self.life.left_behind[queue] = None
        else:
            self.life.count_anew(queue)
            self.edits.queue(queue, TOUCHED | QUOTA)

    def _renew_pending_queue(self, queue: ClusterQueue) -> bool:
        """Replace the pending queue if the strategy changed; return whether it did."""
        equivalence_hashing = self.cluster.hashes(queue.spec)
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

    def _remove_queue(self, key: Key) -> None:
        queue = self.cluster.forest.queues.get(key.name)
        if queue is None:
            return
        self.edits.tree(queue)
        self.life.left_behind.pop(queue, None)
        self.cluster.needs_linking = True
        for work in list(queue.admitted.workloads):
            drop_quota(work, self.cluster)
        for local_queue in self.cluster.local_queues_of.get(key.name, ()):
            self.assignment.reassign(local_queue.workloads)
            self.life.context.journal.touch(local_queue.key)
        del self.cluster.forest.queues[key.name]
        self.edits.queues.pop(key.name, None)
        self.life.touched_queues.pop(queue, None)

    def _put_cohort(self, obj: Object, restore: bool) -> None:
        spec = read_cohort(obj.manifest)
        if self.cluster.forest.specs.get(spec.name) == spec:
            return
        self.cluster.needs_linking = True
        if not restore:
            known = self.cluster.forest.specs.get(spec.name)
            if known is not None and known.parent != spec.parent:
                self.edits.leave(self.cluster.forest.cohorts.get(spec.name))
            self.edits.cohorts[spec.name] = None
        self.cluster.forest.specs[spec.name] = spec

    def _remove_cohort(self, key: Key) -> None:
        self.edits.leave(self.cluster.forest.cohorts.get(key.name))
        self.cluster.needs_linking = True
        self.cluster.forest.specs.pop(key.name, None)

    def _put_local_queue(self, obj: Object, restore: bool) -> None:
        spec = read_local_queue(obj.manifest)
        before = self.cluster.local_queue(spec.namespace, spec.name).spec
        local_queue = self.cluster.put_local_queue(spec)
        count_anew(local_queue)
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
        if not local_queue.is_active:
            self._leave_behind(local_queue)
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
        self._leave_behind(local_queue)
        self.assignment.reassign(local_queue.workloads)
        self.cluster.remove_local_queue(local_queue)
        count_anew(local_queue)
        if self.life.ledger is not None:
            self.life.ledger.drop(local_queue)

    def _leave_behind(self, local_queue: LocalQueue) -> None:
        spec = local_queue.spec
        queue = self.cluster.forest.queues.get(spec.queue) if spec is not None else None
        if queue is not None:
            self.life.leave_behind(queue, local_queue.workloads)

    # ---- everything into its place ----

    def settle(self) -> None:
        """Link the trees and place every new workload; idle when nothing came."""
        if self.settled:
            return
        self.cluster.link()
        self.assignment.assign_all()
        self.references.note_nodes()
        self.edits.apply()

    @property
    def settled(self) -> bool:
        """Return whether nothing came that has to find its place."""
        return not (
            self.edits.queues
            or self.assignment.unplaced
            or self.cluster.needs_linking
            or self.references.changed_nodes
        )

    def start_over(self) -> None:
        """Try all again and note their pods anew, as a restarted controller does."""
        self.settle()
        for queue in self.cluster.forest.queues.values():
            self.edits.queue(queue)
        for work in self.cluster.workloads.values():
            if work.reserved and not work.finished:
                self.life.note_pods_ready(work, ready=work.pods_ready)


# ------------------------------------------------------------------------
# Objects that ClusterQueues and workloads refer to: flavors, checks, nodes, classes.


class ReferenceHandlers:
    """Takes objects that others refer to, and notes which objects a change concerns."""

    def __init__(self, edits: Edits, assignment: QueueAssignment) -> None:
        self.edits = edits
        self.assignment = assignment
        self.cluster = edits.cluster
        self.life = edits.life
        self.changed_nodes: dict[str, None] = {}
        self.watches_nodes = True  # whether a failed node is noted on workloads

    def put_flavor(self, obj: Object, restore: bool) -> None:
        """Take a ResourceFlavor."""
        flavor = read_flavor(obj.manifest)
        before = self.cluster.flavors.get(flavor.name)
        if before == flavor:
            return
        self.cluster.flavors[flavor.name] = flavor
        self.cluster.topologies.put_flavor(flavor)
        requeues = before is None or self.cluster.settings.flavor_edits_requeue
        self.edits.flavor(flavor.name, restore=restore, requeues=requeues)

    def remove_flavor(self, key: Key) -> None:
        """Forget a ResourceFlavor."""
        self.cluster.flavors.pop(key.name, None)
        self.cluster.topologies.remove_flavor(key.name)
        self.edits.flavor(key.name)

    def put_check(self, obj: Object, restore: bool) -> None:
        """Take an AdmissionCheck."""
        status = obj.status
        self._say_no_parameters(obj)
        if self.life.answers.simulated and not self._lacks_parameters(obj):
            # Its controller is there, if not said else.
            status = {"conditions": [ACTIVE_CHECK, *(status.get("conditions") or ())]}
        check = read_admission_check(obj.manifest, status)
        if self.cluster.checks.get(check.name) != check or not restore:
            self.cluster.checks[check.name] = check
            self.edits.check(check.name, restore=restore)

    def _lacks_parameters(self, obj: Object) -> bool:
        """Return whether a controller of Kueue cannot work without what a check omits.

        A rule of the policy, or a condition that somebody wrote, says what it is.
        Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks.
        """
        return (
            obj.spec.get("controllerName") in (MULTI_KUEUE, PROVISIONING)
            and not obj.spec.get("parameters")
            and obj.key.name not in self.life.answers.rules
            and obj.status.get("conditions") in (None, [], [NO_PARAMETERS])
        )

    def _say_no_parameters(self, obj: Object) -> None:
        """Write what MultiKueue says of a check without parameters, or take it back."""
        if not self.life.answers.simulated:
            return
        said = obj.status.get("conditions") == [NO_PARAMETERS]
        lacks = self._lacks_parameters(obj)
        if said and not lacks:
            del obj.status["conditions"]
        elif lacks and not said and obj.spec["controllerName"] == MULTI_KUEUE:
            obj.status["conditions"] = [dict(NO_PARAMETERS)]
            self.life.context.journal.touch(obj.key)

    def remove_check(self, key: Key) -> None:
        """Forget an AdmissionCheck."""
        self.cluster.checks.pop(key.name, None)
        self.edits.check(key.name)

    def put_namespace(self, obj: Object, restore: bool) -> None:
        """Take a Namespace."""
        before = self.cluster.namespaces.get(obj.key.name)
        self.cluster.namespaces[obj.key.name] = obj.labels
        if not restore and before != obj.labels:
            self.edits.namespace(obj.key.name)

    def remove_namespace(self, key: Key) -> None:
        """Forget a Namespace."""
        self.cluster.namespaces.pop(key.name, None)
        self.edits.namespace(key.name)

    def put_runtime_class(self, obj: Object, restore: bool) -> None:
        """Take a RuntimeClass."""
        self.cluster.catalogue.put_runtime_class(obj.manifest)
        self.assignment.reread_pod_sets(None)

    def remove_runtime_class(self, key: Key) -> None:
        """Forget a RuntimeClass."""
        self.cluster.catalogue.remove_runtime_class(key.name)
        self.assignment.reread_pod_sets(None)

    def put_limit_range(self, obj: Object, restore: bool) -> None:
        """Take a LimitRange."""
        self.cluster.catalogue.put_limit_range(obj.manifest)
        self.assignment.reread_pod_sets(obj.key.namespace)

    def remove_limit_range(self, key: Key) -> None:
        """Forget a LimitRange."""
        self.cluster.catalogue.remove_limit_range(key.namespace, key.name)
        self.assignment.reread_pod_sets(key.namespace)

    def put_topology(self, obj: Object, restore: bool) -> None:
        """Take a Topology."""
        topology = read_topology(obj.manifest)
        if self.cluster.topologies.put_topology(topology):
            self._edit_topology(topology.name, restore=restore)

    def remove_topology(self, key: Key) -> None:
        """Forget a Topology."""
        self.cluster.topologies.remove_topology(key.name)
        self._edit_topology(key.name, restore=False)

    def _edit_topology(self, name: str, *, restore: bool) -> None:
        self.cluster.needs_linking = True
        for flavor in self.cluster.topologies.flavors.values():
            if flavor.topology == name:
                self.edits.flavor(flavor.name, restore=restore)

    def put_node(self, obj: Object, restore: bool) -> None:
        """Take a Node."""
        flavors = self.cluster.topologies.put_node(obj)
        if not restore:
            self.edits.nodes(flavors)
            self.changed_nodes[obj.key.name] = None

    def remove_node(self, key: Key) -> None:
        """Forget a Node."""
        self.edits.nodes(self.cluster.topologies.remove_node(key.name))
        self.changed_nodes[key.name] = None

    def put_pod(self, obj: Object, restore: bool) -> None:
        """Take a Pod: it may use room of a topology."""
        flavors = self.cluster.topologies.put_pod(obj)
        if not restore and self.cluster.settings.pod_ends_requeue:
            self.edits.nodes(flavors)

    def remove_pod(self, key: Key) -> None:
        """Forget a Pod."""
        flavors = self.cluster.topologies.remove_pod(key)
        if self.cluster.settings.pod_ends_requeue:
            self.edits.nodes(flavors)

    def note_nodes(self) -> None:
        """Let workloads whose node changed see whether it failed."""
        changed, self.changed_nodes = self.changed_nodes, {}
        if self.watches_nodes and self.cluster.topologies.holders:
            for name in changed:
                note_node(self.life, name)
