"""Zones of one node, and which of them containers may be aligned to.

Source: docs/semantics/kube-scheduler.md#numa-zones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from scheduler.model.node import CPU, MEMORY, STORAGE, is_extended
from scheduler.model.pod import BURSTABLE, GUARANTEED, Pod

Amounts = dict[str, int]
_FURTHEST = 255  # the distance of zones whose cost is not given


@dataclass(slots=True)
class Zone:
    """One zone: its number, what is free, and how far the others are."""

    number: int
    available: Amounts
    costs: Mapping[int, int]

    def copy(self) -> Zone:
        """Return a zone of which something can be taken without touching this one."""
        return Zone(self.number, dict(self.available), self.costs)


def is_affine(resource: str) -> bool:
    """Return whether only Guaranteed pods get it from a zone: cpu and memory."""
    return resource in (CPU, MEMORY) or resource.startswith("hugepages-")


def is_looked_at(pod: Pod) -> bool:
    """Return whether alignment concerns the pod: all but BestEffort without devices."""
    if pod.qos in (GUARANTEED, BURSTABLE):
        return True
    return any(is_extended(name) for c in pod.shape.containers for name in c.asked)


def fitting(
    zones: list[Zone], asked: Amounts, qos: str, on_node: Collection[str]
) -> Zone | None:
    """Return the zone with the lowest number that has all of it, None for none.

    A device or ephemeral storage that no zone lists is the whole node's.
    """
    fit = list(zones)
    for name, amount in asked.items():
        if name not in on_node:
            return None
        listed = [zone for zone in zones if name in zone.available]
        if not listed and (name == STORAGE or is_extended(name)):
            continue
        having = [z for z in listed if _has(z.available, name, amount, qos)]
        fit = [zone for zone in fit if zone in having]
    return fit[0] if fit else None


def _has(available: Mapping[str, int], name: str, amount: int, qos: str) -> bool:
    if qos != GUARANTEED and is_affine(name):
        return True
    return available.get(name, 0) >= amount


def subtract(zones: Iterable[Zone], asked: Amounts, qos: str) -> dict[int, Amounts]:
    """Take what is asked from zones in their order; return what each gave."""
    given: dict[int, Amounts] = {}
    for name, amount in asked.items():
        if qos != GUARANTEED and is_affine(name):
            continue
        left = amount
        for zone in zones:
            part = min(left, zone.available.get(name, 0))
            if part > 0:
                zone.available[name] -= part
                given.setdefault(zone.number, {})[name] = part
                left -= part
    return given


def fewest(zones: list[Zone], asked: Amounts, qos: str) -> tuple[list[Zone], bool]:
    """Return the fewest zones that have all of it together, nearest first.

    The flag says whether no as many zones are nearer to each other. Cost:
    exponential in the zones of a node, of which the kubelet allows 8.
    """
    for size in range(1, len(zones) + 1):
        near = [(distance(group), group) for group in combinations(zones, size)]
        fit = [(d, group) for d, group in near if _have(group, asked, qos)]
        if fit:
            found, group = min(fit, key=lambda item: item[0])
            return list(group), found == min(d for d, _ in near)
    return [], False


def _have(group: Iterable[Zone], asked: Amounts, qos: str) -> bool:
    total: Amounts = {}
    for zone in group:
        for name, amount in zone.available.items():
            total[name] = total.get(name, 0) + amount
    return all(_has(total, name, amount, qos) for name, amount in asked.items())


def distance(group: Collection[Zone]) -> float:
    """Return the mean cost between the zones of a group, their own included."""
    costs = [one.costs.get(two.number, _FURTHEST) for one in group for two in group]
    return sum(costs) / len(costs)


def listed(zones: Iterable[Zone], asked: Amounts) -> bool:
    """Return whether any zone lists something of what is asked."""
    return any(name in zone.available for zone in zones for name in asked)


def parts(pod: Pod, *, by_pod: bool, init: bool = True) -> Iterator[Amounts]:
    """Yield the requests that are aligned together: the pod's sum, or one per container."""
    if by_pod:
        yield pod.shape.requests.asked
        return
    for container in pod.shape.containers:
        if init or not container.init:
            yield container.asked
