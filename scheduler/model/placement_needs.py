"""What placing a pod on nodes needs to know of its template, as it is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from scheduler.model import amounts
from scheduler.model.podset_template import pod_requests
from scheduler.model.selectors import (
    NodeTerm,
    Toleration,
    read_node_term,
    read_tolerations,
)

Manifest = Mapping[str, Any]
PODS = "pods"


class PlacementNeeds:
    """The template of a podset, read when somebody asks. Compared by identity.

    Requests are those of the containers alone: no LimitRange, no RuntimeClass.
    Source: docs/semantics/kueue-topology.md#what-is-asked-of-a-leaf.
    """

    def __init__(self, spec: Manifest | None = None) -> None:
        self.spec: Manifest = spec or {}

    @cached_property
    def requests(self) -> dict[str, int]:
        """Return the request of one pod, canonical units, without its place."""
        return {
            name: max(0, _canonical(name, value))
            for name, value in sorted(pod_requests(self.spec).items())
        }

    @cached_property
    def per_pod(self) -> dict[str, int]:
        """Return the request of one pod with the one of `pods` that it takes."""
        return {**self.requests, PODS: self.requests.get(PODS, 0) + 1}

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """Return a key that is equal for templates that fit on the same leaves."""
        return (
            tuple(self.per_pod.items()),
            tuple(sorted(self.selector.items())),
            self.terms,
            self.preferences,
        )

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        """Return the tolerations of the template."""
        return read_tolerations(self.spec.get("tolerations"))

    @cached_property
    def selector(self) -> dict[str, str]:
        """Return the template's nodeSelector."""
        given = self.spec.get("nodeSelector") or {}
        return {str(key): str(value) for key, value in given.items()}

    @cached_property
    def terms(self) -> tuple[NodeTerm, ...] | None:
        """Return the required node affinity terms, which are ORed; None for none."""
        required = self._affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        if not required:
            return None
        terms = required.get("nodeSelectorTerms") or ()
        return tuple(read_node_term(term) for term in terms)

    @cached_property
    def preferences(self) -> tuple[NodeTerm, ...]:
        """Return the preferred node affinity terms with their weights."""
        listed = self._affinity.get("preferredDuringSchedulingIgnoredDuringExecution")
        return tuple(
            read_node_term(item.get("preference") or {}, int(item.get("weight") or 0))
            for item in listed or ()
        )

    @property
    def _affinity(self) -> Manifest:
        affinity: Manifest = (self.spec.get("affinity") or {}).get("nodeAffinity") or {}
        return affinity


def _canonical(name: str, value: Any) -> int:
    scaled = value * 1000 if name == amounts.CPU else value
    return amounts.clamp(math.ceil(scaled))
