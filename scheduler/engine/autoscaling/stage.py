"""The autoscaler as a stage: node groups in, nodes that come and go out.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec

from scheduler.engine.autoscaling.bookings import Bookings, pods_of
from scheduler.engine.autoscaling.growing import Growing, GrowthOption
from scheduler.engine.autoscaling.karpenter.plans import plan, refusal
from scheduler.engine.autoscaling.karpenter.pools import Consolidation, NodePools
from scheduler.engine.autoscaling.packing import Alike, left_of, pack
from scheduler.engine.autoscaling.refusals import CLAIMS
from scheduler.engine.autoscaling.shrinking import (
    GivingBack,
    KubePlacing,
    Placing,
    YunikornPlacing,
)
from scheduler.engine.autoscaling.supply import (
    AutoscalingHost,
    LookTimes,
    NodeGroup,
    NodeSupply,
    held_back,
)
from scheduler.engine.provisioning.controller import RequestController
from scheduler.engine.provisioning.request import (
    ACCEPTED,
    ATOMIC,
    CHECK_CAPACITY,
    EXPIRED,
    FAILED,
    PROVISIONED,
    is_booked,
    is_open,
    set_condition,
    since_ms,
)
from scheduler.engine.stage import Context
from scheduler.model.amounts import is_whole, text_of
from scheduler.model.autoscaling.group_spec import (
    AUTOSCALED,
    CONFIG,
    INSTANCE_TYPE,
    NODE_GROUP,
    REQUEST,
    read_group_spec,
)
from scheduler.model.autoscaling.pool_spec import NODE_POOL
from scheduler.model.decisions import Decision, NodeChange
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Autoscaler, Policy
from scheduler.model.reasons import is_true

READ_KINDS = frozenset({CONFIG, REQUEST, "AdmissionCheck"})


class AutoscalingStage:
    """Orders nodes for pods that find no place, and gives back what is under-used.

    It looks at multiples of its interval, and only after something happened: a
    world at rest costs nothing.
    """

    name = "autoscaling"

    def __init__(self, context: Context, policy: Policy, host: AutoscalingHost) -> None:
        self.context = context
        self.host = host
        given = policy.spec.simulation.autoscaler
        self.settings = Autoscaler() if isinstance(given, msgspec.UnsetType) else given
        self.supply = NodeSupply(context, host)
        self.looks = LookTimes(context, self.settings)
        self.requests = RequestController(context, host)
        bookings = Bookings(host, self.requests)
        parts = self.supply, self.looks, self.settings, bookings
        self.growing = Growing(*parts)
        self.giving_back = GivingBack(*parts)
        self.pools = NodePools(context, self.supply)
        self.growing.others = self.pools.booting
        self.consolidation = Consolidation(self.pools, self.looks, bookings)
        self.answers = RequestAnswers(context, self.growing, bookings)
        if host.kueue is not None:
            host.kueue.answers.elsewhere = self.requests.answers
        self.fresh = False  # a group came or was edited

    @property
    def groups(self) -> Mapping[str, NodeGroup]:
        """Return the groups by name."""
        return self.supply.groups

    @property
    def grows(self) -> bool:
        """Return whether nodes may come."""
        return bool(self.groups or self.pools.pools)

    # -- the stage's contract --------------------------------------------

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a group, or what ProvisioningRequests are about."""
        if obj.key.kind == NODE_GROUP:
            self._put_group(obj)
            self.fresh = self.fresh or not restore
        elif obj.key.kind == NODE_POOL:
            self.pools.put_pool(obj)
        elif obj.key.kind == INSTANCE_TYPE:
            self.pools.put_type(obj)
        elif obj.key.kind in READ_KINDS:
            self.requests.put(obj)
            self.answers.news = self.answers.news or not restore
        self.growing.priorities.put(obj)
        if obj.key.kind in AUTOSCALED and not restore:
            self.looks.again()

    def _put_group(self, obj: Object) -> None:
        name, spec = obj.key.name, read_group_spec(obj.spec)
        known = self.supply.groups.get(name)
        if known is not None:
            self.supply.edit(known, spec)
        else:
            state = obj.state.get(self.name, {})
            self.supply.groups[name] = NodeGroup(name, spec, state)

    def remove(self, key: Key) -> None:
        """Forget a group, whose nodes stay, or a node that is gone."""
        if key.kind == NODE_GROUP:
            self.supply.drop_group(key.name)
        elif key.kind == "Node":
            self.supply.drop_node(key.name)
        self.requests.remove(key)
        self.pools.remove(key)
        self.growing.priorities.remove(key)
        self.looks.again()

    def write(self, obj: Object) -> None:
        """Write the size of a group or pool, and what a restart needs."""
        if obj.key.kind == NODE_POOL:
            self._write_pool(obj)
        group = self.groups.get(obj.key.name) if obj.key.kind == NODE_GROUP else None
        if group is not None:
            obj.state[self.name] = group.state()
            obj.status = {
                "nodes": group.size - len(group.booting),
                "booting": len(group.booting),
                "made": group.made,
            }

    def _write_pool(self, obj: Object) -> None:
        pool = self.pools.pools.get(obj.key.name)
        if pool is not None:
            obj.state[self.name] = pool.state()
            booting = sum(1 for claim in pool.claims.values() if claim.boots)
            resources = {n: text_of(n, a) for n, a in sorted(pool.used().items())}
            obj.status = {
                "nodes": len(pool.claims) - booting,
                "booting": booting,
                "made": pool.made,
                "resources": resources,
            }

    def due(self) -> int | None:
        """Return the next instant at which a node comes, goes, or is thought of."""
        if self.fresh:
            return self.context.now_ms
        dues = [] if self.looks.scan_ms is None else [self.looks.scan_ms]
        for group in self.groups.values():
            late = self.looks.provision_ms
            dues += (
                min(at, group.ordered[n] + late) for n, at in group.booting.items()
            )
            dues += group.ends.values()
        dues += self.answers.due()
        dues += self.pools.dues()
        return min(dues, default=None)

    def awaited(self) -> str:
        """Return in words what `due` names."""
        if self.fresh:
            return "its first look at the groups"
        if self.looks.scan_ms is not None and self.looks.scan_ms == self.due():
            return "its next scan"
        return "a node that comes or goes, or an answer to a ProvisioningRequest"

    def dump_state(self) -> dict[str, Any]:
        """Return when it looks next, and what was paid for nodes that are gone."""
        paid = self.supply.bill.state()
        state = {**self.looks.state(), "paid": paid, "fresh": self.fresh}
        state |= self.growing.priorities.state()
        return {**state, "news": True} if self.answers.news else state

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.looks.load(state)
        self.supply.bill.load(state.get("paid", ()))
        self.growing.priorities.load(state)
        self.fresh = bool(state.get("fresh", False))
        self.answers.news = bool(state.get("news", False))

    # -- one instant -------------------------------------------------------

    def react(self, decision: Decision) -> None:
        """Look again soon: something happened that may ask for nodes, or free them."""
        self.looks.again()

    def advance(self) -> None:
        """Bring the nodes that have booted, take back the spot nodes whose time is up."""
        if self.fresh:
            self.fresh = False
            self.supply.start_groups()
        self.supply.bring_booted()
        self.supply.drop_late(self.looks.provision_ms)
        self.pools.advance()
        self.answers.expire()

    def check_requests(self) -> bool:
        """Let Kueue's controller look at requests; return whether a check changed."""
        self.answers.news = False
        return self.requests.reconcile()

    def scan(self) -> None:
        """Look, when it is time: grow for what waits, give back what is not needed."""
        if not self.looks.due:
            return
        self.looks.scan_ms = None
        placing = self.placing()
        grown = self.answers.answer(placing) or self.growing.grow(placing)
        if not grown and self.settings.scale_down:
            self.giving_back.look(placing)
        if self.pools.pools and not grown and not self._buy(placing):
            self.consolidation.look(placing)

    def placing(self) -> Placing:
        """Return the scheduler that places the pods, as it stands now."""
        if self.host.kube is not None:
            return KubePlacing(self.host.kube)
        assert self.host.yunikorn is not None
        return YunikornPlacing(self.host.yunikorn, self.host.objects)

    def _buy(self, placing: Placing) -> bool:
        """Buy nodes of the pools for what waits; return whether any were."""
        waiting = self.growing.waiting(placing)
        plans, _ = plan(waiting, self.pools.by_weight()) if waiting else ([], [])
        self.pools.buy(plans, "")
        if plans:
            self.looks.again()
        return bool(plans)

    # -- what others ask -----------------------------------------------------

    def cost(self) -> float:
        """Return the cost of all nodes so far, from their order to now."""
        return self.supply.cost(self.pools.costs())

    def per_hour(self) -> float:
        """Return the present price of all nodes per hour."""
        groups = (one.size * one.spec.price_per_hour for one in self.groups.values())
        claims = (c for pool in self.pools.pools.values() for c in pool.claims.values())
        return math.fsum(chain(groups, (claim.price for claim in claims)))

    def refusals(self, pod: Pod) -> dict[tuple[str, str], str]:
        """Return, by kind and name, why it does not grow for the pod; "" if it may."""
        groups = {
            (NODE_GROUP, group.name): self.growing.refusal(group, pod)
            for group in self.supply.in_order()
        }
        found = groups | {
            (NODE_POOL, pool.name): refusal(pool, pod) for pool in self.pools.in_order()
        }
        if self.host.kube is not None and held_back(self.host.kube.nodes, pod):
            return dict.fromkeys(found, CLAIMS)
        return found


