"""What a Pod asks of a node: exact sums over its containers, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec

from scheduler.model import amounts
from scheduler.model.node import CPU, MEMORY, NATIVE, is_scalar, normalized_image

DEFAULT_CPU = 100  # thousandths: what a container without a cpu request counts as
DEFAULT_MEMORY = 200 * 2**20

Sums = dict[str, Fraction]
Manifest = Mapping[str, Any]

_DEFAULTS: Sums = {CPU: Fraction(DEFAULT_CPU, 1000), MEMORY: Fraction(DEFAULT_MEMORY)}


class Container(msgspec.Struct, frozen=True, gc=False):
    """What placement reads of one container: its image, what it asks for and names."""

    image: str
    resources: tuple[str, ...]  # requested or limited
    asked: dict[str, int] = {}  # canonical units; resources with 0 are left out
    init: bool = False


class PodRequests(msgspec.Struct, frozen=True, gc=False):
    """A Pod's requests in canonical units; resources with 0 are left out.

    `exact` is what the node's sums grow by (a resize in progress included),
    `asked` what Filter compares (the spec alone), `scored` what
    NodeResourcesFit scores with (defaults in, pod level out), and
    `assumed_cpu` / `assumed_memory` what the node's sum with defaults grows by.
    """

    exact: dict[str, int]
    asked: dict[str, int]
    scored: dict[str, int]
    assumed_cpu: int
    assumed_memory: int


class Resize(NamedTuple):
    """What a pod's status says of resources: a resize in place, or nothing."""

    containers: Mapping[str, Manifest] = {}  # statuses that have resources, by name
    pod: Manifest | None = None  # the pod's own status, if it has resources
    infeasible: bool = False  # the spec cannot be met and does not count


_NO_RESIZE = Resize()


def read_resize(status: Manifest) -> Resize:
    """Return the resources of a pod's status.

    Source: docs/semantics/kube-scheduler.md#pods-resized-in-place.
    """
    listed = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    pending: Manifest = next(
        (
            condition
            for condition in status.get("conditions") or ()
            if condition.get("type") == "PodResizePending"
        ),
        {},
    )
    return Resize(
        {
            str(item.get("name")): item
            for item in listed
            if item.get("resources") is not None
        },
        status if status.get("resources") is not None else None,
        pending.get("reason") == "Infeasible",
    )


def read_requests(
    spec: Manifest, resize: Resize = _NO_RESIZE
) -> tuple[PodRequests, tuple[Container, ...]]:
    """Return the requests and containers of a Pod spec.

    `resize` is the state of a resize in place, which node sums follow.
    Source: docs/semantics/kube-scheduler.md#request-of-a-pod.
    """
    overhead = _fractions(spec.get("overhead"))
    # Pod-level requests replace the sums of the containers.
    level = {
        name: value
        for name, value in _requests(spec).items()
        if name in (CPU, MEMORY) or name.startswith("hugepages-")
    }
    present = _parts(spec, resize)
    present_level = _level_now(level, resize)
    plain = _total(*present, {}, present_level, overhead)
    missing = (
        {k: v for k, v in _DEFAULTS.items() if k not in plain} if level else _DEFAULTS
    )
    assumed = _rounded(_total(*present, missing, present_level, overhead))
    own = _parts(spec, _NO_RESIZE)
    return (
        PodRequests(
            exact=_rounded(plain),
            asked=_rounded(_total(*own, {}, level, overhead)),
            scored=_rounded(_total(*own, _DEFAULTS, {}, overhead)),
            assumed_cpu=assumed.get(CPU, 0),
            assumed_memory=assumed.get(MEMORY, 0),
        ),
        _containers(spec),
    )


def _parts(
    spec: Manifest, resize: Resize
) -> tuple[list[Sums], list[tuple[Sums, bool]]]:
    """Return the sums of app containers, and of init containers with who stays."""
    inits = []
    for container in spec.get("initContainers") or ():
        stays = container.get("restartPolicy") == "Always"
        inits.append((_asked(container, resize if stays else _NO_RESIZE), stays))
    return [_asked(c, resize) for c in spec.get("containers") or ()], inits


def _fractions(data: Mapping[str, Any] | None) -> Sums:
    return {str(name): amounts.parse(value) for name, value in (data or {}).items()}


def _asked(container: Manifest, resize: Resize) -> Sums:
    sums = _requests(container)
    status = resize.containers.get(str(container.get("name")))
    return sums if status is None else _largest(sums, status, resize.infeasible)


def _requests(holder: Manifest) -> Sums:
    return _fractions((holder.get("resources") or {}).get("requests"))


def _largest(spec: Sums, status: Manifest, infeasible: bool) -> Sums:
    """Return the largest of what is asked, actual and allocated, per resource."""
    sums = {} if infeasible else dict(spec)
    _raise_to(sums, _requests(status))
    _raise_to(sums, _fractions(status.get("allocatedResources")))
    return sums


def _level_now(level: Sums, resize: Resize) -> Sums:
    """Return the pod-level requests while they are resized; no name is added."""
    if resize.pod is None:
        return level
    sums = _largest(level, resize.pod, resize.infeasible)
    return {name: sums.get(name, Fraction(0)) for name in level}


