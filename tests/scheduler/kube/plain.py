"""A second, slow reading of kube-scheduler's thin regions, straight from documents.

Written from docs/semantics/kube-scheduler.md alone: it shares no code with the
engine, counts everything anew, and is only fast enough for tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

Manifest = dict[str, Any]
Sums = dict[str, Fraction]

UNITS = {"m": Fraction(1, 1000), "": Fraction(1), "Mi": Fraction(2**20)}


def amount(text: Any) -> Fraction:
    digits = str(text).rstrip("mMi")
    return Fraction(digits) * UNITS[str(text)[len(digits) :]]


def amounts(given: Manifest | None) -> Sums:
    return {name: amount(text) for name, text in (given or {}).items()}


def add(*parts: Sums) -> Sums:
    names = {name for part in parts for name in part}
    return {n: sum((p.get(n, Fraction(0)) for p in parts), Fraction(0)) for n in names}


def most(*parts: Sums) -> Sums:
    names = {name for part in parts for name in part}
    return {n: max(p[n] for p in parts if n in p) for n in names}


# --- sums of a node, with pods that are being resized


def infeasible(pod: Manifest) -> bool:
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodResizePending":
            return bool(condition["reason"] == "Infeasible")
    return False


def requests(holder: Manifest) -> Sums:
    return amounts(holder.get("resources", {}).get("requests"))


def of_container(pod: Manifest, container: Manifest, plain: bool) -> Sums:
    status = pod.get("status", {})
    listed = status.get("containerStatuses", []) + status.get(
        "initContainerStatuses", []
    )
    found = [s for s in listed if s["name"] == container["name"] and "resources" in s]
    if plain or not found:
        return requests(container)
    spec = {} if infeasible(pod) else requests(container)
    return most(spec, requests(found[0]), amounts(found[0].get("allocatedResources")))


def of_pod(pod: Manifest) -> Sums:
    """Return what a bound pod adds to the sums of its node, zeros left out."""
    spec, status = pod["spec"], pod.get("status", {})
    inits = spec.get("initContainers", [])
    always = [c for c in inits if c.get("restartPolicy") == "Always"]
    running = [of_container(pod, c, plain=False) for c in spec["containers"]]
    total = add(*running, *(of_container(pod, c, plain=False) for c in always))
    for index, container in enumerate(inits):
        before = [c for c in inits[:index] if c in always]
        stays = container in always
        need = add(
            *(of_container(pod, c, plain=False) for c in before),
            of_container(pod, container, plain=not stays),
        )
        total = most(total, need)
    level = {
        name: value
        for name, value in requests(spec).items()
        if name in ("cpu", "memory") or name.startswith("hugepages-")
    }
    if "resources" in status:
        spec_level = {} if infeasible(pod) else level
        now = most(
            spec_level, requests(status), amounts(status.get("allocatedResources"))
        )
        level = {name: now.get(name, Fraction(0)) for name in level}
    total = add({**total, **level}, amounts(spec.get("overhead")))
    return {name: value for name, value in total.items() if value}


# --- spread: which nodes pass, and whom a preemptor would remove


def labels_match(selector: Manifest | None, labels: Manifest) -> bool:
    if selector is None:
        return False
    wanted = selector.get("matchLabels", {})
    return all(labels.get(key) == value for key, value in wanted.items())


class Spread:
    """One hard constraint on the nodes and pods of a cluster."""

    def __init__(
        self, pod: Manifest, constraint: Manifest, nodes: list[Manifest]
    ) -> None:
        self.pod = pod
        self.constraint = constraint
        self.key = constraint["topologyKey"]
        self.selector = constraint.get("labelSelector")
        self.nodes = {n["metadata"]["name"]: n["metadata"]["labels"] for n in nodes}

    def value(self, node: str) -> str | None:
        found: str | None = self.nodes[node].get(self.key)
        return found

    def counts(
        self, placed: Iterable[Manifest], moved: dict[str, int]
    ) -> dict[str, int]:
        """Count per domain: what stood there at first, and what was moved since."""
        counts = {v: 0 for n in self.nodes if (v := self.value(n)) is not None}
        for other in placed:
            domain = self.value(other["spec"]["nodeName"])
            if domain is None or not self.takes(other):
                continue
            counted = (self.selector or {}).get("matchLabels")
            if counted and "deletionTimestamp" not in other["metadata"]:
                counts[domain] += 1
            counts[domain] += moved.get(other["metadata"]["name"], 0)
        return counts

    def takes(self, other: Manifest) -> bool:
        same = other["metadata"]["namespace"] == self.pod["metadata"]["namespace"]
        return same and labels_match(self.selector, other["metadata"]["labels"])

    def passes(self, node: str, placed: list[Manifest], moved: dict[str, int]) -> bool:
        domain = self.value(node)
        if domain is None:
            return False
        counts = self.counts(placed, moved)
        least = min(counts.values())
        if len(counts) < self.constraint.get("minDomains", 1):
            least = 0
        own = labels_match(self.selector, self.pod["metadata"]["labels"])
        skew = counts[domain] + own - least
        return bool(skew <= self.constraint["maxSkew"])


def victims(
    spread: Spread, node: str, placed: list[Manifest], started: dict[str, int]
) -> list[str] | None:
    """Return whom the dry run removes from the node; None when it does not help."""
    mine = spread.pod["spec"]["priority"]
    here = [
        other
        for other in placed
        if other["spec"]["nodeName"] == node and other["spec"]["priority"] < mine
    ]
    moved = {other["metadata"]["name"]: -1 for other in here}
    if not here or not spread.passes(node, placed, moved):
        return None
    here.sort(key=lambda p: (-p["spec"]["priority"], started[p["metadata"]["name"]]))
    kept_out = []
    for other in here:
        name = other["metadata"]["name"]
        if not spread.passes(node, placed, {**moved, name: 0}):
            kept_out.append(name)
        else:
            moved[name] = 0
    return kept_out
