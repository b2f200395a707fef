"""Where a pod may run: selectors, affinity, spread, tolerations, gates.

Source: <https://kubernetes.io/docs/concepts/scheduling-eviction/>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster.checks import names
from api.cluster.refusals import Fault

Document = Mapping[str, Any]
NOT_OPERATOR = "not a valid selector operator"
NOT_POSITIVE = "must be greater than zero"
_TWO, _NONE = "'In' or 'NotIn'", "'Exists' or 'DoesNotExist'"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WEIGHTS = range(1, 101)


def required(field: str, why: str = "") -> Fault:
    """Return the fault of a field that does not exist."""
    return Fault(field, f"Required value: {why}" if why else "Required value")


def unsupported(field: str, value: Any, *known: str) -> Fault:
    """Return the fault of a value that is not among the known ones."""
    listed = ", ".join(f'"{one}"' for one in known)
    return Fault(field, f'Unsupported value: "{value}": supported values: {listed}')


def label_selector_faults(selector: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of a selector of labels."""
    given = selector or {}
    yield from names.labels_faults(given.get("matchLabels"), f"{field}.matchLabels")
    for n, term in enumerate(given.get("matchExpressions") or ()):
        yield from _expression_faults(term, f"{field}.matchExpressions[{n}]")


def _expression_faults(
    term: Document, place: str, compares: tuple[str, ...] = ()
) -> Iterator[Fault]:
    """Yield the faults of a term; `compares` are operators that take one number."""
    values = term.get("values") or ()
    match term.get("operator"):
        case "In" | "NotIn":
            if not values:
                why = f"must be specified when `operator` is {_TWO}"
                yield required(f"{place}.values", why)
        case "Exists" | "DoesNotExist":
            if values:
                why = f"may not be specified when `operator` is {_NONE}"
                yield Fault(f"{place}.values", f"Forbidden: {why}")
        case operator if operator in compares:
            if len(values) != 1:
                why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield required(f"{place}.values", why)
        case other:
            yield names.invalid(f"{place}.operator", other or "", NOT_OPERATOR)
    yield from names.key_faults(str(term.get("key") or ""), f"{place}.key")


def _node_term_faults(term: Document, field: str) -> Iterator[Fault]:
    for n, one in enumerate(term.get("matchExpressions") or ()):
        place = f"{field}.matchExpressions[{n}]"
        values = one.get("values") or ()
        yield from _expression_faults(one, place, ("Gt", "Lt"))
        for m, value in enumerate(values):
            for problem in names.value_problems(str(value)):
                yield names.invalid(f"{place}.values[{m}]", str(value), problem)


def affinity_faults(affinity: Document, field: str) -> Iterator[Fault]:
    """Yield the faults of an affinity."""
    nodes = affinity.get("nodeAffinity") or {}
    needed, place = _REQUIRED, f"{field}.nodeAffinity"
    if (given := nodes.get(needed)) is not None:
        terms = given.get("nodeSelectorTerms")
        where = f"{place}.{needed}.nodeSelectorTerms"
        if not terms:
            yield required(where, "must have at least one node selector term")
        for n, term in enumerate(terms or ()):
            yield from _node_term_faults(term, f"{where}[{n}]")
    for n, one in enumerate(nodes.get(_PREFERRED) or ()):
        where = f"{place}.{_PREFERRED}[{n}]"
        yield from _weight_faults(one, where)
        yield from _node_term_faults(one.get("preference") or {}, f"{where}.preference")
    for part in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(part) or {}
        for n, term in enumerate(pods.get(_REQUIRED) or ()):
            yield from _pod_term_faults(term, f"{field}.{part}.{_REQUIRED}[{n}]")
        for n, one in enumerate(pods.get(_PREFERRED) or ()):
            where = f"{field}.{part}.{_PREFERRED}[{n}]"
            yield from _weight_faults(one, where)
            term = one.get("podAffinityTerm") or {}
            yield from _pod_term_faults(term, f"{where}.podAffinityTerm")


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _weight_faults(one: Document, field: str) -> Iterator[Fault]:
    weight = one.get("weight") or 0
    if weight not in _WEIGHTS:
        why = "must be in the range 1-100"
        yield Fault(f"{field}.weight", f"Invalid value: {weight}: {why}")


