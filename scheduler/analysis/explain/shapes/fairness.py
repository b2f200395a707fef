"""Fairness: the formula with its numbers, flows, who is next."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.searching import Amount, NodeName, Shape, Victim


class Fraction(Shape):
    """What a node has borrowed of what its cohort could lend, for one resource."""

    resource: str
    borrowed: str
    lendable: str
    ratio: float  # borrowed x 1000 / lendable
    winning: bool
    workloads: list[str] = []  # that hold it, largest first


class Formula(NodeName, kw_only=True):
    """The weighted share of one node, with its numbers filled in."""

    parent: str
    fractions: list[Fraction]
    ratio: float
    weight: float
    share: float | None
    borrowing: bool


class Flow(Shape):
    """Quota of one lender that one borrower uses, in one cohort.

    Kueue keeps no account of who lends to whom: what is borrowed in a cohort is
    spread over its lenders in proportion to what each has to spare.
    """

    cohort: str
    flavor: str
    resource: str
    lender: NodeName
    borrower: NodeName
    amount: str


class Head(Shape):
    """A head of a queue in the order in which the next cycle takes it."""

    order: int
    workload: str
    queue: str
    requests: list[Amount]
    share_after: float | None
    borrow: int
    status: str
    reason: str
    message: str
    targets: list[Victim]


class NextVictim(Shape):
    """Who goes first when a queue within its nominal quota reclaims."""

    tree: str
    flavor: str
    resource: str
    workload: str
    queue: str
    priority: int
    amount: str
    reserved_ms: int | None
    share: float | None


class Pressure(Shape):
    """A metric that says how queues press each other, from the run's begin until now."""

    name: str
    labels: dict[str, str]
    value: float  # of a wait the mean


class Fairness(Shape):
    """Shares, flows and whose turn it is, at this instant."""

    at_ms: int
    tick: int
    fair_sharing: bool
    strategies: list[str]
    formulas: list[Formula]
    flows: list[Flow]
    heads: list[Head]
    next_victims: list[NextVictim]
    pressure: list[Pressure] = []  # of a sandbox
