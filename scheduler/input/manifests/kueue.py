"""Checks of Kueue's kinds: what its webhooks refuse is refused here, by line.

Each check returns the served manifest (v1beta2) with its defaults written out;
the document itself is left as it is.
Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_amounts,
    expect_choice,
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.quotas import check_groups, check_weight
from scheduler.input.manifests.strict import (
    expect_known,
    expect_labels,
    expect_optional_text,
    expect_texts,
)
from scheduler.input.manifests.topology import check_flavor_topology, check_topology
from scheduler.input.manifests.versions import to_served
from scheduler.input.manifests.workloads import (
    check_cron_job,
    check_job,
    check_job_set,
    check_workload,
)
from scheduler.model import registry
from scheduler.model.errors import PolicyError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.kueue.known_names import GATES, INTEGRATIONS
from scheduler.model.problems import Problem, Wanted, expected, parted
from scheduler.model.quota import MODES

Fields = dict[str, Any]

_STOP = ("None", "Hold", "HoldAndDrain")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_SEARCH = ("MayStopSearch", "TryNextFlavor")
_QUEUE_FIELDS = (
    "admissionChecksStrategy",
    "admissionScope",
    "cohortName",
    "concurrentAdmissionPolicy",
    "fairSharing",
    "flavorFungibility",
    "namespaceSelector",
    "preemption",
    "queueingStrategy",
    "resourceGroups",
    "stopPolicy",
)
_PREEMPTION = {
    "reclaimWithinCohort": ("Never", "LowerPriority", "Any"),
    "withinClusterQueue": ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
}


def _served(document: Document) -> Document:
    """Return the document in the served version; errors still find their line."""
    return replace(document, data=to_served(document.data))


def check_cluster_queue(document: Document) -> Fields:
    """Return a ClusterQueue. Raises ManifestError naming the field."""
    document = _served(document)
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(document, spec, "spec", _QUEUE_FIELDS)
    expect_optional_text(document, spec, "spec.cohortName")
    check_groups(document, spec, above="cohortName", lending_within_nominal=True)
    check_weight(document, spec)
    _check_selector(document, spec)
    names = tuple(entry.name for entry in registry.entries("queueing"))
    _choice(document, spec, "spec.queueingStrategy", names)
    _choice(document, spec, "spec.stopPolicy", _STOP)
    _check_preemption(document, spec)
    _check_fungibility(document, spec)
    _check_checks(document, spec)
    if "concurrentAdmissionPolicy" in spec:
        _check_concurrent_admission(document, spec)
    manifest = document.copied()
    _default_queue(manifest["spec"])
    return manifest


def _check_concurrent_admission(document: Document, spec: Fields) -> None:
    path = "spec.concurrentAdmissionPolicy"
    policy = expect_object(document, spec, path)
    migration = expect_object(document, policy, f"{path}.migration")
    _choice(document, migration, f"{path}.migration.mode", MODES)
    path += ".migration.constraints"
    constraints = expect_object(document, migration, path)
    expect_optional_text(document, constraints, f"{path}.lastAcceptableFlavorName")


def _choice(
    document: Document, holder: Fields, path: str, choices: tuple[str, ...]
) -> None:
    if holder.get(path.rsplit(".", 1)[-1]) is not None:
        expect_choice(document, holder, path, choices)


def _check_selector(document: Document, spec: Fields) -> None:
    path = "spec.namespaceSelector"
    selector = expect_object(document, spec, path)
    expect_known(document, selector, path, ("matchExpressions", "matchLabels"))
    expect_labels(document, selector, f"{path}.matchLabels")
    for where, item in expect_items(document, selector, f"{path}.matchExpressions"):
        expect_text(document, item, f"{where}.key")
        operator = expect_choice(document, item, f"{where}.operator", _OPERATORS)
        values = expect_texts(document, item, f"{where}.values")
        if bool(values) != (operator in ("In", "NotIn")):
            problem = Problem.NO_VALUES_FOR if values else Problem.VALUES_FOR
            raise document.error(f"{where}.values", problem.said(operator=operator))


def _check_preemption(document: Document, spec: Fields) -> None:
    path = "spec.preemption"
    preemption = expect_object(document, spec, path)
    expect_known(document, preemption, path, (*_PREEMPTION, "borrowWithinCohort"))
    for name, choices in _PREEMPTION.items():
        _choice(document, preemption, f"{path}.{name}", choices)
    inner = f"{path}.borrowWithinCohort"
    borrow = expect_object(document, preemption, inner)
    expect_known(document, borrow, inner, ("maxPriorityThreshold", "policy"))
    _choice(document, borrow, f"{inner}.policy", ("Never", "LowerPriority"))
    if borrow.get("maxPriorityThreshold") is not None:
        expect_whole(document, borrow, f"{inner}.maxPriorityThreshold", least=-(2**31))
    reclaim = preemption.get("reclaimWithinCohort") or "Never"
    if reclaim == "Never" and (borrow.get("policy") or "Never") != "Never":
        raise document.error(
            f"{inner}.policy",
            Problem.RECLAIM.said(),
        )


def _check_fungibility(document: Document, spec: Fields) -> None:
    path = "spec.flavorFungibility"
    given = expect_object(document, spec, path)
    when = ("whenCanBorrow", "whenCanPreempt")
    expect_known(document, given, path, (*when, "preference"))
    for name in when:
        _choice(document, given, f"{path}.{name}", _SEARCH)
    if given.get("preference") is None:
        return
    choices = ("BorrowingOverPreemption", "PreemptionOverBorrowing")
    expect_choice(document, given, f"{path}.preference", choices)
    if (given.get("whenCanBorrow"), given.get("whenCanPreempt", "TryNextFlavor")) != (
        "TryNextFlavor",
        "TryNextFlavor",
    ):
        raise document.error(
            f"{path}.preference",
            Problem.PREFERENCE.said(),
        )


def _check_checks(document: Document, spec: Fields) -> None:
    """Check which AdmissionChecks a ClusterQueue asks for, and in which flavors."""
    path = "spec.admissionChecksStrategy"
    strategy = expect_object(document, spec, path)
    expect_known(document, strategy, path, ("admissionChecks",))
    for where, item in expect_items(document, strategy, f"{path}.admissionChecks"):
        expect_known(document, item, where, ("name", "onFlavors"))
        expect_text(document, item, f"{where}.name")
        expect_texts(document, item, f"{where}.onFlavors")


def check_admission_check(document: Document) -> Fields:
    """Return an AdmissionCheck. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    known = ("controllerName", "parameters", "retryDelayMinutes")
    expect_known(document, spec, "spec", known)
    expect_text(document, spec, "spec.controllerName")
    parameters = expect_object(document, spec, "spec.parameters")
    expect_known(document, parameters, "spec.parameters", ("apiGroup", "kind", "name"))
    return document.copied()


