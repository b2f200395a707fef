"""Custom resources of Kueue: the schema of their definition, and what a webhook refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from api.cluster import refusals
from api.cluster.checks import names
from api.cluster.checks.pods import NEGATIVE
from api.cluster.refusals import Fault
from api.cluster.resources import Resource
from scheduler.model.amounts import is_whole
from scheduler.model.amounts import parse as parse_quantity
from scheduler.model.errors import SchedulerError
from scheduler.model.reasons import is_true
from scheduler.model.schemas.faults import OF_LIST, Unmet, What, faults_of

Document = Mapping[str, Any]
#: Kinds that a webhook reads, to fill in defaults, before the schema is looked at.
DEFAULTED = frozenset({"ClusterQueue", "ResourceFlavor", "Workload"})
#: What is said beside a fault of the schema: rules over several fields then wait.
_UNCHECKED = (
    "Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation"
)
_NUMBER = r"(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_AMOUNT = rf"^{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE]{_NUMBER}))?$"
_BLOCKING = ("Required", "Too long", "Too many", "Unsupported")
#: Kinds whose definitions have rules over several fields.
_RULED = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "MultiKueueCluster",
        "MultiKueueConfig",
        "ResourceFlavor",
        "Topology",
        "Workload",
    }
)
_TYPES = {
    "string": "string",
    "int32": "integer",
    "int64": "integer",
    "bool": "boolean",
    "Time": "string",
    "Quantity": "integer,string",
}
_HEAD = frozenset({"apiVersion", "kind", "metadata"})


def faults(
    document: Document, type_: str, kind: str, before: Document | None = None
) -> list[Fault]:
    """Return what of an object its definition's schema forbids."""
    had = (before or {}).get("metadata")
    found = list(names.metadata_faults(document.get("metadata") or {}, kind, had))
    by_schema = _by_schema(_as_written_back(document, kind), type_)
    found += map(_said, (one for one in by_schema if one.what is not What.TWICE))
    if kind == "Workload":
        found += _templates(document.get("spec") or {})
    mistyped = any(_is_mistyped(fault) for fault in found)
    if not mistyped:
        found += map(_said, (one for one in by_schema if one.what is What.TWICE))
    if kind in _RULED and any(map(_is_blocking, found)):
        found.append(Fault("<nil>", _UNCHECKED))
    elif not mistyped:
        found += ruled_out(document, kind)
        found += fixed(document, before, kind) if before is not None else []
    return found


def status_faults(document: Document, type_: str, kind: str) -> list[Fault]:
    """Return what of the status of an object its definition's schema forbids."""
    found = [
        Fault(one.field, one.problem.replace("status.", "", 1))
        for one in map(_said, _by_schema(document, type_))
        if one.field.startswith("status.")
    ]
    if kind in _RULED and any(map(_is_blocking, found)):
        found.append(Fault("<nil>", _UNCHECKED))
    return found


def _is_mistyped(fault: Fault) -> bool:
    return " in body must be of type " in fault.problem


def _is_blocking(fault: Fault) -> bool:
    """Return whether rules over several fields are not looked at beside a fault."""
    return _is_mistyped(fault) or fault.problem.startswith(_BLOCKING)


def _as_written_back(document: Document, kind: str) -> Document:
    """Return an object as its webhook writes it: with the keys of taints, be they empty."""
    spec = document.get("spec")
    taints = spec.get("nodeTaints") if isinstance(spec, Mapping) else None
    if kind != "ResourceFlavor" or not isinstance(taints, list):
        return document
    keyed = [{"key": "", **one} if isinstance(one, Mapping) else one for one in taints]
    return {**document, "spec": {**(spec or {}), "nodeTaints": keyed}}


