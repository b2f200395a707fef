"""Job kinds: how each becomes a Workload; one file each, enrolling itself.

A kind enrols an instance under ("job-kind", its kind). The lifetime of a world
asks it for the Workload when the object arrives, and for bare pod sets under
the stacks that know no Workload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a job kind may look up while it makes a Workload."""

    workload_priorities: Mapping[str, int]  # WorkloadPriorityClass -> value
    priorities: Mapping[str, int]  # PriorityClass -> value
    default_priority: str = ""  # the PriorityClass with globalDefault
    labels_to_copy: tuple[str, ...] = ()


class JobKind(Protocol):
    """One kind of job. Source: KUEUE.md 15.3 to 15.5."""

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for, or "" when it is not managed."""

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Tell whether it must not run although nothing manages it."""

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        """Return its podSets as a Workload has them: name, count, template."""

    def waves(self, manifest: Manifest) -> int:
        """Return how many times its pods run one after another (completions)."""

    def workload(self, manifest: Manifest, around: Surroundings) -> dict[str, Any]:
        """Return the manifest of its Workload, with an ownerReference to it."""


class GroupedKind(JobKind, Protocol):
    """Pods: several may make one Workload together."""

    def group(self, manifest: Manifest) -> tuple[str, int]:
        """Return the group's name and its total count; ("", 1) for a lone pod."""

    def group_workload(
        self, manifests: Sequence[Manifest], around: Surroundings
    ) -> dict[str, Any]:
        """Return the manifest of the Workload of a complete group.

        Labels to copy must be equal on all pods; raises ManifestError otherwise.
        """
