"""NodeResourcesBalancedAllocation: prefers nodes whose use the pod evens out."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler.engine.kube.cache.node_info import Ints, NodeInfo, View
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Handle, Plugin
from scheduler.engine.kube.framework.status import OK, SKIP, CycleState, Status
from scheduler.engine.kube.noderesources.scoring import ResourceSpec, skips
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.releases.rules import BALANCE, BALANCE_SKIPS

Floats = npt.NDArray[np.float64]


class BalancedArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The resources to balance; their weights do not matter."""

    api_version: str = ""
    kind: str = ""
    resources: list[ResourceSpec] = []


@register(
    "plugin",
    "NodeResourcesBalancedAllocation",
    label="Balanced allocation",
    help="Prefers nodes where the pod brings the shares of cpu and memory in use "
    "closer together; 75 is neutral.",
    parameters=BalancedArgs,
)
class NodeResourcesBalancedAllocation(Plugin):
    """Source: docs/semantics/kube-scheduler.md#noderesourcesbalancedallocation."""

    name = "NodeResourcesBalancedAllocation"
    args_type = BalancedArgs
    scope = "row"

    def __init__(self, args: BalancedArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        for resource in args.resources:
            resource.check(self.name)
        names = [resource.name for resource in args.resources]
        self.resources = tuple(names) or ("cpu", "memory")
        decides_as = handle.context.decides_as
        self.scores_change = BALANCE.holds(decides_as)
        self.skips_idle = BALANCE_SKIPS.holds(decides_as)

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Skip a pod that asks for none of the resources; before 1.33 none is."""
        if not self.skips_idle:
            return OK
        asked = pod.shape.requests.asked
        return OK if any(asked.get(name) for name in self.resources) else SKIP

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return 50 plus half of what the pod changes the balance by.

        Before 1.36 it is the balance with the pod.
        """
        asked = pod.shape.requests.asked
        before, after = [], []
        for name in self.resources:
            capacity = node_info.capacity(name)
            if capacity and not skips(name, asked):
                used = node_info.requested.get(name, 0)
                before.append(min(1.0, used / capacity))
                after.append(min(1.0, (used + asked.get(name, 0)) / capacity))
        if not self.scores_change:
            return _balance(after)
        change = _balance(after) - _balance(before)
        return 50 + math.trunc((50 + change) / 2)

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return the same for every row."""
        asked = pod.shape.requests.asked
        before, after = [], []
        names = [name for name in self.resources if not skips(name, asked)]
        for name in names:
            divisor = view.allocatable(name)
            if not view.everywhere(name):
                divisor = np.where(divisor != 0, divisor, 1)
            used = view.requested(name)
            before.append(np.minimum(1.0, used / divisor))
            after.append(np.minimum(1.0, (used + asked.get(name, 0)) / divisor))
        if not self.scores_change:
            return _balance_rows(after, names, view)
        change = _balance_rows(after, names, view) - _balance_rows(before, names, view)
        # (50 + change) is never negative: truncation is the floor.
        return 50 + (50 + change) // 2


def _balance(shares: list[float]) -> int:
    return math.trunc((1 - _deviation(shares)) * float(MAX_SCORE))


def _deviation(shares: list[float]) -> float:
    if len(shares) < 2:
        return 0.0
    if len(shares) == 2:
        return abs((shares[0] - shares[1]) / 2)
    total = 0.0
    for share in shares:
        total += share
    mean, squares = total / len(shares), 0.0
    for share in shares:
        squares += (share - mean) * (share - mean)
    return math.sqrt(squares / len(shares))


def _balance_rows(shares: list[Floats], names: list[str], view: View) -> Ints:
    if len(shares) == 2 and all(view.everywhere(name) for name in names):
        deviation = np.abs((shares[0] - shares[1]) / 2)
    else:
        has = [view.allocatable(name) != 0 for name in names]
        deviation = _deviation_rows(shares, has, view.size)
    return ((1 - deviation) * float(MAX_SCORE)).astype(np.int64)


def _deviation_rows(
    shares: list[Floats], has: list[npt.NDArray[np.bool_]], size: int
) -> Floats:
    """Return the deviation over the resources that each row has.

    Sums run in the order of the resources, so that doubles come out the same.
    """
    total: Floats = np.zeros(size)
    count = np.zeros(size, dtype=np.int64)
    for share, there in zip(shares, has, strict=True):
        total = np.where(there, total + share, total)
        count += there
    divisor = np.maximum(count, 1)
    mean = total / divisor
    squares: Floats = np.zeros(size)
    for share, there in zip(shares, has, strict=True):
        squares = np.where(there, squares + (share - mean) * (share - mean), squares)
    spread = np.sqrt(squares / divisor)
    return np.where(
        count == 2, _halved(shares, has, size), np.where(count < 2, 0.0, spread)
    )


def _halved(
    shares: list[Floats], has: list[npt.NDArray[np.bool_]], size: int
) -> Floats:
    """Return half the distance of the first two shares that each row has."""
    first: Floats = np.zeros(size)
    second: Floats = np.zeros(size)
    seen = np.zeros(size, dtype=np.int64)
    for share, there in zip(shares, has, strict=True):
        first = np.where(there & (seen == 0), share, first)
        second = np.where(there & (seen == 1), share, second)
        seen += there
    return np.abs((first - second) / 2)
