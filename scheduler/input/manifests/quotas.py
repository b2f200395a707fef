"""Checks of resource groups: what a ClusterQueue or Cohort may give as quota.

Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Problem, Wanted, expected

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
            raise document.error(
                f"{path}.{name}",
                Problem.NO_COHORT.said(above=above),
            )


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
