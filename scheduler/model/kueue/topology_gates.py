"""The feature gates that change how topology is placed, with Kueue's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler.model.kueue.feature_gates import fields_of, given_or_usual

_NAMES = {
    "TASProfileMixed": "profile_mixed",
    "TASBalancedPlacement": "balanced",
    "TASRespectNodeAffinityPreferred": "node_preferences",
    "TASHandleOverlappingFlavors": "overlapping",
    "TASRecomputeAssignmentWithinSchedulingCycle": "recompute",
    "TASFailedNodeReplacementFailFast": "fail_fast",
    "TASReplaceNodeOnNodeTaints": "node_taints",
}


#: The gates that decide something here.
NAMES = tuple(_NAMES)


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


def read_gates(given: Mapping[str, bool], release: str | None = None) -> TopologyGates:
    """Return the topology gates of a featureGates section; other gates are left out.

    A gate that is not given has its default in the `release` of Kueue.
    """
    return TopologyGates(**fields_of(given_or_usual(given, _NAMES, release), _NAMES))


DEFAULT_GATES = TopologyGates()
