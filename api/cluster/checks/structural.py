"""Custom resources of Kueue: the schema of their definition, and what a webhook refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster import published, refusals
from api.cluster.checks.decoding import is_quantity
from api.cluster.checks.pods import NEGATIVE
from api.cluster.published import Field
from api.cluster.refusals import Fault
from api.cluster.resources import Resource
from scheduler.model.amounts import parse as parse_quantity
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.patterns import read_pattern

Document = Mapping[str, Any]
#: Kinds that a webhook reads, to fill in defaults, before the schema is looked at.
DEFAULTED = frozenset({"ClusterQueue", "ResourceFlavor", "Workload"})
#: What is said beside a fault of the schema: rules over several fields then wait.
_UNCHECKED = (
    "Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation"
)
_TYPES: dict[str, tuple[Any, str]] = {
    "string": (str, "string"),
    "int32": (int, "integer"),
    "int64": (int, "integer"),
    "double": ((int, float), "number"),
    "bool": (bool, "boolean"),
    "Time": (str, "string"),
}


def faults(document: Document, type_: str) -> list[Fault]:
    """Return what of an object its definition's schema forbids."""
    found = list(_of_object(document, type_, ""))
    if any(f.problem.startswith(("Unsupported", "Required")) for f in found):
        found.append(Fault("<nil>", _UNCHECKED))
    return found


def _of_object(document: Document, type_: str, path: str) -> Iterator[Fault]:
    for name, field in published.fields_of(type_).items():
        if not path and name in ("apiVersion", "kind", "metadata"):
            continue
        place = f"{path}.{name}" if path else name
        given = document.get(name)
        if given is not None:
            yield from _of_field(given, field, field.type, place)
        elif field.required:
            yield Fault(place, "Required value")


def _of_field(value: Any, field: Field, type_: str, path: str) -> Iterator[Fault]:
    if type_.startswith("[]"):
        if not isinstance(value, list):
            yield _wrong(value, "array", path)
            return
        yield from _sized(len(value), field, path)
        for n, item in enumerate(value):
            plain = Field(type=type_[2:])
            yield from _of_field(item, plain, type_[2:], f"{path}[{n}]")
    elif type_.startswith("map "):
        if not isinstance(value, Mapping):
            yield _wrong(value, "object", path)
        elif field.max_properties is not None and len(value) > field.max_properties:
            yield Fault(
                path,
                f"Too many: {len(value)}: must have at most {field.max_properties} items",
            )
    elif type_ == "Quantity":
        if not is_quantity(value):
            yield _wrong(value, "integer,string", path)
    elif type_.startswith(("core.", "meta.")):
        return  # pod templates are checked with what they are made into
    elif published.fields_of(type_):
        if isinstance(value, Mapping):
            yield from _of_object(value, type_, path)
        else:
            yield _wrong(value, "object", path)
    elif type_ in _TYPES:
        yield from _of_plain(value, field, type_, path)


def _of_plain(value: Any, field: Field, type_: str, path: str) -> Iterator[Fault]:
    expected, name = _TYPES[type_]
    is_bool = isinstance(value, bool) and expected is not bool
    if not isinstance(value, expected) or is_bool:
        yield _wrong(value, name, path)
        return
    if field.enum is not None and value not in field.enum:
        listed = ", ".join(f'"{one}"' for one in field.enum)
        yield Fault(path, f'Unsupported value: "{value}": supported values: {listed}')
    for limit, fails, words in (
        (field.minimum, lambda m: value < m, "greater than or equal to"),
        (field.maximum, lambda m: value > m, "less than or equal to"),
    ):
        if limit is not None and fails(limit):
            why = f"{path} in body should be {words} {limit}"
            yield Fault(path, f"Invalid value: {value}: {why}")
    if not isinstance(value, str):
        return
    if field.max_length is not None and len(value) > field.max_length:
        yield Fault(path, f"Too long: may not be more than {field.max_length} bytes")
    if field.min_length is not None and len(value) < field.min_length:
        why = f"{path} in body should be at least {field.min_length} chars long"
        yield Fault(path, f'Invalid value: "{value}": {why}')
    if field.pattern and not read_pattern(field.pattern).found_in(value):
        why = f"{path} in body should match '{field.pattern}'"
        yield Fault(path, f'Invalid value: "{value}": {why}')


def _sized(count: int, field: Field, path: str) -> Iterator[Fault]:
    if field.min_items is not None and count < field.min_items:
        why = f"{path} in body should have at least {field.min_items} items"
        yield Fault(path, f"Invalid value: {count}: {why}")
    if field.max_items is not None and count > field.max_items:
        yield Fault(
            path, f"Too many: {count}: must have at most {field.max_items} items"
        )


def _wrong(value: Any, type_: str, path: str) -> Fault:
    names = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
    }
    given = names.get(type(value), "object")
    why = f'{path} in body must be of type {type_}: "{given}"'
    return Fault(path, f'Invalid value: "{given}": {why}')


def fixed(after: Document, before: Document, resource: Resource) -> list[Fault]:
    """Return what a write changes that a rule of the definition holds fixed."""
    if resource.kind.kind != "LocalQueue":
        return []
    queue, was = ((d.get("spec") or {}).get("clusterQueue") for d in (after, before))
    if was in (None, "") or queue == was:
        return []
    return [Fault("spec.clusterQueue", f'Invalid value: "{queue}": field is immutable')]


def ask_webhook(document: Document, resource: Resource) -> None:
    """Raise the 403 with which Kueue's webhook refuses an object."""
    if resource.kind.kind not in ("ClusterQueue", "Cohort"):
        return
    found = list(_quotas(document.get("spec") or {}))
    if found:
        lines = [f"{fault.field}: {fault.problem}" for fault in found]
        said = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
        webhook = f"v{resource.kind.kind.lower()}.kb.io"
        raise denied(webhook, said)


def denied(webhook: str, said: str) -> refusals.RefusalError:
    """Return the answer of an admission webhook that says no."""
    message = f'admission webhook "{webhook}" denied the request: {said}'
    return refusals.RefusalError(403, "Forbidden", message, {})


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


def _is_negative(amount: Any) -> bool:
    try:
        return amount is not None and parse_quantity(str(amount)) < 0
    except SchedulerError:
        return False
