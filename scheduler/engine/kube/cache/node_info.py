"""One node with what is on it: the sums that filters and scores read."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from scheduler.model.node import CPU, MEMORY, PODS, Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.selectors import Requirement, Taint

Port = tuple[str, str, int]
ANY_IP = "0.0.0.0"


class NodeInfo:
    """A node's pods and their sums in canonical units.

    `requested` is the plain sum, `assumed_cpu` and `assumed_memory` the sums
    with the defaults for containers that ask for nothing.
    Source: docs/semantics/kube-scheduler.md#sums-of-a-node.
    """

    __slots__ = (
        "assumed_cpu",
        "assumed_memory",
        "node",
        "pods",
        "ports",
        "requested",
        "row",
    )

    def __init__(self, node: Node, row: int = -1) -> None:
        self.node = node
        self.row = row
        self.pods: dict[Key, Pod] = {}
        self.requested: dict[str, int] = {}
        self.assumed_cpu = 0
        self.assumed_memory = 0
        self.ports: dict[Port, int] = {}

    def add(self, pod: Pod) -> None:
        """Put a pod on the node."""
        self.pods[pod.key] = pod
        self._grow(pod, 1)

    def remove(self, pod: Pod) -> None:
        """Take a pod off the node."""
        del self.pods[pod.key]
        self._grow(pod, -1)

    def _grow(self, pod: Pod, sign: int) -> None:
        asked = pod.shape.requests
        requested = self.requested
        for name, amount in asked.exact.items():
            requested[name] = requested.get(name, 0) + sign * amount
        self.assumed_cpu += sign * asked.assumed_cpu
        self.assumed_memory += sign * asked.assumed_memory
        for port in pod.shape.ports:
            count = self.ports.get(port, 0) + sign
            if count > 0:
                self.ports[port] = count
            else:
                self.ports.pop(port, None)

    def copy(self) -> NodeInfo:
        """Return a copy of the node, to try removals on."""
        other = NodeInfo(self.node, self.row)
        other.pods = dict(self.pods)
        other.requested = dict(self.requested)
        other.assumed_cpu = self.assumed_cpu
        other.assumed_memory = self.assumed_memory
        other.ports = dict(self.ports)
        return other

    def capacity(self, resource: str) -> int:
        """Return the node's capacity of the resource."""
        return self.node.allocatable.get(resource, 0)

    @property
    def pod_limit(self) -> int:
        """Return how many pods the node takes."""
        return self.node.allocatable.get(PODS, 0)

    def taken(self, resource: str, *, defaults: bool) -> int:
        """Return the sum of the pods' requests; with `defaults`, default requests included."""
        if defaults and resource == CPU:
            return self.assumed_cpu
        if defaults and resource == MEMORY:
            return self.assumed_memory
        return self.requested.get(resource, 0)

    def conflicts(self, wanted: tuple[Port, ...]) -> bool:
        """Return whether a wanted host port is taken."""
        return ports_conflict(wanted, self.ports)


def ports_conflict(wanted: tuple[Port, ...], taken: dict[Port, int]) -> bool:
    """Return whether a wanted host port is taken; 0.0.0.0 conflicts with every address.

    Source: docs/semantics/kube-scheduler.md#host-ports.
    """
    return any(
        protocol == held_protocol
        and number == held_number
        and (address == held or ANY_IP in (address, held))
        for address, protocol, number in wanted
        for held, held_protocol, held_number in taken
    )


# ------------------------------------------------------------------------
# The nodes as arrays, one row each: what whole-cluster verdicts are made from.


Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


class ValueGroups:
    """Rows sorted into groups of equal values: `codes[row]` indexes `values`."""

    __slots__ = ("codes", "values")

    def __init__(self, keys: list[Any]) -> None:
        index: dict[Any, int] = {}
        codes = [index.setdefault(key, len(index)) for key in keys]
        self.codes: Rows = np.array(codes, dtype=np.intp)
        self.values: list[Any] = list(index)

    def take(self, rule: Callable[[Any], Any], dtype: Any) -> npt.NDArray[Any]:
        """Return `rule` of each row's value, asked once per distinct value."""
        return np.array([rule(v) for v in self.values], dtype=dtype)[self.codes]


