"""What one scheduler believes of the cluster: nodes, the pods on them, indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from scheduler.engine.kube.cache.node_info import NodeInfo, NodeTable, Rows
from scheduler.engine.kube.cache.pod_group import (
    ElasticQuota,
    Gangs,
    PodDisruptionBudget,
    PodGroup,
)
from scheduler.engine.kube.devices.allocator import Devices
from scheduler.engine.kube.numa.topology import Topologies
from scheduler.engine.kube.volumes.known import Volumes
from scheduler.model.node import Node
from scheduler.model.objects import Key, namespace_labels
from scheduler.model.pod import Pod
from scheduler.model.selectors import (
    Requirement,
    Selector,
    labels_selected,
    read_selector,
)

#: pods of one namespace, one set of labels, staying or on their way out
LabelClass = tuple[str, tuple[tuple[str, str], ...], bool]
#: pods of one namespace and shape whose terms may look at their own labels
TermClass = tuple[str, int, tuple[tuple[str, str], ...]]
_MOST_CHANGES = 4096


class ClusterCache:
    """Nodes with their pods, kept up to date; rows are in name order.

    A pod whose node is unknown is kept aside until the node comes.
    """

    def __init__(self) -> None:
        self.node_infos: dict[str, NodeInfo] = {}
        self.placed: dict[Key, tuple[Pod, str]] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self.groups: dict[Key, PodGroup] = {}
        self.budgets: dict[Key, PodDisruptionBudget] = {}
        self.selecting = SpreadSelectors()
        self.volumes = Volumes()  # the same for every scheduler of a run
        self.quotas: dict[str, ElasticQuota] = {}  # by namespace
        self.gangs = Gangs()  # shared, as volumes and devices are
        self.devices = Devices()  # shared likewise
        self.topologies = Topologies()  # shared likewise
        self.claim_users: dict[Key, int] = {}  # placed pods by claim
        self.images: dict[str, tuple[int, int]] = {}  # name: (bytes, nodes having it)
        self.priorities: dict[int, int] = {}  # of placed pods, and how many
        self.nodes_version = 0
        self.by_labels: dict[LabelClass, dict[str, int]] = {}
        self.with_terms: dict[TermClass, tuple[Pod, dict[str, int]]] = {}
        self._node_table: NodeTable | None = None
        self._scan: Rows | None = None
        self._changes: list[int] = []
        self._first_change = 0

    # --- nodes

    def put_node(self, node: Node) -> Node | None:
        """Take a new or changed node; return what it was before."""
        node_info = self.node_infos.get(node.name)
        before = node_info.node if node_info else None
        if before == node:
            return before
        if node_info is None:
            node_info = self.node_infos[node.name] = NodeInfo(node)
            for pod, name in list(self.placed.values()):
                if name == node.name:
                    node_info.add(pod)
        else:
            node_info.node = node
        self._nodes_changed()
        return before

    def remove_node(self, name: str) -> Node | None:
        """Forget a node; its pods stay known but are on no node."""
        node_info = self.node_infos.pop(name, None)
        if node_info is None:
            return None
        self._nodes_changed()
        return node_info.node

    def _nodes_changed(self) -> None:
        self.nodes_version += 1
        self._node_table = None
        self._scan = None

    @property
    def node_table(self) -> NodeTable:
        """Return the nodes as arrays; built again after a node changed: O(nodes)."""
        if self._node_table is None:
            node_infos = [self.node_infos[name] for name in sorted(self.node_infos)]
            for row, node_info in enumerate(node_infos):
                node_info.row = row
            self._node_table = NodeTable(node_infos)
            self._forget_changes()
            self.images = _image_spread(node_infos)
        return self._node_table

    @property
    def scan(self) -> Rows:
        """Return the rows in the order in which nodes are looked at.

        Zones take turns. Source: docs/semantics/kube-scheduler.md#node-sampling.
        """
        if self._scan is None:
            self._scan = np.array(
                _interleaved(self.node_table.node_infos), dtype=np.intp
            )
        return self._scan

    # --- pods on nodes

    def place(self, pod: Pod, node: str) -> None:
        """Put a pod on a node, or replace what is known of it there."""
        before = self.placed.get(pod.key)
        if before is not None and before[1] == node and _counts_alike(before[0], pod):
            self._replace(pod, node)
            return
        if before is not None:
            self.unplace(pod.key)
        self.placed[pod.key] = (pod, node)
        self._count(pod, node, 1)
        node_info = self.node_infos.get(node)
        if node_info is not None:
            node_info.add(pod)
            self._row_changed(node_info, pod, 1)

    def _replace(self, pod: Pod, node: str) -> None:
        """Let a pod stand for itself as it was: no sum or index changes by it."""
        del self.placed[pod.key]
        self.placed[pod.key] = (pod, node)
        node_info = self.node_infos.get(node)
        if node_info is not None:
            del node_info.pods[pod.key]
            node_info.pods[pod.key] = pod
            self._note_change(node_info.row)

    def unplace(self, key: Key) -> tuple[Pod, str] | None:
        """Take a pod off its node; return it and the node, None when not placed."""
        found = self.placed.pop(key, None)
        if found is None:
            return None
        pod, node = found
        self._count(pod, node, -1)
        node_info = self.node_infos.get(node)
        if node_info is not None:
            node_info.remove(pod)
            self._row_changed(node_info, pod, -1)
        return found

    def _count(self, pod: Pod, node: str, by: int) -> None:
        """Keep the indexes of which pods are where."""
        left = self.priorities.get(pod.priority, 0) + by
        if left:
            self.priorities[pod.priority] = left
        else:
            del self.priorities[pod.priority]
        group = label_class(pod)
        counts = self.by_labels.setdefault(group, {})
        _add(counts, node, by)
        if not counts:
            del self.by_labels[group]
        if pod.shape.claims:
            self._count_claims(pod, by)
        if pod.shape.has_pod_terms:
            owners = term_class(pod)
            _, nodes = self.with_terms.setdefault(owners, (pod, {}))
            _add(nodes, node, by)
            if not nodes:
                del self.with_terms[owners]

    def _count_claims(self, pod: Pod, by: int) -> None:
        for source in pod.shape.claims:
            key = source.key(pod.namespace, pod.name)
            left = self.claim_users.get(key, 0) + by
            if left:
                self.claim_users[key] = left
            else:
                del self.claim_users[key]

    def has_lower_priority(self, priority: int) -> bool:
        """Return whether any placed pod has a lower priority."""
        return any(held < priority for held in self.priorities)

    def matching(self, namespace: str, selector: Selector) -> dict[str, int]:
        """Count per node the pods of a selection; those on their way out are not."""
        found: dict[str, int] = {}
        for (held, labels, leaving), counts in self.by_labels.items():
            if held == namespace and not leaving and selector.matches(dict(labels)):
                for node, count in counts.items():
                    found[node] = found.get(node, 0) + count
        return found

    def _row_changed(self, node_info: NodeInfo, pod: Pod, sign: int) -> None:
        if self._node_table is None:
            return
        self._node_table.change(node_info.row, pod, sign)
        self._note_change(node_info.row)

    def _note_change(self, row: int) -> None:
        if self._node_table is None:
            return
        self._changes.append(row)
        if len(self._changes) > _MOST_CHANGES:
            self._forget_changes()

    def _forget_changes(self) -> None:
        self._first_change += len(self._changes) + 1
        self._changes.clear()

    @property
    def position(self) -> int:
        """Return the present position in the log of changed rows."""
        return self._first_change + len(self._changes)

    def changed_since(self, position: int) -> list[int] | None:
        """Return the rows changed after a position; None when that is not known.

        It is forgotten after a while, and not noted while there are no rows: from a
        change of the nodes until the next look at `node_table`.
        """
        start = position - self._first_change
        if start < 0 or self._node_table is None:
            return None
        return self._changes[start:]

    def namespace_labels(self, name: str) -> dict[str, str]:
        """Return a namespace's labels, with the one every namespace has."""
        return namespace_labels(name, self.namespaces.get(name, {}))


