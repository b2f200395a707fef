"""Which devices of a node the claims of a pod can have.

Source: docs/semantics/kube-scheduler.md#devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from scheduler.engine.kube.devices.known import Allocations, DeviceId, Devices
from scheduler.model.devices.claims import (
    Allocation,
    Constraint,
    DeviceClaim,
    DeviceRequest,
)
from scheduler.model.devices.selectors import Attribute, Device, Rule, read_rule
from scheduler.model.node import Node

#: How many devices are looked at before a search for equal attributes gives up.
_MOST_STEPS = 10_000


@lru_cache(maxsize=4096)
def rule_of(expression: str) -> Rule | None:
    """Return the rule of an expression; parsed once."""
    return read_rule(expression)


@dataclass(slots=True)
class _Search:
    """The search for one pod on one node: what is free, and what it took so far."""

    known: Devices
    devices: Sequence[Device]
    taken: set[DeviceId]
    steps: int = 0
    found: list[tuple[DeviceClaim, DeviceRequest, Device]] = field(default_factory=list)

    def matching(self, request: DeviceRequest) -> list[Device]:
        """Return the devices of the request's class that its selectors accept."""
        kind = self.known.classes[request.class_name]
        rules = [rule_of(text) for text in (*kind.selectors, *request.selectors)]
        # What cannot be read is reported on import, and accepts every device.
        known = [rule for rule in rules if rule is not None]
        return [d for d in self.devices if all(rule(d) for rule in known)]

    def fill(self, wanted: list[tuple[DeviceClaim, DeviceRequest]]) -> bool:
        """Take devices for every request, the first that do; False if there are none."""
        if not wanted:
            return True
        (claim, request), rest = wanted[0], wanted[1:]
        matching = self.matching(request)
        free = [d for d in matching if d.id not in self.taken]
        if request.count is None:
            if not matching or len(free) < len(matching):
                return False
            return self._take_all(claim, request, free, rest)
        return self._choose(claim, request, free, request.count, rest)

    def _take_all(
        self,
        claim: DeviceClaim,
        request: DeviceRequest,
        free: list[Device],
        rest: list[tuple[DeviceClaim, DeviceRequest]],
    ) -> bool:
        kept = len(self.found)
        for device in free:
            if not self._fits(claim, request, device):
                return self._back(kept)
            self._take(claim, request, device)
        return self.fill(rest) or self._back(kept)

    def _choose(
        self,
        claim: DeviceClaim,
        request: DeviceRequest,
        free: list[Device],
        count: int,
        rest: list[tuple[DeviceClaim, DeviceRequest]],
    ) -> bool:
        if count == 0:
            return self.fill(rest)
        for index, device in enumerate(free):
            self.steps += 1
            if len(free) - index < count or self.steps > _MOST_STEPS:
                return False
            if self._fits(claim, request, device):
                kept = len(self.found)
                self._take(claim, request, device)
                later = free[index + 1 :]
                if self._choose(claim, request, later, count - 1, rest):
                    return True
                self._back(kept)
        return False

    def _take(self, claim: DeviceClaim, request: DeviceRequest, device: Device) -> None:
        self.taken.add(device.id)
        self.found.append((claim, request, device))

    def _back(self, kept: int) -> bool:
        while len(self.found) > kept:
            self.taken.discard(self.found.pop()[2].id)
        return False

    def _fits(self, claim: DeviceClaim, request: DeviceRequest, device: Device) -> bool:
        return all(
            self._equal(claim, constraint, device)
            for constraint in claim.constraints
            if not constraint.requests or request.name in constraint.requests
        )

    def _equal(self, claim: DeviceClaim, rule: Constraint, device: Device) -> bool:
        value = device.attributes.get(rule.attribute)
        return value is not None and all(
            value == other for other in self._values(claim, rule)
        )

    def _values(
        self, claim: DeviceClaim, rule: Constraint
    ) -> Iterator[Attribute | None]:
        for other, request, device in self.found:
            if other is claim and (not rule.requests or request.name in rule.requests):
                yield device.attributes.get(rule.attribute)


def allocate(
    known: Devices, claims: list[DeviceClaim], node: Node, taken: set[DeviceId]
) -> Allocations | None:
    """Return devices of a node for every claim; None where one cannot have all.

    Devices are tried by driver, pool, slice and their order in it. `taken` is not
    changed. Cost: devices of the node x requests; more under matchAttribute.
    """
    search = _Search(known, known.on_node(node.name, node.labels), set(taken))
    if not search.fill([(c, request) for c in claims for request in c.requests]):
        return None
    return {
        claim.key: Allocation(
            devices=tuple(
                (request.name, *device.id)
                for other, request, device in search.found
                if other is claim
            ),
            node=node.name,
        )
        for claim in claims
    }
