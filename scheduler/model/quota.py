"""Quota as the documents give it: flavors, resource groups, queues, cohorts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler.model import amounts
from scheduler.model.admission_check import QueueCheck, read_queue_checks
from scheduler.model.selectors import (
    NOTHING,
    Selector,
    Taint,
    Toleration,
    read_selector,
    read_taints,
    read_tolerations,
)

Manifest = Mapping[str, Any]

TRY_PREFERRED = "TryPreferredFlavors"
RETAIN_FIRST = "RetainFirstAdmission"
_POLICY = "concurrentAdmissionPolicy"
#: Kueue takes a policy only where the one resource group has at most so many.
MOST_FLAVORS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """A ResourceFlavor."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""  # the Topology of its nodes


@dataclass(frozen=True, slots=True)
class Quota:
    """What one node of the tree may use of one resource in one flavor.

    Canonical units (`amounts`); None = no such limit.
    """

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that get the same flavor, and the flavors in order of trial."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]
    quotas: Mapping[tuple[str, str], Quota]  # (flavor, resource) -> quota


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortSpec:
    """A Cohort: a node of the tree with, perhaps, quota of its own."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0


class Migration(NamedTuple):
    """Which variants go on after one of a Workload's is admitted.

    Source: docs/semantics/kueue-concurrent-admission.md#policy.
    """

    mode: str = TRY_PREFERRED
    last_acceptable: str = ""  # flavor; those after it are no place to move to

    def reaches(self, flavor: str, order: Sequence[str]) -> bool:
        """Return whether a running Workload may move to this flavor."""
        if self.mode == RETAIN_FIRST:
            return False
        last = self.last_acceptable
        return not last or order.index(flavor) <= order.index(last)


class Preemption(NamedTuple):
    """Whom a ClusterQueue may preempt: `spec.preemption`."""

    within_queue: str = "Never"
    reclaim: str = "Never"
    borrow_policy: str = "Never"
    borrow_threshold: int | None = None


NOBODY = Preemption()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueueSpec:
    """A ClusterQueue."""

    name: str
    cohort: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    strategy: str = "BestEffortFIFO"
    stop: str = "None"
    selector: Selector = NOTHING
    preemption: Preemption = NOBODY
    when_borrow: str = "MayStopSearch"
    when_preempt: str = "TryNextFlavor"
    preference: str = "BorrowingOverPreemption"
    weight: float = 1.0
    checks: tuple[QueueCheck, ...] = ()
    usage_based: bool = False  # admission mode UsageBasedAdmissionFairSharing
    migration: Migration | None = None  # concurrent admission; with its gate
    going: bool = False  # it is being deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueSpec:
    """A LocalQueue: by it a namespace uses a ClusterQueue."""

    namespace: str
    name: str
    queue: str  # ClusterQueue
    stop: str = "None"
    weight: float = 1.0


def read_flavor(manifest: Manifest) -> Flavor:
    """Return the ResourceFlavor of a served manifest."""
    spec = manifest.get("spec") or {}
    return Flavor(
        name=manifest["metadata"]["name"],
        labels=spec.get("nodeLabels") or {},
        taints=read_taints(spec.get("nodeTaints")),
        tolerations=read_tolerations(spec.get("tolerations")),
        topology=spec.get("topologyName") or "",
    )


def read_groups(given: Iterable[Manifest] | None) -> tuple[ResourceGroup, ...]:
    """Return the resource groups of a ClusterQueue or Cohort spec."""
    return tuple(_group(group) for group in given or ())


def _group(group: Manifest) -> ResourceGroup:
    return ResourceGroup(
        resources=tuple(group.get("coveredResources") or ()),
        flavors=tuple(flavor["name"] for flavor in group.get("flavors") or ()),
        quotas={
            (flavor["name"], resource["name"]): _quota(resource)
            for flavor in group.get("flavors") or ()
            for resource in flavor.get("resources") or ()
        },
    )


def _quota(resource: Manifest) -> Quota:
    return Quota(
        nominal=amounts.quota(resource["name"], resource.get("nominalQuota", 0)),
        borrowing=_limit(resource, "borrowingLimit"),
        lending=_limit(resource, "lendingLimit"),
    )


def _limit(resource: Manifest, field_name: str) -> int | None:
    text = resource.get(field_name)
    return None if text is None else amounts.quota(resource["name"], text)


def read_weight(spec: Manifest) -> float:
    """Return fairSharing.weight; 1 when there is none.

    Source: docs/semantics/kueue.md#defaults-and-validation.
    """
    weight = (spec.get("fairSharing") or {}).get("weight")
    return 1.0 if weight is None else float(amounts.parse(weight))


def read_cohort(manifest: Manifest) -> CohortSpec:
    """Return the Cohort of a served manifest."""
    spec = manifest.get("spec") or {}
    return CohortSpec(
        name=manifest["metadata"]["name"],
        parent=spec.get("parentName") or "",
        groups=read_groups(spec.get("resourceGroups")),
        weight=read_weight(spec),
    )


def read_queue(manifest: Manifest) -> ClusterQueueSpec:
    """Return the ClusterQueue of a served manifest, defaults filled in.

    Source: docs/semantics/kueue.md#defaults-and-validation.
    """
    spec = manifest.get("spec") or {}
    preemption = spec.get("preemption") or {}
    borrow = preemption.get("borrowWithinCohort") or {}
    fungibility = spec.get("flavorFungibility") or {}
    scope = spec.get("admissionScope") or {}
    groups = read_groups(spec.get("resourceGroups"))
    flavors = [name for group in groups for name in group.flavors]
    return ClusterQueueSpec(
        name=manifest["metadata"]["name"],
        cohort=spec.get("cohortName") or "",
        groups=groups,
        strategy=spec.get("queueingStrategy") or "BestEffortFIFO",
        stop=spec.get("stopPolicy") or "None",
        selector=read_selector(spec.get("namespaceSelector")),
        preemption=Preemption(
            preemption.get("withinClusterQueue") or "Never",
            preemption.get("reclaimWithinCohort") or "Never",
            borrow.get("policy") or "Never",
            borrow.get("maxPriorityThreshold"),
        ),
        when_borrow=fungibility.get("whenCanBorrow") or "MayStopSearch",
        when_preempt=fungibility.get("whenCanPreempt") or "TryNextFlavor",
        preference=fungibility.get("preference") or "BorrowingOverPreemption",
        weight=read_weight(spec),
        checks=read_queue_checks(spec, flavors),
        usage_based=scope.get("admissionMode") == "UsageBasedAdmissionFairSharing",
        migration=read_migration(spec) if _POLICY in spec else None,
        going="deletionTimestamp" in manifest["metadata"],
    )


def read_migration(spec: Manifest) -> Migration | None:
    """Return a ClusterQueue's policy; None for none, or one that Kueue refuses."""
    policy = spec.get(_POLICY)
    if not isinstance(policy, Mapping) or refusal(spec):
        return None
    migration = policy.get("migration") or {}
    constraints = migration.get("constraints") or {}
    return Migration(
        migration.get("mode") or TRY_PREFERRED,
        constraints.get("lastAcceptableFlavorName") or "",
    )


