"""NodeResourceTopology: the zones of a node, kept as its agent would report them.

Source: docs/semantics/kube-scheduler.md#numa-zones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from statistics import variance
from typing import Any

from scheduler.model import amounts
from scheduler.model.amounts import is_whole
from scheduler.model.node import CPU, MEMORY, STORAGE, is_extended
from scheduler.model.objects import Key
from scheduler.model.pod import BURSTABLE, GUARANTEED, Pod

NODE_TOPOLOGY = "NodeResourceTopology"
SINGLE = "single-numa-node"
_POLICIES = ("none", "best-effort", "restricted", SINGLE)
_SCOPES = ("container", "pod")
_NUMBERS = range(65)
_MOST = 8  # zones of a node, unless an attribute says otherwise
#: The deprecated field's values -> policy and scope.
_OLDER = {
    f"{name}{scope.capitalize()}Level": (policy, scope)
    for name, policy in (
        ("SingleNUMANode", SINGLE),
        ("BestEffort", "best-effort"),
        ("Restricted", "restricted"),
    )
    for scope in _SCOPES
}


@dataclass(slots=True, kw_only=True)
class Topology:
    """The zones of a node and how its kubelet aligns pods to them.

    `holds` says what the pods that came since the object was given took of
    which zone; what ran before is in `available` already.
    """

    policy: str
    scope: str
    most_zones: int
    zones: list[Zone]  # by number
    allocatable: dict[int, Amounts]
    holds: dict[Key, dict[int, Amounts]] = field(default_factory=dict)

    @property
    def by_pod(self) -> bool:
        """Return whether the containers of a pod are aligned together."""
        return self.scope == "pod"

    def free(self, pod: Key) -> list[Zone]:
        """Return a copy of the zones, as if the pod held nothing."""
        zones = [zone.copy() for zone in self.zones]
        _give_back(zones, self.holds.get(pod, {}))
        return zones

    def admit(self, pod: Pod) -> None:
        """Take what a pod asks for from the zones. A pod that is admitted keeps what it has."""
        if pod.key in self.holds:
            return
        held = self.holds[pod.key] = {}
        for asked in parts(pod, by_pod=self.by_pod, init=False):
            if self.policy == SINGLE:
                zone = fitting(self.zones, asked, pod.qos, asked.keys())
                group = [] if zone is None else [zone]
            else:
                group, _ = fewest(self.zones, _listed(self.zones, asked), pod.qos)
            for number, taken in subtract(group, exclusive(asked), pod.qos).items():
                _add(held.setdefault(number, {}), taken)

    def release(self, pod: Key) -> bool:
        """Take back what a pod holds; False for one that is not known."""
        held = self.holds.pop(pod, None)
        _give_back(self.zones, held or {})
        return held is not None

    def end_earlier(self, pod: Pod) -> None:
        """Free what a pod that ran before the object was given must have had.

        It had it of the lowest zone that lacks so much of its allocatable.
        """
        for asked in parts(pod, by_pod=self.by_pod, init=False):
            wanted = _listed(self.zones, exclusive(asked))
            lacking = [
                Zone(zone.number, self._taken(zone), zone.costs) for zone in self.zones
            ]
            zone = fitting(lacking, wanted, pod.qos, wanted.keys())
            if zone is not None:
                _give_back(self.zones, subtract([zone], wanted, pod.qos))

    def _taken(self, zone: Zone) -> Amounts:
        whole = self.allocatable[zone.number]
        return {name: whole[name] - free for name, free in zone.available.items()}


def exclusive(asked: Amounts) -> Amounts:
    """Return the exclusive resources of a pod: of cpu, whole ones only."""
    return {n: v for n, v in asked.items() if n != CPU or v % 1000 == 0}


def _listed(zones: list[Zone], asked: Amounts) -> Amounts:
    return {n: v for n, v in asked.items() if any(n in z.available for z in zones)}


def _give_back(zones: list[Zone], held: Mapping[int, Amounts]) -> None:
    for zone in zones:
        _add(zone.available, held.get(zone.number, {}))


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


# --- documents


def read_topology(manifest: Mapping[str, Any]) -> Topology:
    """Return the topology of a document. Raises QuantityError for an amount.

    Zones that are no NUMA node by type or name (`node-0`) do not count.
    """
    policy, scope, most = _settings(manifest)
    given = {
        number: zone
        for zone in manifest.get("zones") or ()
        if (number := zone_number(zone)) is not None
    }
    return Topology(
        policy=policy,
        scope=scope,
        most_zones=most,
        zones=[_zone(number, zone) for number, zone in sorted(given.items())],
        allocatable={n: _amounts(zone, ("allocatable",)) for n, zone in given.items()},
    )


def _settings(manifest: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return policy, scope and most zones: attributes count before the older field."""
    policy, scope = "none", "container"
    for name in (manifest.get("topologyPolicies") or ())[:1]:
        policy, scope = _OLDER.get(name, (policy, scope))
    named = {a.get("name"): a.get("value") for a in manifest.get("attributes") or ()}
    if named.get("topologyManagerPolicy") in _POLICIES:
        policy = str(named["topologyManagerPolicy"])
    if named.get("topologyManagerScope") in _SCOPES:
        scope = str(named["topologyManagerScope"])
    most = str(named.get("topologyManagerMaxNUMANodes") or "")
    valid = is_whole(most) and int(most) > 1
    return policy, scope, min(int(most), 1024) if valid else _MOST


