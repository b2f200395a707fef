"""What a Pod asks of a node: exact sums over its containers, rounded once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec

from scheduler import amounts
from scheduler.records.node import (
    CPU,
    MEMORY,
    NATIVE,
    is_scalar,
    normalized_image,
)

DEFAULT_CPU = 100  # thousandths: what a container without a cpu request counts as
DEFAULT_MEMORY = 200 * 2**20

Sums = dict[str, Fraction]


class Container(msgspec.Struct, frozen=True, gc=False):
    """What placement reads of one container: its image and what it names."""

    image: str
    resources: tuple[str, ...]  # requested or limited


class PodRequests(msgspec.Struct, frozen=True, gc=False):
    """A Pod's requests in canonical units; resources with 0 are left out.

    `exact` is what Filter and the node's sums use, `scored` what
    NodeResourcesFit scores with (defaults in, pod level out), and
    `assumed_cpu` / `assumed_memory` what the node's sum with defaults grows by.
    """

    exact: dict[str, int]
    scored: dict[str, int]
    assumed_cpu: int
    assumed_memory: int


def read_requests(
    spec: Mapping[str, Any], resized: list[Mapping[str, Any]]
) -> tuple[PodRequests, tuple[Container, ...]]:
    """Return the requests and containers of a Pod spec.

    `resized` holds the container statuses that carry resources (in-place
    resize): the largest of asked, allocated and actual counts.
    Source: docs/semantics/kube-scheduler.md#request-of-a-pod.
    """
    actual = {str(item.get("name")): item for item in resized}
    mains = [_asked(c, actual) for c in spec.get("containers") or ()]
    inits = [
        (_asked(c, actual), c.get("restartPolicy") == "Always")
        for c in spec.get("initContainers") or ()
    ]
    level = _level(spec)
    overhead = _fractions(spec.get("overhead"))
    defaults = {CPU: Fraction(DEFAULT_CPU, 1000), MEMORY: Fraction(DEFAULT_MEMORY)}
    plain = _total(mains, inits, {}, level, overhead)
    missing = (
        {k: v for k, v in defaults.items() if k not in plain} if level else defaults
    )
    assumed = _total(mains, inits, missing, level, overhead)
    scored = _total(mains, inits, defaults, {}, overhead)
    return (
        PodRequests(
            exact=_rounded(plain),
            scored=_rounded(scored),
            assumed_cpu=_rounded(assumed).get(CPU, 0),
            assumed_memory=_rounded(assumed).get(MEMORY, 0),
        ),
        _containers(spec),
    )


def _fractions(data: Mapping[str, Any] | None) -> Sums:
    return {str(name): amounts.parse(value) for name, value in (data or {}).items()}


def _asked(container: Mapping[str, Any], actual: Mapping[str, Any]) -> Sums:
    sums = _fractions((container.get("resources") or {}).get("requests"))
    status = actual.get(str(container.get("name")))
    if status is None:
        return sums
    for other in (
        status.get("allocatedResources"),
        (status.get("resources") or {}).get("requests"),
    ):
        _raise_to(sums, _fractions(other))
    return sums


def _level(spec: Mapping[str, Any]) -> Sums:
    """Return the pod-level requests that replace the containers' sums."""
    given = _fractions((spec.get("resources") or {}).get("requests"))
    return {
        name: value
        for name, value in given.items()
        if name in (CPU, MEMORY) or name.startswith("hugepages-")
    }


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
    for item in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        given = item.get("resources") or {}
        names = {*(given.get("requests") or {}), *(given.get("limits") or {})}
        image = normalized_image(str(item.get("image") or ""))
        found.append(Container(image, tuple(sorted(names))))
    return tuple(found)
