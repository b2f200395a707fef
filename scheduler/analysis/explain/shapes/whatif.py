"""What if: edits that were really run, and what came of them."""

from __future__ import annotations

from typing import Any

from scheduler.analysis.explain.shapes.numbers import Amount, Shape, ShareChange
from scheduler.analysis.explain.shapes.waiting import FlavorRow, Victim
from scheduler.analysis.measures.verdict import ChangeVerdict
from scheduler.model.sentence import Sentence


class Edit(Shape):
    """A JSON merge patch of one object: enough to do the change for real.

    Kind "Policy" patches the policy document; it has no namespace and no name.
    """

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


class ChangeOutcome(Shape):
    """What a run on a copy of the world came to.

    `outcome`: "admitted", "waits", "inactive", "finished" (before it was asked),
    "gone", "unknown" (given up after very many decisions, at `ran_to_ms`), or
    "ran" when it is about no workload. `ran_from_ms`: the world's time when it was copied;
    it may have gone on since. `pods`: "" when pods are not placed, "placed", or "pending" with
    `pods_message`. `victims` are those preempted for it, with what was lost. In a
    preview `victims` are those preempted only with the change, and `shares` and
    `work_lost_ms` compare the two runs at their horizon; those of the workload's own
    tree are in `shares` whether they differ or not.
    """

    outcome: str
    at_ms: int | None
    tick: int | None
    ran_from_ms: int
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
    "queueingStrategy", "topology" or "localQueue". `finishes` are the workloads whose end
    came right before (kind "wait"). `subject` and `effect` are sentences.
    """

    id: str
    kind: str
    verdict: str
    subject: str
    now: str
    effect: str
    change: Change | None
    outcome: ChangeOutcome
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
    the request in `amount`; `refused` says why the edit cannot be made. `sentences`
    say all of it, `usage` what they say of quota, `effects` who gains and who loses;
    `said`, `usage_said` and `effects_said` are the same with their codes.
    """

    change: Change | None
    refused: str
    workload: str
    queue: str
    evicted: bool  # it held quota, and loses it by the edit
    cells: list[FlavorRow]
    outcome: ChangeOutcome | None
    verdict: ChangeVerdict | None = None  # beside a run without it; None: refused
    effects: list[str] = []
    sentences: list[str] = []
    usage: list[str] = []
    said: list[Sentence] = []
    usage_said: list[Sentence] = []
    effects_said: list[Sentence] = []