class NodeTable:
    """Node rows as arrays. A placed pod changes one row; a node, all of them."""

    __slots__ = (
        "_allocatable",
        "_everywhere",
        "_labels",
        "_requested",
        "_taints",
        "assumed_cpu",
        "assumed_memory",
        "names",
        "node_infos",
        "pod_count",
        "pod_limit",
        "size",
        "unschedulable",
    )

    def __init__(self, node_infos: list[NodeInfo]) -> None:
        self.node_infos = node_infos
        self.size = len(node_infos)
        self.names = [node_info.node.name for node_info in node_infos]
        self._allocatable: dict[str, Ints] = {}
        self._everywhere: dict[str, bool] = {}
        self._requested: dict[str, Ints] = {}
        self._labels: dict[str, ValueGroups] = {}
        self._taints: ValueGroups | None = None
        self.assumed_cpu = _ints([node_info.assumed_cpu for node_info in node_infos])
        self.assumed_memory = _ints(
            [node_info.assumed_memory for node_info in node_infos]
        )
        self.pod_count = _ints([len(node_info.pods) for node_info in node_infos])
        self.pod_limit = _ints([node_info.capacity(PODS) for node_info in node_infos])
        self.unschedulable: Mask = np.array(
            [node_info.node.unschedulable for node_info in node_infos], dtype=np.bool_
        )

    def change(self, row: int, pod: Pod, sign: int) -> None:
        """Add a pod to a row, or take it off (`sign` -1)."""
        asked = pod.shape.requests
        for name, column in self._requested.items():
            amount = asked.exact.get(name)
            if amount:
                column[row] += sign * amount
        self.assumed_cpu[row] += sign * asked.assumed_cpu
        self.assumed_memory[row] += sign * asked.assumed_memory
        self.pod_count[row] += sign

    def allocatable(self, resource: str) -> Ints:
        """Return each node's allocatable amount of the resource."""
        column = self._allocatable.get(resource)
        if column is None:
            column = _ints(
                [node_info.capacity(resource) for node_info in self.node_infos]
            )
            self._allocatable[resource] = column
        return column

    def everywhere(self, resource: str) -> bool:
        """Return whether every node has some of the resource."""
        known = self._everywhere.get(resource)
        if known is None:
            known = bool(self.allocatable(resource).all())
            self._everywhere[resource] = known
        return known

    def requested(self, resource: str) -> Ints:
        """Return the requests of each node's pods of the resource."""
        column = self._requested.get(resource)
        if column is None:
            column = _ints(
                [node_info.requested.get(resource, 0) for node_info in self.node_infos]
            )
            self._requested[resource] = column
        return column

    def labels(self, key: str) -> ValueGroups:
        """Return the nodes grouped by their value of a label (None: absent)."""
        groups = self._labels.get(key)
        if groups is None:
            groups = ValueGroups(
                [node_info.node.labels.get(key) for node_info in self.node_infos]
            )
            self._labels[key] = groups
        return groups

    def taints(self) -> ValueGroups:
        """Return the nodes grouped by their taints."""
        if self._taints is None:
            self._taints = ValueGroups(
                [node_info.node.taints for node_info in self.node_infos]
            )
        return self._taints

    def all(self) -> View:
        """Return the view of every row."""
        return View(self, None)

    def only(self, rows: Rows) -> View:
        """Return the view of some rows."""
        return View(self, rows)

    def where(self, mask: Mask) -> View:
        """Return the view of the rows in a mask, which may not change until it is read."""
        return View(self, None, mask)


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