def zone_number(zone: Mapping[str, Any]) -> int | None:
    """Return the number of a zone; None for one that is no NUMA node."""
    return _number(zone.get("name")) if zone.get("type") == "Node" else None


def _number(name: Any) -> int | None:
    prefix, _, number = str(name).partition("node-")
    known = not prefix and is_whole(number) and int(number) in _NUMBERS
    return int(number) if known else None


def _zone(number: int, zone: Mapping[str, Any]) -> Zone:
    costs = {
        other: int(cost["value"])
        for cost in zone.get("costs") or ()
        if (other := _number(cost.get("name"))) is not None
    }
    return Zone(number, _amounts(zone, ("available", "allocatable")), costs)


def _amounts(zone: Mapping[str, Any], fields: tuple[str, ...]) -> Amounts:
    """Return the amounts of the first field that is given, or of capacity."""
    found: Amounts = {}
    for item in zone.get("resources") or ():
        texts = [item[f] for f in (*fields, "capacity") if item.get(f) is not None]
        name = str(item.get("name"))
        found[name] = amounts.canonical(name, texts[0]) if texts else 0
    return found


# ------------------------------------------------------------------------
# Zones of one node, and which of them containers may be aligned to.


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


# ------------------------------------------------------------------------
# The zones of all nodes that report any, the same for every scheduler of a run.


Touch = Callable[[Key], None]  # notes an object that is to be written


class Topologies:
    """Zones by the name of the node; empty where no object was given."""

    def __init__(self) -> None:
        self.by_node: dict[str, Topology] = {}

    def admit(self, pod: Pod, node: str, touch: Touch) -> None:
        """Give a pod with this node what it gets of the zones, once."""
        topology = self.by_node.get(node)
        if topology is not None and pod.key not in topology.holds:
            topology.admit(pod)
            touch(Key(NODE_TOPOLOGY, "", node))

    def release(self, pod: Pod, node: str, touch: Touch) -> None:
        """Take back what a pod got that does not have the node after all."""
        topology = self.by_node.get(node)
        if topology is not None and topology.release(pod.key):
            touch(Key(NODE_TOPOLOGY, "", node))

    def end(self, pod: Pod, node: str, touch: Touch) -> None:
        """Free what a pod had that ended, whenever it came."""
        topology = self.by_node.get(node)
        if topology is not None:
            if not topology.release(pod.key):
                topology.end_earlier(pod)
            touch(Key(NODE_TOPOLOGY, "", node))


# ------------------------------------------------------------------------
# What a node's zones score for a pod, 0 to 100, by the strategies of the plug-in.


FEWEST = "LeastNUMANodes"
Weights = Mapping[str, int]
Strategy = Callable[[Amounts, Amounts, Weights], int]


def score(topology: Topology, pod: Pod, strategy: str, weights: Weights) -> int:
    """Return the score of a node for a Guaranteed pod."""
    zones = topology.free(pod.key)
    if strategy == FEWEST:
        return _fewest(topology, zones, pod)
    if topology.policy != SINGLE:
        return 0
    found = [
        _lowest([STRATEGIES[strategy](asked, z.available, weights) for z in zones])
        for asked in parts(pod, by_pod=topology.by_pod)
    ]
    return sum(found) // len(found)


def _lowest(scores: list[int]) -> int:
    """Return the lowest score that is not 0: a zone of 0 would not be taken."""
    return min((one for one in scores if one), default=0)


def _fewest(topology: Topology, zones: list[Zone], pod: Pod) -> int:
    most, nearest = 0, True
    for asked in parts(pod, by_pod=topology.by_pod):
        if not listed(zones, asked):
            continue
        group, near = fewest(zones, asked, pod.qos)
        if not group:
            return 0
        nearest = nearest and near
        most = max(most, len(group))
        subtract(group, asked, pod.qos)
    if not most:
        return 100
    step = 100 // topology.most_zones
    return max(0, 100 - most * step + (step // 2 if nearest else 0))


def _share(asked: Amounts, free: Amounts, name: str) -> tuple[int, int] | None:
    """Return request and free amount in whole units; None where it cannot fit."""
    have = free.get(name, 0)
    if not have or asked[name] > have:
        return None
    return _whole(name, asked[name]), _whole(name, have)


def _whole(name: str, amount: int) -> int:
    return -(-amount // 1000) if name == CPU else amount


def _mean(
    one: Callable[[int, int], int], asked: Amounts, free: Amounts, weights: Weights
) -> int:
    total = sum(weights.get(name) or 1 for name in asked)
    found = 0
    for name in asked:
        share = _share(asked, free, name)
        if share is not None:
            found += (weights.get(name) or 1) * one(*share)
    return found // total if total else 0


def _least(asked: Amounts, free: Amounts, weights: Weights) -> int:
    return _mean(lambda want, have: (have - want) * 100 // have, asked, free, weights)


def _most(asked: Amounts, free: Amounts, weights: Weights) -> int:
    return _mean(lambda want, have: want * 100 // have, asked, free, weights)


def _balanced(asked: Amounts, free: Amounts, weights: Weights) -> int:
    shares = []
    for name, amount in asked.items():
        have = _whole(name, free.get(name, 0))
        shares.append(_whole(name, amount) / have if have else 1.0)
    if any(share > 1 for share in shares):
        return 0
    return int((1 - (variance(shares) if len(shares) > 1 else 0.0)) * 100)


STRATEGIES: Mapping[str, Strategy] = {
    "LeastAllocated": _least,
    "MostAllocated": _most,
    "BalancedAllocation": _balanced,
}
