"""Why a pod stands where it stands, or nowhere, and an ask under YuniKorn."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.searching import Amount, Condition, Shape, Victim
from scheduler.model.sentence import Sentence


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


class PluginVerdict(Shape):
    """What one plug-in says at one extension point.

    `verdict`: "ok", "skip" (it has nothing to say of this pod), "refused", "wait"
    (at Permit), "idle" where the cycle does not come to it, or "notRun" where no
    scheduler bound the pod: it came with its node. `detail` is the
    plug-in's own message, the node, or the numbers that it gave.
    """

    plugin: str
    verdict: str
    detail: str = ""


class ExtensionPoint(Shape):
    """One extension point of a cycle, with the plug-ins that are enabled there."""

    point: str  # as a KubeSchedulerConfiguration names it: "PreFilter"
    plugins: list[PluginVerdict]


class PodExplanation(Shape):
    """Where kube-scheduler could place a pod, node by node.

    `points` is its cycle as a strip, from PreEnqueue to PostBind.
    """

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
    said: list[Sentence]  # the same with their codes
    growth: list[GrowthRefusal] = []  # where nodes may come, for a pod without one
    points: list[ExtensionPoint] = []


class QueueHeadroom(Shape):
    """One queue on the path of a YuniKorn ask, leaf first."""

    queue: str
    resource: str
    guaranteed: str | None
    max: str | None
    used: str
    pending: str
    left: str | None  # max - used


class Asked(Shape):
    """What is asked of one resource against what a limit leaves.

    Of limits of users and groups the one that leaves least: `whose` it is, such as
    "user sue", of which `queue`, and its maxresources, `most`.
    """

    resource: str
    amount: str
    left: str
    whose: str = ""
    queue: str = ""
    most: str = ""


class Check(Shape):
    """One condition and whether it holds; `detail` says why with its numbers.

    `said` is the detail with its codes. `asked` are the numbers of a quota, empty
    where it limits nothing that is asked.
    """

    name: str
    holds: bool
    detail: str
    said: Sentence
    asked: list[Asked] = []


class SortedLevel(Shape):
    """Who is visited at one level on the way to an ask, first one first.

    `kind`: "queues" below `name`, "applications" of it, or "asks" of an
    application. Of queues `shares` are those they are sorted by.
    """

    kind: str
    name: str
    order: list[str]
    shares: list[float] = []


class UsedShare(Shape):
    """How much of one resource of a node is used, and its weight in the order."""

    resource: str
    share: float  # 0 is free, 1 is full
    weight: float


class NodeVerdict(Shape):
    """Why a node does not take an ask now, "" when it does; its place in the order.

    `used` is the weighted mean of `shares`: 0.7 where 90 % of the cpu and 50 %
    of the memory are used and both weigh the same. Nodes are tried from the
    least `score` on. `said` is the verdict with its code.
    """

    node: str
    verdict: str
    used: float
    score: float
    shares: list[UsedShare]
    said: Sentence


class Plan(Shape):
    """Whom one set of preemption laws would preempt for an ask."""

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
    allow_preempt_self: bool  # it may be preempted before others that opted out
    allow_preempt_other: bool  # it may preempt others
    originator: bool  # it drives its application
    path: list[QueueHeadroom]
    headroom: list[Amount]
    checks: list[Check]
    sorting: list[SortedLevel]
    node_sort: str  # fair or binpacking
    node_verdicts: list[NodeVerdict]
    feasible_nodes: int
    nodes: int
    plans: list[Plan]
    laws_differ: bool
    log: list[str]
    sentences: list[str]
    said: list[Sentence]  # the same with their codes


# ------------------------------------------------------------------------
# A preemption of pods, node by node: under kube-scheduler and under YuniKorn.


class TriedPod(Shape):
    """One thing that was tried with one pod of a node, in order.

    `kind` "candidate": may go. Under kube-scheduler all of them are taken off a
    copy of the node first (`verdict` "removed"), then each is put back
    (`kind` "putBack"): "spared" where the preemptor still fits, else "needed",
    and `why` is what the filters said. Under YuniKorn a candidate is "taken",
    "spared" (enough is free without it), "noHelp" (it holds nothing that is
    short), "withinGuarantee" (its queue would fall below its guarantee), or
    "overAskGuarantee" (the preemptor's queue would pass its own). `budgets` name
    the PodDisruptionBudgets that have no disruption left for it.
    """

    pod: str
    kind: str
    verdict: str
    queue: str = ""
    priority: int = 0
    since_ms: int | None = None  # its start; under YuniKorn when it was made
    held: list[Amount] = []
    opted_out: bool = False
    originator: bool = False
    budgets: list[str] = []
    why: str = ""


class Cost(Shape):
    """What one rule counts for a node; the lowest is best, the first rule decides."""

    rule: str
    value: int


class TriedNode(Shape):
    """One node and what became of it.

    `outcome`: "chosen"; "lost" to the chosen one by `lost_by`, a rule of the
    answer, "draw" (equal in all rules) or "order" (equal, and looked at later);
    "doesNotFit" (even with all candidates gone), "noCandidates", "notHelpful"
    (no removal could help), "notTried" (enough were found before), "refused" (by
    an extender or a predicate). `why` are the scheduler's own words.
    """

    node: str
    outcome: str
    why: str = ""
    lost_by: str = ""
    victims: list[str] = []
    violations: int = 0
    costs: list[Cost] = []
    missing: list[Amount] = []  # what is short before anybody goes
    pods: list[TriedPod] = []


class Budget(Shape):
    """A PodDisruptionBudget, and how many more pods it let go before the search."""

    name: str
    allowed: int


class CandidateQueue(Shape):
    """A leaf of YuniKorn and how many of its pods may go.

    `why` not: "own" (the preemptor's), "outOfScope" (beyond a fence or a full
    queue), "disabled", "none" (within its guarantee, or more important).
    """

    queue: str
    candidates: int
    why: str = ""


class PodPreemption(Shape, kw_only=True):
    """A preemption of pods step by step, found by running its tick again.

    `scheduler`: "kube-scheduler" or "YuniKorn"; `strategy` as the decision has
    it, `laws` of YuniKorn in force. `nodes` come in the order in which they were
    looked at, the first two hundred of `total_nodes`. `wanted` candidates are
    enough for kube-scheduler. `tied` nodes were equal in all rules; one of them
    was drawn.
    """

    scheduler: str
    strategy: str
    laws: str = ""
    preemptor: str
    queue: str = ""
    priority: int
    at_ms: int
    tick: int
    requests: list[Amount]
    node: str
    rules: list[str]
    nodes: list[TriedNode]
    total_nodes: int
    wanted: int | None = None
    tied: list[str] = []
    budgets: list[Budget] = []
    path: list[QueueHeadroom] = []
    sources: list[CandidateQueue] = []
    targets: list[Victim]
    reason: str
    message: str


# ------------------------------------------------------------------------
# What may grow, what it costs, and why it does not grow for what waits.


class GrowingNodes(Shape):
    """A NodeGroup or NodePool: its nodes, and what an hour of them costs now.

    `most` is its maximum, None where only limits of resources bound it.
    """

    kind: str
    name: str
    nodes: int
    booting: int
    most: int | None
    per_hour: float


class GrowthRefusal(Shape):
    """Why one of them does not grow for a pod; "" where it may."""

    kind: str
    name: str
    reason: str
    said: Sentence  # the same with its code


class UnplacedPods(Shape):
    """Pods of one shape that fit nowhere: how many, and the first of them."""

    pod: str
    pods: int
    refusals: list[GrowthRefusal]


class Capacity(Shape):
    """Nodes that come and go. `cost` is what they cost since they were ordered."""

    at_ms: int
    cost: float
    per_hour: float
    groups: list[GrowingNodes]
    unplaced: list[UnplacedPods]
    looks_ms: int | None  # when the autoscaler looks next; None: when something happens