class View:
    """Some rows of the columns; plug-ins read this and never know which."""

    __slots__ = ("_mask", "_rows", "node_table")

    def __init__(
        self, node_table: NodeTable, rows: Rows | None, mask: Mask | None = None
    ) -> None:
        self.node_table = node_table
        self._rows = rows
        self._mask = mask

    @property
    def rows(self) -> Rows | None:
        """Return which rows of the table it has; None for all."""
        if self._mask is not None:
            self._rows, self._mask = np.flatnonzero(self._mask), None
        return self._rows

    @property
    def size(self) -> int:
        """Return the number of rows."""
        rows = self.rows
        return self.node_table.size if rows is None else len(rows)

    @property
    def node_infos(self) -> list[NodeInfo]:
        """Return the nodes themselves, in row order."""
        node_infos, rows = self.node_table.node_infos, self.rows
        return node_infos if rows is None else [node_infos[row] for row in rows]

    def _cut(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        rows = self.rows
        return column if rows is None else column.take(rows)

    def everywhere(self, resource: str) -> bool:
        """Return whether every node of the table has some of the resource."""
        return self.node_table.everywhere(resource)

    def allocatable(self, resource: str) -> Ints:
        """Return each node's allocatable amount of the resource."""
        return self._cut(self.node_table.allocatable(resource))

    def requested(self, resource: str) -> Ints:
        """Return the requests of the pods of the resource."""
        return self._cut(self.node_table.requested(resource))

    @property
    def assumed_cpu(self) -> Ints:
        """Return the cpu held, defaults counted."""
        return self._cut(self.node_table.assumed_cpu)

    @property
    def assumed_memory(self) -> Ints:
        """Return the memory held, defaults counted."""
        return self._cut(self.node_table.assumed_memory)

    @property
    def pod_count(self) -> Ints:
        """Return how many pods are on each node."""
        return self._cut(self.node_table.pod_count)

    @property
    def pod_limit(self) -> Ints:
        """Return how many pods each node takes."""
        return self._cut(self.node_table.pod_limit)

    @property
    def unschedulable(self) -> Mask:
        """Return which nodes are cordoned."""
        return self._cut(self.node_table.unschedulable)

    def by_label(
        self, key: str, rule: Callable[[str | None], Hashable], dtype: Any
    ) -> npt.NDArray[Any]:
        """Return `rule` of each node's value of a label (None: absent)."""
        return self._cut(self.node_table.labels(key).take(rule, dtype))

    def by_taints(
        self, rule: Callable[[tuple[Taint, ...]], Hashable], dtype: Any
    ) -> npt.NDArray[Any]:
        """Return `rule` of each node's taints."""
        return self._cut(self.node_table.taints().take(rule, dtype))

    def meets(self, need: Requirement) -> Mask:
        """Return which nodes' labels meet a requirement."""
        return self.by_label(
            need.key,
            lambda value: need.matches({} if value is None else {need.key: value}),
            np.bool_,
        )

    def each(self, rule: Callable[[NodeInfo], Any], dtype: Any) -> npt.NDArray[Any]:
        """Return `rule` of each node, asked one by one."""
        return np.array([rule(node_info) for node_info in self.node_infos], dtype=dtype)

    def full(self, value: int, dtype: Any = np.int64) -> npt.NDArray[Any]:
        """Return a column of one value."""
        return np.full(self.size, value, dtype=dtype)


# ------------------------------------------------------------------------
# Pods that were promised a node after preempting there.


class Nominations:
    """Who is nominated where; a pod is nominated to one node at most."""

    def __init__(self) -> None:
        self._node: dict[Key, str] = {}
        self._pods: dict[str, dict[Key, Pod]] = {}

    def put(self, pod: Pod, node: str) -> None:
        """Nominate the pod to the node, and nowhere else."""
        self.remove(pod.key)
        if node:
            self._node[pod.key] = node
            self._pods.setdefault(node, {})[pod.key] = pod

    def remove(self, key: Key) -> None:
        """Forget the pod's nomination."""
        node = self._node.pop(key, None)
        if node is not None:
            del self._pods[node][key]
            if not self._pods[node]:
                del self._pods[node]

    def node(self, key: Key) -> str:
        """Return where the pod is nominated, "" for nowhere."""
        return self._node.get(key, "")

    def __bool__(self) -> bool:
        """Return whether a pod is nominated anywhere."""
        return bool(self._node)

    def on(self, node: str) -> list[Pod]:
        """Return the pods nominated to a node, in key order."""
        pods = self._pods.get(node)
        return [pods[key] for key in sorted(pods)] if pods else []

    def rivals(self, pod: Pod) -> dict[str, list[Pod]]:
        """Return per node the others whose priority is at least the pod's.

        Source: docs/semantics/kube-scheduler.md#nominated-pods.
        """
        found = {}
        for node in self._pods:
            others = [
                other
                for other in self.on(node)
                if other.priority >= pod.priority and other.key != pod.key
            ]
            if others:
                found[node] = others
        return found
