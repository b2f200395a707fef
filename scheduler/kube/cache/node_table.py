"""The nodes as arrays, one row each: what whole-cluster verdicts are made from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from scheduler.kube.cache.node_info import Host
from scheduler.records.matching import Requirement, Taint
from scheduler.records.node import PODS
from scheduler.records.pod import Pod

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


class Groups:
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


class Columns:
    """Node rows as arrays. A placed pod changes one row; a node, all of them."""

    __slots__ = (
        "_allocatable",
        "_labels",
        "_requested",
        "_taints",
        "assumed_cpu",
        "assumed_memory",
        "hosts",
        "names",
        "pod_count",
        "pod_limit",
        "size",
        "unschedulable",
    )

    def __init__(self, hosts: list[Host]) -> None:
        self.hosts = hosts
        self.size = len(hosts)
        self.names = [host.node.name for host in hosts]
        self._allocatable: dict[str, Ints] = {}
        self._requested: dict[str, Ints] = {}
        self._labels: dict[str, Groups] = {}
        self._taints: Groups | None = None
        self.assumed_cpu = _ints([host.assumed_cpu for host in hosts])
        self.assumed_memory = _ints([host.assumed_memory for host in hosts])
        self.pod_count = _ints([len(host.pods) for host in hosts])
        self.pod_limit = _ints([host.capacity(PODS) for host in hosts])
        self.unschedulable: Mask = np.array(
            [host.node.unschedulable for host in hosts], dtype=np.bool_
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
        """Return what each node has of the resource."""
        column = self._allocatable.get(resource)
        if column is None:
            column = _ints([host.capacity(resource) for host in self.hosts])
            self._allocatable[resource] = column
        return column

    def requested(self, resource: str) -> Ints:
        """Return what the pods of each node hold of the resource."""
        column = self._requested.get(resource)
        if column is None:
            column = _ints([host.requested.get(resource, 0) for host in self.hosts])
            self._requested[resource] = column
        return column

    def labels(self, key: str) -> Groups:
        """Return the nodes grouped by their value of a label (None: absent)."""
        groups = self._labels.get(key)
        if groups is None:
            groups = Groups([host.node.labels.get(key) for host in self.hosts])
            self._labels[key] = groups
        return groups

    def taints(self) -> Groups:
        """Return the nodes grouped by their taints."""
        if self._taints is None:
            self._taints = Groups([host.node.taints for host in self.hosts])
        return self._taints

    def all(self) -> View:
        """Return the view of every row."""
        return View(self, None)

    def only(self, rows: Rows) -> View:
        """Return the view of some rows."""
        return View(self, rows)


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


class View:
    """Some rows of the columns; plug-ins read this and never know which."""

    __slots__ = ("columns", "rows")

    def __init__(self, columns: Columns, rows: Rows | None) -> None:
        self.columns = columns
        self.rows = rows

    @property
    def size(self) -> int:
        """Return how many rows it has."""
        return self.columns.size if self.rows is None else len(self.rows)

    @property
    def hosts(self) -> list[Host]:
        """Return the nodes themselves, in row order."""
        hosts = self.columns.hosts
        return hosts if self.rows is None else [hosts[row] for row in self.rows]

    def _cut(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return column if self.rows is None else column[self.rows]

    def allocatable(self, resource: str) -> Ints:
        """Return what each node has of the resource."""
        return self._cut(self.columns.allocatable(resource))

    def requested(self, resource: str) -> Ints:
        """Return what the pods hold of the resource."""
        return self._cut(self.columns.requested(resource))

    @property
    def assumed_cpu(self) -> Ints:
        """Return the cpu held, defaults counted."""
        return self._cut(self.columns.assumed_cpu)

    @property
    def assumed_memory(self) -> Ints:
        """Return the memory held, defaults counted."""
        return self._cut(self.columns.assumed_memory)

    @property
    def pod_count(self) -> Ints:
        """Return how many pods stand on each node."""
        return self._cut(self.columns.pod_count)

    @property
    def pod_limit(self) -> Ints:
        """Return how many pods each node takes."""
        return self._cut(self.columns.pod_limit)

    @property
    def unschedulable(self) -> Mask:
        """Return which nodes are cordoned."""
        return self._cut(self.columns.unschedulable)

    def by_label(
        self, key: str, rule: Callable[[str | None], Hashable], dtype: Any
    ) -> npt.NDArray[Any]:
        """Return `rule` of each node's value of a label (None: absent)."""
        return self._cut(self.columns.labels(key).take(rule, dtype))

    def by_taints(
        self, rule: Callable[[tuple[Taint, ...]], Hashable], dtype: Any
    ) -> npt.NDArray[Any]:
        """Return `rule` of each node's taints."""
        return self._cut(self.columns.taints().take(rule, dtype))

    def meets(self, need: Requirement) -> Mask:
        """Return which nodes' labels meet a requirement."""
        return self.by_label(
            need.key,
            lambda value: need.matches({} if value is None else {need.key: value}),
            np.bool_,
        )

    def each(self, rule: Callable[[Host], Any], dtype: Any) -> npt.NDArray[Any]:
        """Return `rule` of each node, asked one by one."""
        return np.array([rule(host) for host in self.hosts], dtype=dtype)

    def full(self, value: int, dtype: Any = np.int64) -> npt.NDArray[Any]:
        """Return a column of one value."""
        return np.full(self.size, value, dtype=dtype)
