"""Who waits and runs: Workloads under Kueue, Pods under the other stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.pods import app_id
from scheduler.input.manifests.generator import CLASS
from scheduler.model.objects import Key, Object
from scheduler.model.requests import read_requests

Amounts = dict[str, int]  # resource -> canonical units
Shape = tuple[tuple[str, int], ...]  # one pod's requests, by resource


class Subject(NamedTuple):
    """What the measures keep of one Workload or Pod."""

    queue: str
    priority_class: str
    shapes: tuple[Shape, ...]  # of its pods, each kind once
    totals: Amounts
    owner: Key | None  # whose end is its end too


NOBODY = Subject("", "", (), {}, None)


def kind_of_subjects(world: World) -> str:
    """Return the kind whose waits are measured in this world."""
    return "Pod" if world.kueue is None else "Workload"


def read_subject(world: World, key: Key) -> Subject:
    """Return the record of an object; NOBODY when it does not exist (any longer)."""
    obj = world.objects.get(key)
    if obj is None:
        return NOBODY
    if key.kind == "Workload":
        return _workload(world, obj)
    return _pod(world, obj)


def _workload(world: World, obj: Object) -> Subject:
    spec = obj.spec
    name = str(spec.get("queueName") or "")
    local_queue = world.objects.get(Key("LocalQueue", obj.key.namespace, name))
    queue = (
        str(local_queue.spec.get("clusterQueue") or "")
        if local_queue is not None
        else ""
    )
    shapes: list[Shape] = []
    totals: Amounts = {}
    for pod_set in spec.get("podSets") or ():
        requests = requests_of((pod_set.get("template") or {}).get("spec") or {})
        shapes.append(tuple(sorted(requests.items())))
        count = int(pod_set.get("count") or 0)
        for resource, amount in requests.items():
            totals[resource] = totals.get(resource, 0) + amount * count
    return Subject(queue, _class(obj), tuple(dict.fromkeys(shapes)), totals, None)


def _pod(world: World, obj: Object) -> Subject:
    requests = requests_of(obj.spec)
    shape = tuple(sorted(requests.items()))
    return Subject(_queue(world, obj), _class(obj), (shape,), requests, _owner(obj))


def requests_of(spec: dict[str, Any]) -> Amounts:
    """Return the requests of one pod of this spec."""
    counted = [spec.get(name) for name in _COUNTED]
    return dict(_requests(msgspec.json.encode(counted)))


@lru_cache(maxsize=1024)
def _requests(counted: bytes) -> Amounts:
    """Read what counts of a spec once: most pods of a run are copies of a few."""
    spec = dict(zip(_COUNTED, msgspec.json.decode(counted), strict=True))
    requests, _ = read_requests(spec)
    return requests.exact


#: The fields of a pod's spec that its requests are made of.
_COUNTED = ("containers", "initContainers", "resources", "overhead")


def _queue(world: World, obj: Object) -> str:
    """Return the YuniKorn queue, or the namespace where there are no queues."""
    if world.yunikorn is not None:
        app = world.yunikorn.partition.apps.get(app_id(obj))
        if app is not None:
            return app.queue.path
    return obj.key.namespace


def _class(obj: Object) -> str:
    if name := obj.labels.get(CLASS):
        return name
    reference = obj.spec.get("priorityClassRef") or {}
    return str(reference.get("name") or obj.spec.get("priorityClassName") or "")


def _owner(obj: Object) -> Key | None:
    references: Iterable[dict[str, Any]] = obj.metadata.get("ownerReferences") or ()
    for reference in references:
        if reference.get("controller"):
            kind, name = str(reference.get("kind")), str(reference.get("name"))
            return Key(kind, obj.key.namespace, name)
    return None


# ------------------------------------------------------------------------
# Who holds what and who waits, now and summed over time, kept by deltas.


Shares = dict[str, Amounts]  # queue or place -> amounts


@dataclass(slots=True, kw_only=True)
class QuotaHolding:
    """What one subject holds since `since_ms`."""

    queue: str
    usage: Amounts
    since_ms: int
    parts: tuple[tuple[str, Amounts], ...] = ()  # (place, amounts)


@dataclass(slots=True)
class Ledger:
    """Sums over subjects. Every entry is undone by the entry that ends it."""

    held: dict[Key, QuotaHolding] = field(default_factory=dict)
    waiting: dict[Key, Subject] = field(default_factory=dict)
    using: Shares = field(default_factory=dict)  # queue -> held now
    asking: Shares = field(default_factory=dict)  # queue -> waited for now
    taken: Shares = field(default_factory=dict)  # place -> held now
    shapes: Counter[tuple[str, tuple[tuple[str, int], ...]]] = field(
        default_factory=Counter
    )  # (queue, what must fit) -> how many wait
    spent: Shares = field(default_factory=dict)  # queue -> units x ms, ended ones
    version: int = 0  # grows with every change

    def wait(self, key: Key, subject: Subject) -> None:
        """Note that a subject waits; twice is once."""
        if key in self.waiting or key in self.held:
            return
        self.version += 1
        self.waiting[key] = subject
        _add(self.asking, subject.queue, subject.totals, 1)
        for shape in subject.shapes:
            self.shapes[subject.queue, shape] += 1

    def stop_waiting(self, key: Key) -> None:
        """Note that a subject waits no more."""
        subject = self.waiting.pop(key, None)
        if subject is None:
            return
        self.version += 1
        _add(self.asking, subject.queue, subject.totals, -1)
        for shape in subject.shapes:
            self.shapes[subject.queue, shape] -= 1
            if not self.shapes[subject.queue, shape]:
                del self.shapes[subject.queue, shape]

    def take(self, key: Key, reservation: QuotaHolding) -> None:
        """Note what a subject holds from now on."""
        self.stop_waiting(key)
        self.release(key, reservation.since_ms)
        self.version += 1
        self.held[key] = reservation
        _add(self.using, reservation.queue, reservation.usage, 1)
        self.occupy(reservation.parts, 1)

    def release(self, key: Key, now_ms: int) -> QuotaHolding | None:
        """Note that a subject holds nothing any longer; return what it held."""
        reservation = self.held.pop(key, None)
        if reservation is None:
            return None
        self.version += 1
        _add(self.using, reservation.queue, reservation.usage, -1)
        _add(
            self.spent,
            reservation.queue,
            reservation.usage,
            now_ms - reservation.since_ms,
        )
        self.occupy(reservation.parts, -1)
        return reservation

    def occupy(self, parts: tuple[tuple[str, Amounts], ...], sign: int) -> None:
        """Take capacity in places, or (-1) give it back."""
        self.version += 1
        for place, amounts in parts:
            _add(self.taken, place, amounts, sign)

    def spent_until(self, now_ms: int) -> Shares:
        """Return units x ms by queue, what is still held counted up to now."""
        total = {queue: dict(amounts) for queue, amounts in self.spent.items()}
        for reservation in self.held.values():
            _add(
                total,
                reservation.queue,
                reservation.usage,
                now_ms - reservation.since_ms,
            )
        return total


def _add(shares: Shares, name: str, amounts: Mapping[str, int], times: int) -> None:
    row = shares.setdefault(name, {})
    for resource, amount in amounts.items():
        row[resource] = row.get(resource, 0) + amount * times