def _pod_term_faults(term: Document, field: str) -> Iterator[Fault]:
    yield from label_selector_faults(
        term.get("labelSelector"), f"{field}.labelSelector"
    )
    key = str(term.get("topologyKey") or "")
    if not key:
        yield required(f"{field}.topologyKey", "can not be empty")
    yield from names.key_faults(key, f"{field}.topologyKey")


def spread_faults(constraints: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of topology spread constraints."""
    seen = [(c.get("topologyKey"), c.get("whenUnsatisfiable")) for c in constraints]
    for n, one in enumerate(constraints):
        place = f"{field}[{n}]"
        skew = one.get("maxSkew") or 0
        if skew <= 0:
            yield Fault(f"{place}.maxSkew", f"Invalid value: {skew}: {NOT_POSITIVE}")
        key, when = seen[n]
        if not key:
            yield required(f"{place}.topologyKey", "can not be empty")
        else:
            yield from names.key_faults(str(key), f"{place}.topologyKey")
        if when not in ("DoNotSchedule", "ScheduleAnyway"):
            known = ("DoNotSchedule", "ScheduleAnyway")
            yield unsupported(f"{place}.whenUnsatisfiable", when or "", *known)
        if seen[n] in seen[n + 1 :]:
            said = f'Duplicate value: "{{{key}, {when}}}"'
            yield Fault(f"{place}.{{topologyKey, whenUnsatisfiable}}", said)
        least = one.get("minDomains")
        if least is not None:
            if least <= 0:
                said = f"Invalid value: {least}: {NOT_POSITIVE}"
                yield Fault(f"{place}.minDomains", said)
            if when != "DoNotSchedule":
                why = (
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
                    f"{when}"
                )
                yield Fault(f"{place}.minDomains", f"Invalid value: {least}: {why}")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = one.get(name)
            if policy not in (None, "Honor", "Ignore"):
                yield unsupported(f"{place}.{name}", policy, "Honor", "Ignore")
        selector = one.get("labelSelector")
        yield from label_selector_faults(selector, f"{place}.labelSelector")


def gate_faults(gates: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of scheduling gates."""
    seen: set[str] = set()
    for n, gate in enumerate(gates):
        name = str(gate.get("name") or "")
        yield from names.key_faults(name, f"{field}[{n}]")
        if name in seen:
            yield Fault(f"{field}[{n}]", f'Duplicate value: "{name}"')
        seen.add(name)


def toleration_faults(one: Document, field: str) -> Iterator[Fault]:
    """Yield the faults of a toleration."""
    key, operator = str(one.get("key") or ""), one.get("operator") or ""
    value, effect = str(one.get("value") or ""), one.get("effect") or ""
    if key:
        yield from names.key_faults(key, f"{field}.key")
    elif operator != "Exists":
        why = (
            "operator must be Exists when `key` is empty, which means "
            r"\"match all values and all keys\""
        ).replace("\\", "")
        yield names.invalid(f"{field}.operator", operator, why)
    if one.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield names.invalid(f"{field}.effect", effect, why)
    match operator:
        case "" | "Equal":
            if problems := list(names.value_problems(value)):
                yield names.invalid(f"{field}.operator", value, ";".join(problems))
        case "Exists":
            if value:
                why = "value must be empty when `operator` is 'Exists'"
                yield names.invalid(f"{field}.operator", value, why)
        case "Lt" | "Gt":
            pass
        case _:
            yield unsupported(f"{field}.operator", operator, "Equal", "Exists")
    if effect and effect not in _EFFECTS:
        yield unsupported(f"{field}.effect", effect, *_EFFECTS)


_PERCENT = re.compile(r"[0-9]+%", re.ASCII)
NOT_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending "
    "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def is_percent(text: str) -> bool:
    """Return whether a text is a share of a whole, as `25%`."""
    return _PERCENT.fullmatch(text) is not None
