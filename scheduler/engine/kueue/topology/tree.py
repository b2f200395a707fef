"""The domains of one flavor: blocks, racks, hosts, and what is free on each leaf.

Nothing is summed here. What changes is noted in a log, and whoever keeps sums
(counts.py) follows the log from where it last stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scheduler.model import amounts
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.quota import Flavor
from scheduler.model.selectors import Taint, read_taints
from scheduler.model.topology import Path, Topology

Amounts = dict[str, int]
#: What takes of nodes: node name -> sum over the pods that no assignment stands for.
Others = Mapping[str, Mapping[str, int]]
_LONGEST_LOG = 200_000


class FreeAmounts:
    """Amounts that leaves have in common. Compared by identity."""

    __slots__ = ("amounts",)

    def __init__(self, amounts: Amounts) -> None:
        self.amounts = amounts


class Domain:
    """One distinct tuple of label values. Compared by identity."""

    __slots__ = ("children", "level", "listed", "parent", "path")

    def __init__(self, path: Path, parent: Domain | None) -> None:
        self.path = path
        self.level = len(path) - 1
        self.parent = parent
        self.children: dict[str, Domain] = {}
        self.listed: list[Domain] | None = None  # children in order of path

    def __repr__(self) -> str:
        return f"<Domain {','.join(self.path)}>"

    def in_order(self) -> list[Domain]:
        """Return the children in order of path."""
        if self.listed is None:
            self.listed = [self.children[name] for name in sorted(self.children)]
        return self.listed


class Leaf(Domain):
    """A domain of the lowest level: the nodes in it, and what was taken of them."""

    __slots__ = ("assumed", "free", "nodes", "tainted", "used", "whole")

    def __init__(self, path: Path, parent: Domain, used: Amounts) -> None:
        super().__init__(path, parent)
        self.nodes: dict[str, TopologyNode] = {}
        self.tainted = False  # any of them has taints
        self.used = used  # by assignments; the tree's own record
        self.assumed: Amounts | None = None  # by podsets placed in the same search
        self.free: FreeAmounts | None = None  # None: to be worked out again
        self.whole: FreeAmounts | None = None


class TopologyTree:
    """The tree of a flavor, kept up to date node by node.

    A leaf is found by its key: the hostname alone where that is the lowest level,
    else the whole path. Usage stays when a leaf goes and counts again when it comes
    back. Source: docs/semantics/kueue-topology.md#domains.
    """

    def __init__(self, topology: Topology, flavor: Flavor, others: Others) -> None:
        self.topology = topology
        self.flavor = flavor
        self.others = others
        self.root = Domain((), None)
        self.leaves: dict[Path, Leaf] = {}
        self.leaf_of: dict[str, Leaf] = {}  # by node
        self.used: dict[Path, Amounts] = {}
        self.log: list[Domain] = []
        self.log_start = 0  # how many entries were cut off its begin
        self._levels: dict[int, list[Domain]] = {}
        self._known: dict[tuple[tuple[str, int], ...], FreeAmounts] = {}

    # ---- nodes ----

    def put_node(self, node: TopologyNode) -> bool:
        """Take a node, new or changed; return whether it is in the tree."""
        levels = self.topology.levels
        if not node.belongs(self.flavor.labels, levels):
            self.remove_node(node.name)
            return False
        path = tuple(node.labels[level] for level in levels)
        known = self.leaf_of.get(node.name)
        if known is not None and known.path != path:
            self.remove_node(node.name)
        leaf = self._leaf(path)
        leaf.nodes[node.name] = node
        self.leaf_of[node.name] = leaf
        self.note_nodes(leaf)
        return True

    def remove_node(self, name: str) -> None:
        """Forget a node; a domain without nodes goes with its last one."""
        leaf = self.leaf_of.pop(name, None)
        if leaf is None:
            return
        del leaf.nodes[name]
        if leaf.nodes:
            self.note_nodes(leaf)
            return
        del self.leaves[self.key(leaf.path)]
        self._levels.clear()
        domain: Domain = leaf
        while domain.parent is not None and not domain.children:
            parent = domain.parent
            del parent.children[domain.path[-1]]
            parent.listed = None
            domain = parent
        self._note(domain)

    def note_nodes(self, leaf: Leaf) -> None:
        """Note that the nodes of a leaf, or other pods on them, changed."""
        leaf.whole = leaf.free = None
        leaf.tainted = any(node.taints for node in leaf.nodes.values())
        self._note(leaf)

    def key(self, path: Path) -> Path:
        """Return by what a leaf is found and written in assignments."""
        return path[-1:] if self.topology.has_hostname else path

    def _leaf(self, path: Path) -> Leaf:
        key = self.key(path)
        leaf = self.leaves.get(key)
        if leaf is None:
            parent = self.root
            for level in range(1, len(path)):
                parent = self._child(parent, path[:level])
            leaf = Leaf(path, parent, self.used.setdefault(key, {}))
            parent.children[path[-1]] = leaf
            parent.listed = None
            self.leaves[key] = leaf
            self._levels.clear()
        return leaf

    def _child(self, parent: Domain, path: Path) -> Domain:
        child = parent.children.get(path[-1])
        if child is None:
            child = parent.children[path[-1]] = Domain(path, parent)
            parent.listed = None
        return child

    # ---- what is taken ----

    def add_usage(self, key: Path, per_pod: Mapping[str, int], count: int) -> None:
        """Take (or, below 0, give back) the requests of so many pods on a leaf.

        A leaf that is not in the tree keeps its usage for when it is.
        """
        used = self.used.setdefault(key, {})
        for name, each in per_pod.items():
            left = used.get(name, 0) + each * count
            if left:
                used[name] = left
            else:
                used.pop(name, None)
        leaf = self.leaves.get(key)
        if leaf is not None:
            leaf.free = None
            self._note(leaf)

    def assume(self, leaf: Leaf, per_pod: Mapping[str, int], count: int) -> None:
        """Count pods on a leaf for the rest of one search."""
        assumed = leaf.assumed = leaf.assumed or {}
        for name, each in per_pod.items():
            assumed[name] = assumed.get(name, 0) + each * count
        leaf.whole = leaf.free = None
        self._note(leaf)

    def forget_assumed(self, leaves: Iterable[Leaf]) -> None:
        """Undo what `assume` did."""
        for leaf in leaves:
            leaf.assumed = leaf.whole = leaf.free = None
            self._note(leaf)

    def remaining(self, leaf: Leaf, *, empty: bool) -> FreeAmounts:
        """Return what is left on a leaf, less than nothing where it is overcommitted.

        `empty` leaves out what assignments take.
        Source: docs/semantics/kueue-topology.md#capacity-of-a-leaf.
        """
        known = leaf.whole if empty else leaf.free
        if known is None:
            left = self._capacity(leaf)
            if not empty:
                _take(left, leaf.used)
            if leaf.assumed:
                _take(left, leaf.assumed)
            known = self._same(left)
            if empty:
                leaf.whole = known
            else:
                leaf.free = known
        return known

    def _capacity(self, leaf: Leaf) -> Amounts:
        left: Amounts = {}
        for name, node in leaf.nodes.items():
            for resource, amount in node.allocatable.items():
                left[resource] = left.get(resource, 0) + amount
            if name in self.others:
                _take(left, self.others[name])
        return left

    def _same(self, left: Amounts) -> FreeAmounts:
        """Return the one object for equal amounts."""
        items = tuple(sorted(left.items()))
        known = self._known.get(items)
        if known is None:
            if len(self._known) > 4 * len(self.leaves) + 64:
                self._known.clear()
            known = self._known[items] = FreeAmounts(left)
        return known

    # ---- reading ----

    def level(self, index: int) -> list[Domain]:
        """Return the domains of a level in order of path."""
        found = self._levels.get(index)
        if found is None:
            above = [self.root] if index == 0 else self.level(index - 1)
            found = [child for domain in above for child in domain.in_order()]
            self._levels[index] = found
        return found

    def _note(self, domain: Domain) -> None:
        self.log.append(domain)
        if len(self.log) > _LONGEST_LOG:
            self.log_start += len(self.log)
            self.log.clear()


def _take(left: Amounts, taken: Mapping[str, int]) -> None:
    for name, amount in taken.items():
        left[name] = left.get(name, 0) - amount


# ------------------------------------------------------------------------
# Nodes and other pods as topology counts them.


Manifest = Mapping[str, Any]

_PREFIX = "kueue.x-k8s.io/podset-"
#: A pod with one of these stands in a workload's assignment and is counted there.
PLACED_BY_TOPOLOGY = tuple(
    _PREFIX + name
    for name in (
        "required-topology",
        "preferred-topology",
        "unconstrained-topology",
        "slice-required-topology",
        "slice-required-topology-constraints",
    )
)
UNCONSTRAINED = _PREFIX + "unconstrained-topology"
_ENDED = ("Succeeded", "Failed")


class TopologyNode(NamedTuple):
    """A Node: labels, taints, allocatable; `usable` while pods may go there."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, int]  # canonical units, all resources
    usable: bool
    ready: bool = True

    def belongs(self, labels: Mapping[str, str], levels: tuple[str, ...]) -> bool:
        """Return whether it is in the tree of a flavor with these labels and levels.

        Source: docs/semantics/kueue-topology.md#which-nodes-count.
        """
        own = self.labels
        return (
            self.usable
            and all(own.get(key) == value for key, value in labels.items())
            and all(level in own for level in levels)
        )


