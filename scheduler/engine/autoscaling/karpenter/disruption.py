"""Consolidation: empty nodes go, under-used ones are emptied or made cheaper.

Source: docs/semantics/capacity.md#nodepools.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from scheduler.engine.autoscaling.bookings import Bookings
from scheduler.engine.autoscaling.karpenter.node_pool import NodeClaim, NodePool
from scheduler.engine.autoscaling.karpenter.plans import plan
from scheduler.engine.autoscaling.karpenter.pools import NodePools
from scheduler.engine.autoscaling.looks import LookTimes
from scheduler.engine.autoscaling.placing import Placing
from scheduler.engine.autoscaling.shrinking import Emptying, movable
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.model.autoscaling.budgets import EMPTY, UNDERUTILIZED, allowed
from scheduler.model.autoscaling.instance_type import SPOT
from scheduler.model.autoscaling.pool_spec import WHEN_EMPTY
from scheduler.model.objects import Object

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
_DIGITS = 12

Found = list[tuple[NodePool, str]]


class Consolidation:
    """Gives back what is not needed, one method at a look: empty, unneeded, dear."""

    def __init__(self, pools: NodePools, looks: LookTimes, bookings: Bookings) -> None:
        self.pools = pools
        self.looks = looks
        self.bookings = bookings
        self.context = pools.context

    def look(self, placing: Placing) -> None:
        """Note what changed on the nodes, and disrupt those that may be."""
        infos = placing.nodes.node_infos
        ready = [*self._ready(infos)]
        if not ready:
            return
        if self._end(self._empty(ready, infos), EMPTY, "is empty"):
            self.looks.again()
            return
        dear = [one for one in ready if one[0].spec.policy != WHEN_EMPTY]
        if dear and self._consolidate(dear, placing):
            self.looks.again()

    def _ready(self, infos: dict[str, NodeInfo]) -> Iterator[tuple[NodePool, str]]:
        """Yield the nodes whose pods have not changed for `consolidateAfter`."""
        now = self.context.now_ms
        for pool in self.pools.in_order():
            after = pool.spec.consolidate_ms
            for name, claim in sorted(pool.claims.items()):
                if claim.boots or claim.successor or name not in infos:
                    continue
                self._note(pool, claim, infos[name])
                if after is None:
                    continue
                if claim.quiet + after <= now:
                    yield pool, name
                else:
                    self.looks.by(claim.quiet + after)

    def _note(self, pool: NodePool, claim: NodeClaim, info: NodeInfo) -> None:
        names = ",".join(pod.key.path for pod in movable(info))
        pods = hashlib.sha256(names.encode()).hexdigest()[:_DIGITS]
        if pods != claim.pods:
            claim.pods, claim.quiet = pods, self.context.now_ms
            self.pools.touch(pool)

    def _empty(self, ready: Found, infos: dict[str, NodeInfo]) -> Found:
        return [one for one in ready if not movable(infos[one[1]])]

    def _end(self, found: Found, reason: str, why: str) -> bool:
        """Take away what the budgets allow; return whether anything went."""
        gone = False
        for pool, name in found:
            if self._left(pool, reason):
                self.pools.take_away(pool, name, reason, f"{name} {why}")
                gone = True
        return gone

    def _left(self, pool: NodePool, reason: str) -> bool:
        """Return whether one more node of the pool may be away now."""
        now = self.context.now_us
        claims = pool.claims.values()
        total = sum(1 for claim in claims if not claim.boots)
        away = sum(1 for claim in claims if claim.successor)
        for budget in pool.spec.budgets:
            changes = budget.changes_us(now)
            if changes is not None:
                self.looks.by(self.context.ms(changes))
        return away < allowed(pool.spec.budgets, reason, total, now)

    def _consolidate(self, ready: Found, placing: Placing) -> bool:
        """Empty nodes whose pods fit elsewhere, or replace one by a cheaper one."""
        infos = placing.nodes.node_infos
        trial = Emptying(placing.nodes, self.pools.host.objects, keeps=keeps)
        booked = self.bookings.take([*trial.spaces.values()])
        order = sorted(ready, key=lambda one: (len(movable(infos[one[1]])), one[1]))
        found = [
            one for one in order if one[1] not in booked and movable(infos[one[1]])
        ]
        for pool, name in found:
            if self._left(pool, UNDERUTILIZED) and trial.may_go(infos[name]):
                self._end([(pool, name)], UNDERUTILIZED, "is under-used")
                return True
        return any(
            self._replace(pool, name, infos[name], trial) for pool, name in found
        )

    def _replace(
        self, pool: NodePool, name: str, info: NodeInfo, trial: Emptying
    ) -> bool:
        """Buy one cheaper node for a node's pods, if there is one."""
        claim = pool.claims[name]
        if claim.capacity_type == SPOT or not self._left(pool, UNDERUTILIZED):
            return False
        left = trial.leftover(info)
        if left is None:
            return False
        plans, refused = plan(left, self.pools.by_weight(), below=claim.price)
        if refused or len(plans) != 1:
            return False
        (claim.successor,) = self.pools.buy(plans, f" in place of {name}")
        self.pools.touch(pool)
        return True


def keeps(obj: Object | None) -> bool:
    """Return whether a node or pod says that it is not to be disrupted."""
    return obj is not None and obj.annotations.get(DO_NOT_DISRUPT) == "true"
