"""The feature gates outside of topology that decide something here.

Source: docs/semantics/kueue.md#feature-gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler.model.releases.release import kueue_gates

_NAMES = {
    "ConcurrentAdmission": "concurrent_admission",
    "ElasticJobsViaWorkloadSlices": "elastic_jobs",
    "MultiKueueOrchestratedPreemption": "preemption_gates",
    "PriorityBoost": "priority_boost",
}
#: On in every release that is known, until they are switched off.
_ON = {
    "PartialAdmission": "partial_admission",
    "PrioritySortingWithinCohort": "sorts_by_priority",
}
#: Read where a release of Kueue is given; without one they stay as they are here.
_OF_RELEASES = {
    "AdmissionGatedBy": "gated_jobs",
    "DisableWaitForPodsReady": "waits_for_no_pods",
    "FinishOrphanedWorkloads": "finishes_orphans",
    "FlavorFungibilityPreserveScanProgress": "keeps_search",
    "FairSharingPreemptWithinNominal": "nominal_without_strategy",
    "FairSharingPrioritizeNonBorrowing": "non_borrowing_first",
    "RecomputeAssignmentUponPreemptionTargetsOverlap": "overlap_searches_again",
    "QuotaCheckStrategy": "quota_check",
    "SchedulingEquivalenceHashing": "equivalence_hashing",
    "UnadmittedWorkloadsObservability": "fine_reasons",
    "WorkloadPriorityClassDefaulting": "default_priority_class",
}
#: The gates that decide something here.
NAMES = (*_NAMES, *_ON)
#: And those that do so in a world of a release.
RELEASE_NAMES = tuple(_OF_RELEASES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGates:
    """Which features are on, with the defaults of Kueue 0.20."""

    elastic_jobs: bool = True  # a running job is scaled by workload slices
    concurrent_admission: bool = False  # a Workload is tried in all flavors at once
    preemption_gates: bool = False  # a closed gate keeps a workload from preempting
    priority_boost: bool = False  # an annotation adds to the priority
    waits_for_no_pods: bool = False  # waitForPodsReady is off whatever is said
    nominal_without_strategy: bool = True  # nominal quota is taken back by everyone
    non_borrowing_first: bool = True  # heads that need not borrow come first
    overlap_searches_again: bool = True  # others' victims of the cycle are left out
    equivalence_hashing: bool = True  # a head that fails sets its like aside
    gated_jobs: bool = True  # the annotation admission-gated-by counts
    quota_check: bool = True  # resources.quotaCheckStrategy counts
    keeps_search: bool = True  # a search for flavors goes on though quota changed
    fine_reasons: bool = True  # conditions say why a Workload is pending
    partial_admission: bool = True  # a job may start with fewer pods than it asks for
    sorts_by_priority: bool = True  # heads of a cohort go by priority, then by age
    finishes_orphans: bool = True  # a Workload whose job went alone ends
    default_priority_class: bool = True  # jobs without one get the class `default`
    # Of releases, without a gate: releases/kueue.yaml.
    borrows_by_flavor: bool = True  # non-borrowing-each-flavor


def read_feature_gates(
    given: Mapping[str, bool], release: str | None = None
) -> FeatureGates:
    """Return the gates of a featureGates section in a release of Kueue.

    Others are not looked at; what the section does not name is as the release has it.
    """
    on = fields_of(given, _ON)
    if release is None:
        return FeatureGates(**fields_of(given, _NAMES), **on)
    names = {**_NAMES, **_OF_RELEASES}
    usual = fields_of(given_or_usual(given, names, release), names)
    return FeatureGates(**usual, **on)


def given_or_usual(
    given: Mapping[str, bool], names: Mapping[str, str], release: str | None
) -> Mapping[str, bool]:
    """Return the gates that are given over those of the release, if there is one."""
    if release is None:
        return given
    known = kueue_gates(release)
    usual = {name: name in known and known[name].on for name in names}
    return {**usual, **given}


def fields_of(given: Mapping[str, bool], names: Mapping[str, str]) -> dict[str, bool]:
    """Return the given gates that have a field here, by its name."""
    return {names[name]: bool(on) for name, on in given.items() if name in names}


DEFAULT_FEATURE_GATES = FeatureGates()


def usual_gates() -> dict[str, bool]:
    """Return the gates that count in every world, by name: whether each is on by itself."""
    return {
        name: getattr(DEFAULT_FEATURE_GATES, field)
        for name, field in {**_NAMES, **_ON}.items()
    }


# ------------------------------------------------------------------------
# The feature gates that change how topology is placed, with Kueue's defaults.


_TOPOLOGY_NAMES = {
    "TASProfileMixed": "profile_mixed",
    "TASBalancedPlacement": "balanced",
    "TASRespectNodeAffinityPreferred": "node_preferences",
    "TASHandleOverlappingFlavors": "overlapping",
    "TASRecomputeAssignmentWithinSchedulingCycle": "recompute",
    "TASFailedNodeReplacementFailFast": "fail_fast",
    "TASReplaceNodeOnNodeTaints": "node_taints",
}


#: The gates that decide something here.
TOPOLOGY_GATES = tuple(_TOPOLOGY_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyGates:
    """Which variants are on.

    Source: docs/semantics/kueue-topology.md#feature-gates.
    """

    profile_mixed: bool = True  # unconstrained placements take the least free
    balanced: bool = False  # preferred placements spread evenly
    node_preferences: bool = False  # preferred node affinity orders domains
    overlapping: bool = True  # flavors on the same hosts share their usage
    recompute: bool = True  # search again when others of the cycle took the place
    node_taints: bool = True  # taints that drive pods off make their node a failed one
    fail_fast: bool = True  # evict at once when a failed node has no replacement
    # Of releases, without a gate: releases/kueue.yaml.
    leader_room: bool = True  # topology-leader-room
    leader_flavor: bool = True  # topology-leader-without-requests
    podsets_share_pods: bool = True  # topology-several-podsets-pods
    errors_do_not_fit: bool = True  # topology-errors-do-not-fit


def read_gates(
    given: Mapping[str, bool], release: str | None = None, **rules: bool
) -> TopologyGates:
    """Return the topology gates of a featureGates section; other gates are left out.

    A gate that is not given has its default in the `release` of Kueue; `rules` are
    those without a gate.
    """
    usual = given_or_usual(given, _TOPOLOGY_NAMES, release)
    return TopologyGates(**fields_of(usual, _TOPOLOGY_NAMES), **rules)


DEFAULT_GATES = TopologyGates()