# ------------------------------------------------------------------------
# The autoscaler's answers to ProvisioningRequests.
#
# Source: docs/semantics/capacity.md#provisioningrequests.

_BOOKED_MS = 10 * 60_000
_VALID_S = 7 * 24 * 3600
_FIRST_MS, _LONGEST_MS = 60_000, 10 * 60_000  # between two tries of one request
_NOT_FOUND = "Capacity is not found, CA will try to find it later."


class RequestAnswers:
    """Answers one request at a look: capacity that is there, or a group that grows."""

    def __init__(self, context: Context, growing: Growing, bookings: Bookings) -> None:
        self.context = context
        self.growing = growing
        self.bookings = bookings
        self.host = bookings.host
        self.looks = growing.looks
        self.news = False  # a condition changed: the checks are looked at again

    def due(self) -> Iterator[int]:
        """Yield when (ms) something of a request is to be done beside the looks."""
        if self.news:
            yield self.context.now_ms
        for request in self._requests():
            if is_booked(request):
                yield since_ms(self.context, request, PROVISIONED) + _BOOKED_MS

    def expire(self) -> None:
        """End bookings whose time is over."""
        for request in self._requests():
            if not is_booked(request):
                continue
            if (
                since_ms(self.context, request, PROVISIONED) + _BOOKED_MS
                <= self.context.now_ms
            ):
                reason, text = (
                    "CapacityReservationTimeExpired",
                    "Capacity reservation time has expired",
                )
                self._say(request, EXPIRED, reason, text)

    def answer(self, placing: Placing) -> bool:
        """Answer the oldest request that is due; return whether a group grew."""
        due = [
            request
            for request in self._requests()
            if is_open(request) and _try(request)["next"] <= self.context.now_ms
        ]
        grown = bool(due) and self._answer(min(due, key=_age), placing)
        for request in self._requests():
            if is_open(request):
                self.looks.by(_try(request)["next"])
        return grown

    def _requests(self) -> Iterator[Object]:
        """Yield the requests of the classes that are known here."""
        for key in sorted(self.bookings.controller.requests):
            request = self.host.objects[key]
            if request.spec.get("provisioningClassName") in (CHECK_CAPACITY, ATOMIC):
                yield request

    def _answer(self, request: Object, placing: Placing) -> bool:
        if not is_true(request.status, ACCEPTED):
            text = "ProvisioningRequest is accepted in CA"
            set_condition(self.context, request, ACCEPTED, ACCEPTED, text, True)
            self.news = True
        left = self._left(request, placing)
        if not left:
            self._say(
                request,
                PROVISIONED,
                "CapacityIsFound",
                "Capacity is found in the cluster.",
            )
            return False
        option = None
        if request.spec["provisioningClassName"] == ATOMIC:
            option = self._whole(left)
        if option is None:
            self._not_found(request)
            return False
        self.growing.order(option, f"ProvisioningRequest {request.key.name}")
        self._say(
            request,
            PROVISIONED,
            "CapacityIsProvisioned",
            "Capacity is provisioned in the cluster.",
        )
        return True

    def _left(self, request: Object, placing: Placing) -> list[Alike]:
        """Return the pods that fit on no node that is there, nor (atomic) that boots."""
        atomic = request.spec["provisioningClassName"] == ATOMIC
        spaces = self.growing.spaces(placing, booting=atomic)
        self.growing.seat(placing.waiting(), spaces)
        return left_of(pods_of(request, self.host.objects), spaces)

    def _whole(self, left: list[Alike]) -> GrowthOption | None:
        """Return the best group that takes all of them at once."""
        pods = sum(len(one.pods) for one in left)
        options = []
        for group in self.growing.supply.in_order():
            if any(self.growing.refusal(group, one.first) for one in left):
                continue
            spaces, placed = pack(left, group.template, group.left)
            if placed == pods:
                options.append(GrowthOption(group=group, spaces=spaces, pods=placed))
        return self.growing.choose(options) if options else None

    def _not_found(self, request: Object) -> None:
        """Try again later, or fail when the request is too old."""
        now, tried = self.context.now_ms, _try(request)
        created = self.context.ms(_age(request)[0])
        if created + _valid_s(request) * 1000 <= now:
            self._say(
                request,
                FAILED,
                "CapacityIsNotFound",
                "Capacity is not found, ProvisioningRequest is expired.",
            )
            return
        wait = min(_FIRST_MS * 2 ** min(tried["tries"], 10), _LONGEST_MS)
        until = min(now + wait, created + _valid_s(request) * 1000)
        request.state["autoscaling"] = {"tries": tried["tries"] + 1, "next": until}
        set_condition(
            self.context, request, PROVISIONED, "CapacityIsNotFound", _NOT_FOUND, False
        )
        self.news = True

    def _say(self, request: Object, kind: str, reason: str, message: str) -> None:
        """Write a condition that decides something, and report it."""
        set_condition(self.context, request, kind, reason, message, True)
        self.news = True
        self.context.journal.emit(
            NodeChange(
                at_ms=self.context.now_ms,
                subject=request.key,
                change=kind.lower(),
                reason=reason,
                message=message,
            )
        )


def _try(request: Object) -> dict[str, Any]:
    state: dict[str, Any] = request.state.get("autoscaling") or {"tries": 0, "next": 0}
    return state


def _age(request: Object) -> tuple[int, str]:
    """Return what sorts the oldest first: creation (µs) and name."""
    return stamp_us(request.metadata["creationTimestamp"]), request.key.name


def _valid_s(request: Object) -> int:
    """Return for how long a request may go unanswered."""
    text = (request.spec.get("parameters") or {}).get("ValidUntilSeconds", "")
    return int(text) if is_whole(str(text)) else _VALID_S
