"""What a node's zones score for a pod, 0 to 100, by the strategies of the plug-in.

Source: docs/semantics/kube-scheduler.md#numa-zones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import variance

from scheduler.engine.kube.numa.topology import SINGLE, Topology
from scheduler.engine.kube.numa.zones import (
    Amounts,
    Zone,
    fewest,
    listed,
    parts,
    subtract,
)
from scheduler.model.node import CPU
from scheduler.model.pod import Pod

FEWEST = "LeastNUMANodes"
Weights = Mapping[str, int]
Strategy = Callable[[Amounts, Amounts, Weights], int]


def score(topology: Topology, pod: Pod, strategy: str, weights: Weights) -> int:
    """Return the score of a node for a Guaranteed pod."""
    zones = topology.free(pod.key)
    if strategy == FEWEST:
        return _fewest(topology, zones, pod)
    if topology.policy != SINGLE:
        return 0
    found = [
        _lowest([STRATEGIES[strategy](asked, z.available, weights) for z in zones])
        for asked in parts(pod, by_pod=topology.by_pod)
    ]
    return sum(found) // len(found)


def _lowest(scores: list[int]) -> int:
    """Return the lowest score that is not 0: a zone of 0 would not be taken."""
    return min((one for one in scores if one), default=0)


def _fewest(topology: Topology, zones: list[Zone], pod: Pod) -> int:
    most, nearest = 0, True
    for asked in parts(pod, by_pod=topology.by_pod):
        if not listed(zones, asked):
            continue
        group, near = fewest(zones, asked, pod.qos)
        if not group:
            return 0
        nearest = nearest and near
        most = max(most, len(group))
        subtract(group, asked, pod.qos)
    if not most:
        return 100
    step = 100 // topology.most_zones
    return max(0, 100 - most * step + (step // 2 if nearest else 0))


def _share(asked: Amounts, free: Amounts, name: str) -> tuple[int, int] | None:
    """Return request and free amount in whole units; None where it cannot fit."""
    have = free.get(name, 0)
    if not have or asked[name] > have:
        return None
    return _whole(name, asked[name]), _whole(name, have)


def _whole(name: str, amount: int) -> int:
    return -(-amount // 1000) if name == CPU else amount


def _mean(
    one: Callable[[int, int], int], asked: Amounts, free: Amounts, weights: Weights
) -> int:
    total = sum(weights.get(name) or 1 for name in asked)
    found = 0
    for name in asked:
        share = _share(asked, free, name)
        if share is not None:
            found += (weights.get(name) or 1) * one(*share)
    return found // total if total else 0


def _least(asked: Amounts, free: Amounts, weights: Weights) -> int:
    return _mean(lambda want, have: (have - want) * 100 // have, asked, free, weights)


def _most(asked: Amounts, free: Amounts, weights: Weights) -> int:
    return _mean(lambda want, have: want * 100 // have, asked, free, weights)


def _balanced(asked: Amounts, free: Amounts, weights: Weights) -> int:
    shares = []
    for name, amount in asked.items():
        have = _whole(name, free.get(name, 0))
        shares.append(_whole(name, amount) / have if have else 1.0)
    if any(share > 1 for share in shares):
        return 0
    return int((1 - (variance(shares) if len(shares) > 1 else 0.0)) * 100)


STRATEGIES: Mapping[str, Strategy] = {
    "LeastAllocated": _least,
    "MostAllocated": _most,
    "BalancedAllocation": _balanced,
}
