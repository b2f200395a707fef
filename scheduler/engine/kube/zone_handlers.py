"""NodeResourceTopologies in and out: the sandbox is the agent that reports them."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.numa.topology import (
    Topology,
    read_topology,
    zone_number,
)
from scheduler.engine.kube.shared_cluster import SharedCluster
from scheduler.model import amounts
from scheduler.model.objects import Key, Object

_STATE = "kube"  # where an object keeps which pod holds what


class ZoneHandlers:
    """Takes the zones of nodes for every scheduler of a run, and writes them."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it.

        In one that is new or changed all pods that run are counted already.
        """
        topology = read_topology(obj.manifest)
        self.shared.topologies.by_node[obj.key.name] = topology
        if restore:
            topology.holds = _read_holds(obj)
            return
        self.shared.context.journal.touch(obj.key)
        self.shared.notify(Event(events.TOPOLOGY_CHANGED, new=obj.key))

    def remove(self, key: Key) -> None:
        """Forget an object: its node takes pods as one without zones does."""
        self.shared.topologies.by_node.pop(key.name, None)
        self.shared.notify(Event(events.TOPOLOGY_CHANGED, old=key))

    def write(self, obj: Object) -> None:
        """Write into an object what is available, and which pods hold what."""
        topology = self.shared.topologies.by_node.get(obj.key.name)
        if topology is None:
            return
        if zones := obj.manifest.get("zones"):
            obj.manifest["zones"] = [_shown(zone, topology) for zone in zones]
        obj.state[_STATE] = {
            "holds": [
                [
                    list(pod),
                    {str(number): dict(taken) for number, taken in held.items()},
                ]
                for pod, held in sorted(topology.holds.items())
            ]
        }


def _read_holds(obj: Object) -> dict[Key, dict[int, dict[str, int]]]:
    kept: Any = (obj.state.get(_STATE) or {}).get("holds") or ()
    return {
        Key(*pod): {int(number): dict(taken) for number, taken in held.items()}
        for pod, held in kept
    }


def _shown(zone: dict[str, Any], topology: Topology) -> dict[str, Any]:
    """Return a zone with what is available now; amounts that did not change stay."""
    number = zone_number(zone)
    free = next((z.available for z in topology.zones if z.number == number), None)
    if free is None:
        return zone
    shown = []
    for item in zone.get("resources") or ():
        name = str(item["name"])
        given = item.get("available")
        if given is None or amounts.canonical(name, given) != free[name]:
            item = {**item, "available": amounts.text_of(name, free[name])}
        shown.append(item)
    return {**zone, "resources": shown}