def _templates(spec: Document) -> Iterator[Fault]:
    """Yield what the pod templates of a Workload must have."""
    given = spec.get("podSets")
    for n, pod_set in enumerate(given if isinstance(given, list) else ()):
        if not isinstance(pod_set, Mapping):
            continue
        place = f"spec.podSets[{n}].template"
        template = pod_set.get("template")
        if template is None:
            yield Fault(place, "Required value")
            continue
        inner = template.get("spec") if isinstance(template, Mapping) else None
        for part in ("containers", "initContainers"):
            listed = inner.get(part) if isinstance(inner, Mapping) else None
            for m, one in enumerate(listed if isinstance(listed, list) else ()):
                where = f"{place}.spec.{part}[{m}]"
                if not isinstance(one, Mapping):
                    yield _said(Unmet(What.TYPE, where, one, OF_LIST, "object"))
                elif one.get("name") is None:
                    yield Fault(f"{where}.name", "Required value")


def _by_schema(document: Document, type_: str) -> list[Unmet]:
    """Return what a schema forbids, in the order in which an API server looks."""
    found = faults_of(document, type_, leave=_HEAD)
    return sorted((one for one in found if one.what in _WORDS), key=_place)


def _said(fault: Unmet) -> Fault:
    path = "<nil>" if fault.what is What.BITS else fault.path
    return Fault(path, _WORDS[fault.what](fault))


def _place(fault: Unmet) -> list[tuple[int, str]]:
    """Return what sorts faults by the names of fields, and by the places in lists."""
    parts = re.split(r"\.|\[([0-9]+)\]", fault.path)
    return [(int(p), "") if is_whole(p) else (0, p) for p in parts if p]


def _mistyped(fault: Unmet) -> str:
    sorts = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        type(None): "null",
    }
    given = sorts.get(type(fault.value), "object")
    wanted = _TYPES.get(fault.type, "object")
    if fault.type.startswith("[]"):
        wanted = "array"
    return _not_so(fault, f'"{given}"', f'must be of type {wanted}: "{given}"')


def _not_so(fault: Unmet, given: object, words: str) -> str:
    return f"Invalid value: {given}: {fault.path} in body {words}"


def _quoted(fault: Unmet, words: str) -> str:
    return _not_so(fault, f'"{fault.value}"', words)


def _unsupported(fault: Unmet) -> str:
    listed = ", ".join(f'"{one}"' for one in fault.field.enum or ())
    return f"Unsupported value: {_as_json(fault.value)}: supported values: {listed}"


def _as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _too_many(fault: Unmet, most: int | None) -> str:
    return f"Too many: {len(fault.value)}: must have at most {most} items"


#: How an API server says each fault; fields that are unknown are pruned before.
_WORDS: dict[What, Callable[[Unmet], str]] = {
    What.REQUIRED: lambda _: "Required value",
    What.TYPE: _mistyped,
    What.QUANTITY: lambda one: _quoted(one, f"should match '{_AMOUNT}'"),
    What.ENUM: _unsupported,
    What.MINIMUM: lambda one: _not_so(
        one, one.value, f"should be greater than or equal to {one.field.minimum}"
    ),
    What.MAXIMUM: lambda one: _not_so(
        one, one.value, f"should be less than or equal to {one.field.maximum}"
    ),
    What.BITS: lambda one: (
        'Invalid value: "": Checked value must be of type integer with format int32 in '
        + one.path
    ),
    What.LONG: lambda one: (
        f"Too long: may not be more than {one.field.max_length} bytes"
    ),
    What.SHORT: lambda one: _quoted(
        one, f"should be at least {one.field.min_length} chars long"
    ),
    What.PATTERN: lambda one: _quoted(one, f"should match '{one.field.pattern}'"),
    What.FEW: lambda one: _not_so(
        one, len(one.value), f"should have at least {one.field.min_items} items"
    ),
    What.MANY: lambda one: _too_many(one, one.field.max_items),
    What.MANY_KEYS: lambda one: _too_many(one, one.field.max_properties),
    What.TWICE: lambda one: f"Duplicate value: {_as_json(one.value)}",
}


def _items(holder: Document, name: str) -> list[Document]:
    return [item for item in holder.get(name) or () if isinstance(item, Mapping)]


#: What a rule of a definition says of a place: whether it holds, and its sentence.
_Holds = Callable[[Any], bool]


