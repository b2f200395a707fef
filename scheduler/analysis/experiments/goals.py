"""What a search may change, what must hold in its answer, and how far it may go."""

from __future__ import annotations

from typing import Any, Literal

from scheduler.analysis.experiments.strict import Strict

#: Runs of a search that names no number.
USUAL_RUNS = 200


class QuotaChange(Strict, frozen=True, kw_only=True):
    """Nominal quota that may move between ClusterQueues, in steps.

    `total` "keep" moves without changing the sum; "free" lets every queue
    change by itself; a quantity lets the sum grow up to it. `low` and `high`
    bound each queue; without them 0 and twice what it has (with "keep": the sum).
    """

    flavor: str
    resource: str
    step: str | int | float
    queues: list[str] = []  # none = every ClusterQueue that has flavor and resource
    total: str | int | float = "keep"
    low: str | int | float | None = None
    high: str | int | float | None = None


class LimitChange(Strict, frozen=True, kw_only=True):
    """Borrowing or lending limits of ClusterQueues; null among `values` = no limit."""

    flavor: str
    resource: str
    values: list[str | int | float | None]
    queues: list[str] = []


class QueueValues(Strict, frozen=True, kw_only=True):
    """Values that a setting of each ClusterQueue may take; none = what it knows."""

    queues: list[str] = []
    values: list[str | int | float] = []


class PreemptionChange(Strict, frozen=True, kw_only=True):
    """Preemption policies of ClusterQueues; a field without values stays as it is.

    With no field named at all, each of the first two may take every value.
    """

    queues: list[str] = []
    within_cluster_queue: list[str] = []
    reclaim_within_cohort: list[str] = []
    borrow_within_cohort: list[str] = []


class FairSharingChange(Strict, frozen=True, kw_only=True):
    """Lists of fair-sharing strategies to choose from; an empty list = off.

    With none named: off, each strategy alone, and both.
    """

    strategies: list[list[str]] = []


class PriorityChange(Strict, frozen=True, kw_only=True):
    """Values that WorkloadPriorityClasses may have."""

    classes: list[str]
    values: list[int]


class NodesChange(Strict, frozen=True, kw_only=True):
    """How many nodes of a group there are, from `low` to `high`.

    The group is what carries the labels. More nodes are copies of its first,
    fewer are without its last; names in ascending order.
    """

    labels: dict[str, str]
    low: int
    high: int
    step: int = 1


class AnyField(Strict, frozen=True, kw_only=True):
    """Values of one field of one object, or of one path of the policy's spec.

    The object as "Kind/name" or "Kind/namespace/name". Values in ascending
    order are `ordered`: those between are tried as smaller changes.
    """

    values: list[Any]
    object: str = ""
    field: str = ""
    policy: str = ""
    ordered: bool = False


class MayChange(Strict, frozen=True, kw_only=True):
    """One thing that may change: exactly one field is given."""

    quota: QuotaChange | None = None
    borrowing_limit: LimitChange | None = None
    lending_limit: LimitChange | None = None
    weight: QueueValues | None = None
    preemption: PreemptionChange | None = None
    fair_sharing: FairSharingChange | None = None
    queueing_strategy: QueueValues | None = None
    priority: PriorityChange | None = None
    nodes: NodesChange | None = None
    field: AnyField | None = None


class Constraint(Strict, frozen=True, kw_only=True):
    """Bounds of a measure, or how much worse than before it may become.

    A `*` in the measure stands for each that there is. `over` says whether the
    mean over seeds is meant or every seed. `loses` 0.1 = no more than 10% worse
    than the base; for times a second more is allowed.
    """

    measure: str
    min: float | None = None
    max: float | None = None
    over: Literal["mean", "every"] = "mean"
    loses: float | None = None


class HeldOut(Strict, frozen=True, kw_only=True):
    """Seeds that the search does not use: `count`, from `start` on."""

    count: int = 10
    start: int = 1_000_001


Sampler = Literal["tpe", "nsga2", "random"]
