"""Job kinds: how each becomes a Workload; one file each, enrolling itself.

A kind enrols an instance under ("job-kind", its kind). The lifetime of a world
asks it for the Workload when the object arrives, and for bare pod sets under
the stacks that know no Workload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scheduler.records.objects import Key

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a job kind may look up while it makes a Workload."""

    workload_priorities: Mapping[str, int] = field(
        default_factory=dict
    )  # WorkloadPriorityClass -> value
    priorities: Mapping[str, int] = field(
        default_factory=dict
    )  # PriorityClass -> value
    default_priority: str = ""  # the PriorityClass with globalDefault
    labels_to_copy: tuple[str, ...] = ()
    runtimes: Mapping[Key, Manifest] = field(default_factory=dict)
    """Training runtimes by their keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """How a job ended, as its own status says."""

    success: bool
    message: str = ""


class JobKind(Protocol):
    """One kind of job. Source: docs/semantics/kueue-lifecycle.md#workloads-of-jobs."""

    endless: bool  # it serves, and never ends by itself

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for, or "" when it is not managed."""

    def suspended(self, manifest: Manifest) -> bool:
        """Return whether it is suspended, as it is written."""

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Return whether it must not run although nothing manages it."""

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its podSets as a Workload has them: name, count, template.

        Raises ManifestError when it refers to something that is not there.
        """

    def waves(self, manifest: Manifest) -> int:
        """Return how many times its pods run one after another (completions)."""

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the manifests of its Workloads, each with an ownerReference to it.

        Most kinds have one; a Deployment has one per pod, a LeaderWorkerSet one
        per group. Raises ManifestError when a priority class or runtime that it
        names does not exist: Kueue makes no Workload then.
        """

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, from its status; None while it goes on."""

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether its status says that all its pods are ready."""

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return the pods per podset that ended and are not needed again."""


class GroupedKind(JobKind, Protocol):
    """Pods: several may make one Workload together."""

    def group(self, manifest: Manifest) -> tuple[str, int]:
        """Return the group's name and its total count; ("", 1) for a lone pod."""

    def group_workload(
        self, manifests: Sequence[Manifest], around: Surroundings
    ) -> dict[str, Any]:
        """Return the manifest of the Workload of a complete group.

        Labels to copy must be equal on all pods; raises ManifestError otherwise,
        and when fewer pods than the group waits for have not failed.
        """

    def group_finish(self, manifests: Sequence[Manifest]) -> Finish | None:
        """Return how the group ended; None while it goes on."""

    def group_ready(self, manifests: Sequence[Manifest]) -> bool:
        """Return whether all pods of the group are ready."""

    def group_reclaimable(self, manifests: Sequence[Manifest]) -> dict[str, int]:
        """Return the succeeded pods by podset."""