def label_class(pod: Pod) -> LabelClass:
    """Return the class of pods that every label selector treats alike."""
    return pod.namespace, tuple(sorted(pod.labels.items())), pod.terminating


def term_class(pod: Pod) -> TermClass:
    """Return the class of pods whose affinity terms mean the same."""
    return pod.namespace, pod.shape.ordinal, tuple(sorted(pod.labels.items()))


def _counts_alike(before: Pod, now: Pod) -> bool:
    """Return whether a pod adds to every sum and index what it did before."""
    return (
        before.shape is now.shape
        and before.priority == now.priority
        and before.terminating == now.terminating
        and before.labels == now.labels
    )


def _add(counts: dict[str, int], node: str, by: int) -> None:
    left = counts.get(node, 0) + by
    if left:
        counts[node] = left
    else:
        del counts[node]


def _interleaved(node_infos: list[NodeInfo]) -> list[int]:
    zones: dict[str, list[int]] = {}
    for node_info in node_infos:
        zones.setdefault(node_info.node.zone, []).append(node_info.row)
    order: list[int] = []
    turn = 0
    while len(order) < len(node_infos):
        order += [rows[turn] for rows in zones.values() if turn < len(rows)]
        turn += 1
    return order


def _image_spread(node_infos: list[NodeInfo]) -> dict[str, tuple[int, int]]:
    """Return of each image its size (where first seen) and how many have it."""
    found: dict[str, tuple[int, int]] = {}
    for node_info in node_infos:
        for name, size in dict(node_info.node.images).items():
            first, count = found.get(name, (size, 0))
            found[name] = (first, count + 1)
    return found