def read_topology_node(manifest: Manifest, status: Manifest) -> TopologyNode:
    """Return the node. Raises QuantityError for an invalid allocatable."""
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    labels = metadata.get("labels") or {}
    return TopologyNode(
        name=str(metadata.get("name", "")),
        labels={str(key): str(value) for key, value in labels.items()},
        taints=read_taints(spec.get("taints")),
        allocatable={
            name: amounts.canonical(name, text)
            for name, text in (status.get("allocatable") or {}).items()
        },
        usable=not spec.get("unschedulable") and is_ready(status),
        ready=is_ready(status),
    )


def is_ready(status: Manifest) -> bool:
    """Return whether the condition Ready is there and True.

    A document that has no conditions at all was written by a person.
    Source: docs/semantics/kueue-topology.md#failed-nodes.
    """
    conditions = status.get("conditions")
    return conditions is None or any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


class OtherPod(NamedTuple):
    """A bound pod that no assignment stands for, and what it takes of its node."""

    node: str
    takes: Mapping[str, int]


def read_other_pod(manifest: Manifest, status: Manifest) -> OtherPod | None:
    """Return what a pod takes from its node; None when it does not count.

    Source: docs/semantics/kueue-topology.md#capacity-of-a-leaf.
    """
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    node = spec.get("nodeName")
    if not node or status.get("phase") in _ENDED:
        return None
    annotations = metadata.get("annotations") or {}
    if any(name in annotations for name in PLACED_BY_TOPOLOGY):
        return None
    return OtherPod(node, PlacementNeeds(spec).per_pod)
