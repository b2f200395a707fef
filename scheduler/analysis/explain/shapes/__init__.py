"""The answers, as records that JSON can hold.

Amounts are texts of integers in canonical units (`scheduler.model.amounts`) beside
the name of their resource; 9223372036854775807 is "unlimited". Shares are
numbers, None is infinite (a borrower of weight 0). Objects are named by their
key text, "Workload/namespace/name". Times are virtual milliseconds.
"""

from __future__ import annotations

from scheduler.analysis.explain.shapes.capacity import (
    Capacity,
    GrowingNodes,
    GrowthRefusal,
    UnplacedPods,
)
from scheduler.analysis.explain.shapes.evicting import (
    Budget,
    CandidateQueue,
    Cost,
    PodPreemption,
    TriedNode,
    TriedPod,
)
from scheduler.analysis.explain.shapes.fairness import (
    Fairness,
    Flow,
    Formula,
    Fraction,
    Head,
    NextVictim,
)
from scheduler.analysis.explain.shapes.numbers import (
    Amount,
    Level,
    NodeName,
    QuotaCheck,
    Shape,
    ShareChange,
    ShareRow,
    Standing,
)
from scheduler.analysis.explain.shapes.pods import (
    Asked,
    AskExplanation,
    Check,
    NodeRow,
    NodeVerdict,
    Plan,
    PodExplanation,
    QueueHeadroom,
    Score,
    Scorer,
    SortedLevel,
    UsedShare,
)
from scheduler.analysis.explain.shapes.searching import (
    Explanation,
    Preemption,
    PreemptionSearch,
    PreemptionStep,
    SearchCost,
    Source,
    Test,
    TopologyDomain,
    TopologyLevel,
    TopologySearch,
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
from scheduler.analysis.explain.shapes.whatif import (
    Change,
    ChangeOutcome,
    Counterfactuals,
    Edit,
    Preview,
    Verdict,
)

__all__ = [
    "Capacity",
    "GrowingNodes",
    "GrowthRefusal",
    "UnplacedPods",
    "Shape",
    "Amount",
    "NodeName",
    "ShareRow",
    "ShareChange",
    "Level",
    "QuotaCheck",
    "Standing",
    "Condition",
    "FlavorRow",
    "CheckRow",
    "ClusterRow",
    "UsageRow",
    "UsedShare",
    "Victim",
    "FlavorAttempt",
    "Waiting",
    "Source",
    "Test",
    "TopologyDomain",
    "TopologyLevel",
    "TopologySearch",
    "PreemptionStep",
    "PreemptionSearch",
    "SearchCost",
    "Explanation",
    "Preemption",
    "TriedPod",
    "Cost",
    "TriedNode",
    "Budget",
    "CandidateQueue",
    "PodPreemption",
    "Edit",
    "Change",
    "ChangeOutcome",
    "Verdict",
    "Counterfactuals",
    "Preview",
    "Fraction",
    "Formula",
    "Flow",
    "Head",
    "NextVictim",
    "Fairness",
    "Score",
    "NodeRow",
    "Scorer",
    "PodExplanation",
    "QueueHeadroom",
    "Asked",
    "Check",
    "SortedLevel",
    "NodeVerdict",
    "Plan",
    "AskExplanation",
]
