"""What one pod of a podset asks for: requests after defaults, and its shape."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from scheduler import amounts
from scheduler.records.quota import read_tolerations
from scheduler.records.selectors import Requirement, Toleration, read_requirements

Quantities = dict[str, Fraction]
Manifest = Mapping[str, Any]
Written = tuple[Any, ...]
Look = Callable[[Manifest], list[tuple[list[str], str]]]

_BINARY_FROM = 1024  # smaller numbers are written the same in either notation
_SHAPE_FIELDS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "resourceClaims",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the LimitRanges of a namespace say together, per type.

    Source: KUEUE.md 2.1.
    """

    default: Mapping[str, str] = field(default_factory=dict)
    default_request: Mapping[str, str] = field(default_factory=dict)
    container_min: Mapping[str, str] = field(default_factory=dict)
    container_max: Mapping[str, str] = field(default_factory=dict)
    pod_min: Mapping[str, str] = field(default_factory=dict)
    pod_max: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodShape:
    """A pod template as quota sees it."""

    requests: Mapping[str, int]  # per pod, canonical units, 0 and up
    selector: Mapping[str, str]
    affinity: tuple[tuple[Requirement, ...], ...] | None  # terms are ORed
    tolerations: tuple[Toleration, ...]
    identity: str  # equal for pods that the scheduler treats alike
    problem: str = ""  # why the pod may never be admitted


def read_pod(
    spec: Manifest, *, overhead: Manifest | None = None, limits: Limits | None = None
) -> PodShape:
    """Return the shape of a pod spec; raises QuantityError.

    `overhead` is what the pod's RuntimeClass adds; `limits` come from the
    namespace. Source: KUEUE.md 2.1, 2.2, 5.7.
    """
    spec = adjust(spec, overhead=overhead, limits=limits)
    total = pod_requests(spec)
    return PodShape(
        requests={
            name: max(0, _canonical(name, value))
            for name, value in sorted(total.items())
        },
        selector=spec.get("nodeSelector") or {},
        affinity=_affinity(spec),
        tolerations=read_tolerations(spec.get("tolerations")),
        identity=_identity(spec),
        problem=_problem(spec, total, limits),
    )


def _canonical(name: str, value: Fraction) -> int:
    scaled = value * 1000 if name == amounts.CPU else value
    return amounts.clamp(math.ceil(scaled))


def adjust(
    spec: Manifest, *, overhead: Manifest | None = None, limits: Limits | None = None
) -> dict[str, Any]:
    """Return the pod spec with overhead, LimitRange defaults and limits filled in.

    Source: KUEUE.md 2.1.
    """
    result = dict(spec)
    if overhead and not spec.get("overhead"):
        result["overhead"] = overhead
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            result[kind] = [_defaulted(item, limits) for item in spec[kind]]
    if spec.get("resources"):
        result["resources"] = _requests_from_limits(dict(spec["resources"]))
    return result


def _defaulted(container: Manifest, limits: Limits | None) -> dict[str, Any]:
    resources = dict(container.get("resources") or {})
    if limits is not None:
        resources["limits"] = {**limits.default, **(resources.get("limits") or {})}
        resources["requests"] = {
            **limits.default_request,
            **(resources.get("requests") or {}),
        }
    return {**container, "resources": _requests_from_limits(resources)}


def _requests_from_limits(resources: dict[str, Any]) -> dict[str, Any]:
    if resources.get("limits"):
        requests = {**resources["limits"], **(resources.get("requests") or {})}
        resources["requests"] = requests
    return resources


def pod_requests(spec: Manifest) -> Quantities:
    """Return what a pod needs: containers, sidecars, init steps, overhead.

    Source: KUEUE.md 2.2.
    """
    sidecars: Quantities = {}
    peak: Quantities = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum((sidecars, asked))
            asked = {}
        peak = _most(peak, _sum((sidecars, asked)))
    running = [_asked(container) for container in spec.get("containers") or ()]
    total = _most(_sum((sidecars, *running)), peak)
    total.update(_asked(spec))
    return _sum((total, _quantities(spec.get("overhead"))))


def _asked(holder: Manifest) -> Quantities:
    return _quantities((holder.get("resources") or {}).get("requests"))


def _quantities(given: Manifest | None) -> Quantities:
    return {name: amounts.parse(text) for name, text in (given or {}).items()}


