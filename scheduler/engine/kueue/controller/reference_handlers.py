"""Objects that ClusterQueues and workloads refer to: flavors, checks, nodes, classes."""

from __future__ import annotations

from scheduler.engine.kueue.controller.edits import Edits
from scheduler.engine.kueue.controller.node_failures import note_node
from scheduler.engine.kueue.controller.queue_assignment import QueueAssignment
from scheduler.model.admission_check import (
    ACTIVE_CHECK,
    MULTI_KUEUE,
    NO_PARAMETERS,
    PROVISIONING,
    read_admission_check,
)
from scheduler.model.objects import Key, Object
from scheduler.model.quota import read_flavor
from scheduler.model.topology import read_topology


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
        if not restore:
            self.edits.nodes(flavors)

    def remove_pod(self, key: Key) -> None:
        """Forget a Pod."""
        self.edits.nodes(self.cluster.topologies.remove_pod(key))

    def note_nodes(self) -> None:
        """Let workloads whose node changed see whether it failed."""
        changed, self.changed_nodes = self.changed_nodes, {}
        if self.watches_nodes and self.cluster.topologies.holders:
            for name in changed:
                note_node(self.life, name)
