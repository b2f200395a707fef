"""Selectors and tolerations: what matches which labels and taints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One expression over a label: key, operator, values."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether these labels satisfy the expression.

        Source: Kubernetes, label selectors and node affinity operators.
        """
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return value is not None and self._compare(value)
            case _:
                return False

    def _compare(self, value: str) -> bool:
        try:
            have, want = int(value), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return have > want if self.operator == "Gt" else have < want


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A label selector; all requirements must hold, none match everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether these labels satisfy every requirement."""
        return all(r.matches(labels) for r in self.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """A toleration of a pod or of a ResourceFlavor."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, key: str, value: str, effect: str) -> bool:
        """Return whether a taint of this key, value and effect is tolerated."""
        if self.effect and self.effect != effect:
            return False
        if self.key and self.key != key:
            return False
        if self.operator == "Exists":
            return True
        return self.operator == "Equal" and self.value == value


def read_selector(given: Mapping[str, Any] | None) -> Selector | None:
    """Return a label selector; None (matches nothing) when it is absent."""
    if given is None:
        return None
    labels = given.get("matchLabels") or {}
    equal = [
        Requirement(key=key, operator="In", values=(value,))
        for key, value in sorted(labels.items())
    ]
    return Selector(requirements=(*equal, *read_requirements(given)))


def read_requirements(given: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """Return the match expressions of a selector or node selector term."""
    return tuple(
        Requirement(
            key=item.get("key", ""),
            operator=item.get("operator", ""),
            values=tuple(item.get("values") or ()),
        )
        for item in given.get("matchExpressions") or ()
    )
