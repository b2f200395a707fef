"""Why a ClusterQueue does not admit.

Source: docs/semantics/kueue.md#active-clusterqueues.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from scheduler.model.admission_check import (
    MULTI_KUEUE,
    PROVISIONING,
    AdmissionCheck,
)
from scheduler.model.quota import ClusterQueueSpec

Problem = tuple[str, str]  # reason and sentence
COHORT_CYCLE = "CohortCycle"
TERMINATING = "Terminating"


def problems(
    spec: ClusterQueueSpec,
    *,
    in_cycle: Container[str],
    flavors: Container[str],
    checks: Mapping[str, AdmissionCheck],
    topologies: Iterable[tuple[str, str]] = (),
) -> Iterator[Problem]:
    """Yield what keeps a ClusterQueue from admitting, the first as its reason.

    `topologies` are missing ones, with the flavor that names each.
    """
    if spec.going:
        yield TERMINATING, "clusterQueue is terminating"
    if spec.stop != "None":
        yield "Stopped", "is stopped"
    names = [name for group in spec.groups for name in group.flavors]
    missing = [name for name in names if name not in flavors]
    if missing:
        listed = _listed(missing)
        yield "FlavorNotFound", f"references missing ResourceFlavor(s): {listed}"
    for flavor, topology in topologies:
        sentence = f'there is no Topology "{topology}" for TAS flavor "{flavor}"'
        yield "TopologyNotFound", sentence
    yield from _check_problems(spec, checks)
    if spec.cohort in in_cycle:
        yield COHORT_CYCLE, "belongs to a cohort that is its own ancestor"


def _listed(names: Iterable[str]) -> str:
    return ",".join(sorted(names))


def _check_problems(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck]
) -> Iterator[Problem]:
    """Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks."""
    names = [check.name for check in spec.checks]
    missing = [name for name in names if name not in checks]
    if missing:
        listed = _listed(missing)
        yield (
            "AdmissionCheckNotFound",
            f"references missing AdmissionCheck(s): {listed}",
        )
    inactive = [name for name in names if name in checks and not checks[name].active]
    if inactive:
        listed = _listed(inactive)
        yield (
            "AdmissionCheckInactive",
            f"references inactive AdmissionCheck(s): {listed}",
        )
    yield from _multi_kueue_problems(spec, checks)


def _multi_kueue_problems(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck]
) -> Iterator[Problem]:
    multi = _of_controller(spec, checks, MULTI_KUEUE)
    if not multi:
        return
    if len(multi) > 1:
        yield (
            "MultipleMultiKueueAdmissionChecks",
            "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, "
            f"found: {_listed(multi)}",
        )
    every = {name for group in spec.groups for name in group.flavors}
    some = [c.name for c in spec.checks if c.name in multi and not every <= c.flavors]
    if some:
        yield (
            "MultiKueueAdmissionCheckAppliedPerFlavor",
            "Cannot specify MultiKueue AdmissionCheck per flavor, "
            f"found: {_listed(some)}",
        )
    provisioning = _of_controller(spec, checks, PROVISIONING)
    if provisioning:
        yield (
            "MultiKueueWithProvisioningRequest",
            "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks "
            f"together, found: {_listed(multi)}, {_listed(provisioning)}",
        )


def _of_controller(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck], controller: str
) -> list[str]:
    return [
        check.name
        for check in spec.checks
        if check.name in checks and checks[check.name].controller == controller
    ]
