"""Which nodes to buy for pods: packed as full as any type allows, then the cheapest.

Source: docs/semantics/capacity.md#nodepools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.engine.autoscaling import refusals
from scheduler.engine.autoscaling.packing import Alike, Amounts, keeps_apart, suits
from scheduler.model import amounts
from scheduler.model.autoscaling.group_spec import Offer
from scheduler.model.autoscaling.pool_spec import POOL_LABEL, NodePoolSpec
from scheduler.model.node import CPU, HOSTNAME, MEMORY, Node, read_node
from scheduler.model.pod import Pod


class NodePlan:
    """A node to be bought: the pods on it, and what may still be bought for them."""

    __slots__ = ("alone", "candidates", "pods", "pool", "used")

    def __init__(self, pool: NodePool, candidates: list[Candidate]) -> None:
        self.pool = pool
        self.candidates = candidates
        self.used: Amounts = {}
        self.alone: set[int] = set()
        self.pods = 0

    @property
    def chosen(self) -> Candidate:
        """Return the cheapest that takes all of its pods."""
        return self.candidates[0]

    def add(self, group: Alike, pods: list[Pod]) -> list[Pod]:
        """Put as many of the pods on it as any candidate takes; return the others."""
        first, needs = group.first, group.needs
        takes = [self._takes(one, first, needs, len(pods)) for one in self.candidates]
        most, kept = self._best(takes)
        if not most:
            return pods
        self.candidates = kept
        for resource, amount in needs.items():
            self.used[resource] = self.used.get(resource, 0) + amount * most
        if keeps_apart(first):
            self.alone.add(first.shape.ordinal)
        self.pods += most
        return pods[most:]

    def takes(self, group: Alike) -> bool:
        """Return whether a candidate takes a pod of the group, minValues aside."""
        first, needs = group.first, group.needs
        return any(self._takes(one, first, needs, 1) for one in self.candidates)

    def _best(self, takes: list[int]) -> tuple[int, list[Candidate]]:
        """Return the most pods that enough kinds of candidates take, and those; 0 if none."""
        pairs = [*zip(self.candidates, takes, strict=True)]
        for most in sorted({count for count in takes if count}, reverse=True):
            kept = [one for one, count in pairs if count >= most]
            if self._is_varied(kept):
                return most, kept
        return 0, []

    def _is_varied(self, kept: list[Candidate]) -> bool:
        """Return whether the candidates have the values that minValues asks for."""
        return all(
            len({one.node.labels[key] for one in kept if key in one.node.labels})
            >= least
            for key, least in self.pool.spec.min_values.items()
        )

    def _takes(self, one: Candidate, pod: Pod, needs: Amounts, most: int) -> int:
        if not suits(pod, one.node):
            return 0
        if keeps_apart(pod):
            most = min(most, 0 if pod.shape.ordinal in self.alone else 1)
        for resource, amount in needs.items():
            if amount > 0:
                free = one.node.allocatable.get(resource, 0) - self.used.get(
                    resource, 0
                )
                most = min(most, free // amount)
        return max(0, most)


def plan(
    groups: Iterable[Alike], pools: list[NodePool], *, below: float | None = None
) -> tuple[list[NodePlan], list[Alike]]:
    """Return the nodes to buy, and the pods that no pool takes.

    Largest pods first, onto nodes of the plan that take them, then onto a new one
    of the first pool that does. `below` a price: only cheaper nodes.
    Cost: O(groups x (plans + pools) x candidates).
    """
    plans: list[NodePlan] = []
    refused: list[Alike] = []
    for group in sorted(groups, key=_largest):
        left = group.pods
        for one in plans:
            left = one.add(group, left) if left else left
        while left:
            fresh = _fresh(group, left, pools, plans, below)
            if fresh is None:
                refused.append(Alike(left))
                break
            left = left[fresh.pods :]
            plans.append(fresh)
    return plans, refused


def _fresh(
    group: Alike,
    left: list[Pod],
    pools: list[NodePool],
    plans: list[NodePlan],
    below: float | None,
) -> NodePlan | None:
    for pool in pools:
        found = NodePlan(pool, affordable(pool, plans, below))
        found.add(group, left)
        if found.pods:
            return found
    return None


def affordable(
    pool: NodePool, plans: Iterable[NodePlan] = (), below: float | None = None
) -> list[Candidate]:
    """Return the offers that the pool may buy within its limits, after the plans.

    A planned node counts with the most that it may yet become.
    """
    found = pool.candidates
    if below is not None:
        found = [one for one in found if one.offer.price < below]
    limits = pool.spec.limits
    if not limits:
        return found
    used = pool.used()
    for one in plans:
        if one.pool is pool:
            used[NODES] += 1
            for name in limits:
                most = max((c.capacity.get(name, 0) for c in one.candidates), default=0)
                used[name] = used.get(name, 0) + most
    return [one for one in found if _within(one, used, limits)]


def _within(one: Candidate, used: Amounts, limits: Amounts) -> bool:
    return all(
        used.get(name, 0) + (1 if name == NODES else one.capacity.get(name, 0)) <= limit
        for name, limit in limits.items()
    )


def _largest(group: Alike) -> tuple[int, int]:
    needs = group.needs
    return -needs.get(CPU, 0), -needs.get(MEMORY, 0)


def refusal(pool: NodePool, pod: Pod) -> str:
    """Return why the pool buys nothing for this pod; "" if it may."""
    if not pool.candidates:
        return refusals.NO_TYPES
    group = Alike([pod])
    fitting = [c for c in pool.candidates if NodePlan(pool, [c]).takes(group)]
    if not any(suits(pod, one.node) for one in pool.candidates):
        return refusals.NO_MATCH
    if not fitting:
        return refusals.NONE_HOLDS
    if not any(one in affordable(pool) for one in fitting):
        return refusals.LIMITS
    if NodePlan(pool, affordable(pool)).add(group, [pod]):
        return refusals.MIN_VALUES
    return ""


# ------------------------------------------------------------------------
# A NodePool as it runs: what it says, what it may buy, and its nodes.


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
