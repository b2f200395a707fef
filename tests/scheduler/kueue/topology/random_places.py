"""Random trees of hosts, and what a podset, or two of a group, ask of one."""

from __future__ import annotations

import random
from itertools import pairwise

from scheduler.engine.kueue.topology.placement import PodSetToPlace
from scheduler.engine.kueue.topology.tree import TopologyNode, TopologyTree
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.quota import Flavor
from scheduler.model.topology import SliceLayer, Topology, TopologyRequest
from tests.scheduler.kueue.reference.places import Asked, Path

LEVELS = ("block", "rack", "shelf", "kubernetes.io/hostname")
#: Layers of slices, as numbers of levels and sizes.
LAYERS: list[tuple[tuple[int, int], ...]] = [
    *([()] * 4),
    ((1, 2),),
    ((1, 3),),
    ((2, 2),),
    ((3, 2),),
    ((1, 4), (3, 2)),
    ((1, 4), (2, 2)),
    ((0, 6), (1, 3)),
    ((1, 8), (2, 4), (3, 2)),
]

#: What a node needs and may have, in the fields of a pod.
FILTERS = {
    "nodeSelector": {"kind": "b"},
    "affinity": {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 5,
                    "preference": {
                        "matchExpressions": [
                            {"key": "fast", "operator": "In", "values": ["yes"]}
                        ]
                    },
                }
            ]
        }
    },
}


class Case:
    """One search, as the engine is asked, and as the text is."""

    def __init__(self, draw: random.Random, *, balanced: bool = False) -> None:
        self.draw = draw
        self.filtered = draw.random() < 0.7
        self.empty = draw.random() < 0.3
        self.levels = LEVELS[draw.choice((0, 0, 1)) : draw.choice((4, 4, 4, 3))]
        self.by_host = self.levels[-1] == LEVELS[-1]
        self.gates = TopologyGates(
            profile_mixed=draw.random() < 0.8,
            balanced=balanced or draw.random() < 0.3,
            node_preferences=draw.random() < 0.5,
        )
        self.free: dict[Path, dict[str, int] | None] = {}
        self.scores: dict[Path, int] = {}
        self.tree = TopologyTree(Topology("t", self.levels), Flavor(name="f"), {})
        width = draw.choice((2, 2, 3))
        for number in range(draw.choice((3, 6, 10, 14))):
            self._put_host(number, width)
        self.pod = {"cpu": draw.choice((1, 1, 2, 3)), "pods": 1}
        self.count = draw.randint(1, 16)
        self.request, self.leader = self._request()

    def _put_host(self, number: int, width: int) -> None:
        draw = self.draw
        path = [f"{level[0]}{draw.randrange(width)}" for level in self.levels]
        if self.by_host:
            path[-1] = f"h{number:02}"
        if tuple(path) in self.free:
            return
        room = {"cpu": draw.choice((0, 1, 2, 3, 4, 6, 9)), "pods": draw.choice((2, 9))}
        fits = not (self.by_host and self.filtered) or draw.random() < 0.8
        fast = draw.choice(("yes", "no"))
        labels = dict(zip(self.levels, path, strict=True))
        labels |= {"kind": "b" if fits else "a", "fast": fast}
        self.tree.put_node(TopologyNode(f"n{number}", labels, (), room, usable=True))
        left = self._taken(path[-1:] if self.by_host else path, room)
        self.free[tuple(path)] = left if fits else None
        if self.by_host and self.gates.node_preferences and fits and self.filtered:
            self.scores[tuple(path)] = 5 * (fast == "yes")

    def _taken(self, key: list[str], room: dict[str, int]) -> dict[str, int]:
        """Have others' pods on a leaf; return what is left of it for this search."""
        pods = self.draw.choice((0, 0, 0, 1, 2))
        self.tree.add_usage(tuple(key), {"cpu": 1, "pods": 1}, pods)
        if self.empty:
            return room
        return {name: amount - pods for name, amount in room.items()}

    def _request(self) -> tuple[TopologyRequest, dict[str, int] | None]:
        draw = self.draw
        layers = tuple(
            SliceLayer(self.levels[at], size)
            for at, size in draw.choice(LAYERS)
            if at < len(self.levels)
        )
        lowest = self.levels.index(layers[0].level) if layers else len(self.levels) - 1
        level = self.levels[draw.randint(0, lowest)]
        how = draw.choice(("required", "preferred", "preferred", ""))
        leader = None
        # A Workload may have a leader beside slices; a pod template may not.
        if how and draw.random() < 0.3:
            leader = {"cpu": draw.choice((0, 1, 2, 5)), "pods": 1}
        # A Workload may ask for a level and be unconstrained; a pod template may not.
        free = draw.random() < 0.15 or not (how or layers)
        return TopologyRequest(
            **({how: level} if how else {}),
            unconstrained=free or None,
            layers=layers,
            group="g" if leader else "",
        ), leader

    def podsets(self) -> list[PodSetToPlace]:
        parts = [("main", self.count, self.pod)]
        if self.leader is not None:
            parts.append(("leader", 1, self.leader))
        return [
            PodSetToPlace(name, count, self._needs(amounts["cpu"]), self.request)
            for name, count, amounts in parts
        ]

    def asked(self) -> Asked:
        """Return the question with its levels by number."""
        request, levels = self.request, self.levels
        first = request.layers[0] if request.layers else SliceLayer(levels[-1], 1)
        usual = levels[0] if request.layers else levels[-1]
        anywhere = bool(request.unconstrained) or request.slice_only
        return Asked(
            free=self.free,
            depth=len(levels),
            pod=self.pod,
            count=self.count,
            leader=self.leader,
            level=levels.index(request.required or request.preferred or usual),
            slice_level=levels.index(first.level),
            size=first.size,
            inner=self._inner(),
            required=bool(request.required),
            anywhere=anywhere,
            least_free=anywhere and self.gates.profile_mixed,
            scores=self.scores,
        )

    def _inner(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for above, layer in pairwise(self.request.layers):
            top, end = self.levels.index(above.level), self.levels.index(layer.level)
            found.update(dict.fromkeys(range(top + 1, end + 1), layer.size))
        return found

    def _needs(self, cpu: int) -> PlacementNeeds:
        spec = {"containers": [{"resources": {"requests": {"cpu": f"{cpu}m"}}}]}
        return PlacementNeeds({**spec, **FILTERS} if self.filtered else spec)
