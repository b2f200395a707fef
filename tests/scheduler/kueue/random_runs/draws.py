"""What random runs draw from: names, and how often there is what."""

from __future__ import annotations

import random
from typing import Any

Manifest = dict[str, Any]

BLOCK, RACK, HOST = "block", "rack", "kubernetes.io/hostname"
LEVELS = [[BLOCK, RACK, HOST], [BLOCK, RACK, HOST], [RACK, HOST], [BLOCK, RACK]]
NAMESPACES = ("default", "team")
FLAVORS = ("f0", "f1", "f2", "f3")
QUEUES = ("a", "b", "c", "d")
LOCAL_QUEUES = ("la", "lb", "lc", "ld")
COHORTS = ("north", "south", "root")
CHECKS = ("k0", "k1", "k2")
RESOURCES = ("cpu", "memory", "gpu.com/a")
TAINTS = [{"key": "t", "value": "v", "effect": "NoSchedule"}]
TOLERATIONS = [{"key": "t", "operator": "Exists"}]
FOCUSES = (*[""] * 5, "nodes", "delayed", "variants", "slices", "pods")
BOOST = "kueue.x-k8s.io/priority-boost"
FAST = {"matchExpressions": [{"key": "fast", "operator": "In", "values": ["yes"]}]}


class Draw(random.Random):
    """Draws of one run, and how often it has topology and admission checks.

    A plain run has one flavor and little quota: workloads preempt each other.
    The cycles of a paced one take time, and in a long one minutes pass. Half of the
    runs have more of one thing: failing nodes, places that wait for checks, variants,
    slices, or pods that are waited for.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.topology = self.choice((0.0, 0.0, 0.9))
        self.checks = self.choice((0.0, 0.6))
        self.plain = self.chance(0.4)
        self.paced = self.chance(0.15)
        self.long = self.chance(0.15)
        self.focus = self.choice(FOCUSES)
        if self.focus in ("nodes", "delayed"):
            self.topology = 0.9
            self.checks = 0.9 if self.focus == "delayed" else 0.0

    def chance(self, share: float) -> bool:
        return self.random() < share


def amount(draw: Draw, resource: str, most: int = 8) -> Any:
    number = draw.randint(0, most)
    return f"{number}Gi" if resource == "memory" else number
