"""Workloads as the documents give them: podsets, priority, what was admitted."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.placement_needs import PlacementNeeds
from scheduler.model.podset_template import PodShape, read_pod
from scheduler.model.requests import Limits, Manifest
from scheduler.model.topology import (
    TopologyAssignment,
    TopologyRequest,
    read_topology_assignment,
    read_topology_request,
)
from scheduler.model.transformations import ResourceTransform

Amounts = dict[str, int]
#: Priorities for which equal podsets keep a text; a cluster has few.
_MOST_PRIORITIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """Pods of one shape that are admitted together."""

    name: str
    count: int
    min_count: int | None
    shape: PodShape
    needs: PlacementNeeds = field(default_factory=PlacementNeeds)
    topology: TopologyRequest | None = None

    def total(self, count: int) -> Amounts:
        """Return the requests of `count` pods, canonical units, saturating.

        Source: docs/semantics/kueue.md#totals-of-a-podset.
        """
        return {
            name: amounts.clamp(each * count)
            for name, each in self.shape.requests.items()
        }


class PodSets(tuple[PodSet, ...]):
    """The podsets of a Workload, and what follows from them alone.

    `totals` are the requests of all pods, `text` what makes them equal.
    """

    totals: tuple[Amounts, ...]
    text: str
    ask_topology: bool  # any of them does
    has_groups: bool
    _hashes: dict[int, str]  # by priority

    def __new__(cls, parts: Iterable[PodSet]) -> PodSets:
        """Return the pod sets with what follows from them worked out once."""
        self = super().__new__(cls, parts)
        self._hashes = {}
        asked = [part.topology for part in self if part.topology is not None]
        self.ask_topology = any(request.explicit for request in asked)
        self.has_groups = any(request.group for request in asked)
        counts = [part.count for part in self]
        self.totals = self.totals_for(counts)
        self.text = self.text_for(counts)
        return self

    def hash_at(self, priority: int) -> str:
        """Return what makes workloads of a priority equal; one text for all of them."""
        found = self._hashes.get(priority)
        if found is None:
            if len(self._hashes) >= _MOST_PRIORITIES:
                self._hashes.clear()
            found = self._hashes[priority] = f"{priority} {self.text}"
        return found

    def totals_for(self, counts: Iterable[int]) -> tuple[Amounts, ...]:
        """Return the total requests for a number of pods of each podset."""
        return tuple(part.total(n) for part, n in zip(self, counts, strict=True))

    def text_for(self, counts: Iterable[int]) -> str:
        """Return a text that is equal for podsets that are treated alike.

        Source: docs/semantics/kueue.md#equivalence-classes.
        """
        return "/".join(
            f"{part.name} {count} {part.min_count} {part.shape.identity}"
            f"{part.topology.identity if part.topology else ''}"
            for part, count in zip(self, counts, strict=True)
        )


#: Of a Workload whose document was not read yet.
NO_POD_SETS = PodSets(())


@dataclass(slots=True, kw_only=True)
class Catalogue:
    """Reads podsets, each distinct text once; knows what namespaces add to pods."""

    overheads: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    ranges: dict[str, dict[str, Manifest]] = field(default_factory=dict)
    transform: ResourceTransform | None = None
    pod_limits_count: bool = True
    _known: dict[bytes, PodSets] = field(default_factory=dict)
    _adds: bool = False  # a RuntimeClass or a LimitRange was there

    def pod_sets(self, given: Iterable[Manifest], namespace: str) -> PodSets:
        """Return the podsets of a Workload; raises QuantityError."""
        text = msgspec.json.encode(given)
        if not (self._adds or self._adjusts):
            return _plain_pod_sets(text)
        if self.ranges.get(namespace):
            text += namespace.encode()
        known = self._known.get(text)
        if known is None:
            limits = self._limits(namespace)
            known = PodSets(self._pod_set(item, limits) for item in given)
            self._known[text] = known
        return known

    def _pod_set(self, item: Manifest, limits: Limits | None) -> PodSet:
        spec = _pod_spec(item)
        overhead = self.overheads.get(spec.get("runtimeClassName") or "")
        return _pod_set(item, self._shape(spec, overhead, limits))

    def _shape(
        self, spec: Manifest, overhead: Manifest | None, limits: Limits | None
    ) -> PodShape:
        if overhead or limits or self._adjusts:
            return read_pod(
                spec,
                overhead=overhead,
                limits=limits,
                transform=self.transform,
                pod_limits_count=self.pod_limits_count,
            )
        return _plain_shape(msgspec.json.encode(spec))

    @property
    def _adjusts(self) -> bool:
        """Return whether the Configuration changes what pods ask for."""
        return self.transform is not None or not self.pod_limits_count

    def put_runtime_class(self, manifest: Manifest) -> None:
        """Take a RuntimeClass: what it adds to its pods."""
        overhead = (manifest.get("overhead") or {}).get("podFixed") or {}
        self.overheads[manifest["metadata"]["name"]] = overhead
        self._forget()

    def put_limit_range(self, manifest: Manifest) -> None:
        """Take a LimitRange of its namespace."""
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace") or "default"
        self.ranges.setdefault(namespace, {})[metadata["name"]] = manifest
        self._forget()

    def remove_runtime_class(self, name: str) -> None:
        """Forget a RuntimeClass."""
        self.overheads.pop(name, None)
        self._forget()

    def remove_limit_range(self, namespace: str, name: str) -> None:
        """Forget a LimitRange."""
        self.ranges.get(namespace, {}).pop(name, None)
        self._forget()

    def _forget(self) -> None:
        self._known.clear()
        self._adds = True

    def _limits(self, namespace: str) -> Limits | None:
        ranges = self.ranges.get(namespace)
        return summarize(ranges.values()) if ranges else None


def _pod_spec(item: Manifest) -> Manifest:
    return (item.get("template") or {}).get("spec") or {}


def _pod_set(item: Manifest, shape: PodShape) -> PodSet:
    return PodSet(
        name=item.get("name") or "main",
        count=int(item.get("count", 1)),
        min_count=item.get("minCount"),
        shape=shape,
        needs=PlacementNeeds(_pod_spec(item)),
        topology=read_topology_request(item.get("topologyRequest")),
    )


@functools.lru_cache(maxsize=2048)  # about 4 MiB
def _plain_pod_sets(text: bytes) -> PodSets:
    """Return podsets to whose pods nothing is added; raises QuantityError.

    Copies of a world, and the states of a recording, read the same ones again.
    """
    items = msgspec.json.decode(text)
    return PodSets(
        _pod_set(item, _plain_shape(msgspec.json.encode(_pod_spec(item))))
        for item in items
    )


@functools.lru_cache(maxsize=2048)  # about 4 MiB
def _plain_shape(text: bytes) -> PodShape:
    """Return the shape of a pod spec to which nothing is added."""
    return read_pod(msgspec.json.decode(text))


def summarize(ranges: Iterable[Manifest]) -> Limits:
    """Return several LimitRanges as one: the strictest value of each counts.

    Source: docs/semantics/kueue.md#adjustments-of-pod-templates.
    """
    parts: dict[tuple[str, str], dict[str, str]] = {}
    for manifest in ranges:
        for item in (manifest.get("spec") or {}).get("limits") or ():
            for name in ("default", "defaultRequest", "min", "max"):
                part = parts.setdefault((item.get("type", ""), name), {})
                _merge(part, item.get(name) or {}, largest=name == "min")
    return Limits(
        default=parts.get(("Container", "default"), {}),
        default_request=parts.get(("Container", "defaultRequest"), {}),
        container_min=parts.get(("Container", "min"), {}),
        container_max=parts.get(("Container", "max"), {}),
        pod_min=parts.get(("Pod", "min"), {}),
        pod_max=parts.get(("Pod", "max"), {}),
    )


def _merge(into: dict[str, str], given: Mapping[str, str], *, largest: bool) -> None:
    for name, text in given.items():
        if name in into:
            pair = (into[name], text)
            text = (max if largest else min)(pair, key=amounts.parse)
        into[name] = text


class PodSetAssignment(msgspec.Struct, gc=False):
    """What one podset was admitted with; `usage` is a total for `count` pods."""

    name: str
    count: int
    flavors: dict[str, str]
    usage: Amounts
    topology: TopologyAssignment | None = None
    delayed: str = ""  # Pending or Ready where places are found in a second pass


@functools.lru_cache(maxsize=4096)  # about 2 MiB
def plain_assignment(
    name: str,
    count: int,
    flavors: tuple[tuple[str, str], ...],
    usage: tuple[tuple[str, int], ...],
) -> PodSetAssignment:
    """Return an assignment without places, one for all that are equal.

    Workloads of one shape in one queue have it in common: nobody writes into it.
    """
    return PodSetAssignment(name, count, dict(flavors), dict(usage))


class Admission(msgspec.Struct):
    """What a Workload was admitted with, podset by podset."""

    queue: str
    pod_sets: tuple[PodSetAssignment, ...]

    def document(self) -> dict[str, Any]:
        """Return the admission as `status.admission`."""
        return {
            "clusterQueue": self.queue,
            "podSetAssignments": [_document(part) for part in self.pod_sets],
        }


def _document(part: PodSetAssignment) -> dict[str, Any]:
    written = {
        "name": part.name,
        "flavors": dict(part.flavors),
        "resourceUsage": {
            name: amounts.text_of(name, amount) for name, amount in part.usage.items()
        },
        "count": part.count,
    }
    if part.topology is not None:
        written["topologyAssignment"] = part.topology.document()
    if part.delayed:
        written["delayedTopologyRequest"] = part.delayed
    return written


def read_admission(
    given: Manifest | None, counts: Mapping[str, int]
) -> Admission | None:
    """Return status.admission; `counts` are the podsets' own, used where it is silent.

    Source: docs/semantics/kueue.md#usage-of-an-admitted-workload.
    """
    if not given:
        return None
    return Admission(
        queue=given.get("clusterQueue") or "",
        pod_sets=tuple(
            _read_part(part, counts) for part in given.get("podSetAssignments") or ()
        ),
    )


def _read_part(part: Manifest, counts: Mapping[str, int]) -> PodSetAssignment:
    count = part.get("count")
    return PodSetAssignment(
        name=part["name"],
        count=counts.get(part["name"], 1) if count is None else int(count),
        flavors=dict(part.get("flavors") or {}),
        usage={
            name: amounts.canonical(name, text)
            for name, text in (part.get("resourceUsage") or {}).items()
        },
        topology=read_topology_assignment(part.get("topologyAssignment")),
        delayed=part.get("delayedTopologyRequest") or "",
    )


def remaining_usage(part: PodSetAssignment, count: int) -> Amounts:
    """Return the usage left when only `count` pods of the podset still run.

    Divides before it multiplies, as Kueue does.
    Source: docs/semantics/kueue.md#usage-of-an-admitted-workload.
    """
    return scale(part.usage, part.count, count) if count < part.count else part.usage


def scale(totals: Mapping[str, int], count: int, new: int) -> Amounts:
    """Return totals of `count` pods for `new` pods; integer division first.

    Source: docs/semantics/kueue.md#scaling-to-fewer-pods.
    """
    if count in (0, new):
        return dict(totals)
    return {
        name: amounts.clamp(amount // count * new) for name, amount in totals.items()
    }
