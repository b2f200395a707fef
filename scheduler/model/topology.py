"""Topology as the documents give it: levels, what a podset asks, where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from scheduler.model.node import HOSTNAME

Manifest = Mapping[str, Any]
Path = tuple[str, ...]


class Topology(NamedTuple):
    """A Topology: label keys of nodes, highest level first."""

    name: str
    levels: tuple[str, ...]

    @property
    def has_hostname(self) -> bool:
        """Return whether its lowest level is the single node."""
        return self.levels[-1] == HOSTNAME

    def level_index(self, level: str) -> int | None:
        """Return the place of a level, 0 the highest; None when it has no such level."""
        return self.levels.index(level) if level in self.levels else None


def read_topology(manifest: Manifest) -> Topology:
    """Return the Topology of a served manifest."""
    levels = (manifest.get("spec") or {}).get("levels") or ()
    names = tuple(str(level["nodeLabel"]) for level in levels)
    return Topology(manifest["metadata"]["name"], names)


class SliceLayer(NamedTuple):
    """Pods that belong together: so many of them inside one domain of a level."""

    level: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRequest:
    """What a podset asks of topology; the fields of podSets[].topologyRequest."""

    required: str = ""
    preferred: str = ""
    unconstrained: bool | None = None
    layers: tuple[SliceLayer, ...] = ()  # outermost first
    group: str = ""
    index_label: str = ""
    sub_group_label: str = ""
    sub_groups: int | None = None

    @property
    def identity(self) -> str:
        """Return a text that is equal for equal requests."""
        fields = (getattr(self, name) for name in self.__slots__)
        return f" topology {tuple(fields)}"

    @property
    def explicit(self) -> bool:
        """Return whether it asks for anything; labels of ranks alone do not.

        Source: docs/semantics/kueue-topology.md#who-asks-for-topology.
        """
        return (
            self.unconstrained is not None
            or bool(self.required or self.preferred)
            or bool(self.layers)
        )

    @property
    def slice_only(self) -> bool:
        """Return whether slices are all that it asks for."""
        return bool(self.layers) and not (self.required or self.preferred)


def read_topology_request(given: Manifest | None) -> TopologyRequest | None:
    """Return podSets[].topologyRequest; None when there is none."""
    if given is None:
        return None
    return TopologyRequest(
        required=given.get("required") or "",
        preferred=given.get("preferred") or "",
        unconstrained=given.get("unconstrained"),
        layers=_layers(given),
        group=given.get("podSetGroupName") or "",
        index_label=given.get("podIndexLabel") or "",
        sub_group_label=given.get("subGroupIndexLabel") or "",
        sub_groups=given.get("subGroupCount"),
    )


def _layers(given: Manifest) -> tuple[SliceLayer, ...]:
    listed = given.get("podsetSliceRequiredTopologyConstraints") or ()
    if listed:
        return tuple(
            SliceLayer(item.get("topology") or "", int(item.get("size") or 0))
            for item in listed
        )
    level = given.get("podSetSliceRequiredTopology")
    if level:
        return (SliceLayer(level, int(given.get("podSetSliceSize") or 0)),)
    return ()


class DomainCount(NamedTuple):
    """So many pods in one domain, named by its values of the assignment's levels."""

    values: Path
    pods: int


class TopologyAssignment(msgspec.Struct, frozen=True, gc=False):
    """Where the pods of a podset stand, in rank order."""

    levels: tuple[str, ...]
    domains: tuple[DomainCount, ...]

    def document(self) -> dict[str, Any]:
        """Return the assignment as `topologyAssignment` of the API, in one slice.

        Source: docs/semantics/kueue-topology.md#the-stored-assignment.
        """
        if not self.domains:
            return {"levels": list(self.levels), "slices": []}
        columns = zip(*(domain.values for domain in self.domains), strict=True)
        counts = [domain.pods for domain in self.domains]
        piece = {
            "domainCount": len(self.domains),
            "valuesPerLevel": [_column(list(column)) for column in columns],
            "podCounts": _universal(counts) or {"individual": counts},
        }
        return {"levels": list(self.levels), "slices": [piece]}

    def expanded(self) -> dict[str, Any]:
        """Return the assignment with every domain written out."""
        rows = [{"values": list(d.values), "count": d.pods} for d in self.domains]
        return {"levels": list(self.levels), "domains": rows}


def _universal(items: list[Any]) -> dict[str, Any] | None:
    return {"universal": items[0]} if len(set(items)) == 1 else None


def _column(values: list[str]) -> dict[str, Any]:
    same = _universal(values)
    if same is not None:
        return same
    first, last = min(values), max(values)
    size = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    roots = {"roots": [value[size:] for value in values]}
    return {"individual": {"prefix": first[:size], **roots} if size else roots}


def read_topology_assignment(given: Manifest | None) -> TopologyAssignment | None:
    """Return a stored topologyAssignment, expanded; the flat form is read as well."""
    if not given:
        return None
    levels = tuple(given.get("levels") or ())
    if "domains" in given:
        rows: Iterable[DomainCount] = (
            DomainCount(tuple(row["values"]), int(row["count"]))
            for row in given["domains"] or ()
        )
    else:
        rows = (row for piece in given.get("slices") or () for row in _rows(piece))
    return TopologyAssignment(levels, tuple(rows))


def _rows(piece: Manifest) -> Iterable[DomainCount]:
    size = int(piece.get("domainCount") or 0)
    columns = [_values(column, size) for column in piece.get("valuesPerLevel") or ()]
    counts = piece.get("podCounts") or {}
    if "universal" in counts:
        numbers = [int(counts["universal"])] * size
    else:
        numbers = [int(number) for number in counts.get("individual") or ()]
    for index in range(size):
        yield DomainCount(tuple(column[index] for column in columns), numbers[index])


def _values(column: Manifest, size: int) -> list[str]:
    if "universal" in column:
        return [column["universal"]] * size
    written = column.get("individual") or {}
    prefix, suffix = written.get("prefix") or "", written.get("suffix") or ""
    return [f"{prefix}{root}{suffix}" for root in written.get("roots") or ()]