def _total(
    mains: list[Sums],
    inits: list[tuple[Sums, bool]],
    defaults: Sums,
    level: Sums,
    overhead: Sums,
) -> Sums:
    total: Sums = {}
    for sums in mains:
        _grow(total, {**defaults, **sums})
    sidecars: Sums = {}
    largest: Sums = {}
    for sums, stays in inits:
        own = {**defaults, **sums}
        if stays:
            _grow(total, own)
            _grow(sidecars, own)
            need = sidecars
        else:
            need = dict(sidecars)
            _grow(need, own)
        _raise_to(largest, need)
    _raise_to(total, largest)
    total.update(level)
    _grow(total, overhead)
    return total


def _grow(sums: Sums, more: Sums) -> None:
    for name, value in more.items():
        sums[name] = sums.get(name, Fraction(0)) + value


def _raise_to(sums: Sums, other: Sums) -> None:
    for name, value in other.items():
        if name not in sums or value > sums[name]:
            sums[name] = value


def _rounded(sums: Sums) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in sums.items():
        if name not in NATIVE and not is_scalar(name):
            continue
        scaled = value * 1000 if name == CPU else value
        amount = amounts.clamp(-((-scaled.numerator) // scaled.denominator))
        if amount:
            found[name] = amount
    return found


def _containers(spec: Mapping[str, Any]) -> tuple[Container, ...]:
    found = []
    inits = spec.get("initContainers") or ()
    for index, item in enumerate([*inits, *(spec.get("containers") or ())]):
        given = item.get("resources") or {}
        names = {*(given.get("requests") or {}), *(given.get("limits") or {})}
        image = normalized_image(str(item.get("image") or ""))
        asked = _rounded(_requests(item))
        init = index < len(inits)
        found.append(Container(image, tuple(sorted(names)), asked, init))
    return tuple(found)


# ------------------------------------------------------------------------
# Whether requests of a pod stay within its limits and its namespace's LimitRanges.


Quantities = dict[str, Fraction]
Violation = tuple[list[str], str]  # resources, sentence
Check = Callable[[Manifest], list[Violation]]

_ABOVE_LIMITS = "requests must not exceed its limits"
_ABOVE_MAX = "requests must not be above the limitRange max"
_BELOW_MIN = "requests must not be below the limitRange min"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the LimitRanges of a namespace say together, per type.

    Source: docs/semantics/kueue.md#adjustments-of-pod-templates.
    """

    default: Mapping[str, str] = field(default_factory=dict)
    default_request: Mapping[str, str] = field(default_factory=dict)
    container_min: Mapping[str, str] = field(default_factory=dict)
    container_max: Mapping[str, str] = field(default_factory=dict)
    pod_min: Mapping[str, str] = field(default_factory=dict)
    pod_max: Mapping[str, str] = field(default_factory=dict)


def quantities(given: Manifest | None) -> Quantities:
    """Return a map of quantities as exact values; raises QuantityError."""
    return {name: amounts.parse(text) for name, text in (given or {}).items()}


def larger(left: Quantities, right: Quantities) -> Quantities:
    """Return the larger of two quantities per resource."""
    most = dict(left)
    for name, value in right.items():
        most[name] = max(most.get(name, value), value)
    return most


def above_limits(spec: Manifest) -> tuple[str, ...]:
    """Return a field error per container, or pod, whose requests exceed its limits.

    Paths begin at the podset. Source: docs/semantics/kueue.md#nomination.
    """
    found = _of_containers(spec, _above_limits)
    for names, sentence in _above_limits(spec.get("resources") or {}):
        found.append(_field_error("template.spec.resources", names, sentence))
    return tuple(found)


def outside_limit_ranges(
    spec: Manifest, total: Quantities, limits: Limits | None
) -> tuple[str, ...]:
    """Return a field error per violation of a LimitRange; `total` is the whole pod's.

    Paths begin at the podset. Source: docs/semantics/kueue.md#nomination.
    """
    if limits is None:
        return ()
    found = _of_containers(spec, lambda resources: _outside(resources, limits))
    low, high = quantities(limits.pod_min), quantities(limits.pod_max)
    for names, sentence in _range(total, total, low, high):
        found.append(_field_error("template.spec", names, sentence))
    return tuple(found)


def _of_containers(spec: Manifest, check: Check) -> list[str]:
    return [
        _field_error(f"template.spec.{kind}[{index}]", names, sentence)
        for kind in ("initContainers", "containers")
        for index, container in enumerate(spec.get(kind) or ())
        for names, sentence in check(container.get("resources") or {})
    ]


def _field_error(path: str, names: list[str], sentence: str) -> str:
    listed = ",".join(f'"{name}"' for name in names)
    return f"{path}: Invalid value: [{listed}]: {sentence}"


def _above_limits(resources: Manifest) -> list[Violation]:
    requests = quantities(resources.get("requests"))
    names = _greater(requests, quantities(resources.get("limits")))
    return [(names, _ABOVE_LIMITS)] if names else []


def _greater(left: Quantities, right: Quantities) -> list[str]:
    return sorted(n for n, value in left.items() if n in right and value > right[n])


def _outside(resources: Manifest, limits: Limits) -> list[Violation]:
    requests = quantities(resources.get("requests"))
    capped = quantities(resources.get("limits"))
    most = larger(requests, capped)
    least = {**most, **{n: min(v, capped.get(n, v)) for n, v in requests.items()}}
    low, high = quantities(limits.container_min), quantities(limits.container_max)
    return _range(least, most, low, high)


def _range(
    least: Quantities, most: Quantities, low: Quantities, high: Quantities
) -> list[Violation]:
    found = []
    if names := _greater(most, high):
        found.append((names, _ABOVE_MAX))
    if names := _greater(low, least):
        found.append((names, _BELOW_MIN))
    return found
