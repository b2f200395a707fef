"""Linking the quota tree: parents, cohorts nobody declared, cycles, sums of quota."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scheduler.amounts import add, subtract
from scheduler.kueue.tree.tree import (
    Cell,
    Cohort,
    Node,
    Queue,
)
from scheduler.records.objects import Key
from scheduler.records.quota import CohortSpec


class Forest:
    """All quota trees. `link` builds them anew from the specs, usage included.

    Cost of linking: O(nodes x cells); of reading: nothing.
    """

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.specs: dict[str, CohortSpec] = {}
        self.cohorts: dict[str, Cohort] = {}
        self.looped: frozenset[str] = frozenset()  # cohorts on or above a cycle

    def link(self) -> None:
        """Build the trees from the present ClusterQueues and Cohort specs.

        Source: KUEUE.md 3, 4.
        """
        self.cohorts = self._declare()
        self.looped = frozenset(
            name for name in self.cohorts if _loops(name, self.specs)
        )
        for cohort in self.cohorts.values():
            self._attach_cohort(cohort)
        for queue in self.queues.values():
            self._attach_queue(queue)
        for root in self.roots():
            _settle(root)

    def _declare(self) -> dict[str, Cohort]:
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

    def _attach_cohort(self, cohort: Cohort) -> None:
        parent = cohort.spec.parent
        if parent and cohort.name not in self.looped:
            cohort.parent = self.cohorts[parent]
            cohort.parent.cohorts.append(cohort)

    def _attach_queue(self, queue: Queue) -> None:
        queue.configure(queue.spec.groups)
        queue.weight = queue.spec.weight
        queue.parent = self.cohorts.get(queue.spec.cohort)
        if queue.parent is not None:
            queue.parent.queues.append(queue)

    def raise_cohorts(self) -> None:
        """Set the heights of cohorts; a ClusterQueue that is not active is not there.

        Source: KUEUE.md 4, 7.1.
        """
        for root in self.roots():
            if isinstance(root, Cohort):
                _raise(root)

    def roots(self) -> Iterator[Node]:
        """Yield the roots: cohorts without a parent, and queues without a cohort."""
        yield from (c for c in self.cohorts.values() if c.parent is None)
        yield from (q for q in self.queues.values() if q.parent is None)

    def nodes(self) -> Iterable[Node]:
        """Return every node, cohorts first, by name."""
        queues = (self.queues[name] for name in sorted(self.queues))
        return [*self.cohorts.values(), *queues]


def _loops(name: str, specs: Mapping[str, CohortSpec]) -> bool:
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        spec = specs.get(name)
        name = spec.parent if spec else ""
    return bool(name)


def _settle(root: Node) -> None:
    order = _place(root)
    for node in reversed(order):
        if isinstance(node, Cohort):
            _sum_up(node)
        for cell in node.cells.values():
            cell.settle()
    for node in order:
        _look_up(node)
    for node in order:
        node.measures = _measures(node)


def _place(root: Node) -> list[Node]:
    """Set path, depth and root; return the nodes, parents first."""
    order: list[Node] = [root]
    for node in order:
        parent = node.parent
        node.path = (parent, *parent.path) if parent is not None else ()
        node.depth = len(node.path)
        node.root = root
        node.trail = _trail(node)
        above = parent.full_path if parent is not None else ""
        node.full_path = f"{above}/{node.name}"
        if isinstance(node, Cohort):
            order.extend(node.children())
    return order


def _raise(cohort: Cohort) -> int:
    below = [1 + _raise(child) for child in cohort.cohorts]
    members = bool(cohort.cohorts) or any(q.active for q in cohort.queues)
    cohort.height = max([int(members), *below])
    return cohort.height


def _trail(node: Node) -> tuple[Key, ...]:
    declared = (n for n in (node, *node.path) if not getattr(n, "implicit", False))
    return tuple(Key(n.kind, "", n.name) for n in declared)


def _sum_up(cohort: Cohort) -> None:
    """Add what the settled children bring: quota they share, usage they pass on."""
    for child in cohort.children():
        for flavor_resource, below in child.cells.items():
            cell = below.parent = cohort.cell(flavor_resource)
            if below.quoted:
                cell.quoted = True
                shared = subtract(below.subtree, below.local)
                cell.subtree = add(cell.subtree, shared)
            cell.usage += max(0, below.usage - below.local)


def _look_up(node: Node) -> None:
    """Compute potential availability, parents first."""
    for cell in node.cells.values():
        parent = cell.parent
        if parent is None:
            cell.most = cell.subtree
            continue
        cell.most = add(cell.local, parent.most)
        if cell.borrowing is not None:
            cell.most = min(cell.most, add(cell.subtree, cell.borrowing))


def _measures(node: Node) -> tuple[tuple[float, tuple[Cell, ...]], ...]:
    """Return, per resource, what the parent could lend and the quoted cells.

    Source: KUEUE.md 9.1.
    """
    if node.parent is None:
        return ()
    cells: dict[str, list[Cell]] = {}
    for (_, resource), cell in sorted(node.cells.items()):
        if cell.quoted:
            cells.setdefault(resource, []).append(cell)
    lendable = _lendable(node.parent)
    return tuple(
        (float(lendable.get(resource, 0)), tuple(group))
        for resource, group in cells.items()
    )


def _lendable(cohort: Cohort) -> dict[str, int]:
    """Return what is potentially available at a cohort, over all flavors of its tree."""
    lendable: dict[str, int] = {}
    for flavor_resource, at_root in cohort.root.cells.items():
        if at_root.quoted:
            chain = (node.cells.get(flavor_resource) for node in (cohort, *cohort.path))
            nearest = next(cell for cell in chain if cell is not None)
            resource = flavor_resource[1]
            lendable[resource] = add(lendable.get(resource, 0), nearest.most)
    return lendable