def _sum(parts: Iterable[Quantities]) -> Quantities:
    total: Quantities = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total


def _most(left: Quantities, right: Quantities) -> Quantities:
    most = dict(left)
    for name, value in right.items():
        most[name] = max(most.get(name, value), value)
    return most


def _affinity(spec: Manifest) -> tuple[tuple[Requirement, ...], ...] | None:
    """Return the required node affinity terms; matchFields never count here.

    Source: KUEUE.md 6.3.
    """
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    terms = required.get("nodeSelectorTerms") or ()
    return tuple(read_requirements(term) for term in terms)


def _identity(spec: Manifest) -> str:
    """Return a digest of what makes two pods the same to the scheduler.

    Source: KUEUE.md 5.7.
    """
    written = (
        tuple(_container_identity(c) for c in spec.get("initContainers") or ()),
        tuple(_container_identity(c) for c in spec.get("containers") or ()),
        _written_quantities(spec.get("overhead")),
        *(_written(spec.get(name)) for name in _SHAPE_FIELDS),
    )
    return hashlib.blake2b(repr(written).encode(), digest_size=8).hexdigest()


def _container_identity(container: Manifest) -> Written:
    requests = (container.get("resources") or {}).get("requests")
    return (_written_quantities(requests), _written(container.get("ports")))


def _written_quantities(given: Manifest | None) -> Written:
    return tuple(
        (name, _notation(text)) for name, text in sorted((given or {}).items())
    )


def _notation(text: str | int | float) -> tuple[str, str]:
    """Return value and notation: "1Gi" and "1073741824" are written differently."""
    value = amounts.parse(text)
    binary = str(text).endswith("i") and abs(value) >= _BINARY_FROM
    return str(value), "binary" if binary else "decimal"


def _written(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _written(value[key])) for key in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(_written(item) for item in value)
    return value


def _problem(spec: Manifest, total: Quantities, limits: Limits | None) -> str:
    """Return why this pod is not admissible at all, or "".

    Source: KUEUE.md 7.1.
    """
    above = _violations(spec, _above_limits)
    if above:
        return f"resources validation failed: {'; '.join(above)}"
    if limits is None:
        return ""
    outside = _violations(spec, lambda resources: _outside(resources, limits))
    outside += _pod_outside(total, limits)
    if outside:
        return f"resources didn't satisfy LimitRange constraints: {'; '.join(outside)}"
    return ""


def _violations(spec: Manifest, look: Look) -> list[str]:
    found: list[str] = []
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for names, sentence in look(container.get("resources") or {}):
                found.append(
                    f"template.spec.{kind}[{index}]: Invalid value: "
                    f"{_list(names)}: {sentence}"
                )
    return found


def _list(names: list[str]) -> str:
    return "[" + ",".join(f'"{name}"' for name in names) + "]"


def _above_limits(resources: Manifest) -> list[tuple[list[str], str]]:
    requests = _quantities(resources.get("requests"))
    names = _greater(requests, _quantities(resources.get("limits")))
    return [(names, "requests must not exceed its limits")] if names else []


def _greater(left: Quantities, right: Quantities) -> list[str]:
    return sorted(n for n, value in left.items() if n in right and value > right[n])


def _outside(resources: Manifest, limits: Limits) -> list[tuple[list[str], str]]:
    requests = _quantities(resources.get("requests"))
    capped = _quantities(resources.get("limits"))
    most = _most(requests, capped)
    least = {**most, **{n: min(v, capped.get(n, v)) for n, v in requests.items()}}
    return _range(
        least,
        most,
        _quantities(limits.container_min),
        _quantities(limits.container_max),
    )


def _range(
    least: Quantities, most: Quantities, low: Quantities, high: Quantities
) -> list[tuple[list[str], str]]:
    found = []
    if names := _greater(most, high):
        found.append((names, "requests must not be above the limitRange max"))
    if names := _greater(low, least):
        found.append((names, "requests must not be below the limitRange min"))
    return found


def _pod_outside(total: Quantities, limits: Limits) -> list[str]:
    low, high = _quantities(limits.pod_min), _quantities(limits.pod_max)
    return [
        f"template.spec: Invalid value: {_list(names)}: {sentence}"
        for names, sentence in _range(total, total, low, high)
    ]
