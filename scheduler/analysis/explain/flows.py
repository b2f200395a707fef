"""Lending and borrowing between ClusterQueues, per cohort."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain.shapes import Flow, NodeName
from scheduler.engine.kueue.tree.forest import Forest
from scheduler.engine.kueue.tree.tree import (
    Cohort,
    QuotaNode,
    ResourceNode,
)
from scheduler.model.amounts import UNLIMITED

#: A node and an amount: what it borrows, or has to spare.
Part = tuple[QuotaNode, int]


def flows(forest: Forest) -> list[Flow]:
    """Return what every borrower uses of every lender, where anything is borrowed.

    Kueue keeps no account of this: in each cohort what is borrowed is spread
    over the lenders in proportion to what each has to spare; a cohort's own
    quota and its parent lend too. Whole canonical units; what each lender gives and
    what each borrower gets are exact.
    """
    return [
        flow
        for cohort in forest.cohorts.values()
        for place, resource_node in sorted(cohort.resource_nodes.items())
        for flow in _of_resource_node(cohort, resource_node, place)
    ]


def _of_resource_node(
    cohort: Cohort, resource_node: ResourceNode, place: tuple[str, str]
) -> Iterator[Flow]:
    borrowers = list(_borrowers(cohort, place))
    if not borrowers:
        return
    lenders = list(_lenders(cohort, resource_node, place))
    wanted = sum(amount for _, amount in borrowers)
    for lender, amount in _spread(wanted, lenders):
        # In proportion to what each still lacks, so that the last lender fills all up.
        parts = _spread(amount, borrowers)
        borrowers = [
            (borrower, lacks - part)
            for (borrower, lacks), (_, part) in zip(borrowers, parts, strict=True)
        ]
        for borrower, part in parts:
            if part:
                yield Flow(
                    cohort=cohort.name,
                    flavor=place[0],
                    resource=place[1],
                    lender=_name(lender),
                    borrower=_name(borrower),
                    amount=str(part),
                )


def _borrowers(cohort: Cohort, place: tuple[str, str]) -> Iterator[Part]:
    for child in cohort.children():
        resource_node = child.resource_nodes.get(place)
        if (
            resource_node is not None
            and resource_node.usage > resource_node.subtree_quota
        ):
            yield child, resource_node.usage - resource_node.subtree_quota


def _lenders(
    cohort: Cohort, resource_node: ResourceNode, place: tuple[str, str]
) -> Iterator[Part]:
    """Yield what each may give: the parent first, then the cohort, then children."""
    if cohort.parent is not None and resource_node.usage > resource_node.subtree_quota:
        yield cohort.parent, resource_node.usage - resource_node.subtree_quota
    if resource_node.nominal > 0:
        yield cohort, min(resource_node.nominal, UNLIMITED)
    for child in cohort.children():
        below = child.resource_nodes.get(place)
        if below is not None:
            spare = (below.subtree_quota - below.local_quota) - max(
                0, below.usage - below.local_quota
            )
            if spare > 0:
                yield child, spare


def _spread(total: int, parts: list[Part]) -> list[Part]:
    """Spread a total over parts in proportion; the sum is exact, the first get more."""
    whole = sum(amount for _, amount in parts)
    if not whole:
        return [(node, 0) for node, _ in parts]
    spread, passed, given = [], 0, 0
    for node, amount in parts:
        passed += amount
        upto = total * passed // whole
        spread.append((node, upto - given))
        given = upto
    return spread


def _name(node: QuotaNode) -> NodeName:
    return NodeName(kind=node.kind, name=node.name)
