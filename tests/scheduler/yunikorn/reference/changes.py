"""Recorded states changed at random, so that rules meet that never met there."""

from __future__ import annotations

import copy
import random
from typing import Any

import yaml

from tests.scheduler.yunikorn.reference.state import World

Vector = dict[str, Any]
_PRIORITIES = [-5, 0, 1, 10, 100]


class Change:
    """One state, changed in place."""

    def __init__(self, vector: Vector, draw: random.Random) -> None:
        self.vector, self.draw = copy.deepcopy(vector), draw
        self.config = yaml.safe_load(self.vector["queuesYaml"])
        self.queues: list[Any] = []
        for child in self.config["partitions"][0]["queues"][0]["queues"]:
            self._list(child)
        self.acts = [
            self.guarantee, self.no_guarantee, self.limit, self.fence, self.offset,
            self.delay, self.order, self.pod, self.opt, self.exclude, self.require,
            self.ask, self.cordon,
        ]  # fmt: skip

    def _list(self, queue: Any) -> None:
        self.queues.append(queue)
        for child in queue.get("queues") or []:
            self._list(child)

    def sizes(self) -> Any:
        return self.draw.choice(self.queues).setdefault("resources", {})

    def set(self, name: str, *values: str) -> None:
        texts = self.draw.choice(self.queues).setdefault("properties", {})
        texts[name] = self.draw.choice(values)

    def guarantee(self) -> None:
        kind, unit = self.draw.choice([("vcore", ""), ("memory", "Gi")])
        size = self.draw.choice([1, 2, 4, 8])
        self.sizes().setdefault("guaranteed", {})[kind] = f"{size}{unit}"

    def no_guarantee(self) -> None:
        self.sizes().pop("guaranteed", None)

    def limit(self) -> None:
        leaves = [q for q in self.queues if not q.get("queues")]
        queue = self.draw.choice(leaves)
        size = self.draw.choice(["4", "8", "16", "30"])
        queue.setdefault("resources", {})["max"] = {"vcore": size}

    def fence(self) -> None:
        if self.draw.random() < 0.5:
            self.set("preemption.policy", "default", "fence", "disabled")
        else:
            self.set("priority.policy", "default", "fence")

    def offset(self) -> None:
        self.set("priority.offset", "-10", "0", "5", "10", "100")

    def delay(self) -> None:
        self.set("preemption.delay", "1s", "10s", "60s", "soon", "2h")

    def order(self) -> None:
        if self.draw.random() < 0.5:
            self.set("application.sort.policy", "fifo", "fair", "stateaware")
        else:
            self.set("application.sort.priority", "enabled", "disabled")

    def pod(self) -> None:
        for pod in self.some("allocations"):
            pod["priority"] = self.draw.choice(_PRIORITIES)

    def some(self, what: str) -> list[Any]:
        found = self.vector[what]
        return [self.draw.choice(found)] if found else []

    def opt(self) -> None:
        for pod in self.some("allocations"):
            name = self.draw.choice(["allowPreemptSelf", "originator"])
            pod[name] = self.draw.random() < 0.5

    def exclude(self) -> None:
        for ask in self.some("asks"):
            names = [node["name"] for node in self.vector["nodes"]]
            ask["excludeNodes"] = self.draw.sample(names, min(2, len(names)))

    def require(self) -> None:
        for ask in self.some("asks"):
            ask["requiredNode"] = self.draw.choice(self.vector["nodes"])["name"]

    def ask(self) -> None:
        for ask in self.some("asks"):
            ask["priority"] = self.draw.choice(_PRIORITIES)

    def cordon(self) -> None:
        self.draw.choice(self.vector["nodes"])["schedulable"] = False


def changed(vector: Vector, draw: random.Random) -> Vector:
    """Return a copy with one to eight changes; what is asked of it may differ too."""
    change = Change(vector, draw)
    for _ in range(draw.choice([1, 2, 4, 8])):
        draw.choice(change.acts)()
    state = change.vector
    state["queuesYaml"] = yaml.safe_dump(change.config)
    if state["asks"]:
        state["suite"] = draw.choice(["cycle", "preemption", "sort"])
    return state


def open_order(vector: Vector) -> bool:
    """Return whether the order of queues hangs on where a sort starts (20.2)."""
    if vector["tag"] in ("empty", "ties"):
        return True
    queues = World(vector).root.walk()
    limits = [[repr(sorted(c.fair_max().items())) for c in q.children] for q in queues]
    return any(len(set(limit)) > 1 for limit in limits)
