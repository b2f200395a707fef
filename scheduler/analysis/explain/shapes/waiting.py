"""Why a Workload waits: conditions, flavors, the attempt, its place in line."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.numbers import Amount, Level, Shape
from scheduler.model.sentence import Sentence


class Condition(Shape):
    """A condition as the API shows it."""

    type: str
    status: bool
    reason: str
    message: str
    since_ms: int


class FlavorRow(Shape):
    """What one flavor offers a podset for one resource.

    `verdict`: "fit", "preempt" (somebody of the same ClusterQueue goes),
    "reclaim" (only others go), "noCandidates", "noFit", "barred" (taints,
    affinity, no such flavor), "notTried" (an earlier flavor was good enough)
    or "uncovered" (no quota of this resource at all: no numbers).
    `requested` includes `assigned`, which earlier podsets ask of the same.
    `potential` is what would be available if nothing were used. `chain` goes
    from the ClusterQueue to the root.
    """

    pod_set: str
    flavor: str
    resource: str
    verdict: str
    reason: str
    requested: str
    assigned: str = "0"
    chosen: bool = False
    borrow: int = 0  # how high in the tree it must borrow
    available: str = "0"
    potential: str = "0"
    shortfall: str = "0"
    chain: list[Level] = []


class Victim(Shape):
    """Who is evicted, and why."""

    workload: str
    queue: str
    reason: str
    priority: int = 0
    held: list[Amount] = []
    message: str = ""
    at_ms: int | None = None
    work_lost_ms: int = 0


class FlavorAttempt(Shape):
    """What one admission cycle decides about the workload now.

    `ran` is False when the workload may not be tried; `reason` and `message`
    say why, and `said` is the message with its code. `order` is its turn among `heads`, from 1. `status`: "admitted",
    "preempting", "skipped" (others of the cycle came first), "held" (pods of
    those admitted are waited for) or "refused".
    """

    ran: bool
    status: str
    reason: str
    message: str
    borrow: int = 0
    order: int | None = None
    heads: list[str] = []
    targets: list[Victim] = []
    said: Sentence | None = None


class CheckRow(Shape):
    """One admission check of a workload; `answers_ms`: when its rule answers.

    `since_ms`: since when it is in its state, None where the status does not say.
    """

    name: str
    state: str
    message: str
    since_ms: int | None
    answers_ms: int | None


class ClusterRow(Shape):
    """A worker cluster of a workload's check, in the order of the MultiKueueConfig.

    `state`: what its copy there is, "admitted", "reserved" or "pending"; or why
    there is none: "missing" (no MultiKueueCluster), "lost" (not reached), "absent"
    (no object of it is in this world), "unasked" (not nominated), "dropped" (another
    cluster admitted it), "taken" (the cluster has a Workload or job of its own of this name).
    `reason`, `message` and `since_ms` are of the condition that says so. `until_ms`:
    of "lost", when the workload is taken from it; of "unasked", the next round.
    """

    cluster: str
    state: str
    copy: str = ""  # key of the copy
    reason: str = ""
    message: str = ""
    since_ms: int | None = None
    until_ms: int | None = None


class UsageRow(Shape):
    """A LocalQueue of the ClusterQueue as admission fair sharing orders it.

    `usage` is consumed and pending together, weighted; None is infinite.
    """

    local_queue: str
    weight: float
    usage: float | None
    consumed: dict[str, str]
    pending: dict[str, str]
    ours: bool


class Waiting(Shape):
    """Where a workload stands in its ClusterQueue; positions from 1."""

    position: int
    of: int
    ahead: list[str]  # the nearest of those before it, first in line first
    more_ahead: int  # how many more there are
    inadmissible: bool  # set aside until quota is released
    sticky: bool  # heads the queue until it is admitted
    strategy: str
    not_before_ms: int | None  # backoff
