"""Wait, utilisation, fairness, lost work: a run in numbers, kept up as it goes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from scheduler import amounts
from scheduler.decisions import Admit, Arrive, Bind, Decision, Evict, Finish, Preempt
from scheduler.records.objects import Key, Object
from scheduler.records.requests import read_requests
from scheduler.world import World

_HOUR_MS = 3_600_000


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run in numbers. Times in milliseconds of virtual time."""

    end_ms: int
    arrived: int
    admitted: int  # that got quota or a node at least once
    finished: int
    waiting: int
    preemptions: int
    evictions: int
    wait_p50_ms: float | None
    wait_p95_ms: float | None
    wait_max_ms: float | None
    makespan_ms: int  # first arrival to last finish
    work_lost_ms: int  # held and thrown away by evictions
    utilisation: dict[str, float]  # resource -> share of capacity over the run
    used_hours: dict[str, dict[str, float]]  # queue -> resource -> units x hours
    jain: float | None  # of the queues' dominant use over the run; 1 = equal
    wait_by_class: dict[str, float]  # priority class -> median wait


@dataclass(slots=True, kw_only=True)
class _Held:
    """What one subject holds since `since_ms`."""

    queue: str
    usage: dict[str, int]
    since_ms: int


@dataclass(slots=True)
class Measures:
    """Feeds on decisions in order; asks the world only for what they name.

    Under Kueue the subjects are Workloads holding quota; under the other
    stacks they are Pods holding a node.
    """

    world: World
    arrivals: dict[Key, int] = field(default_factory=dict)
    waits: dict[Key, int] = field(default_factory=dict)
    classes: dict[Key, str] = field(default_factory=dict)
    held: dict[Key, _Held] = field(default_factory=dict)
    used: dict[str, dict[str, int]] = field(default_factory=dict)  # unit x ms
    finished: int = 0
    preemptions: int = 0
    evictions: int = 0
    work_lost_ms: int = 0
    last_finish_ms: int = 0

    def observe(self, decisions: Iterable[Decision]) -> None:
        """Take the decisions of a tick or a run, in order."""
        for decision in decisions:
            self._observe(decision)

    def _observe(self, decision: Decision) -> None:
        match decision:
            case Arrive():
                self._arrive(decision)
            case Admit() if decision.subject.kind == "Workload":
                self._take(decision, decision.queue, _usage(decision))
            case Bind() if self.world.kueue is None:
                self._take(decision, *_of_pod(self.world, decision.subject))
            case Preempt():
                self.preemptions += 1
            case Evict():
                self._evict(decision)
            case Finish():
                self._finish(decision)
            case _:
                pass

    def _arrive(self, decision: Arrive) -> None:
        key = decision.subject
        if key.kind == self._subject_kind():
            self.arrivals.setdefault(key, decision.at_ms)
            obj = self.world.objects.get(key)
            self.classes[key] = _class_of(obj) if obj is not None else ""

    def _subject_kind(self) -> str:
        return "Workload" if self.world.kueue is not None else "Pod"

    def _take(self, decision: Decision, queue: str, usage: dict[str, int]) -> None:
        key = decision.subject
        arrived = self.arrivals.setdefault(key, decision.at_ms)
        self.waits.setdefault(key, decision.at_ms - arrived)
        self.held[key] = _Held(queue=queue, usage=usage, since_ms=decision.at_ms)

    def _evict(self, decision: Evict) -> None:
        self.evictions += 1
        held = self._release(decision)
        if held is not None:
            self.work_lost_ms += decision.at_ms - held.since_ms

    def _finish(self, decision: Finish) -> None:
        if decision.subject.kind in (self._subject_kind(), "Job", "JobSet"):
            self.finished += 1
            self.last_finish_ms = decision.at_ms
        self._release(decision)

    def _release(self, decision: Decision) -> _Held | None:
        held = self.held.pop(decision.subject, None)
        if held is not None:
            self._add_use(held, decision.at_ms)
        return held

    def _add_use(self, held: _Held, until_ms: int) -> None:
        queue = self.used.setdefault(held.queue, {})
        for resource, amount in held.usage.items():
            spent = amount * (until_ms - held.since_ms)
            queue[resource] = queue.get(resource, 0) + spent

    def summary(self) -> Summary:
        """Return the numbers as of now; what is still held counts up to now."""
        now = self.world.context.now_ms
        used = self._used_until(now)
        waits = sorted(self.waits.values())
        capacity = capacity_of(self.world)
        return Summary(
            end_ms=now,
            arrived=len(self.arrivals),
            admitted=len(self.waits),
            finished=self.finished,
            waiting=len(self.arrivals) - len(self.waits),
            preemptions=self.preemptions,
            evictions=self.evictions,
            wait_p50_ms=quantile(waits, 0.5),
            wait_p95_ms=quantile(waits, 0.95),
            wait_max_ms=float(waits[-1]) if waits else None,
            makespan_ms=self._makespan(),
            work_lost_ms=self.work_lost_ms,
            utilisation=_utilisation(used, capacity, now),
            used_hours=_hours(used),
            jain=_jain(used, capacity),
            wait_by_class=self._by_class(),
        )

    def _used_until(self, now: int) -> dict[str, dict[str, int]]:
        total = {queue: dict(uses) for queue, uses in self.used.items()}
        for held in self.held.values():
            queue = total.setdefault(held.queue, {})
            for resource, amount in held.usage.items():
                spent = amount * (now - held.since_ms)
                queue[resource] = queue.get(resource, 0) + spent
        return total

    def _makespan(self) -> int:
        first = min(self.arrivals.values(), default=0)
        return max(0, self.last_finish_ms - first)

    def _by_class(self) -> dict[str, float]:
        groups: dict[str, list[int]] = {}
        for key, wait in self.waits.items():
            groups.setdefault(self.classes.get(key, ""), []).append(wait)
        found = {name: quantile(sorted(w), 0.5) for name, w in sorted(groups.items())}
        return {name: value for name, value in found.items() if value is not None}


