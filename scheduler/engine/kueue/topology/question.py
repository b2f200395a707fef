"""What a placement is asked for: how many pods of what, at which levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from scheduler.model.kueue.feature_gates import DEFAULT_GATES, TopologyGates
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.selectors import Toleration
from scheduler.model.topology import Path, SliceLayer, Topology, TopologyRequest

NO_REQUEST = TopologyRequest()


class UnplaceableError(Exception):
    """The request does not fit the Topology; the text is the podset's reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One search, its levels resolved.

    Source: docs/semantics/kueue-topology.md#what-is-asked.
    """

    needs: PlacementNeeds
    count: int
    leader: PlacementNeeds | None
    tolerations: tuple[Toleration, ...]  # of the pods and of the flavor
    level: int  # requested level, 0 the highest
    slice_level: int
    size: int  # pods of a slice of the first layer
    inner: dict[int, int] = field(default_factory=dict)  # level -> size there
    layers: tuple[SliceLayer, ...] = ()
    required: bool = False
    unconstrained: bool = False
    within: Path | None = None  # a replacement stays inside of this domain
    gates: TopologyGates = DEFAULT_GATES

    @property
    def slices(self) -> int:
        """Return how many slices are needed; a remainder is not placed."""
        return self.count // self.size

    @property
    def leaders(self) -> int:
        """Return how many leaders are placed along: 1 or none."""
        return 0 if self.leader is None else 1

    @property
    def least_free(self) -> bool:
        """Return whether domains with the least free capacity come first."""
        return self.unconstrained and self.gates.profile_mixed

    @property
    def identity(self) -> tuple[object, ...]:
        """Return what makes two questions have the same counts on every domain."""
        leader = None if self.leader is None else self.leader.identity
        return (self.needs.identity, leader, self.tolerations, self.slice_level,
                self.size, *sorted(self.inner.items()), self.within)  # fmt: skip


def level_key(
    request: TopologyRequest, topology: Topology, *, implied: bool
) -> str | None:
    """Return the label of the requested level; None when there is none."""
    if request.required or request.preferred:
        return request.required or request.preferred
    if request.slice_only:
        return topology.levels[0]
    if request.unconstrained or implied:
        return topology.levels[-1]
    return None


def ask(
    request: TopologyRequest,
    topology: Topology,
    needs: PlacementNeeds,
    count: int,
    *,
    implied: bool = False,
    leader: PlacementNeeds | None = None,
    tolerations: tuple[Toleration, ...] = (),
    gates: TopologyGates | None = None,
    within: Path | None = None,
) -> Question:
    """Return the search for a request; raises UnplaceableError with the reason.

    Source: docs/semantics/kueue-topology.md#what-is-asked.
    """
    layers = request.layers
    if layers and layers[0].size <= 0:
        raise UnplaceableError("slice topology requested, but slice size not provided")
    key = level_key(request, topology, implied=implied)
    if key is None:
        raise UnplaceableError("topology level not specified")
    level = _index(topology, key, "no requested topology level")
    first = layers[0].level if layers else topology.levels[-1]
    slice_level = _index(topology, first, "no requested topology level for slices")
    if slice_level < level:
        raise UnplaceableError(
            f"podset slice topology {first} is above the podset topology {key}"
        )
    return Question(
        needs=needs,
        count=count,
        leader=leader,
        tolerations=(*needs.tolerations, *tolerations),
        level=level,
        slice_level=slice_level,
        size=layers[0].size if layers else 1,
        inner=_inner(layers, topology, slice_level),
        layers=layers,
        required=bool(request.required),
        unconstrained=bool(request.unconstrained) or implied or request.slice_only,
        within=within,
        gates=gates or DEFAULT_GATES,
    )


def _index(topology: Topology, key: str, complaint: str) -> int:
    index = topology.level_index(key)
    if index is None:
        raise UnplaceableError(f"{complaint}: {key}")
    return index


def _inner(
    layers: tuple[SliceLayer, ...], topology: Topology, above: int
) -> dict[int, int]:
    """Return the size that pods come in, per level below the first layer's."""
    found: dict[int, int] = {}
    for outer, layer in pairwise(layers):
        index = _index(
            topology,
            layer.level,
            "no requested topology level for additional slice layer",
        )
        if index <= above:
            raise UnplaceableError(
                f"additional slice layer topology {layer.level} must be at a lower "
                f"level than {outer.level}"
            )
        if layer.size <= 0 or outer.size % layer.size:
            raise UnplaceableError(
                f"additional slice layer size {layer.size} must evenly divide parent "
                f"layer size {outer.size}"
            )
        found.update(dict.fromkeys(range(above + 1, index + 1), layer.size))
        above = index
    return found
