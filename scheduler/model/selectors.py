"""Selectors of labels and nodes, taints and tolerations: what matches what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

Labels = Mapping[str, str]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NAME = "metadata.name"
#: effects that keep a pod away, in the spelling of the API
NO_EXECUTE = "NoExecute"
HARD_EFFECTS = ("NoSchedule", NO_EXECUTE)


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One matchExpressions entry."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Return whether the labels meet it; a missing label satisfies NotIn.

        Source: docs/semantics/kube-scheduler.md#node-selection.
        """
        rule = _OPERATORS.get(self.operator)
        return rule is not None and rule(labels.get(self.key), self.values)

    @property
    def valid(self) -> bool:
        """Return whether the operator exists and has the values it needs."""
        count = len(self.values)
        if self.operator in ("Gt", "Lt"):
            return count == 1 and whole(self.values[0]) is not None
        if self.operator in ("In", "NotIn"):
            return count > 0
        return self.operator in ("Exists", "DoesNotExist") and count == 0


def whole(text: str) -> int | None:
    """Return a label value as a base-10 int64, None when it is not one."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _compare(value: str | None, values: tuple[str, ...], *, above: bool) -> bool:
    if value is None or len(values) != 1:
        return False
    left, right = whole(value), whole(values[0])
    if left is None or right is None:
        return False
    return left > right if above else left < right


_OPERATORS: dict[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": lambda value, values: value is not None and value in values,
    "NotIn": lambda value, values: value is None or value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: _compare(value, values, above=True),
    "Lt": lambda value, values: _compare(value, values, above=False),
}


class Selector(msgspec.Struct, frozen=True, gc=False):
    """A LabelSelector; `nothing` is the absent one, the empty one is everything."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Labels) -> bool:
        """Return whether every requirement holds."""
        if self.nothing:
            return False
        return all(need.matches(labels) for need in self.requirements)

    def also(self, labels: Labels, keys: tuple[str, ...], operator: str) -> Selector:
        """Return the selector narrowed by the pod's own values of `keys`."""
        if not keys:
            return self
        more = tuple(
            Requirement(key, operator, (labels[key],)) for key in keys if key in labels
        )
        return Selector(self.requirements + more, self.nothing)


NOTHING = Selector(nothing=True)


def read_selector(data: Mapping[str, Any] | None) -> Selector:
    """Return the LabelSelector; None (absent) matches nothing."""
    if data is None:
        return NOTHING
    pairs = tuple(
        Requirement(str(key), "In", (str(value),))
        for key, value in sorted((data.get("matchLabels") or {}).items())
    )
    return Selector(pairs + read_requirements(data.get("matchExpressions")))


def labels_selected(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the labels that a Service or ReplicationController selects, {} without any.

    Both are kept as they are given: a selector of another shape selects nothing.
    """
    spec = manifest.get("spec")
    given = spec.get("selector") if isinstance(spec, Mapping) else None
    return given if isinstance(given, Mapping) else {}


def selector_text(data: Mapping[str, Any]) -> str:
    """Return a LabelSelector as kubectl writes one: `team=a,tier in (x,y),!old`."""
    return ",".join(map(requirement_text, read_selector(data).requirements))


def requirement_text(need: Requirement) -> str:
    """Return one requirement as kubectl writes it."""
    if need.operator == "In" and len(need.values) == 1:
        return f"{need.key}={need.values[0]}"
    if need.operator in ("Exists", "DoesNotExist"):
        return f"{'!' * (need.operator != 'Exists')}{need.key}"
    word = {"Gt": ">", "Lt": "<"}.get(need.operator, need.operator.lower())
    values = ",".join(need.values)
    return f"{need.key} {word} {values if word in '<>' else f'({values})'}"


def read_requirements(items: list[Mapping[str, Any]] | None) -> tuple[Requirement, ...]:
    """Return matchExpressions or matchFields in the order given."""
    return tuple(
        Requirement(
            str(item.get("key", "")),
            str(item.get("operator", "")),
            tuple(str(value) for value in item.get("values") or ()),
        )
        for item in items or ()
    )


class NodeTerm(msgspec.Struct, frozen=True, gc=False):
    """One nodeSelectorTerm, with the weight it has when it is a preference."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    weight: int = 0

    @property
    def empty(self) -> bool:
        """Return whether it has nothing to match; such a term matches no node."""
        return not self.expressions and not self.fields

    @property
    def valid(self) -> bool:
        """Return whether every expression in it can be evaluated."""
        return all(need.valid for need in self.expressions) and all(
            need.key == _NAME and need.operator in ("In", "NotIn")
            for need in self.fields
        )

    def matches(self, name: str, labels: Labels) -> bool:
        """Return whether a node with this name and these labels meets it."""
        if self.empty or not self.valid:
            return False
        return all(need.matches(labels) for need in self.expressions) and all(
            need.matches({_NAME: name}) for need in self.fields
        )

    def names(self) -> frozenset[str] | None:
        """Return the only node names it allows; None when it names none."""
        sets = [frozenset(need.values) for need in self.fields if need.operator == "In"]
        return frozenset.intersection(*sets) if sets else None


def read_node_term(data: Mapping[str, Any], weight: int = 0) -> NodeTerm:
    """Return a nodeSelectorTerm."""
    return NodeTerm(
        read_requirements(data.get("matchExpressions")),
        read_requirements(data.get("matchFields")),
        weight,
    )


class Taint(msgspec.Struct, frozen=True, gc=False):
    """A taint of a node."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return the taint as Kueue's messages write it."""
        return f"{{{self.key} {self.value} {self.effect} <nil>}}"


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A toleration of a pod; `seconds` None tolerates for ever."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Return whether the toleration covers a taint.

        Source: docs/semantics/kube-scheduler.md#taints-and-tolerations.
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        if self.operator not in ("", "Equal") or not self.key:
            return False
        return self.value == taint.value


def read_taints(items: list[Mapping[str, Any]] | None) -> tuple[Taint, ...]:
    """Return the taints in the order given."""
    return tuple(
        Taint(
            str(item.get("key", "")),
            str(item.get("value") or ""),
            str(item.get("effect", "")),
        )
        for item in items or ()
    )


def read_tolerations(items: list[Mapping[str, Any]] | None) -> tuple[Toleration, ...]:
    """Return the tolerations in the order given."""
    return tuple(
        Toleration(
            str(item.get("key") or ""),
            str(item.get("operator") or ""),
            str(item.get("value") or ""),
            str(item.get("effect") or ""),
            item.get("tolerationSeconds"),
        )
        for item in items or ()
    )


def tolerated(taint: Taint, tolerations: tuple[Toleration, ...]) -> bool:
    """Return whether any toleration covers the taint."""
    return any(toleration.tolerates(taint) for toleration in tolerations)
