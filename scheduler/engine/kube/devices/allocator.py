"""Which devices of a node the claims of a pod can have.

Source: docs/semantics/kube-scheduler.md#devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from scheduler.model.devices.claims import (
    Allocation,
    Attribute,
    Constraint,
    Device,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    PodClaim,
    ResourceSlice,
    Rule,
    read_rule,
)
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

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
            kept = len(self.found)
            for device in free:
                if not self._fits(claim, request, device):
                    return self._back(kept)
                self._take(claim, request, device)
            return self.fill(rest) or self._back(kept)
        return self._choose(claim, request, free, request.count, rest)

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


# ------------------------------------------------------------------------
# Claims, classes and slices as they stand, and the devices each claim has.


CLAIM = "ResourceClaim"
Allocations = dict[Key, Allocation]
DeviceId = tuple[str, str, str]  # driver, pool, device


class Devices:
    """What the schedulers of a run know of devices; all of them share it.

    `allocated` holds the claims that have their devices, `assumed` by pod what a pod
    on its way to a node will have, `users` the placed pods of each allocated claim.
    """

    def __init__(self) -> None:
        self.claims: dict[Key, DeviceClaim] = {}
        self.templates: dict[Key, DeviceClaim] = {}
        self.classes: dict[str, DeviceClass] = {}
        self.slices: dict[str, ResourceSlice] = {}
        self.allocated: Allocations = {}
        self.assumed: dict[Key, Allocations] = {}
        self.users: dict[Key, set[Key]] = {}
        self._made: dict[Key, Key] = {}  # claim made here: its template
        self._owned: dict[Key, Key] = {}  # name of a claim made here: of the given one
        self._of_node: dict[str, list[ResourceSlice]] | None = None

    # --- objects

    def put_claim(self, claim: DeviceClaim, kept: Allocation | None = None) -> None:
        """Take a claim, with the allocation that is stored or written of it."""
        before = self.claims.get(claim.key)
        if before is not None and before.uid != claim.uid:
            self.remove_claim(claim.key)
        self.claims[claim.key] = claim
        kept = kept or (claim.allocation if before is None else None)
        if kept is not None:
            self.allocated[claim.key] = kept
        if claim.pod:
            own = _made_key(claim.key.namespace, claim.pod, claim.pod_claim)
            self._owned[own] = claim.key
            if own in self.users and own != claim.key:
                self.users[claim.key] = self.users.pop(own)

    def remove_claim(self, key: Key) -> None:
        """Forget a claim; its devices are free. Pods on nodes go on naming it."""
        claim = self.claims.pop(key, None)
        self.allocated.pop(key, None)
        if claim is not None and claim.pod:
            own = _made_key(key.namespace, claim.pod, claim.pod_claim)
            self._owned.pop(own, None)

    def put_slice(self, given: ResourceSlice) -> None:
        """Take a slice."""
        self.slices[given.name] = given
        self._of_node = None

    def remove_slice(self, name: str) -> None:
        """Forget a slice; what is allocated of it stays so."""
        self.slices.pop(name, None)
        self._of_node = None

    # --- questions

    def claim_key(self, pod: Pod, entry: PodClaim) -> Key:
        """Return the key of a pod's claim: the named one, or the one made for it."""
        if entry.claim:
            return Key(CLAIM, pod.namespace, entry.claim)
        own = _made_key(pod.namespace, pod.name, entry.name)
        return self._owned.get(own, own)

    def claim_keys(self, pod: Pod) -> list[Key]:
        """Return the keys of a pod's claims, in order."""
        return [self.claim_key(pod, entry) for entry in pod.shape.device_claims]

    def taken(self) -> set[DeviceId]:
        """Return the devices that claims have, or will have."""
        both = [self.allocated, *self.assumed.values()]
        return {d[1:] for held in both for a in held.values() for d in a.devices}

    def is_pending(self, claim: Key) -> bool:
        """Return whether a pod on its way to a node will have the claim allocated."""
        return any(claim in held for held in self.assumed.values())

    def on_node(self, node: str, labels: Mapping[str, str]) -> list[Device]:
        """Return the devices that can be used on a node; by driver, pool and slice.

        Of a pool only the slices of its newest generation count.
        """
        if self._of_node is None:
            self._of_node = {}
            for one in sorted(self._newest(), key=lambda s: (s.driver, s.pool, s.name)):
                self._of_node.setdefault(one.node, []).append(one)
        own = [*self._of_node.get(node, ()), *self._of_node.get("", ())]
        return [d for one in own if one.reaches(node, labels) for d in one.devices]

    def _newest(self) -> Iterator[ResourceSlice]:
        newest: dict[tuple[str, str], int] = {}
        for one in self.slices.values():
            pool = one.driver, one.pool
            newest[pool] = max(newest.get(pool, 0), one.generation)
        for one in self.slices.values():
            if one.generation == newest[one.driver, one.pool]:
                yield one

    # --- allocations

    def assume(self, pod: Key, allocations: Allocations) -> None:
        """Keep devices for the claims of a pod that is on its way to a node."""
        if allocations:
            self.assumed[pod] = allocations

    def forget(self, pod: Key) -> Allocations:
        """Let go of what was kept for a pod; return it."""
        return self.assumed.pop(pod, {})

    def bind(self, pod: Pod) -> list[Key]:
        """Give a pod's claims their devices; return those that had none."""
        fresh = self.forget(pod.key)
        self.allocated.update(fresh)
        self.use(pod)
        return list(fresh)

    def use(self, pod: Pod) -> None:
        """Note that a placed pod uses its claims."""
        for key in self.claim_keys(pod):
            self.users.setdefault(key, set()).add(pod.key)

    # --- claims made for pods

    def pod_added(self, pod: Pod) -> list[Key]:
        """Make the claims of a pod's templates; return those that are new."""
        made = []
        for entry in pod.shape.device_claims:
            named = Key(CLAIM, pod.namespace, entry.template)
            template, key = self.templates.get(named), self.claim_key(pod, entry)
            if entry.template and template is not None and key not in self.claims:
                self.claims[key] = msgspec.structs.replace(
                    template,
                    key=key,
                    uid=f"{pod.uid}-{entry.name}",
                    pod=pod.name,
                    pod_claim=entry.name,
                )
                self._made[key] = named
                made.append(key)
        return made

    def pod_gone(self, pod: Pod) -> list[Key]:
        """Free what nobody uses without the pod; return the claims that lost devices.

        A claim made for it goes.
        """
        freed = []
        for entry in pod.shape.device_claims:
            key = self.claim_key(pod, entry)
            users = self.users.get(key, set())
            users.discard(pod.key)
            if not users:
                self.users.pop(key, None)
                if self.allocated.pop(key, None) is not None:
                    freed.append(key)
                if entry.template:
                    self.claims.pop(key, None)
                    self._made.pop(key, None)
        return freed

    # --- state

    def dump_state(self) -> dict[str, Any]:
        """Return the state outside of objects: assumed claims, and claims made for pods."""
        made = {k: a for k, a in self.allocated.items() if self._is_made(k)}
        found: dict[str, Any] = {"made": _plain(made)} if made else {}
        if kept := [msgspec.to_builtins(one) for one in self._outdated()]:
            found["claims"] = kept
        if self.assumed:
            found["assumed"] = [
                [list(pod), _plain(held)] for pod, held in sorted(self.assumed.items())
            ]
        return found

    def _outdated(self) -> Iterator[tuple[DeviceClaim, Key]]:
        """Yield the claims that their template would not make again, with it."""
        for key, named in sorted(self._made.items()):
            claim, now = self.claims[key], self.templates.get(named)
            asked = claim.requests, claim.constraints
            if now is None or (now.requests, now.constraints) != asked:
                yield claim, named

    def _is_made(self, key: Key) -> bool:
        claim = self.claims.get(key)
        return claim is not None and claim.pod != ""

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned, before any object is restored."""
        self.allocated.update(_allocations(state.get("made", ())))
        for given, named in state.get("claims", ()):
            claim = msgspec.convert(given, DeviceClaim)
            self.claims[claim.key], self._made[claim.key] = claim, Key(*named)
        for pod, held in state.get("assumed", ()):
            self.assume(Key(*pod), _allocations(held))


def _made_key(namespace: str, pod: str, name: str) -> Key:
    """Return what a claim is called that is made here for a pod."""
    return Key(CLAIM, namespace, f"{pod}-{name}")


def _plain(held: Allocations) -> list[Any]:
    return [[list(key), msgspec.to_builtins(one)] for key, one in sorted(held.items())]


def _allocations(given: Iterable[Any]) -> Allocations:
    return {Key(*key): msgspec.convert(one, Allocation) for key, one in given}
