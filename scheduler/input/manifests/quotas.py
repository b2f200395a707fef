"""Checks of resource groups: what a ClusterQueue or Cohort may give as quota.

Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import expect_items, expect_object, expect_text
from scheduler.input.manifests.strict import expect_known, expect_texts
from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Form, Problem, Wanted, expected

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
    for path, group in expect_items(document, spec, "spec.resourceGroups"):
        expect_known(document, group, path, ("coveredResources", "flavors"))
        covered = _covered(document, group, path, seen_resources)
        for where, flavor in _flavors(document, group, path, seen_flavors):
            _check_flavor(document, flavor, where, covered)
            for at, quota in expect_items(document, flavor, f"{where}.resources"):
                _check_quota(document, quota, at, lending_within_nominal)
                _check_parent(document, spec, quota, at, above)


def _covered(
    document: Document, group: Fields, path: str, seen: dict[str, str]
) -> list[str]:
    covered = expect_texts(document, group, f"{path}.coveredResources")
    if not covered:
        raise document.error(
            f"{path}.coveredResources",
            expected(Wanted.AT_LEAST_ONE_OF.said(kind="resource")),
        )
    for index, name in enumerate(covered):
        where = f"{path}.coveredResources[{index}]"
        if name in seen:
            problem = Problem.COVERED_ALREADY.said(name=name, other=seen[name])
            raise document.error(where, problem)
        seen[name] = where
    return covered


def _flavors(
    document: Document, group: Fields, path: str, seen: dict[str, str]
) -> Iterator[tuple[str, Fields]]:
    flavors = list(expect_items(document, group, f"{path}.flavors"))
    if not flavors:
        raise document.error(
            f"{path}.flavors", expected(Wanted.AT_LEAST_ONE_OF.said(kind="flavor"))
        )
    for where, flavor in flavors:
        expect_known(document, flavor, where, ("name", "resources"))
        name = expect_text(document, flavor, f"{where}.name")
        if name in seen:
            problem = Problem.FLAVOR_USED.said(name=name, other=seen[name])
            raise document.error(f"{where}.name", problem)
        seen[name] = where
        yield where, flavor


def _check_flavor(
    document: Document, flavor: Fields, path: str, covered: list[str]
) -> None:
    given = [
        expect_text(document, quota, f"{where}.name")
        for where, quota in expect_items(document, flavor, f"{path}.resources")
    ]
    if given != covered:
        raise document.error(
            f"{path}.resources",
            Problem.COVERED.said(known=_listed(covered), given=_listed(given)),
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _check_quota(
    document: Document, quota: Fields, path: str, lending_within_nominal: bool
) -> None:
    expect_known(document, quota, path, ("name", "nominalQuota", *_LIMITS))
    nominal = _amount(document, quota, f"{path}.nominalQuota")
    if nominal is None:
        raise document.error(
            f"{path}.nominalQuota", Form.GOT_NONE.said(wanted=Wanted.QUANTITY)
        )
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
    section = expect_object(document, spec, path)
    expect_known(document, section, path, ("weight",))
    given = section.get("weight")
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
