"""Linking the quota tree: parents, cohorts nobody declared, cycles, sums of quota."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    QuotaNode,
    ResourceNode,
)
from scheduler.model.amounts import add, subtract
from scheduler.model.objects import Key
from scheduler.model.quota import CohortSpec


class Forest:
    """All quota trees. `link` builds them anew from the specs, usage included.

    Cost of linking: O(nodes x resources); of reading: nothing.
    """

    def __init__(self) -> None:
        self.queues: dict[str, ClusterQueue] = {}
        self.specs: dict[str, CohortSpec] = {}
        self.cohorts: dict[str, Cohort] = {}
        self.in_cycle: frozenset[str] = frozenset()  # cohorts on or above a cycle
        self.links = 0  # how often the trees were built

    def link(self) -> None:
        """Build the trees from the present ClusterQueues and Cohort specs.

        Source: docs/semantics/kueue.md#defaults-and-validation.
        """
        self.links += 1
        self.cohorts = self._make_cohorts()
        self.in_cycle = frozenset(
            name for name in self.cohorts if _is_in_cycle(name, self.specs)
        )
        for cohort in self.cohorts.values():
            parent = cohort.spec.parent
            if parent and cohort.name not in self.in_cycle:
                cohort.parent = self.cohorts[parent]
                cohort.parent.cohorts.append(cohort)
        for queue in self.queues.values():
            queue.configure(queue.spec.groups)
            queue.weight = queue.spec.weight
            queue.parent = self.cohorts.get(queue.spec.cohort)
            if queue.parent is not None:
                queue.parent.queues.append(queue)
        for root in self.roots():
            _compute_quota(root)

    def _make_cohorts(self) -> dict[str, Cohort]:
        names = {spec.cohort for spec in (q.spec for q in self.queues.values())}
        names |= {spec.parent for spec in self.specs.values()} | set(self.specs)
        cohorts = {}
        for name in sorted(names - {""}):
            spec = self.specs.get(name)
            implicit = spec is None
            cohort = Cohort(
                spec or CohortSpec(name=name, weight=0.0), implicit=implicit
            )
            cohort.weight = cohort.spec.weight
            cohort.configure(cohort.spec.groups)
            cohorts[name] = cohort
        return cohorts

    def update_heights(self) -> None:
        """Set the heights of cohorts; a ClusterQueue that is not active does not exist.

        Source: docs/semantics/kueue.md#quota-tree.
        """
        for root in self.roots():
            if isinstance(root, Cohort):
                _update_height(root)

    def roots(self) -> Iterator[QuotaNode]:
        """Yield the roots: cohorts without a parent, and queues without a cohort."""
        yield from (c for c in self.cohorts.values() if c.parent is None)
        yield from (q for q in self.queues.values() if q.parent is None)

    def nodes(self) -> Iterable[QuotaNode]:
        """Return every node, cohorts first, by name."""
        queues = (self.queues[name] for name in sorted(self.queues))
        return [*self.cohorts.values(), *queues]


def _is_in_cycle(name: str, specs: Mapping[str, CohortSpec]) -> bool:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        spec = specs.get(name)
        name = spec.parent if spec else ""
    return bool(name)


def _compute_quota(root: QuotaNode) -> None:
    order = _set_positions(root)
    for node in reversed(order):
        if isinstance(node, Cohort):
            _accumulate_children(node)
        for resource_node in node.resource_nodes.values():
            resource_node.update_limits()
    for node in order:
        _update_potential_available(node)
    for node in order:
        node.lendable_by_resource = _lendable_by_resource(node)


def _set_positions(root: QuotaNode) -> list[QuotaNode]:
    """Set path, depth and root; return the nodes, parents first."""
    order: list[QuotaNode] = [root]
    for node in order:
        parent = node.parent
        node.ancestors = (parent, *parent.ancestors) if parent is not None else ()
        node.depth = len(node.ancestors)
        node.root = root
        node.status_keys = _status_keys(node)
        above = parent.full_path if parent is not None else ""
        node.full_path = f"{above}/{node.name}"
        if isinstance(node, Cohort):
            order.extend(node.children())
    return order


def _update_height(cohort: Cohort) -> int:
    below = [1 + _update_height(child) for child in cohort.cohorts]
    members = bool(cohort.cohorts) or any(q.active for q in cohort.queues)
    cohort.height = max([int(members), *below])
    return cohort.height


def _status_keys(node: QuotaNode) -> tuple[Key, ...]:
    declared = (n for n in (node, *node.ancestors) if not getattr(n, "implicit", False))
    return tuple(Key(n.kind, "", n.name) for n in declared)


def _accumulate_children(cohort: Cohort) -> None:
    """Add what the settled children bring: quota they share, usage they pass on."""
    for child in cohort.children():
        for flavor_resource, below in child.resource_nodes.items():
            resource_node = below.parent = cohort.resource_node(flavor_resource)
            if below.has_quota:
                resource_node.has_quota = True
                shared = subtract(below.subtree_quota, below.local_quota)
                resource_node.subtree_quota = add(resource_node.subtree_quota, shared)
            resource_node.usage += max(0, below.usage - below.local_quota)


def _update_potential_available(node: QuotaNode) -> None:
    """Compute potential availability, parents first."""
    for resource_node in node.resource_nodes.values():
        parent = resource_node.parent
        if parent is None:
            resource_node.potential_available = resource_node.subtree_quota
            continue
        resource_node.potential_available = add(
            resource_node.local_quota, parent.potential_available
        )
        if resource_node.borrowing_limit is not None:
            resource_node.potential_available = min(
                resource_node.potential_available,
                add(resource_node.subtree_quota, resource_node.borrowing_limit),
            )


def _lendable_by_resource(
    node: QuotaNode,
) -> tuple[tuple[float, tuple[ResourceNode, ...]], ...]:
    """Return, per resource, what the parent could lend and the nodes with quota.

    Source: docs/semantics/kueue.md#dominant-resource-share.
    """
    if node.parent is None:
        return ()
    resource_nodes: dict[str, list[ResourceNode]] = {}
    for (_, resource), resource_node in sorted(node.resource_nodes.items()):
        if resource_node.has_quota:
            resource_nodes.setdefault(resource, []).append(resource_node)
    lendable = _lendable(node.parent)
    return tuple(
        (float(lendable.get(resource, 0)), tuple(group))
        for resource, group in resource_nodes.items()
    )


def _lendable(cohort: Cohort) -> dict[str, int]:
    """Return what is potentially available at a cohort, over all flavors of its tree."""
    lendable: dict[str, int] = {}
    for flavor_resource, at_root in cohort.root.resource_nodes.items():
        if at_root.has_quota:
            chain = (
                node.resource_nodes.get(flavor_resource)
                for node in (cohort, *cohort.ancestors)
            )
            nearest = next(
                resource_node for resource_node in chain if resource_node is not None
            )
            resource = flavor_resource[1]
            lendable[resource] = add(
                lendable.get(resource, 0), nearest.potential_available
            )
    return lendable
