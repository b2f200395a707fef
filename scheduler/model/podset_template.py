"""What one pod of a podset asks for: requests after defaults, and its shape."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scheduler.model import amounts
from scheduler.model.requests import (
    Limits,
    Manifest,
    Quantities,
    above_limits,
    larger,
    outside_limit_ranges,
    quantities,
)
from scheduler.model.selectors import (
    Requirement,
    Toleration,
    read_requirements,
    read_tolerations,
)
from scheduler.model.transformations import ResourceTransform

Written = tuple[Any, ...]

_BINARY_FROM = 1024  # smaller numbers are written the same in either notation
#: Fields of a pod's spec that make it another one to Kueue, beside its containers.
SHAPE_FIELDS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "resourceClaims",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodShape:
    """A pod template as quota sees it."""

    requests: Mapping[str, int]  # per pod, canonical units, 0 and up
    selector: Mapping[str, str]
    affinity: tuple[tuple[Requirement, ...], ...] | None  # terms are ORed
    tolerations: tuple[Toleration, ...]
    identity: str  # equal for pods that the scheduler treats alike
    outside: tuple[str, ...] = ()  # where it violates a LimitRange, as field errors
    above: tuple[str, ...] = ()  # where requests exceed limits, as field errors


def read_pod(
    spec: Manifest,
    *,
    overhead: Manifest | None = None,
    limits: Limits | None = None,
    transform: ResourceTransform | None = None,
    pod_limits_count: bool = True,
) -> PodShape:
    """Return the shape of a pod spec; raises QuantityError.

    `overhead` is what the pod's RuntimeClass adds; `limits` come from the
    namespace, `transform` from the Configuration: limits know nothing of it.
    With `pod_limits_count` limits of the pod as a whole are its requests where it
    names none.
    Source: docs/semantics/kueue.md#adjustments-of-pod-templates.
    """
    spec = adjust(
        spec, overhead=overhead, limits=limits, pod_limits_count=pod_limits_count
    )
    total = pod_requests(spec)
    asked = total if transform is None else transform.apply(total)
    return PodShape(
        requests={
            name: max(0, _canonical(name, value))
            for name, value in sorted(asked.items())
        },
        selector=spec.get("nodeSelector") or {},
        affinity=_affinity(spec),
        tolerations=read_tolerations(spec.get("tolerations")),
        identity=_identity(spec),
        outside=outside_limit_ranges(spec, total, limits),
        above=above_limits(spec),
    )


def _canonical(name: str, value: Fraction) -> int:
    scaled = value * 1000 if name == amounts.CPU else value
    return amounts.clamp(math.ceil(scaled))


def adjust(
    spec: Manifest,
    *,
    overhead: Manifest | None = None,
    limits: Limits | None = None,
    pod_limits_count: bool = True,
) -> dict[str, Any]:
    """Return the pod spec with overhead, LimitRange defaults and limits filled in.

    Source: docs/semantics/kueue.md#adjustments-of-pod-templates.
    """
    result = dict(spec)
    if overhead and not spec.get("overhead"):
        result["overhead"] = overhead
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            result[kind] = [_defaulted(item, limits) for item in spec[kind]]
    if spec.get("resources") and pod_limits_count:
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
    """Return the requests of a pod: containers, sidecars, init containers, overhead.

    Source: docs/semantics/kueue.md#requests-of-a-pod.
    """
    sidecars: Quantities = {}
    peak: Quantities = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum((sidecars, asked))
            asked = {}
        peak = larger(peak, _sum((sidecars, asked)))
    running = [_asked(container) for container in spec.get("containers") or ()]
    total = larger(_sum((sidecars, *running)), peak)
    total.update(_asked(spec))
    return _sum((total, quantities(spec.get("overhead"))))


def _asked(holder: Manifest) -> Quantities:
    return quantities((holder.get("resources") or {}).get("requests"))


def _sum(parts: Iterable[Quantities]) -> Quantities:
    total: Quantities = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total


def _affinity(spec: Manifest) -> tuple[tuple[Requirement, ...], ...] | None:
    """Return the required node affinity terms; matchFields never count here.

    Source: docs/semantics/kueue.md#flavor-search.
    """
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    terms = required.get("nodeSelectorTerms") or ()
    return tuple(read_requirements(term.get("matchExpressions")) for term in terms)


def _identity(spec: Manifest) -> str:
    """Return a digest of what makes two pods the same to the scheduler.

    Requests of the whole pod are in it where there are any: they decide the total.
    Source: docs/semantics/kueue.md#equivalence-classes.
    """
    whole = (spec.get("resources") or {}).get("requests")
    written = (
        tuple(_container_identity(c) for c in spec.get("initContainers") or ()),
        tuple(_container_identity(c) for c in spec.get("containers") or ()),
        _written_quantities(spec.get("overhead")),
        *(_written(spec.get(name)) for name in SHAPE_FIELDS),
        *((_written_quantities(whole),) if whole else ()),
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