class _Rule(NamedTuple):
    field: str  # "[]" of every item of a list
    holds: _Holds
    said: str


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NO_LABELS = (
    '"object": no such key: nodeLabels evaluating rule: at least one nodeLabel is '
    "required when topology is set"
)
_KNOWN_EFFECTS = (
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
)
_SAME_SIZE = _Rule(
    "spec.resourceGroups[]",
    lambda group: all(
        len(flavor.get("resources") or ()) == len(group.get("coveredResources") or ())
        for flavor in _items(group, "flavors")
    ),
    "flavors must have the same number of resources as the coveredResources",
)


def _borrows_from_somebody(spec: Document) -> bool:
    return bool(spec.get("cohortName") or spec.get("cohort")) or not any(
        resource.get("borrowingLimit") is not None
        for group in _items(spec, "resourceGroups")
        for flavor in _items(group, "flavors")
        for resource in _items(flavor, "resources")
    )


def _every(test: _Holds) -> _Holds:
    return lambda items: all(test(item) for item in items)


#: Kind -> the rules over the values of an object, in the order of its fields.
_RULES: dict[str, tuple[_Rule, ...]] = {
    "ClusterQueue": (
        _Rule(
            "spec.flavorFungibility",
            lambda given: (
                given.get("preference") is None
                or (given.get("whenCanBorrow"), given.get("whenCanPreempt"))
                == ("TryNextFlavor", "TryNextFlavor")
            ),
            "preference can only be set when both whenCanBorrow and whenCanPreempt are "
            "TryNextFlavor",
        ),
        _Rule(
            "spec.preemption",
            lambda given: (
                given.get("reclaimWithinCohort") != "Never"
                or (given.get("borrowWithinCohort") or {}).get("policy")
                in (None, "Never")
            ),
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        ),
        _SAME_SIZE,
        _Rule(
            "spec",
            _borrows_from_somebody,
            "borrowingLimit must be nil when cohort is empty",
        ),
    ),
    "Cohort": (_SAME_SIZE,),
    "ResourceFlavor": (
        _Rule(
            "spec",
            lambda spec: not spec.get("topologyName") or bool(spec.get("nodeLabels")),
            _NO_LABELS,
        ),
        _Rule(
            "spec.nodeTaints",
            _every(lambda one: one.get("effect") in _EFFECTS),
            _KNOWN_EFFECTS,
        ),
        _Rule(
            "spec.tolerations",
            _every(lambda one: one.get("key") or one.get("operator") == "Exists"),
            "operator must be Exists when 'key' is empty, which means 'match all values "
            "and all keys'",
        ),
        _Rule(
            "spec.tolerations",
            _every(
                lambda one: (
                    one.get("tolerationSeconds") is None
                    or one.get("effect") == "NoExecute"
                )
            ),
            "effect must be 'NoExecute' when 'tolerationSeconds' is set",
        ),
        _Rule(
            "spec.tolerations",
            _every(lambda one: one.get("operator", "Equal") in ("Equal", "Exists")),
            "supported toleration values: 'Equal'(default), 'Exists'",
        ),
        _Rule(
            "spec.tolerations",
            _every(
                lambda one: one.get("operator") != "Exists" or one.get("value") is None
            ),
            "a value must be empty when 'operator' is 'Exists'",
        ),
        _Rule(
            "spec.tolerations",
            _every(lambda one: one.get("effect", "NoExecute") in _EFFECTS),
            _KNOWN_EFFECTS,
        ),
    ),
    "Topology": (
        _Rule(
            "spec.levels",
            lambda levels: all(levels.count(one) == 1 for one in levels),
            "must be unique",
        ),
        _Rule(
            "spec.levels",
            lambda levels: (
                not any(
                    one.get("nodeLabel") == "kubernetes.io/hostname"
                    for one in levels[:-1]
                )
            ),
            "the kubernetes.io/hostname label can only be used at the lowest level of "
            "topology",
        ),
    ),
    "Workload": (
        _Rule(
            "spec.podSets[]",
            lambda one: (
                one.get("minCount") is None or one["minCount"] <= one.get("count", 1)
            ),
            "minCount should be positive and less or equal to count",
        ),
    ),
}


def ruled_out(document: Document, kind: str) -> Iterator[Fault]:
    """Yield what the rules of a definition over several fields forbid."""
    for rule in _RULES.get(kind, ()):
        for place, value in _found(document, rule.field):
            if not rule.holds(value):
                yield Fault(place, f"Invalid value: {rule.said}")


