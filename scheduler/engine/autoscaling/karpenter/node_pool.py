"""A NodePool as it runs: what it says, what it may buy, and its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.autoscaling.instance_type import Offer
from scheduler.model.autoscaling.pool_spec import POOL_LABEL, NodePoolSpec
from scheduler.model.node import HOSTNAME, Node, read_node

NODES = "nodes"


class NodeClaim(msgspec.Struct, kw_only=True):
    """A node that was bought. Virtual milliseconds; 0 is never.

    `boots` is when it will be there, 0 once it is; `pods` stands for the pods that
    were on it when that last changed, at `quiet`; `successor` replaces it.
    """

    type: str
    zone: str
    capacity_type: str
    price: float
    capacity: dict[str, int] = {}
    since: int
    boots: int
    ends: int = 0
    expires: int = 0
    pods: str = ""
    quiet: int = 0
    successor: str = ""

    @property
    def offer(self) -> tuple[str, str, str]:
        """Return type, zone and capacity type."""
        return self.type, self.zone, self.capacity_type


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A node that the pool might buy: the offer, and the node as it would be."""

    offer: Offer
    manifest: dict[str, Any]
    node: Node
    capacity: dict[str, int]


class NodePool:
    """A pool, the nodes that it might buy (cheapest first), and those that it has."""

    __slots__ = ("candidates", "claims", "made", "name", "spec")

    def __init__(self, name: str, spec: NodePoolSpec, state: Mapping[str, Any]) -> None:
        self.name = name
        self.spec = spec
        self.made = int(state.get("made", 0))
        self.claims: dict[str, NodeClaim] = {
            node: msgspec.convert(given, NodeClaim)
            for node, given in (state.get("claims") or {}).items()
        }
        self.candidates: list[Candidate] = []

    def offer(self, offers: list[Offer]) -> None:
        """Take what can be bought now; what the requirements exclude is left out."""
        found = [made for one in offers if (made := self._candidate(one)) is not None]
        found.sort(key=lambda one: (one.offer.price, one.offer.name))
        self.candidates = found

    def _candidate(self, offer: Offer) -> Candidate | None:
        labels = {**offer.labels, **self.spec.labels, POOL_LABEL: self.name}
        for need in self.spec.requirements:
            if need.key not in labels and need.operator == "In":
                labels[need.key] = min(need.values)
            if not need.matches(labels):
                return None
        status = {
            "capacity": dict(offer.spec.capacity),
            "allocatable": dict(offer.spec.allocatable or offer.spec.capacity),
        }
        metadata = {"labels": labels, "annotations": dict(self.spec.annotations)}
        taints = [dict(taint) for taint in self.spec.taints]
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{self.name}-new", **metadata},
            "spec": {"taints": taints} if taints else {},
        }
        capacity = {
            n: amounts.canonical(n, text) for n, text in offer.spec.capacity.items()
        }
        node = read_node(manifest, status)
        return Candidate(offer, {**manifest, "status": status}, node, capacity)

    def candidate(self, claim: NodeClaim) -> Candidate | None:
        """Return the offer that a claim bought, if it is still available."""
        return next((c for c in self.candidates if c.offer.name == claim.offer), None)

    def used(self) -> dict[str, int]:
        """Return the capacity of all its nodes, and how many there are."""
        used = {NODES: len(self.claims)}
        for claim in self.claims.values():
            for name, amount in claim.capacity.items():
                used[name] = used.get(name, 0) + amount
        return used

    def booting(self) -> Iterator[Node]:
        """Yield the nodes that are bought and not there yet."""
        for claim in self.claims.values():
            candidate = self.candidate(claim) if claim.boots else None
            if candidate is not None:
                yield candidate.node

    def state(self) -> dict[str, Any]:
        """Return plain values from which the pool is made again."""
        claims = {name: msgspec.to_builtins(one) for name, one in self.claims.items()}
        return {"made": self.made, "claims": claims}


def named(candidate: Candidate, name: str) -> dict[str, Any]:
    """Return the manifest of the node under its own name, status included."""
    manifest = candidate.manifest
    metadata = manifest["metadata"]
    labels = {**metadata["labels"], HOSTNAME: name}
    return {**manifest, "metadata": {**metadata, "name": name, "labels": labels}}
