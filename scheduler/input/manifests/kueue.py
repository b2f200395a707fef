"""Checks of Kueue's kinds: what its schemas and webhooks refuse is refused here, by line.

Each check returns the served manifest (v1beta2) with its defaults written out;
the document itself is left as it is. What a single field may be stands in
`model/schemas/kueue.json`; here are rules over several fields.
Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    check_fields,
    expect_amounts,
    expect_choice,
    expect_items,
    expect_object,
    expect_whole,
    with_defaults,
)
from scheduler.input.manifests.kinds import KUEUE, TABLE, split
from scheduler.input.manifests.topology import check_flavor_topology, check_levels
from scheduler.input.manifests.versions import to_served
from scheduler.input.manifests.workloads import (
    check_cron_job,
    check_job,
    check_job_set,
    check_workload,
)
from scheduler.model import amounts, registry, schemas
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.kueue.known_names import GATES, INTEGRATIONS
from scheduler.model.problems import Problem, Wanted, expected, parted

# ------------------------------------------------------------------------
# Checks of resource groups: what a ClusterQueue or Cohort may give as quota.


Fields = dict[str, Any]

_LEAST_WEIGHT = amounts.parse("1n")
_LIMITS = ("borrowingLimit", "lendingLimit")


def check_groups(
    document: Document, spec: Fields, *, above: str, lending_within_nominal: bool
) -> None:
    """Check spec.resourceGroups; `above` is the field that names the parent.

    Raises ManifestError naming the field.
    """
    seen_resources: dict[str, str] = {}
    seen_flavors: dict[str, str] = {}
    for n, group in enumerate(spec.get("resourceGroups") or ()):
        path = f"spec.resourceGroups[{n}]"
        covered = group["coveredResources"]
        for index, name in enumerate(covered):
            where = f"{path}.coveredResources[{index}]"
            if name in seen_resources:
                other = seen_resources[name]
                problem = Problem.COVERED_ALREADY.said(name=name, other=other)
                raise document.error(where, problem)
            seen_resources[name] = where
        for m, flavor in enumerate(group["flavors"]):
            where = f"{path}.flavors[{m}]"
            name = flavor["name"]
            if name in seen_flavors:
                problem = Problem.FLAVOR_USED.said(name=name, other=seen_flavors[name])
                raise document.error(f"{where}.name", problem)
            seen_flavors[name] = where
            given = [quota["name"] for quota in flavor["resources"]]
            if given != covered:
                raise document.error(
                    f"{where}.resources",
                    Problem.COVERED.said(known=_listed(covered), given=_listed(given)),
                )
            for k, quota in enumerate(flavor["resources"]):
                at = f"{where}.resources[{k}]"
                _check_quota(document, quota, at, lending_within_nominal)
                _check_parent(document, spec, quota, at, above)


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _check_quota(
    document: Document, quota: Fields, path: str, lending_within_nominal: bool
) -> None:
    nominal = _amount(document, quota, f"{path}.nominalQuota") or 0
    _amount(document, quota, f"{path}.borrowingLimit")
    lending = _amount(document, quota, f"{path}.lendingLimit")
    if lending_within_nominal and lending is not None and lending > nominal:
        raise document.error(
            f"{path}.lendingLimit",
            expected(
                Wanted.NOMINAL.said(most=quota["nominalQuota"]),
                given=quota["lendingLimit"],
            ),
        )


def _check_parent(
    document: Document, spec: Fields, quota: Fields, path: str, above: str
) -> None:
    for name in _LIMITS:
        if quota.get(name) is not None and not spec.get(above):
            raise document.error(f"{path}.{name}", Problem.NO_COHORT.said(above=above))


def _amount(document: Document, holder: Fields, path: str) -> int | None:
    name = path.rsplit(".", 1)[-1]
    text = holder.get(name)
    if text is None:
        return None
    try:
        value = amounts.canonical(str(holder.get("name")), text)
    except QuantityError as error:
        raise document.error(path, error.said) from error
    if value < 0:
        raise document.error(path, expected(Wanted.NO_NEGATIVE_QUANTITY, text))
    return value


def check_weight(document: Document, spec: Fields) -> None:
    """Check spec.fairSharing.weight: 0, or more than a billionth.

    Raises ManifestError naming the field.
    """
    path = "spec.fairSharing"
    given = (spec.get("fairSharing") or {}).get("weight")
    if given is None:
        return
    try:
        weight = amounts.parse(given)
    except QuantityError as error:
        raise document.error(f"{path}.weight", error.said) from error
    if weight < 0 or 0 < weight <= _LEAST_WEIGHT:
        raise document.error(
            f"{path}.weight",
            expected(Wanted.ZERO_OR_ABOVE.said(least=_LEAST_WEIGHT), given),
        )


# ------------------------------------------------------------------------
# Checks of Kueue's kinds: what its schemas and webhooks refuse is refused here, by
# line.


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
#: Kinds that are whole without a spec.
_BARE = ("Cohort", "ResourceFlavor")


def check_by_schema(document: Document) -> Fields:
    """Return an object of Kueue in the served version, with its defaults.

    The document is checked by the schema of its kind in its own version, then by the
    rules over several fields. Raises ManifestError naming the field.
    """
    kind = document.kind
    if kind in _BARE and document.data.get("spec") is None:
        document = replace(document, data={**document.data, "spec": {}})
    elif kind != "WorkloadPriorityClass":
        expect_object(document, document.data, "spec", needed=True)
    own = schemas.named(*split(document.api_version), kind)
    if own:
        check_fields(document, own, _choices)
    if (served := to_served(document.data)) is not document.data:
        document = replace(document, data=served)
    newest = schemas.listed(KUEUE, kind)
    if not own:  # a version that nobody serves any more
        check_fields(document, newest, _choices)
    if rules := _RULES.get(kind):
        rules(document, document.data["spec"])
    return with_defaults(document, newest)


def check_cluster(document: Document) -> Fields:
    """Return a MultiKueueCluster; how a cluster is reached is no part of a world."""
    return to_served(document.copied())


def _choices(path: str) -> tuple[str, ...]:
    """Return the choices of a field that plug-ins may add to; none of another."""
    if path != "spec.queueingStrategy":
        return ()
    return tuple(entry.name for entry in registry.entries("queueing"))


def _cluster_queue(document: Document, spec: Fields) -> None:
    check_groups(document, spec, above="cohortName", lending_within_nominal=True)
    check_weight(document, spec)
    _check_selector(document, spec)
    preemption = spec.get("preemption") or {}
    borrow = preemption.get("borrowWithinCohort") or {}
    reclaim = preemption.get("reclaimWithinCohort") or "Never"
    if reclaim == "Never" and (borrow.get("policy") or "Never") != "Never":
        path = "spec.preemption.borrowWithinCohort.policy"
        raise document.error(path, Problem.RECLAIM.said())
    _check_fungibility(document, spec)


def _check_selector(document: Document, spec: Fields) -> None:
    path = "spec.namespaceSelector"
    terms = (spec.get("namespaceSelector") or {}).get("matchExpressions") or ()
    for index, item in enumerate(terms):
        where = f"{path}.matchExpressions[{index}]"
        operator = expect_choice(document, item, f"{where}.operator", _OPERATORS)
        values = item.get("values")
        if bool(values) != (operator in ("In", "NotIn")):
            problem = Problem.NO_VALUES_FOR if values else Problem.VALUES_FOR
            raise document.error(f"{where}.values", problem.said(operator=operator))


def _check_fungibility(document: Document, spec: Fields) -> None:
    given = spec.get("flavorFungibility") or {}
    if given.get("preference") is None:
        return
    if (given.get("whenCanBorrow"), given.get("whenCanPreempt", "TryNextFlavor")) != (
        "TryNextFlavor",
        "TryNextFlavor",
    ):
        path = "spec.flavorFungibility.preference"
        raise document.error(path, Problem.PREFERENCE.said())


def _cohort(document: Document, spec: Fields) -> None:
    check_groups(document, spec, above="parentName", lending_within_nominal=False)
    check_weight(document, spec)


def _flavor(document: Document, spec: Fields) -> None:
    check_flavor_topology(document, spec)
    for index, taint in enumerate(spec.get("nodeTaints") or ()):
        path = f"spec.nodeTaints[{index}]"
        expect_choice(document, taint, f"{path}.effect", _EFFECTS)
    for index, item in enumerate(spec.get("tolerations") or ()):
        path = f"spec.tolerations[{index}]"
        for name, choices in (("operator", ("Equal", "Exists")), ("effect", _EFFECTS)):
            if item.get(name) is not None:
                expect_choice(document, item, f"{path}.{name}", choices)
        if not item.get("key") and item.get("operator") != "Exists":
            problem = Problem.EXISTS.said()
            raise document.error(f"{path}.operator", problem)


def _retries(document: Document, spec: Fields) -> None:
    """Refuse counts below zero, which no API server refuses and nobody can follow."""
    retry = spec.get("retryStrategy") or {}
    for name in retry:
        expect_whole(document, retry, f"spec.retryStrategy.{name}", least=0, default=0)


#: Kind -> its rules over several fields, which its schema does not say.
_RULES: dict[str, Callable[[Document, Fields], None]] = {
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": check_weight,
    "ProvisioningRequestConfig": _retries,
    "ResourceFlavor": _flavor,
    "Topology": check_levels,
    "Workload": check_workload,
}


def check_runtime_class(document: Document) -> Fields:
    """Check a RuntimeClass and return its manifest.

    Raises ManifestError naming the field.
    """
    overhead = expect_object(document, document.data, "overhead")
    expect_amounts(document, overhead, "overhead.podFixed")
    return document.copied()


def check_limit_range(document: Document) -> Fields:
    """Check a LimitRange and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    for path, item in expect_items(document, spec, "spec.limits"):
        kinds = ("Container", "Pod", "PersistentVolumeClaim")
        expect_choice(document, item, f"{path}.type", kinds)
        for name in ("default", "defaultRequest", "max", "min"):
            expect_amounts(document, item, f"{path}.{name}")
    return document.copied()


def check_configuration(document: Document) -> Fields:
    """Check a Kueue Configuration and return its manifest.

    Raises ManifestError naming the field.
    """
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
    **{kind.kind: check_by_schema for kind in TABLE if kind.group == KUEUE},
    "MultiKueueCluster": check_cluster,
    "RuntimeClass": check_runtime_class,
    "LimitRange": check_limit_range,
    "CronJob": check_cron_job,
    "Job": check_job,
    "JobSet": check_job_set,
    "Configuration": check_configuration,
}
