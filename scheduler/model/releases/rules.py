"""Changes of decisions, one row each: since which patch of which branch.

A rule with a gate is what that gate switches, and the table of gates says since when;
one without is asked for by `holds`, in one place of the engine. What `followed` denies
is not simulated for a release before it: it decides as the newest, and that is said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scheduler.model.releases.release import Release, Scheduler, kueue_gates, reaches

#: Traits of worlds beside the kinds of their objects: `analysis/release_rules.py`.
SEVERAL_FLAVORS = "several flavors"  # in one resource group
ELASTIC_JOBS = "elastic jobs"
MANY_PODSETS = "many podsets"
SLICE_LAYERS = "slice layers"
GATED = "gated jobs"

#: Who notices: a judgement.
Who = Literal["many", "some", "few"]
#: How it is known: played on the real one, or read in its source.
Truth = Literal["recorded", "read"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One change. `since` names the first patch of each branch that has it."""

    id: str
    scheduler: Scheduler = "kueue"
    since: str = ""
    gate: str = ""
    who: Who = "some"
    followed: bool = True
    truth: Truth = "read"
    off_gate: str = ""  # without a gate of its own: the one that switches it off
    kinds: tuple[str, ...] = ()  # only worlds with such objects or traits; (): any
    section: str = ""  # only with this section of Kueue's Configuration; "": any
    without: str = ""  # only where this section is left out; "": any
    now: str  # what is decided since then
    before: str  # and before

    def holds(self, release: Release) -> bool:
        """Return whether a release has it; one that is not given has all."""
        version = release.of(self.scheduler)
        if version is None:
            return True
        if self.gate:
            gate = kueue_gates(version).get(self.gate)
            return gate is not None and gate.on
        return reaches(version, self.since)

    def matters(self, kinds: Collection[str], kueue: Mapping[str, Any]) -> bool:
        """Return whether a world with such objects and settings may notice it."""
        seen = not self.kinds or any(kind in kinds for kind in self.kinds)
        asked = not self.section or kueue.get(self.section) is not None
        return seen and asked and (not self.without or kueue.get(self.without) is None)

    def switch(self, release: Release) -> tuple[str, bool] | None:
        """Return the gate, and what it is given, that turns the rule to its other side.

        None where that release has none, or has locked it.
        """
        version = release.of(self.scheduler)
        name = self.gate or self.off_gate
        gate = kueue_gates(version).get(name) if version and name else None
        if gate is None or gate.locked:
            return None
        return name, not self.holds(release) if self.gate else True