def _found(document: Document, field: str) -> Iterator[tuple[str, Any]]:
    value: Any = document
    for name in field.removesuffix("[]").split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if field.endswith("[]"):
        for n, item in enumerate(value or ()):
            yield f"{field[:-2]}[{n}]", item
    elif value is not None:
        yield field, value


#: Kind -> the field of its spec that a rule of its definition holds fixed.
_FIXED = {
    "AdmissionCheck": "controllerName",
    "LocalQueue": "clusterQueue",
    "Topology": "levels",
}


_ONE_NAME = ("topologyName are", "topologyName is")


def fixed(after: Document, before: Document, kind: str) -> list[Fault]:
    """Return what a write changes that a rule of the definition holds fixed."""
    spec, old = (d.get("spec") or {} for d in (after, before))
    if kind == "ResourceFlavor" and old.get("topologyName"):
        why = "are immutable when topologyName is set"
        return [
            Fault("spec", f"Invalid value: {name} {why}".replace(*_ONE_NAME))
            for name in ("nodeLabels", "tolerations", "topologyName")
            if spec.get(name) != old.get(name)
        ]
    name = _FIXED.get(kind)
    if name is None:
        return []
    value, was = ((d.get("spec") or {}).get(name) for d in (after, before))
    if was in (None, "") or value == was:
        return []
    shown = f'"{value}": ' if isinstance(value, str) else ""
    return [Fault(f"spec.{name}", f"Invalid value: {shown}field is immutable")]


def ask_webhook(document: Document, resource: Resource) -> None:
    """Raise the 403 with which Kueue's webhook refuses an object."""
    spec, kind = document.get("spec") or {}, resource.kind.kind
    found: list[Fault] = []
    if kind in ("ClusterQueue", "Cohort"):
        above = "cohort" if kind == "ClusterQueue" else "parent"
        alone = not spec.get(f"{above}Name")
        found += [*_quotas(spec), *_limits(spec, above, alone=alone)]
        found += [*_selector(spec), *_weight(spec)]
    elif kind == "Workload":
        found += [*_pod_sets(spec), *_reservation(document.get("status") or {})]
    elif kind == "ResourceFlavor":
        found += names.labels_faults(spec.get("nodeLabels"), "spec.nodeLabels")
        for n, taint in enumerate(spec.get("nodeTaints") or ()):
            place = f"spec.nodeTaints[{n}].key"
            found += names.key_faults(str(taint.get("key") or ""), place)
    if found:
        lines = [f"{fault.field}: {fault.problem}" for fault in found]
        said = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
        webhook = f"v{resource.kind.kind.lower()}.kb.io"
        raise denied(webhook, said)


def _reservation(status: Document) -> Iterator[Fault]:
    if is_true(status, "QuotaReserved") and not status.get("admission"):
        why = "must be set while the QuotaReserved condition is true"
        yield Fault("status.admission", f"Required value: {why}")


def denied(webhook: str, said: str) -> refusals.RefusalError:
    """Return the answer of an admission webhook that says no."""
    message = f'admission webhook "{webhook}" denied the request: {said}'
    return refusals.RefusalError(403, "Forbidden", message)


def _quotas(spec: Document) -> Iterator[Fault]:
    seen_flavors: set[Any] = set()
    seen_resources: set[Any] = set()
    for n, group in enumerate(spec.get("resourceGroups") or ()):
        field = f"spec.resourceGroups[{n}]"
        covered = group.get("coveredResources") or []
        for m, name in enumerate(covered):
            if name in seen_resources:
                place = f"{field}.coveredResources[{m}]"
                yield Fault(place, f'Duplicate value: "{name}"')
            seen_resources.add(name)
        for m, flavor in enumerate(group.get("flavors") or ()):
            place = f"{field}.flavors[{m}]"
            if flavor.get("name") in seen_flavors:
                yield Fault(f"{place}.name", f'Duplicate value: "{flavor.get("name")}"')
            seen_flavors.add(flavor.get("name"))
            yield from _of_flavor(flavor.get("resources") or (), covered, place)