def check_multi_kueue_config(document: Document) -> Fields:
    """Return a MultiKueueConfig. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(document, spec, "spec", ("clusters",))
    if not spec.get("clusters"):
        raise document.error("spec.clusters", expected(Wanted.CLUSTERS))
    expect_texts(document, spec, "spec.clusters")
    return document.copied()


def _default_queue(spec: Fields) -> None:
    """Write out what the API server would.

    Source: docs/semantics/kueue.md#defaults-and-validation.
    """
    spec["queueingStrategy"] = spec.get("queueingStrategy") or "BestEffortFIFO"
    spec["stopPolicy"] = spec.get("stopPolicy") or "None"
    preemption = spec["preemption"] = spec.get("preemption") or {}
    for name in _PREEMPTION:
        preemption[name] = preemption.get(name) or "Never"
    if preemption.get("borrowWithinCohort") is not None:
        borrow = preemption["borrowWithinCohort"]
        borrow["policy"] = borrow.get("policy") or "Never"
    fungibility = spec["flavorFungibility"] = spec.get("flavorFungibility") or {}
    fungibility["whenCanBorrow"] = fungibility.get("whenCanBorrow") or "MayStopSearch"
    fungibility["whenCanPreempt"] = fungibility.get("whenCanPreempt") or "TryNextFlavor"


def check_cohort(document: Document) -> Fields:
    """Return a Cohort. Raises ManifestError naming the field."""
    document = _served(document)
    spec = expect_object(document, document.data, "spec")
    expect_known(
        document, spec, "spec", ("fairSharing", "parentName", "resourceGroups")
    )
    expect_optional_text(document, spec, "spec.parentName")
    check_groups(document, spec, above="parentName", lending_within_nominal=False)
    check_weight(document, spec)
    manifest = document.copied()
    manifest["spec"] = manifest.get("spec") or {}
    return manifest


def check_local_queue(document: Document) -> Fields:
    """Return a LocalQueue. Raises ManifestError naming the field."""
    document = _served(document)
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(document, spec, "spec", ("clusterQueue", "fairSharing", "stopPolicy"))
    if spec.get("clusterQueue") not in (None, ""):
        expect_text(document, spec, "spec.clusterQueue")
    _choice(document, spec, "spec.stopPolicy", _STOP)
    check_weight(document, spec)
    manifest = document.copied()
    manifest["spec"]["stopPolicy"] = spec.get("stopPolicy") or "None"
    return manifest


def check_flavor(document: Document) -> Fields:
    """Return a ResourceFlavor. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec")
    known = ("nodeLabels", "nodeTaints", "tolerations", "topologyName")
    expect_known(document, spec, "spec", known)
    expect_labels(document, spec, "spec.nodeLabels")
    check_flavor_topology(document, spec)
    for path, taint in expect_items(document, spec, "spec.nodeTaints"):
        expect_text(document, taint, f"{path}.key")
        expect_choice(document, taint, f"{path}.effect", _EFFECTS)
    for path, item in expect_items(document, spec, "spec.tolerations"):
        _choice(document, item, f"{path}.operator", ("Equal", "Exists"))
        _choice(document, item, f"{path}.effect", _EFFECTS)
        if not item.get("key") and item.get("operator") != "Exists":
            problem = Problem.EXISTS.said()
            raise document.error(f"{path}.operator", problem)
    manifest = document.copied()
    manifest["spec"] = manifest.get("spec") or {}
    return manifest


