"""The feature gates outside of topology that decide something here.

Source: docs/semantics/kueue.md#feature-gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = {
    "ElasticJobsViaWorkloadSlices": "elastic_jobs",
}
#: The gates that decide something here.
NAMES = tuple(_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGates:
    """Which features are on, with the defaults of Kueue 0.20."""

    elastic_jobs: bool = True  # a running job is scaled by workload slices


def read_feature_gates(given: Mapping[str, bool]) -> FeatureGates:
    """Return the gates of a featureGates section; others are not looked at."""
    return FeatureGates(
        **{_NAMES[name]: bool(on) for name, on in given.items() if name in _NAMES}
    )


DEFAULT_FEATURE_GATES = FeatureGates()
