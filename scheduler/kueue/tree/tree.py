"""The quota tree: ClusterQueues and Cohorts, and one cell per (flavor, resource).

Cells of ClusterQueues live as long as their queue, so that what workloads hold
stays valid when the tree is linked anew after an edit of quota.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scheduler.amounts import add, subtract
from scheduler.records.objects import Key
from scheduler.records.quota import CohortSpec, QueueSpec, Quota, ResourceGroup

if TYPE_CHECKING:
    from scheduler.kueue.cache.candidates import Shelf
    from scheduler.kueue.flavorassigner.resources import Step
    from scheduler.kueue.queue.pending import Line

FlavorResource = tuple[str, str]
_NONE = Quota(0)


class Cell:
    """Quota and usage of one node for one (flavor, resource).

    nominal, borrowing, lending: as configured (None = no limit).
    quoted: this node or one below declares quota of this kind.
    subtree: what the node and its children bring together.
    local: the part of it that the parent never sees.
    cap: what the parent side may give at most before usage; None = no limit.
    most: what could be available if nothing were used.
    usage: what is used below; the only field that changes between edits.
    """

    __slots__ = (
        "borrowing",
        "cap",
        "flavor_resource",
        "lending",
        "local",
        "most",
        "node",
        "nominal",
        "parent",
        "quoted",
        "subtree",
        "usage",
    )

    def __init__(self, node: Node, flavor_resource: FlavorResource) -> None:
        self.node = node
        self.flavor_resource = flavor_resource
        self.usage = 0
        self.configure(None)

    def configure(self, quota: Quota | None) -> None:
        """Take the node's own quota; None when it has none of this kind."""
        self.quoted = quota is not None
        quota = quota or _NONE
        self.nominal = quota.nominal
        self.borrowing = quota.borrowing
        self.lending = quota.lending
        self.cap: int | None = None
        self.parent: Cell | None = None
        self.subtree = self.nominal
        self.local = 0
        self.most = 0

    def settle(self) -> None:
        """Compute what depends only on quota; parents are settled bottom up.

        Source: KUEUE.md 4.
        """
        if self.lending is not None:
            self.local = max(0, subtract(self.subtree, self.lending))
        if self.borrowing is not None:
            self.cap = add(subtract(self.subtree, self.local), self.borrowing)


class Node:
    """A place in the tree: a ClusterQueue (`Queue`) or a Cohort."""

    kind = ""

    __slots__ = (
        "cells",
        "depth",
        "full_path",
        "height",
        "measures",
        "name",
        "parent",
        "path",
        "root",
        "trail",
        "weight",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.cells: dict[FlavorResource, Cell] = {}
        self.parent: Cohort | None = None
        self.root: Node = self
        self.path: tuple[Cohort, ...] = ()  # parent .. root
        self.full_path = f"/{name}"  # from the root
        self.depth = 0
        self.height = 0
        self.trail: tuple[Key, ...] = ()  # the objects whose status its usage is in
        self.weight = 1.0
        # Per resource: what the parent could lend, and the quoted cells.
        self.measures: tuple[tuple[float, tuple[Cell, ...]], ...] = ()

    def configure(self, groups: Iterable[ResourceGroup]) -> None:
        """Take the node's own quotas; cells in use are kept."""
        quotas = {fr: quota for group in groups for fr, quota in group.quotas.items()}
        for flavor_resource in quotas:
            self.cell(flavor_resource)
        for flavor_resource, cell in self.cells.items():
            cell.configure(quotas.get(flavor_resource))

    def cell(self, flavor_resource: FlavorResource) -> Cell:
        """Return the cell, made and linked up to the root when there is none."""
        cell = self.cells.get(flavor_resource)
        if cell is None:
            cell = self.cells[flavor_resource] = Cell(self, flavor_resource)
            if self.parent is not None:
                cell.parent = self.parent.cell(flavor_resource)
                cell.most = cell.parent.most
        return cell


class Queue(Node):
    """A ClusterQueue: its place in the tree, its line and who it holds.

    `generation` counts what may have freed quota here: a plan that was made
    before it moved starts over. `works` holds the admitted workloads, `shelf`
    the same in the order in which a victim is looked for.
    """

    kind = "ClusterQueue"

    __slots__ = (
        "active",
        "active_since_us",
        "cover",
        "generation",
        "line",
        "plans",
        "shelf",
        "spec",
    )

    def __init__(self, spec: QueueSpec, shelf: Shelf, line: Line) -> None:
        super().__init__(spec.name)
        self.trail = (Key(self.kind, "", spec.name),)
        self.spec = spec
        self.active = True
        self.active_since_us: int | None = None
        self.generation = 0
        self.shelf = shelf
        self.line = line
        self.cover: dict[str, int] = {}  # resource -> index of its group
        self.plans: dict[frozenset[str], tuple[Step, ...]] = {}


class Cohort(Node):
    """A Cohort: the children it has now."""

    kind = "Cohort"

    __slots__ = ("cohorts", "implicit", "queues", "spec")

    def __init__(self, spec: CohortSpec, *, implicit: bool) -> None:
        super().__init__(spec.name)
        self.spec = spec
        self.implicit = implicit
        self.cohorts: list[Cohort] = []
        self.queues: list[Queue] = []

    def children(self) -> Iterator[Node]:
        """Yield child cohorts, then ClusterQueues."""
        yield from self.cohorts
        yield from self.queues

    def subtree(self) -> Iterator[Queue]:
        """Yield every ClusterQueue below."""
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.subtree()
