"""What if: edits that were really run, and what came of them."""

from __future__ import annotations

from typing import Any

from scheduler.analysis.explain.shapes.searching import (
    Amount,
    Shape,
    ShareChange,
    Victim,
)


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
    "gone" or "unknown" (given up after very many decisions, at `ran_to_ms`). `ran_from_ms`: the world's time when it was copied;
    it may have gone on since. `pods`: "" when pods are not placed, "placed", or "pending" with
    `pods_message`. `victims` are those preempted for it, with what was lost.
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
    "maxPriorityThreshold", "queueingStrategy", "coveredResources", "nodeSelector",
    "topology", "localQueue", "namespace", "namespaceSelector", "limitRange" or
    "requests". `finishes` are the workloads whose end
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
