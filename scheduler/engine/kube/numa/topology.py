"""NodeResourceTopology: the zones of a node, kept as its agent would report them.

Source: docs/semantics/kube-scheduler.md#numa-zones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.engine.kube.numa.zones import (
    Amounts,
    Zone,
    fewest,
    fitting,
    parts,
    subtract,
)
from scheduler.model import amounts
from scheduler.model.amounts import is_whole
from scheduler.model.node import CPU
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

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
