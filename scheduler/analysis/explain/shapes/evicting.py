"""A preemption of pods, node by node: under kube-scheduler and under YuniKorn."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.numbers import Amount, Shape
from scheduler.analysis.explain.shapes.pods import QueueHeadroom
from scheduler.analysis.explain.shapes.waiting import Victim


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