REASONS = Rule(
    id="pending-reasons",
    gate="UnadmittedWorkloadsObservability",
    who="many",
    truth="recorded",
    now="QuotaReserved=False says why: WaitingForQuota, ExceedsMaxQuota and others",
    before="QuotaReserved=False says Pending or Inadmissible; Admitted comes with the first admission",
)
OVERLAP = Rule(
    id="overlapping-targets",
    gate="RecomputeAssignmentUponPreemptionTargetsOverlap",
    who="many",
    truth="recorded",
    now="whose victims are taken by another head of the cycle looks for others",
    before="whose victims are taken by another head of the cycle waits for the next",
)
WAITING = Rule(
    id="wait-for-pods-ready",
    without="waitForPodsReady",
    off_gate="DisableWaitForPodsReady",
    since="0.19.0",
    who="many",
    truth="recorded",
    now="a v1beta2 Configuration without waitForPodsReady waits 30 minutes for pods",
    before="without that section pods may take any time",
)
ALIKE = Rule(
    id="equivalence-hashing",
    gate="SchedulingEquivalenceHashing",
    who="many",
    truth="recorded",
    now="a head that fails sets those aside that are like it",
    before="each Workload is tried by itself",
)
NOMINAL = Rule(
    id="fair-within-nominal",
    section="fairSharing",
    gate="FairSharingPreemptWithinNominal",
    truth="recorded",
    now="under fair sharing, who stays within its nominal quota takes it back without a strategy",
    before="the strategies decide there, too",
)
NON_BORROWING = Rule(
    id="fair-non-borrowing-first",
    section="fairSharing",
    gate="FairSharingPrioritizeNonBorrowing",
    truth="recorded",
    now="under fair sharing, heads that need not borrow come first",
    before="the share alone decides who comes first",
)
NO_CANDIDATES = Rule(
    id="no-candidates-last",
    kinds=(SEVERAL_FLAVORS,),
    since="0.18.5 0.19.1",
    truth="recorded",
    now="a flavor in which nobody may be preempted comes after all that serve",
    before="with PreemptionOverBorrowing such a flavor comes before one that borrows higher",
)
MIXED = Rule(
    id="topology-least-free",
    kinds=("Topology",),
    gate="TASProfileMixed",
    now="unconstrained pods take the domains with the least free room",
    before="they take the domains that fit best from the fullest on",
)
OVERLAPPING_FLAVORS = Rule(
    id="topology-overlapping-flavors",
    kinds=("Topology",),
    gate="TASHandleOverlappingFlavors",
    now="flavors on the same hosts share what is used there",
    before="each flavor counts its own use of a host",
)
PLACE_AGAIN = Rule(
    id="topology-place-again",
    kinds=("Topology",),
    gate="TASRecomputeAssignmentWithinSchedulingCycle",
    now="who lost its places to another head of the cycle looks for others at once",
    before="it waits for the next cycle",
)
ELASTIC = Rule(
    id="elastic-jobs",
    kinds=(ELASTIC_JOBS,),
    gate="ElasticJobsViaWorkloadSlices",
    now="an elastic job is scaled while it runs",
    before="it keeps the size that it was admitted with",
)
RECOVERY = Rule(
    id="recovery-timeout",
    since="0.16.0",
    now="waitForPodsReady.recoveryTimeout is the timeout where it is left out",
    before="pods that are lost may take any time",
)
UNIFORM_BATCH = Rule(
    id="requeue-batches",
    since="0.15.5 0.16.2 0.17.0",
    now="inadmissible Workloads are tried again in batches, 1 s apart",
    before="they are tried again at once",
)
EXACT_TRANSFORMATIONS = Rule(
    id="exact-transformations",
    section="resources",
    since="0.17.7 0.18.3 0.19.0",
    who="few",
    now="resources.transformations multiply exact amounts",
    before="they round what is multiplied up to whole units, 300m to 1",
)
PREFERENCE = Rule(
    id="flavor-preference",
    kinds=(SEVERAL_FLAVORS,),
    since="0.16.2",
    who="few",
    now="flavorFungibility.preference is read as it is written",
    before="PreemptionOverBorrowing and BorrowingOverPreemption work the wrong way round",
)
PODSETS = Rule(
    id="podsets",
    kinds=(MANY_PODSETS,),
    since="0.19.0",
    who="few",
    now="a Workload has up to 18 podsets",
    before="up to 10 in 0.18, 8 before",
)
NODE_TAINTS = Rule(
    id="topology-node-taints",
    kinds=("Topology",),
    gate="TASReplaceNodeOnNodeTaints",
    now="a node whose taints drive pods off fails for their workload",
    before="its taints mean nothing to a workload that runs",
)
NOT_READY = Rule(
    id="topology-node-not-ready",
    kinds=("Topology",),
    since="0.19.0",
    off_gate="TASReplaceNodeDueToNotReadyOverFixedTime",
    followed=False,
    now="a node that is not ready fails for a workload once none of its pods runs there",
    before="it fails after 30 s in any case",
)
LAYERS = Rule(
    id="topology-layers",
    kinds=(SLICE_LAYERS,),
    gate="TASMultiLayerTopology",
    who="few",
    followed=False,
    now="slices of slices are placed",
    before="a job that asks for them is refused",
)
SETS_ON_HOLD = Rule(
    id="statefulset-on-hold",
    kinds=("StatefulSet",),
    since="0.17.7 0.18.3 0.19.0",
    truth="recorded",
    now="the Workload of a StatefulSet of no replicas is on hold",
    before="it goes, and another one comes with the next replica",
)
GATED_JOBS = Rule(
    id="admission-gated-by",
    kinds=(GATED,),
    gate="AdmissionGatedBy",
    who="few",
    now="the annotation admission-gated-by keeps a job from being tried",
    before="it means nothing",
)
QUOTA_CHECK = Rule(
    id="quota-check-strategy",
    section="resources",
    gate="QuotaCheckStrategy",
    who="few",
    now="resources.quotaCheckStrategy may let resources pass that no quota names",
    before="they never pass",
)
SELECTORS = Rule(
    id="selectors-per-flavor",
    kinds=(SEVERAL_FLAVORS,),
    since="0.17.6 0.18.2 0.19.0",
    now="of node selectors and affinity those keys count that the flavor itself has",
    before="those count that any flavor of its resource group has",
)
POD_LEVEL = Rule(
    id="pod-level-resources",
    since="0.17.7 0.18.3 0.19.0",
    who="few",
    now="limits of a pod as a whole are its requests where it names none",
    before="its requests as a whole count, and not its limits",
)
RAY = Rule(
    id="ray-autoscaler",
    kinds=("RayCluster", "RayJob", "RayService"),
    since="0.19.0",
    now="a Ray cluster with an autoscaler is charged for it",
    before="it is not",
)
RAY_SUBMITTER = Rule(
    id="ray-submitter",
    kinds=("RayJob",),
    since="0.17.7 0.18.3 0.19.0",
    who="few",
    now="a RayJob in SidecarMode is charged for its submitter",
    before="it is not",
)
RAY_STATE = Rule(
    id="ray-fault-tolerance",
    kinds=RAY.kinds,
    since="0.17.6 0.18.2 0.19.0",
    who="few",
    now="the head of a fault-tolerant Ray cluster is charged for the pod that cleans up",
    before="it is not",
)
FLAVOR_EDITS = Rule(
    id="flavor-edits-requeue",
    since="0.18.5 0.19.1",
    now="an edit of a flavor's labels, taints or tolerations brings back who waits",
    before="the next other change does",
)
SCAN_PROGRESS = Rule(
    id="flavor-scan-progress",
    kinds=(SEVERAL_FLAVORS,),
    gate="FlavorFungibilityPreserveScanProgress",
    now="the search goes on at the next flavor though quota changed meanwhile",
    before="it begins anew",
)
USAGE = Rule(
    id="admission-fair-sharing-usage",
    section="admissionFairSharing",
    since="0.18.5 0.19.1",
    who="few",
    followed=False,
    now="the use of a LocalQueue is counted with six corrections",
    before="without them",
)
PRIORITY_CLASS = Rule(
    id="default-priority-class",
    kinds=("WorkloadPriorityClass",),
    gate="WorkloadPriorityClassDefaulting",
    who="few",
    now="a WorkloadPriorityClass named default is that of jobs without one",
    before="its name means nothing",
)
STICKY = Rule(
    id="sticky-preemptor",
    since="0.13.6 0.14.1 0.15.0",
    who="many",
    followed=False,
    now="who preempts stays the head of its queue until it is admitted",
    before="the victim may come back first",
)
EQUAL_MODES = Rule(
    id="equal-modes",
    kinds=(SEVERAL_FLAVORS,),
    since="0.13.0",
    followed=False,
    now="of two flavors that need victims the one without borrowing wins",
    before="the first one wins",
)
BALANCE = Rule(
    id="balance-change",
    scheduler="kubernetes",
    since="1.36.0",
    who="many",
    now="NodeResourcesBalancedAllocation scores how the balance changes",
    before="it scores the balance with the pod",
)
BALANCE_SKIPS = Rule(
    id="balance-skips",
    scheduler="kubernetes",
    since="1.33.0",
    now="NodeResourcesBalancedAllocation skips pods that ask for nothing",
    before="it scores nodes for them, too",
)
BACKOFF_POP = Rule(
    id="pop-from-backoff",
    scheduler="kubernetes",
    since="1.33.0",
    now="an empty queue takes pods whose backoff runs",
    before="they wait until it is over",
)
HINTS = Rule(
    id="queueing-hints",
    scheduler="kubernetes",
    since="1.32.0",
    who="many",
    followed=False,
    now="pods are tried again for events that may help them",
    before="for more events",
)
YUNIKORN_TYPES = Rule(
    id="yunikorn-preemption-types",
    scheduler="yunikorn",
    since="1.8.0",
    who="many",
    truth="recorded",
    now="preemption compares the resource types of the ask",
    before="it compares all types, and finds fewer victims",
)
YUNIKORN_ATTEMPTS = Rule(
    id="yunikorn-preemption-attempts",
    scheduler="yunikorn",
    since="1.8.0",
    now="of the ten attempts in a queue those count that are made",
    before="those count, too, for which it is too early or which may not preempt",
)
YUNIKORN_RESERVED_NODES = Rule(
    id="yunikorn-reserved-nodes",
    scheduler="yunikorn",
    since="1.8.0",
    who="few",
    now="preemption takes a node whose reservation is long overdue and less important",
    before="a node that is reserved for another ask is left out",
)
YUNIKORN_BACKOFF = Rule(
    id="yunikorn-backoff",
    scheduler="yunikorn",
    since="1.8.0",
    who="few",
    now="an application of too many unschedulable asks pauses, where that is configured",
    before="it does not",
)
YUNIKORN_QUOTA = Rule(
    id="yunikorn-quota-preemption",
    scheduler="yunikorn",
    since="1.8.0",
    who="few",
    now="what is above a lowered maximum is taken back, where that is configured",
    before="it runs on",
)
YUNIKORN_RESERVATIONS = Rule(
    id="yunikorn-reservations",
    scheduler="yunikorn",
    since="1.9.0",
    now="a reservation that does not fit its queue ends after two hours",
    before="it stays until the ask is served",
)
YUNIKORN_SCOPE = Rule(
    id="yunikorn-preemption-scope",
    scheduler="yunikorn",
    since="1.9.0",
    now="victims are looked for below the first queue whose maximum the ask would pass",
    before="below the first queue that uses just its maximum",
)

