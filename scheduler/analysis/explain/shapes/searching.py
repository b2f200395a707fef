"""A search for victims, step by step, and the explanation that holds it."""

from __future__ import annotations

from scheduler.analysis.explain.shapes.numbers import (
    Amount,
    NodeName,
    QuotaCheck,
    Shape,
    ShareChange,
    ShareRow,
    Standing,
)
from scheduler.analysis.explain.shapes.waiting import (
    CheckRow,
    ClusterRow,
    Condition,
    FlavorAttempt,
    FlavorRow,
    UsageRow,
    Victim,
    Waiting,
)
from scheduler.model.sentence import Sentence


class Source(Shape):
    """Where candidates may come from.

    `relation`: "same" (its own ClusterQueue), "hierarchy" (lent from within a
    subtree where the request is covered), "priority" (lent from farther away),
    "fair" (any borrower of the tree), "other" (nobody of it: `why`).
    `holders` hold what is needed, `candidates` of them may be preempted. `why`
    nobody of it may is a sentence; `code` names it: "reclaimNever",
    "withinNominal", "inactive" or "borrowsNone".
    """

    queue: str
    relation: str
    policy: str
    holders: int
    candidates: int
    code: str
    cells: list[Standing]
    why: str = ""


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


class PreemptionStep(Shape):
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
    quota_checks: list[QuotaCheck] = []
    fits: bool | None = None
    borrowing: bool | None = None
    rule: str = ""
    within_nominal: bool | None = None
    shares: list[ShareRow] = []


class SearchCost(Shape):
    """What searches for victims cost, in work that does not depend on the machine.

    `looked` counts looks at candidates: one that is looked at in two rounds counts
    twice. `simulations` counts how often it was tried whether the preemptor fits
    after a victim was taken out of the usage or put back.
    """

    searches: int
    looked: int
    simulations: int


class PreemptionSearch(Shape):
    """One search for victims: its purpose, candidates, steps and result.

    `purpose`: "flavor" (would preemption help here?) or "assignment" (for
    the whole request). `law`: "Classical" or "FairSharing"; `rules` are the
    strategies of fair sharing in their order.
    """

    purpose: str
    law: str
    rules: list[str]
    requests: list[Amount]
    sources: list[Source]
    steps: list[PreemptionStep]
    targets: list[Victim]
    cost: SearchCost


class TopologyDomain(Shape):
    """A domain in a search for places.

    `fits` pods of the podset have places there, `taken` of them are placed below;
    `why` it was left, "" where it was taken.
    """

    path: str
    fits: int
    taken: int
    why: str
    said: Sentence | None = None  # why, with its code


class TopologyLevel(Shape):
    """One level of a search for places; `more` domains are not listed."""

    level: str
    requested: bool
    needed: int
    domains: list[TopologyDomain]
    more: int


class TopologySearch(Shape):
    """A search for places for one podset, from the highest level down.

    `empty`: as if nobody else had places, which is what preemption could reach.
    `reason` is Kueue's where nothing was found.
    """

    pod_set: str
    flavor: str
    empty: bool
    reason: str
    levels: list[TopologyLevel]
    sentence: str
    said: Sentence | None = None  # the same with its code


class Explanation(Shape):
    """Why a workload is where it is, at this instant.

    `state`: "pending", "reserved", "admitted", "evicted" (its job has not
    stopped yet), "requeued" (evicted and waiting again), "finished",
    "inactive". `chain` names what it passes: LocalQueue, ClusterQueue and
    cohorts to the root. `decisive` is the index of the search that decided.
    `said` are the sentences with their codes.
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
    attempt: FlavorAttempt
    flavors: list[FlavorRow]
    searches: list[PreemptionSearch]
    cost: SearchCost  # of all of them
    decisive: int | None
    sentences: list[str]
    said: list[Sentence] = []
    topology: list[TopologySearch] = []
    checks: list[CheckRow] = []
    clusters: list[ClusterRow] = []
    usage: list[UsageRow] = []


class Preemption(Shape):
    """A preemption step by step, found by running its tick again.

    `cost` is of all searches of the decision, those for single flavors too.
    `shares` are those before the search and after it, victims out and the
    preemptor in. `search.steps` begin with the setup and end with the targets.
    """

    preemptor: str
    queue: str
    at_ms: int
    tick: int
    search: PreemptionSearch
    cost: SearchCost
    flavors: list[FlavorRow]
    shares: list[ShareChange]
    targets: list[Victim]
    reason: str
    message: str
