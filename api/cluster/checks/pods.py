"""Pod specs, of pods and of templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster.checks import names
from api.cluster.refusals import Fault
from scheduler.model.amounts import parse as parse_quantity

Spec = Mapping[str, Any]
NEGATIVE = "must be greater than or equal to 0"
_POLICIES = ("Always", "OnFailure", "Never")


def required(field: str, why: str = "") -> Fault:
    """Return the fault of a field that is not there."""
    return Fault(field, f"Required value: {why}" if why else "Required value")


def unsupported(field: str, value: Any, *known: str) -> Fault:
    """Return the fault of a value that is none of those known."""
    listed = ", ".join(f'"{one}"' for one in known)
    return Fault(field, f'Unsupported value: "{value}": supported values: {listed}')


def not_negative(holder: Spec, field: str, *fields: str) -> Iterator[Fault]:
    """Yield a fault for each number below zero."""
    for name in fields:
        value = holder.get(name)
        if isinstance(value, int) and value < 0:
            yield Fault(f"{field}.{name}", f"Invalid value: {value}: {NEGATIVE}")


def template_faults(template: Spec, field: str) -> Iterator[Fault]:
    """Yield what is wrong with a pod template."""
    metadata = template.get("metadata") or {}
    yield from names.labels_faults(metadata.get("labels"), f"{field}.labels")
    given = metadata.get("annotations")
    yield from names.annotations_faults(given, f"{field}.annotations")
    yield from spec_faults(template.get("spec") or {}, f"{field}.spec")


def spec_faults(spec: Spec, field: str) -> Iterator[Fault]:
    """Yield what is wrong with a pod spec."""
    containers = spec.get("containers")
    if not containers:
        yield required(f"{field}.containers")
    seen: set[str] = set()
    for part in ("containers", "initContainers"):
        for n, container in enumerate(spec.get(part) or ()):
            place = f"{field}.{part}[{n}]"
            yield from _container_faults(container, place, seen)
    policy = spec.get("restartPolicy")
    if policy not in (None, *_POLICIES):
        yield unsupported(f"{field}.restartPolicy", policy, *_POLICIES)
    yield from not_negative(spec, field, "terminationGracePeriodSeconds")
    deadline = spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and not 1 <= deadline < 1 << 31:
        why = "must be between 1 and 2147483647, inclusive"
        yield Fault(
            f"{field}.activeDeadlineSeconds", f"Invalid value: {deadline}: {why}"
        )
    yield from names.labels_faults(spec.get("nodeSelector"), f"{field}.nodeSelector")
    for n, one in enumerate(spec.get("tolerations") or ()):
        yield from _toleration_faults(one, f"{field}.tolerations[{n}]")


def _container_faults(container: Spec, field: str, seen: set[str]) -> Iterator[Fault]:
    name = container.get("name")
    if not name:
        yield required(f"{field}.name")
    else:
        yield from names.label_faults(name, f"{field}.name")
        if name in seen:
            yield Fault(f"{field}.name", f'Duplicate value: "{name}"')
        seen.add(name)
    image = container.get("image")
    if not image:
        yield required(f"{field}.image")
    elif image.strip() != image:
        why = "must not have leading or trailing whitespace"
        yield names.invalid(f"{field}.image", image, why)
    for n, port in enumerate(container.get("ports") or ()):
        number = port.get("containerPort")
        place = f"{field}.ports[{n}].containerPort"
        if not number:
            yield required(place)
        elif not 0 < number < 1 << 16:
            why = "must be between 1 and 65535, inclusive"
            yield Fault(place, f"Invalid value: {number}: {why}")
    policy = container.get("imagePullPolicy")
    known = ("Always", "IfNotPresent", "Never")
    if policy not in (None, "", *known):
        yield unsupported(f"{field}.imagePullPolicy", policy, *known)
    yield from resource_faults(container.get("resources") or {}, f"{field}.resources")


def resource_faults(resources: Spec, field: str) -> Iterator[Fault]:
    """Yield what is wrong with requests and limits."""
    for part in ("limits", "requests"):
        for name, amount in (resources.get(part) or {}).items():
            if parse_quantity(str(amount)) < 0:
                place = f"{field}.{part}[{name}]"
                yield Fault(place, f'Invalid value: "{amount}": {NEGATIVE}')
    limits = resources.get("limits") or {}
    for name, amount in (resources.get("requests") or {}).items():
        if name not in limits:
            continue
        asked, most = parse_quantity(str(amount)), parse_quantity(str(limits[name]))
        place, said = f"{field}.requests", f'Invalid value: "{amount}"'
        if asked > most:
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield Fault(place, f"{said}: {why}")
        elif asked != most and "/" in name:
            yield Fault(
                place, f"{said}: must be equal to {name} limit of {limits[name]}"
            )


def _toleration_faults(one: Spec, field: str) -> Iterator[Fault]:
    operator = one.get("operator") or "Equal"
    if operator not in ("Equal", "Exists", "Lt", "Gt"):
        yield unsupported(f"{field}.operator", operator, "Equal", "Exists")
    elif operator == "Exists" and one.get("value"):
        why = "value must be empty when `operator` is 'Exists'"
        yield names.invalid(f"{field}.operator", str(one["value"]), why)
    effect, known = one.get("effect"), ("NoSchedule", "PreferNoSchedule", "NoExecute")
    if effect not in (None, "", *known):
        yield unsupported(f"{field}.effect", effect, *known)