def _usage(decision: Admit) -> dict[str, int]:
    usage: dict[str, int] = {}
    for pod_set in decision.pod_sets:
        for resource, amount in pod_set.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
    return usage


def _of_pod(world: World, key: Key) -> tuple[str, dict[str, int]]:
    obj = world.objects.get(key)
    if obj is None:
        return "", {}
    queue = obj.labels.get("queue") or obj.key.namespace
    requests, _ = read_requests(obj.spec, [])
    return queue, dict(requests.exact)


def _class_of(obj: Object) -> str:
    reference = obj.spec.get("priorityClassRef") or {}
    return str(reference.get("name") or obj.spec.get("priorityClassName") or "")


def capacity_of(world: World) -> dict[str, int]:
    """Return what there is of each resource: nominal quota, else the nodes' room."""
    capacity: dict[str, int] = {}
    for resource, text in _offered(world):
        amount = amounts.canonical(resource, text)
        capacity[resource] = amounts.add(capacity.get(resource, 0), amount)
    return capacity


def _offered(world: World) -> Iterable[tuple[str, str]]:
    kinds = ("ClusterQueue", "Cohort") if world.kueue is not None else ("Node",)
    for key, obj in world.objects.items():
        if key.kind not in kinds:
            continue
        if key.kind == "Node":
            yield from (obj.status.get("allocatable") or {}).items()
            continue
        for group in obj.spec.get("resourceGroups") or []:
            for flavor in group.get("flavors") or []:
                for resource in flavor.get("resources") or []:
                    yield resource["name"], resource.get("nominalQuota", "0")


def quantile(ordered: Sequence[int], share: float) -> float | None:
    """Return a quantile by linear interpolation; None for nothing."""
    if not ordered:
        return None
    at = share * (len(ordered) - 1)
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def _utilisation(
    used: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int], now: int
) -> dict[str, float]:
    found: dict[str, float] = {}
    for resource, amount in sorted(capacity.items()):
        spent = sum(uses.get(resource, 0) for uses in used.values())
        if amount and now:
            found[resource] = spent / (amount * now)
    return found


def _hours(used: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    return {
        queue: {
            resource: spent / _HOUR_MS / (1000 if resource == amounts.CPU else 1)
            for resource, spent in sorted(uses.items())
        }
        for queue, uses in sorted(used.items())
    }


def _jain(
    used: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int]
) -> float | None:
    """Return Jain's index of the queues' dominant shares.

    Source: Jain, Chiu and Hawe, A Quantitative Measure of Fairness, 1984.
    """
    shares = [
        max(
            (spent / capacity[r] for r, spent in uses.items() if capacity.get(r)),
            default=0.0,
        )
        for uses in used.values()
    ]
    squares = sum(share * share for share in shares)
    if not squares:
        return None
    return sum(shares) ** 2 / (len(shares) * squares)
