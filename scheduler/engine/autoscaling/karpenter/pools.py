"""The nodes of NodePools: bought, booted, taken away, and paid for.

Source: docs/semantics/capacity.md#nodepools.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from scheduler.engine.autoscaling.bill import Bill
from scheduler.engine.autoscaling.bookings import Bookings
from scheduler.engine.autoscaling.karpenter.plans import (
    Candidate,
    NodeClaim,
    NodePlan,
    NodePool,
    named,
    plan,
)
from scheduler.engine.autoscaling.shrinking import Emptying, Placing, movable
from scheduler.engine.autoscaling.supply import (
    HOUR_MS,
    AutoscalingHost,
    LookTimes,
    NodeSupply,
    ready_node,
)
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.autoscaling.group_spec import (
    INSTANCE_TYPE,
    SPOT,
    InstanceTypeSpec,
    offers_of,
    read_instance_type,
)
from scheduler.model.autoscaling.pool_spec import (
    EMPTY,
    NODE_POOL,
    UNDERUTILIZED,
    WHEN_EMPTY,
    allowed,
    read_pool_spec,
)
from scheduler.model.durations import NEVER, read_span
from scheduler.model.node import Node
from scheduler.model.objects import Key, Object
from scheduler.model.sentence import plain


class NodePools:
    """Every pool by name, its nodes, and the types that may be bought."""

    def __init__(self, context: Context, supply: NodeSupply) -> None:
        self.context = context
        self.supply = supply
        self.host: AutoscalingHost = supply.host
        self.bill: Bill = supply.bill
        self.pools: dict[str, NodePool] = {}
        self.types: dict[str, InstanceTypeSpec] = {}

    def in_order(self) -> Iterator[NodePool]:
        """Yield the pools by name."""
        for name in sorted(self.pools):
            yield self.pools[name]

    def by_weight(self) -> list[NodePool]:
        """Return the pools, the heaviest first, equal ones by name."""
        return sorted(self.pools.values(), key=lambda one: (-one.spec.weight, one.name))

    # -- objects -------------------------------------------------------------

    def put_pool(self, obj: Object) -> None:
        """Take a pool that is new, edited or stored."""
        name, spec = obj.key.name, read_pool_spec(obj.spec)
        known = self.pools.get(name)
        if known is None:
            state = obj.state.get("autoscaling", {})
            self.pools[name] = known = NodePool(name, spec, state)
        known.spec = spec
        self._offer(known)

    def put_type(self, obj: Object) -> None:
        """Take an InstanceType; nodes that are there keep their price."""
        self.types[obj.key.name] = read_instance_type(obj.spec)
        self._offer_all()

    def remove(self, key: Key) -> None:
        """Forget a pool, whose nodes stay, a type, or a node that is gone."""
        if key.kind == INSTANCE_TYPE and key.name in self.types:
            del self.types[key.name]
            self._offer_all()
        elif key.kind == NODE_POOL and (pool := self.pools.pop(key.name, None)):
            now = self.context.now_ms
            self.bill.add((c.price, now - c.since) for c in pool.claims.values())
            self._free_predecessors({n for n, c in pool.claims.items() if c.boots})
        elif key.kind == "Node":
            for pool in self.pools.values():
                self._settle(pool, key.name)

    def _offer_all(self) -> None:
        for pool in self.pools.values():
            self._offer(pool)

    def _offer(self, pool: NodePool) -> None:
        offers = [
            o for name in sorted(self.types) for o in offers_of(name, self.types[name])
        ]
        pool.offer(offers)

    def _settle(self, pool: NodePool, name: str) -> None:
        """Pay for a node that is gone, and forget it."""
        claim = pool.claims.pop(name, None)
        if claim is not None:
            self.bill.add([(claim.price, self.context.now_ms - claim.since)])
            self._free_predecessors({name})
            self.touch(pool)

    def _free_predecessors(self, gone: set[str]) -> None:
        """Let nodes stay that were to be replaced by ones that will not come."""
        for pool in self.pools.values():
            for claim in pool.claims.values():
                if claim.successor in gone:
                    claim.successor = ""
                    self.touch(pool)

    # -- what is there ---------------------------------------------------------

    def costs(self) -> Iterator[tuple[float, int]]:
        """Yield, per node, its price and for how long (ms) it was paid."""
        now = self.context.now_ms
        for pool in self.pools.values():
            for claim in pool.claims.values():
                yield claim.price, now - claim.since

    def booting(self) -> Iterator[Node]:
        """Yield the nodes that are bought and not there yet."""
        for pool in self.in_order():
            yield from pool.booting()

    def dues(self) -> Iterator[int]:
        """Yield when (ms) a node comes, is interrupted or expires."""
        for pool in self.pools.values():
            for claim in pool.claims.values():
                yield from (at for at in (claim.boots, claim.ends, claim.expires) if at)

    # -- nodes -------------------------------------------------------------------

    def buy(self, plans: list[NodePlan], why: str) -> list[str]:
        """Buy the nodes of these plans; return their names."""
        names = [self._buy(one.pool, one.chosen) for one in plans]
        for pool in self.in_order():
            bought = [one for one in plans if one.pool is pool]
            if bought:
                kinds = Counter(one.chosen.offer.name for one in bought)
                pods = sum(one.pods for one in bought)
                self.supply.emit(
                    Key(NODE_POOL, "", pool.name),
                    "ordered",
                    "Launched",
                    f"{pool.name} launches {_listed(kinds)} for {pods} pods{why}",
                )
        return names

    def _buy(self, pool: NodePool, chosen: Candidate) -> str:
        name, now = self.supply.free_name(pool), self.context.now_ms
        offer = chosen.offer
        delay = read_span(offer.spec.boot_time).draw(self.context.seed, "boot", name)
        expire = pool.spec.expire_ms
        pool.claims[name] = NodeClaim(
            type=offer.type,
            zone=offer.offering.zone,
            capacity_type=offer.offering.capacity_type,
            price=offer.price,
            capacity=dict(chosen.capacity),
            since=now,
            boots=now + max(1, min(delay, NEVER)),
            expires=0 if expire is None else now + max(1, expire),
        )
        self.touch(pool)
        return name

    def advance(self) -> None:
        """Bring what has booted; take away what is interrupted, replaced or too old."""
        now = self.context.now_ms
        for pool in self.in_order():
            for name, claim in sorted(pool.claims.items()):
                if claim.boots and claim.boots <= now:
                    self._arrive(pool, name, claim)
        for pool in self.in_order():
            for name, claim in sorted(pool.claims.items()):
                if claim.ends and claim.ends <= now:
                    self.take_away(pool, name, "SpotInterruption", "")
                elif claim.expires and claim.expires <= now:
                    self.take_away(pool, name, "Expired", f"{name} is too old")

    def _arrive(self, pool: NodePool, name: str, claim: NodeClaim) -> None:
        candidate = pool.candidate(claim)
        if candidate is None or Key("Node", "", name) in self.host.objects:
            self._fail(pool, name, claim)
            return
        claim.boots, claim.quiet = 0, self.context.now_ms
        rate = candidate.offer.offering.interruptions_per_hour
        if rate:
            seed, mean = self.context.seed, HOUR_MS / rate
            gap = streams.exponential(seed, "interruption", name, mean=mean)
            claim.ends = self.context.now_ms + max(1, round(gap))
        self.host.put(ready_node(named(candidate, name)))
        self.touch(pool)
        self._end_predecessors(name)

    def _fail(self, pool: NodePool, name: str, claim: NodeClaim) -> None:
        """Give up a node that is no longer to be had, or whose name was taken."""
        taken = Key("Node", "", name) in self.host.objects
        why = "there is another node of its name"
        if not taken:
            what = " ".join(part for part in claim.offer if part)
            why = f"{what} is no longer to be had"
        self.supply.emit(
            Key(NODE_POOL, "", pool.name),
            "failed",
            "LaunchFailed",
            f"{name} does not come: {why}",
        )
        self._settle(pool, name)

    def _end_predecessors(self, name: str) -> None:
        """Take away the nodes that this one replaces."""
        for pool in self.in_order():
            for old, claim in sorted(pool.claims.items()):
                if claim.successor == name:
                    why = f"{old} is replaced by {name}, which is cheaper"
                    self.take_away(pool, old, "Underutilized", why)

    def take_away(self, pool: NodePool, name: str, reason: str, why: str) -> None:
        """Take a node out of the cluster; its pods are lost as on a failed one."""
        claim = pool.claims[name]
        cost = claim.price * (self.context.now_ms - claim.since) / HOUR_MS
        sentence = why or f"{name} was taken back by its provider"
        change = "removed" if why else "interrupted"
        key = Key("Node", "", name)
        paid = f"; it cost {cost:.2f}" if claim.price else ""
        self.supply.emit(key, change, reason, sentence + paid)
        self.host.lifetime.lose_node(name, plain(sentence))
        if key in self.host.objects:
            self.host.delete(key)
        else:
            self._settle(pool, name)

    def touch(self, pool: NodePool) -> None:
        """Note that the pool's status or state changed."""
        self.context.journal.touch(Key(NODE_POOL, "", pool.name))


def _listed(kinds: Counter[tuple[str, str, str]]) -> str:
    """Return the types bought, with how many of each."""
    return ", ".join(
        f"{count} {' '.join(part for part in kind if part)}"
        for kind, count in sorted(kinds.items())
    )


# ------------------------------------------------------------------------
# Consolidation: empty nodes go, under-used ones are emptied or made cheaper.


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
