"""Everything that topology knows of a cluster: nodes, trees, and who stands where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from scheduler.engine.kueue.topology.placement import CountsCache
from scheduler.engine.kueue.topology.tree import (
    OtherPod,
    TopologyNode,
    TopologyTree,
    read_other_pod,
    read_topology_node,
)
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.objects import Key, Object
from scheduler.model.placement_needs import PODS
from scheduler.model.quota import Flavor
from scheduler.model.topology import Path, Topology


class DomainUsage(NamedTuple):
    """What the pods of one podset take on one leaf of one flavor."""

    flavor: str
    key: Path
    per_pod: Mapping[str, int]
    pods: int


class ReservedDomains:
    """What a workload with quota takes of leaves, until it is released."""

    __slots__ = ("cache", "usage", "work")

    def __init__(
        self, cache: TopologyCache, usage: tuple[DomainUsage, ...], work: Any = None
    ) -> None:
        self.cache = cache
        self.work = work  # whose it is
        self.usage = usage
        cache.add_usage_everywhere(usage, 1)
        cache.holders[self] = None

    def release(self) -> None:
        """Give the usage back."""
        self.cache.add_usage_everywhere(self.usage, -1)
        del self.cache.holders[self]


class TopologyCache:
    """Nodes, topologies and a tree per flavor that has one.

    While no Topology is there, nodes and pods are only kept, not read: a cluster
    without topology pays nothing.
    """

    def __init__(self, gates: TopologyGates) -> None:
        self.gates = gates
        self.topologies: dict[str, Topology] = {}
        self.flavors: dict[str, Flavor] = {}  # those that name a Topology
        self.nodes: dict[str, TopologyNode] = {}
        self.pods: dict[Key, OtherPod] = {}
        self.others: dict[str, dict[str, int]] = {}
        self.trees: dict[str, TopologyTree] = {}
        self.holders: dict[ReservedDomains, None] = {}
        self.searches = CountsCache()
        self._unread: dict[Key, Object] = {}

    # ---- objects in ----

    def put_topology(self, topology: Topology) -> bool:
        """Take a Topology; return whether it is new or other than before."""
        if self.topologies.get(topology.name) == topology:
            return False
        self.topologies[topology.name] = topology
        unread, self._unread = self._unread, {}
        for obj in unread.values():
            self.put_node(obj) if obj.key.kind == "Node" else self.put_pod(obj)
        with self._changing_trees():
            self._rebuild(topology.name)
        return True

    def remove_topology(self, name: str) -> None:
        """Forget a Topology; the trees of its flavors go with it."""
        self.topologies.pop(name, None)
        with self._changing_trees():
            self._rebuild(name)

    def put_flavor(self, flavor: Flavor) -> None:
        """Take a ResourceFlavor; one without topology has no tree."""
        with self._changing_trees():
            self._forget_flavor(flavor.name)
            if flavor.topology:
                self.flavors[flavor.name] = flavor
                self._build(flavor)

    def remove_flavor(self, name: str) -> None:
        """Forget a ResourceFlavor and its tree."""
        with self._changing_trees():
            self._forget_flavor(name)

    def _forget_flavor(self, name: str) -> None:
        self.flavors.pop(name, None)
        self.trees.pop(name, None)

    @contextmanager
    def _changing_trees(self) -> Iterator[None]:
        """Have what is held count, afterwards, in the trees that share it then."""
        for held in self.holders:
            self.add_usage_everywhere(held.usage, -1)
        yield
        for held in self.holders:
            self.add_usage_everywhere(held.usage, 1)

    def _rebuild(self, topology: str) -> None:
        for flavor in list(self.flavors.values()):
            if flavor.topology == topology:
                self.trees.pop(flavor.name, None)
                self._build(flavor)

    def _build(self, flavor: Flavor) -> None:
        topology = self.topologies.get(flavor.topology)
        if topology is None:
            return
        tree = TopologyTree(topology, flavor, self.others)
        for node in self.nodes.values():
            tree.put_node(node)
        self.trees[flavor.name] = tree

    def put_node(self, obj: Object) -> list[str]:
        """Take a Node; return the flavors whose tree changed by it."""
        if not self.topologies:
            self._unread[obj.key] = obj
            return []
        node = read_topology_node(obj.manifest, obj.status)
        before = self.nodes.get(node.name)
        if before == node:
            return []
        self.nodes[node.name] = node
        changed = []
        for name, tree in self.trees.items():
            was = node.name in tree.leaf_of
            if tree.put_node(node) or was:
                changed.append(name)
        return changed

    def remove_node(self, name: str) -> list[str]:
        """Forget a Node; return the flavors whose tree changed by it."""
        self._unread.pop(Key("Node", "", name), None)
        self.nodes.pop(name, None)
        changed = [n for n, tree in self.trees.items() if name in tree.leaf_of]
        for flavor in changed:
            self.trees[flavor].remove_node(name)
        return changed

    def put_pod(self, obj: Object) -> list[str]:
        """Take a Pod; return the flavors in whose trees it takes less than before."""
        if not self.topologies:
            self._unread[obj.key] = obj
            return []
        return self._set_pod(obj.key, read_other_pod(obj.manifest, obj.status))

    def remove_pod(self, key: Key) -> list[str]:
        """Forget a Pod; return the flavors in whose trees it took anything."""
        self._unread.pop(key, None)
        return self._set_pod(key, None)

    def _set_pod(self, key: Key, pod: OtherPod | None) -> list[str]:
        before = self.pods.pop(key, None)
        if pod is not None:
            self.pods[key] = pod
        if before == pod:
            return []
        for each, sign in ((before, -1), (pod, 1)):
            if each is not None:
                taken = self.others.setdefault(each.node, {})
                for name, amount in each.takes.items():
                    taken[name] = taken.get(name, 0) + sign * amount
        nodes = {each.node for each in (before, pod) if each is not None}
        changed = list(self._note_nodes(nodes))
        return changed if before is not None else []

    def _note_nodes(self, nodes: Iterable[str]) -> Iterator[str]:
        for flavor, tree in self.trees.items():
            leaves = [tree.leaf_of[name] for name in nodes if name in tree.leaf_of]
            for leaf in leaves:
                tree.note_nodes(leaf)
            if leaves:
                yield flavor

    # ---- who stands where ----

    def _sharing(self, flavor: str) -> list[TopologyTree]:
        """Return the trees in which usage of a flavor counts.

        Source: docs/semantics/kueue-topology.md#capacity-of-a-leaf.
        """
        own = self.trees.get(flavor)
        if own is None:
            return []
        if self.gates.overlapping and own.topology.has_hostname:
            return [t for t in self.trees.values() if t.topology.has_hostname]
        return [own]

    def sharing(self) -> list[TopologyTree]:
        """Return the trees over the same hosts."""
        if not self.gates.overlapping:
            return []
        return [t for t in self.trees.values() if t.topology.has_hostname]

    def add_usage_everywhere(self, usage: Iterable[DomainUsage], sign: int) -> None:
        """Take or give back in every tree in which it counts."""
        for each in usage:
            for tree in self._sharing(each.flavor):
                tree.add_usage(each.key, each.per_pod, sign * each.pods)

    def add_usage(self, usage: Iterable[DomainUsage], sign: int) -> None:
        """Take or give back within a cycle: in the flavor's own tree alone.

        Source: docs/semantics/kueue-topology.md#within-a-cycle.
        """
        for each in usage:
            tree = self.trees.get(each.flavor)
            if tree is not None:
                tree.add_usage(each.key, each.per_pod, sign * each.pods)

    def fits(self, usage: Iterable[DomainUsage]) -> bool:
        """Return whether each leaf has what is to be taken there, one by one.

        The number of pods is not looked at.
        Source: docs/semantics/kueue-topology.md#within-a-cycle.
        """
        return all(self._fits(each) for each in usage)

    def _fits(self, usage: DomainUsage) -> bool:
        tree = self.trees.get(usage.flavor)
        leaf = tree.leaves.get(usage.key) if tree is not None else None
        if tree is None or leaf is None:
            return False
        left = tree.remaining(leaf, empty=False).amounts
        asked = [(n, each) for n, each in usage.per_pod.items() if n != PODS and each]
        return bool(asked) and all(
            left.get(name, 0) // each >= usage.pods for name, each in asked
        )