def check_priority_class(document: Document) -> Fields:
    """Return a WorkloadPriorityClass. Raises ManifestError naming the field."""
    value = expect_whole(document, document.data, "value", least=-(2**31))
    if value >= 2**31:
        raise document.error("value", expected(Wanted.BITS_32, given=value))
    return document.copied()


def check_runtime_class(document: Document) -> Fields:
    """Return a RuntimeClass. Raises ManifestError naming the field."""
    overhead = expect_object(document, document.data, "overhead")
    expect_amounts(document, overhead, "overhead.podFixed")
    return document.copied()


def check_limit_range(document: Document) -> Fields:
    """Return a LimitRange. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    for path, item in expect_items(document, spec, "spec.limits"):
        kinds = ("Container", "Pod", "PersistentVolumeClaim")
        expect_choice(document, item, f"{path}.type", kinds)
        for name in ("default", "defaultRequest", "max", "min"):
            expect_amounts(document, item, f"{path}.{name}")
    return document.copied()


def check_configuration(document: Document) -> Fields:
    """Return a Kueue Configuration. Raises ManifestError naming the field."""
    try:
        read_configuration(document.data)
    except PolicyError as error:
        path, problem = parted(error.said)
        raise document.error(path.removeprefix("kueue."), problem) from error
    for name in document.data.get("featureGates") or {}:
        _expect_name(document, f"featureGates.{name}", name, GATES)
    integrations = document.data.get("integrations") or {}
    for index, name in enumerate(integrations.get("frameworks") or ()):
        _expect_name(document, f"integrations.frameworks[{index}]", name, INTEGRATIONS)
    return document.copied()


def _expect_name(
    document: Document, path: str, name: Any, known: tuple[str, ...]
) -> None:
    """Refuse a name with which Kueue would not start; names those that are near."""
    if name not in known:
        near = ", ".join(difflib.get_close_matches(str(name), known) or known)
        raise document.error(path, expected(Wanted.ONE_OF.said(known=near), name))


def kept_fields(document: Document) -> tuple[str, ...]:
    """Return the fields of a valid Configuration that are not simulated."""
    return read_configuration(document.data).kept


CHECKS: dict[str, Callable[[Document], Fields]] = {
    "AdmissionCheck": check_admission_check,
    "ClusterQueue": check_cluster_queue,
    "Cohort": check_cohort,
    "LocalQueue": check_local_queue,
    "MultiKueueConfig": check_multi_kueue_config,
    "ResourceFlavor": check_flavor,
    "Topology": check_topology,
    "Workload": check_workload,
    "WorkloadPriorityClass": check_priority_class,
    "RuntimeClass": check_runtime_class,
    "LimitRange": check_limit_range,
    "CronJob": check_cron_job,
    "Job": check_job,
    "JobSet": check_job_set,
    "Configuration": check_configuration,
}
