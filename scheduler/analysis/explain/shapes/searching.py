"""A search for victims, step by step, and the explanation that holds it."""

from __future__ import annotations

import msgspec

from scheduler.model.sentence import Sentence

# ------------------------------------------------------------------------
# Numbers in answers: amounts, shares, headrooms, the levels of a quota tree.


class Shape(msgspec.Struct, kw_only=True, rename="camel"):
    """The base of all: keyword arguments, camelCase on the wire."""


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


class QuotaCheck(Amount, kw_only=True):
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


# ------------------------------------------------------------------------
# A search for victims, step by step, and the explanation that holds it.


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
    priority to be under, None if nobody is; `threshold` is the maxPriorityThreshold
    that sets it, None where the preemptor's priority does. "withinNominal": a node of `cells`
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
    threshold: int | None = None
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


# ------------------------------------------------------------------------
# Why a Workload waits: conditions, flavors, the attempt, its place in line.


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
    from the ClusterQueue to the root. `limits` say which borrowingLimit and
    lendingLimit keep it short.
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
    limits: list[Sentence] = []


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