def plain(value: Any) -> Any:
    """Return a value as msgpack takes it back: tuples as lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


# ------------------------------------------------------------------------
# What must hold of a scheduler's view: sums, columns, indexes are what the pods say.


def sum_violations(cluster: ClusterCache) -> Iterator[str]:
    """Yield a sentence for every sum and index kept by deltas that a recount refutes."""
    node_table = cluster.node_table
    for row, node_info in enumerate(node_table.node_infos):
        again = NodeInfo(node_info.node, row)
        for pod in node_info.pods.values():
            again.add(pod)
        name = node_info.node.name
        kept = {k: v for k, v in node_info.requested.items() if v}
        if kept != {k: v for k, v in again.requested.items() if v}:
            yield f"node {name}: requested is {kept}, its pods hold {again.requested}"
        if node_info.ports != again.ports:
            yield f"node {name}: ports are {node_info.ports}, its pods hold {again.ports}"
        if int(node_table.pod_count[row]) != len(node_info.pods):
            yield f"node {name}: column counts {node_table.pod_count[row]} pods"
        if int(node_table.assumed_cpu[row]) != again.assumed_cpu:
            yield f"node {name}: cpu column is {node_table.assumed_cpu[row]}"
        for resource, amount in kept.items():
            if int(node_table.requested(resource)[row]) != amount:
                yield f"node {name}: {resource} column is not {amount}"
    yield from _index_violations(cluster)


def _index_violations(cluster: ClusterCache) -> Iterator[str]:
    """Yield a sentence for every index of placed pods that placing them anew refutes."""
    fresh = ClusterCache()
    for pod, node in cluster.placed.values():
        fresh.place(pod, node)
    indexes = {
        "priorities": (cluster.priorities, fresh.priorities),
        "pods by labels": (cluster.by_labels, fresh.by_labels),
        "pods with terms": (_owners(cluster), _owners(fresh)),
    }
    for name, (kept, counted) in indexes.items():
        if kept != counted:
            yield f"{name} are {kept}, the placed pods say {counted}"


def _owners(cluster: ClusterCache) -> dict[TermClass, dict[str, int]]:
    return {owners: nodes for owners, (_, nodes) in cluster.with_terms.items()}


# ------------------------------------------------------------------------
# Who selects a pod: Services, and the controllers that make pods.


SERVICE = "Service"
CONTROLLERS = ("ReplicaSet", "StatefulSet", "ReplicationController")
KINDS = (SERVICE, *CONTROLLERS)


class SpreadSelectors:
    """Selectors of Services and controllers, by object."""

    def __init__(self) -> None:
        self.services: dict[Key, Selector] = {}
        self.controllers: dict[Key, Selector] = {}

    def put(self, key: Key, manifest: Mapping[str, Any]) -> None:
        """Take an object of one of KINDS; a Service without a selector has none."""
        if key.kind == SERVICE:
            self.services.pop(key, None)
            if labels := labels_selected(manifest):
                self.services[key] = _of_labels(labels)
        elif key.kind == "ReplicationController":
            self.controllers[key] = _of_labels(labels_selected(manifest))
        else:
            self.controllers[key] = read_selector(
                (manifest.get("spec") or {}).get("selector")
            )

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.services.pop(key, None)
        self.controllers.pop(key, None)

    def of(self, pod: Pod) -> Selector | None:
        """Return the selector of the pod's Services and controller; None without any.

        All Services that select it count together with the controller that
        made it. Source: docs/semantics/kube-scheduler.md#podtopologyspread-score.
        """
        found: list[Requirement] = []
        for key, selector in self.services.items():
            if key.namespace == pod.namespace and selector.matches(pod.labels):
                found += selector.requirements
        maker = self.controllers.get(Key(pod.owner_kind, pod.namespace, pod.owner_name))
        if maker is not None:
            found += maker.requirements
        return Selector(tuple(dict.fromkeys(found))) if found else None


def _of_labels(labels: Mapping[str, Any]) -> Selector:
    return read_selector({"matchLabels": labels})
