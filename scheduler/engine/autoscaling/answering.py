"""The autoscaler's answers to ProvisioningRequests.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.autoscaling.bookings import Bookings, pods_of
from scheduler.engine.autoscaling.growing import Growing, GrowthOption
from scheduler.engine.autoscaling.packing import Alike, left_of, pack
from scheduler.engine.autoscaling.shrinking import Placing
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
from scheduler.model.amounts import is_whole
from scheduler.model.decisions import NodeChange
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Object
from scheduler.model.reasons import is_true

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
