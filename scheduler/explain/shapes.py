"""The answers, as records that JSON can hold.

Amounts are texts of integers in canonical units (`scheduler.amounts`) beside
the name of their resource; 9223372036854775807 is "unlimited". Shares are
numbers, None is infinite (a borrower of weight 0). Objects are named by their
key text, "Workload/namespace/name". Times are virtual milliseconds.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Shape(msgspec.Struct, kw_only=True, rename="camel"):
    """The base of all: keyword arguments, camelCase on the wire."""


# ---- numbers ----


class Amount(Shape):
    """An amount of one resource, of one flavor when `flavor` says so."""

    resource: str
    amount: str
    flavor: str = ""


class NodeName(Shape):
    """A place in the quota tree."""

    kind: str  # ClusterQueue or Cohort
    name: str


class ShareRow(NodeName, kw_only=True):
    """The weighted share of one node."""

    share: float | None
    weight: float
    borrowing: bool


class ShareChange(NodeName, kw_only=True):
    """A weighted share before and after something."""

    before: float | None
    after: float | None


class Level(NodeName, kw_only=True):
    """Quota and usage of one node for one flavor and resource.

    `subtree` is what the node and all below bring together, `lendable` the
    part of it that the parent may give to others.
    """

    nominal: str
    subtree: str
    used: str
    borrowed: str
    lendable: str
    borrowing_limit: str | None
    lending_limit: str | None


class Room(Amount, kw_only=True):
    """What is free for a request at one step of a search.

    `amount` is asked. `within_nominal` is what is left of the ClusterQueue's
    own quota where it may not borrow, None where it may.
    """

    available: str
    within_nominal: str | None


class Standing(NodeName, kw_only=True):
    """What a node uses of what it brings, for one flavor and resource."""

    flavor: str
    resource: str
    used: str
    quota: str


# ---- why a workload waits ----


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


class Attempt(Shape):
    """What one admission cycle decides about the workload now.

    `ran` is False when the workload may not be tried; `reason` and `message`
    say why. `order` is its turn among `heads`, from 1. `fate`: "admitted",
    "preempting", "skipped" (others of the cycle came first), "held" (pods of
    those admitted are waited for) or "refused".
    """

    ran: bool
    fate: str
    reason: str
    message: str
    borrow: int = 0
    order: int | None = None
    heads: list[str] = []
    targets: list[Victim] = []


class Waiting(Shape):
    """Where a workload stands in its ClusterQueue; positions from 1."""

    position: int
    of: int
    ahead: list[str]  # the nearest of those before it, first in line first
    more_ahead: int  # how many more there are
    parked: bool  # set aside until quota is released
    sticky: bool  # heads the queue until it is admitted
    strategy: str
    not_before_ms: int | None  # backoff


# ---- a search for victims ----


class Source(Shape):
    """Where candidates may come from.

    `relation`: "same" (its own ClusterQueue), "hierarchy" (lent from within a
    subtree where the request is covered), "priority" (lent from farther away),
    "fair" (any borrower of the tree), "other" (nobody of it: `why`).
    `holders` hold what is needed, `candidates` of them may be preempted.
    """

    queue: str
    relation: str
    policy: str
    holders: int
    candidates: int
    why: str
    cells: list[Standing]


class Test(Shape):
    """The question a candidate was judged by, with its numbers.

    `kind` "share": `rule` of the two, whose shares. "priority": `below` is the
    priority to be under, None if nobody is. "withinNominal": a node of `cells`
    whose usage is no more than its quota has nothing to give back.
    """

    kind: str
    rule: int | None = None
    ours: NodeName | None = None
    theirs: NodeName | None = None
    preemptor_share: float | None = None
    target_share_before: float | None = None
    target_share_after: float | None = None
    priority: int | None = None
    below: int | None = None
    cells: list[Standing] = []


class Step(Shape):
    """One step of a search, in order.

    `kind`: "setup", "attempt" (with or without borrowing), "round" (a rule of
    fair sharing), "turn" (whose candidates are looked at next), "candidate",
    "putBack" (a target that may not be needed), "failed", "targets".
    `verdict` of a candidate: "taken", "refused" or "skipped"; of a target that
    is put back: "spared" or "needed". `shares` are those after the step.
    """

    kind: str
    headline: str = ""
    sentence: str = ""
    workload: str = ""
    queue: str = ""
    relation: str = ""
    verdict: str = ""
    reason: str = ""
    priority: int | None = None
    evicted: bool = False
    reserved_ms: int | None = None
    held: list[Amount] = []
    test: Test | None = None
    room: list[Room] = []
    fits: bool | None = None
    borrowing: bool | None = None
    rule: str = ""
    within_nominal: bool | None = None
    shares: list[ShareRow] = []


class Search(Shape):
    """One search for victims: what for, among whom, how, and whom it found.

    `purpose`: "flavor" (would preemption help here?) or "assignment" (for
    the whole request). `law`: "Classical" or "FairSharing"; `rules` are the
    strategies of fair sharing in their order.
    """

    purpose: str
    law: str
    rules: list[str]
    requests: list[Amount]
    sources: list[Source]
    steps: list[Step]
    targets: list[Victim]


class Explanation(Shape):
    """Why a workload is where it is, at this instant.

    `state`: "pending", "reserved", "admitted", "evicted" (its job has not
    stopped yet), "requeued" (evicted and waiting again), "finished",
    "inactive". `chain` names what it passes: LocalQueue, ClusterQueue and
    cohorts to the root. `decisive` is the index of the search that decided.
    """

    workload: str
    at_ms: int
    tick: int
    state: str
    priority: int
    chain: list[NodeName]
    condition: Condition | None
    conditions: list[Condition]
    waiting: Waiting | None
    attempt: Attempt
    flavors: list[FlavorRow]
    searches: list[Search]
    decisive: int | None
    sentences: list[str]


class Preemption(Shape):
    """A preemption step by step, found by running its tick again.

    `shares` are those before the search and after it, victims out and the
    preemptor in. `search.steps` begin with the setup and end with the targets.
    """

    preemptor: str
    queue: str
    at_ms: int
    tick: int
    search: Search
    flavors: list[FlavorRow]
    shares: list[ShareChange]
    targets: list[Victim]
    reason: str
    message: str


# ---- what if ----


class Edit(Shape):
    """A JSON merge patch of one object: enough to do the change for real."""

    kind: str
    namespace: str
    name: str
    patch: dict[str, Any]


class Change(Shape):
    """Edits that belong together.

    `pause` holds those that come first where the change needs an instant
    between them: a Workload with quota is inactive before it can move.
    """

    edits: list[Edit]
    pause: list[Edit] = []


class Outcome(Shape):
    """What a run on a copy of the world came to.

    `outcome`: "admitted", "waits", "inactive", "finished" (before it was asked),
    "gone", "unknown" (given up after very many decisions, at `ran_to_ms`), or
    "ran" when it is about no workload. `pods`: "" when pods are not placed, "placed", or "pending" with
    `pods_message`. `victims` are those preempted for it, with what was lost.
    """

    outcome: str
    at_ms: int | None
    tick: int | None
    ran_to_ms: int
    settled: bool  # nothing more would happen by itself
    reason: str
    message: str
    pods: str
    pods_message: str
    position: int | None
    victims: list[Victim]
    shares: list[ShareChange]
    work_lost_ms: int


class Verdict(Shape):
    """One counterfactual that was really run.

    `verdict`: "yes", "but" (admitted, and its pods stay pending), "no", or
    "unknown" when the run was given up.
    `kind`: "wait", "nominalQuota", "borrowingLimit", "priority", "weight",
    "reclaimWithinCohort", "withinClusterQueue", "borrowWithinCohort",
    "queueingStrategy" or "localQueue". `finishes` are the workloads whose end
    came right before (kind "wait"). `subject` and `effect` are sentences.
    """

    id: str
    kind: str
    verdict: str
    subject: str
    now: str
    effect: str
    change: Change | None
    outcome: Outcome
    amounts: list[Amount] = []  # what is added to quota
    value: str = ""  # the weight, priority, policy or queue
    finishes: list[str] = []
    runs: int = 1


class Counterfactuals(Shape):
    """Verdicts, each one run; `tried` of `questions` were asked before `limit` runs."""

    workload: str
    at_ms: int
    horizon_ms: int
    questions: int
    tried: int
    runs: int
    verdicts: list[Verdict]


class Preview(Shape):
    """What an edit would come to, run on a copy; for drag and drop.

    `cells` is the quota that the workload's ClusterQueue has afterwards, with
    the request in `amount`; `refused` says why the edit cannot be made.
    """

    change: Change | None
    refused: str
    workload: str
    queue: str
    evicted: bool  # it held quota, and loses it by the edit
    cells: list[FlavorRow]
    outcome: Outcome | None
    admitted: list[str] = []  # who else is admitted in the run, and was not without
    sentences: list[str] = []


# ---- fairness ----


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
    fate: str
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


# ---- pods ----


class Score(Shape):
    """One scorer on one node."""

    plugin: str
    raw: int
    normalized: int


class NodeRow(Shape):
    """One node in the table of a pod."""

    node: str
    fits: bool
    code: str
    plugin: str
    reasons: list[str]
    scores: list[Score]
    total: int | None


class Scorer(Shape):
    """A scoring plug-in and its weight; `skipped` where it had nothing to say."""

    plugin: str
    weight: int
    skipped: bool


class PodExplanation(Shape):
    """Where kube-scheduler could place a pod, node by node."""

    pod: str
    at_ms: int
    node: str
    condition: Condition | None
    queue: str  # "active", "backoff", "unschedulable", "held" or ""
    nominated: str
    scorers: list[Scorer]
    nodes: list[NodeRow]
    total_nodes: int
    feasible: int
    best: list[str]
    counts: dict[str, int]  # reason -> nodes
    problem: str
    sentences: list[str]


class QueueRoom(Shape):
    """One queue on the path of a YuniKorn ask, leaf first."""

    queue: str
    resource: str
    guaranteed: str | None
    max: str | None
    used: str
    pending: str
    left: str | None  # max - used


class Check(Shape):
    """One condition and whether it holds."""

    name: str
    holds: bool
    detail: str


class LineLevel(Shape):
    """Who is visited at one level on the way to an ask, first one first.

    `kind`: "queues" below `name`, "applications" of it, or "asks" of an
    application. Of queues `shares` are those they are sorted by.
    """

    kind: str
    name: str
    order: list[str]
    shares: list[float] = []


class NodeVerdict(Shape):
    """Why a node does not take an ask now; "" when it does."""

    node: str
    verdict: str


class Plan(Shape):
    """Whom one set of preemption laws would tell to go for an ask."""

    laws: str
    in_force: bool
    node: str
    victims: list[Victim]
    reason: str  # why nobody


class AskExplanation(Shape):
    """Why a pod has no place under YuniKorn, and what both sets of laws would do."""

    pod: str
    at_ms: int
    application: str
    application_state: str
    queue: str
    node: str
    reserved_on: str
    requests: list[Amount]
    path: list[QueueRoom]
    headroom: list[Amount]
    checks: list[Check]
    line: list[LineLevel]
    node_verdicts: list[NodeVerdict]
    nodes_with_room: int
    nodes: int
    plans: list[Plan]
    laws_differ: bool
    log: list[str]
    sentences: list[str]
