"""The section `resources` of Kueue's Configuration.

Source: docs/semantics/kueue.md#resource-transformations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model import amounts
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.transformations import ResourceTransform, Transformation

Document = Mapping[str, Any]

_PATH = "kueue.resources"
_STRATEGIES = ("Retain", "Replace")
_CHECKS = ("", "IgnoreUndeclared", "BlockUndeclared")
FIELDS = ("excludeResourcePrefixes", "quotaCheckStrategy", "transformations")
_RULE_FIELDS = ("input", "multiplyBy", "outputs", "strategy")


def read_transform(section: Document) -> ResourceTransform | None:
    """Return the resource transformations; None without any.

    Raises PolicyError with the path of what is wrong.
    """
    excluded = tuple(section.get("excludeResourcePrefixes") or ())
    rules: dict[str, Transformation] = {}
    for index, given in enumerate(section.get("transformations") or ()):
        path = f"{_PATH}.transformations[{index}]"
        name = _input(given, path)
        if name in rules:
            raise PolicyError(Problem.TRANSFORMATION.said(name=name), f"{path}.input")
        rules[name] = _rule(given, path)
    if not (excluded or rules):
        return None
    return ResourceTransform(excluded=excluded, transformations=rules)


def ignores_undeclared(section: Document) -> bool:
    """Return whether resources that a ClusterQueue does not cover are skipped."""
    given = section.get("quotaCheckStrategy") or ""
    if given not in _CHECKS:
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=" or ".join(_CHECKS[1:])), given),
            f"{_PATH}.quotaCheckStrategy",
        )
    return bool(given == "IgnoreUndeclared")


def _input(given: Any, path: str) -> str:
    if not isinstance(given, Mapping):
        raise PolicyError(expected(Wanted.OBJECT, given), path)
    unknown = sorted(set(given) - set(_RULE_FIELDS))
    if unknown:
        known = ", ".join(_RULE_FIELDS)
        raise PolicyError(Form.UNKNOWN.said(known=known), f"{path}.{unknown[0]}")
    name = given.get("input")
    if not isinstance(name, str) or not name:
        raise PolicyError(expected(Wanted.RESOURCE), f"{path}.input")
    return name


def _rule(given: Document, path: str) -> Transformation:
    strategy = given.get("strategy") or "Retain"
    if strategy not in _STRATEGIES:
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=" or ".join(_STRATEGIES)), strategy),
            f"{path}.strategy",
        )
    outputs = {}
    for name, text in (given.get("outputs") or {}).items():
        try:
            outputs[name] = amounts.parse(text)
        except QuantityError as error:
            raise PolicyError(error.said, f"{path}.outputs.{name}") from error
    return Transformation(
        outputs=outputs,
        retain=strategy == "Retain",
        multiply_by=given.get("multiplyBy") or "",
    )
