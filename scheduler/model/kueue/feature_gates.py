"""The feature gates outside of topology that decide something here.

Source: docs/semantics/kueue.md#feature-gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = {
    "ConcurrentAdmission": "concurrent_admission",
    "ElasticJobsViaWorkloadSlices": "elastic_jobs",
    "MultiKueueOrchestratedPreemption": "preemption_gates",
    "PriorityBoost": "priority_boost",
}
#: The gates that decide something here.
NAMES = tuple(_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGates:
    """Which features are on, with the defaults of Kueue 0.20."""

    elastic_jobs: bool = True  # a running job is scaled by workload slices
    concurrent_admission: bool = False  # a Workload is tried in all flavors at once
    preemption_gates: bool = False  # a closed gate keeps a workload from preempting
    priority_boost: bool = False  # an annotation adds to the priority


def read_feature_gates(given: Mapping[str, bool]) -> FeatureGates:
    """Return the gates of a featureGates section; others are not looked at."""
    return FeatureGates(**fields_of(given, _NAMES))


def fields_of(given: Mapping[str, bool], names: Mapping[str, str]) -> dict[str, bool]:
    """Return the given gates that have a field here, by its name."""
    return {names[name]: bool(on) for name, on in given.items() if name in names}


DEFAULT_FEATURE_GATES = FeatureGates()