def refusal(spec: Manifest) -> str:
    """Return why Kueue refuses a ClusterQueue with this policy, or "".

    Only with the feature gate; a policy without it is looked at by nobody.
    """
    migration = (spec.get("concurrentAdmissionPolicy") or {}).get("migration") or {}
    groups = spec.get("resourceGroups") or []
    if spec.get("queueingStrategy") == "StrictFIFO":
        return "concurrent admission is not for StrictFIFO"
    if len(groups) != 1:
        return f"concurrent admission needs one resource group, not {len(groups)}"
    flavors = [flavor["name"] for flavor in groups[0].get("flavors") or ()]
    if len(flavors) > MOST_FLAVORS:
        return f"concurrent admission is for {MOST_FLAVORS} flavors, not {len(flavors)}"
    last = (migration.get("constraints") or {}).get("lastAcceptableFlavorName")
    if last and last not in flavors:
        return f"concurrent admission: lastAcceptableFlavorName {last!r} is no flavor of it"
    return ""


def read_local_queue(manifest: Manifest) -> LocalQueueSpec:
    """Return the LocalQueue of a served manifest."""
    spec = manifest.get("spec") or {}
    return LocalQueueSpec(
        namespace=manifest["metadata"].get("namespace") or "default",
        name=manifest["metadata"]["name"],
        queue=spec.get("clusterQueue") or "",
        stop=spec.get("stopPolicy") or "None",
        weight=read_weight(spec),
    )