#: In the order of what people notice, Kueue's first.
RULES: tuple[Rule, ...] = (
    REASONS,
    OVERLAP,
    WAITING,
    ALIKE,
    NOMINAL,
    NON_BORROWING,
    NO_CANDIDATES,
    SCAN_PROGRESS,
    MIXED,
    OVERLAPPING_FLAVORS,
    PLACE_AGAIN,
    NODE_TAINTS,
    NOT_READY,
    LAYERS,
    SELECTORS,
    ELASTIC,
    UNIFORM_BATCH,
    FLAVOR_EDITS,
    RECOVERY,
    PREFERENCE,
    POD_LEVEL,
    RAY,
    RAY_SUBMITTER,
    RAY_STATE,
    PODSETS,
    USAGE,
    PRIORITY_CLASS,
    SETS_ON_HOLD,
    GATED_JOBS,
    QUOTA_CHECK,
    EXACT_TRANSFORMATIONS,
    STICKY,
    EQUAL_MODES,
    BALANCE,
    BALANCE_SKIPS,
    BACKOFF_POP,
    HINTS,
    YUNIKORN_TYPES,
    YUNIKORN_ATTEMPTS,
    YUNIKORN_RESERVED_NODES,
    YUNIKORN_BACKOFF,
    YUNIKORN_QUOTA,
    YUNIKORN_RESERVATIONS,
    YUNIKORN_SCOPE,
)


def most_pod_sets(release: Release) -> int:
    """Return how many podsets a Workload may have: the bound in its CRD."""
    if PODSETS.holds(release):
        return 18
    return 10 if reaches(release.of("kueue") or "", "0.18.0") else 8


def missing(release: Release) -> list[Rule]:
    """Return the rules that a release does not have yet, in the order of the table."""
    return [rule for rule in RULES if not rule.holds(release)]


def between(before: Release, after: Release) -> list[Rule]:
    """Return the rules that one of two releases has and the other has not."""
    return [rule for rule in RULES if rule.holds(before) != rule.holds(after)]


def not_followed(release: Release) -> list[Rule]:
    """Return the rules that are decided as in the newest release although this one lacks them."""
    return [rule for rule in missing(release) if not rule.followed]