def _of_flavor(resources: Any, covered: list[Any], field: str) -> Iterator[Fault]:
    if len(resources) != len(covered):
        why = "must have the same number of resources as the coveredResources"
        yield Fault(f"{field}.resources", f"Invalid value: {len(resources)}: {why}")
    for n, (given, name) in enumerate(zip(resources, covered, strict=False)):
        place = f"{field}.resources[{n}]"
        if given.get("name") != name:
            why = "must match the name in coveredResources"
            said = f'Invalid value: "{given.get("name")}": {why}'
            yield Fault(f"{place}.name", said)
        for limit in ("nominalQuota", "borrowingLimit", "lendingLimit"):
            if _is_negative(given.get(limit)):
                said = f'Invalid value: "{given[limit]}": {NEGATIVE}'
                yield Fault(f"{place}.{limit}", said)


def _pod_sets(spec: Document) -> Iterator[Fault]:
    sets = spec.get("podSets") or ()
    partial = sum(one.get("minCount") is not None for one in sets)
    if partial > 1:
        why = f"Invalid value: {partial}: at most one podSet can use minCount"
        yield Fault("spec.podSets", why)
    for n, one in enumerate(sets):
        inner = (one.get("template") or {}).get("spec") or {}
        for part in ("initContainers", "containers"):
            for m, container in enumerate(inner.get(part) or ()):
                place = f"spec.podSets[{n}].template.spec.{part}[{m}].resources"
                asked = (container.get("resources") or {}).get("requests") or {}
                for name, amount in asked.items():
                    if _is_negative(amount):
                        said = f'Invalid value: "{amount}": {NEGATIVE}'
                        yield Fault(f"{place}.requests[{name}]", said)


def _limits(spec: Document, above: str, *, alone: bool) -> Iterator[Fault]:
    """Yield limits of what has nobody above it, and lending limits above the quota.

    Of a ClusterQueue the schema refuses a borrowing limit first.
    """
    for n, group in enumerate(spec.get("resourceGroups") or ()):
        for m, flavor in enumerate(group.get("flavors") or ()):
            for k, given in enumerate(flavor.get("resources") or ()):
                place = f"spec.resourceGroups[{n}].flavors[{m}].resources[{k}]"
                for limit in ("borrowingLimit", "lendingLimit"):
                    if alone and given.get(limit) is not None:
                        why = f"must be nil when {above} is empty"
                        said = f'Invalid value: "{given[limit]}": {why}'
                        yield Fault(f"{place}.{limit}", said)
                of_queue = above == "cohort"
                if of_queue and _is_more(given, "lendingLimit", "nominalQuota"):
                    why = "must be less than or equal to the nominalQuota"
                    said = f'Invalid value: "{given["lendingLimit"]}": {why}'
                    yield Fault(f"{place}.lendingLimit", said)


def _is_more(given: Document, one: str, other: str) -> bool:
    if given.get(one) is None or given.get(other) is None:
        return False
    try:
        return bool(parse_quantity(given[one]) > parse_quantity(given[other]))
    except SchedulerError:
        return False


def _selector(spec: Document) -> Iterator[Fault]:
    terms = _items(spec.get("namespaceSelector") or {}, "matchExpressions")
    for n, term in enumerate(terms):
        place = f"spec.namespaceSelector.matchExpressions[{n}]"
        operator, values = term.get("operator"), term.get("values")
        if operator in ("In", "NotIn") and not values:
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            yield Fault(f"{place}.values", f"Required value: {why}")
        elif operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield Fault(f"{place}.values", f"Forbidden: {why}")
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            said = f'Invalid value: "{operator}": not a valid selector operator'
            yield Fault(f"{place}.operator", said)


def _weight(spec: Document) -> Iterator[Fault]:
    weight = (spec.get("fairSharing") or {}).get("weight")
    if _is_negative(weight):
        yield Fault("spec.fairSharing", f'Invalid value: "{weight}": {NEGATIVE}')


def _is_negative(amount: Any) -> bool:
    try:
        return amount is not None and parse_quantity(str(amount)) < 0
    except SchedulerError:
        return False
