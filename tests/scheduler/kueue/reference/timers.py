"""Kueue's timers the slow way: some queues, second by second, everyone looked at.

Source: docs/semantics/kueue-lifecycle.md#podsready-timeout, #maximum-execution-time,
#deactivation, #stop-policies, #order-of-deadlines; kueue.md#held-localqueues;
kueue-admission-checks.md#retry-with-a-delay.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Event = tuple[int, str, str, str]  # second, admit or evict, who, why
Class = tuple[int, int]  # cores and priority: who fails alike
_START = "2026-08-01T12:00:00Z"
_NAMES = "abcdefgh"
_QUEUES = ("q0", "q1", "q2")
_NAMESPACE = {"kind": "Namespace", "metadata": {"name": "ns", "labels": {}}}
_FLAVOR = {"kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": {}}
_OFTEN = ("ready", "ready", "unready", "finish")
_OUT_OF_RETRIES = "DeactivatedDueToRequeuingLimitExceeded"
_SELDOM = ("inactive", "active", "active")


def case(draw: random.Random) -> dict[str, Any]:
    """Return a script of eight workloads in up to three queues, its times drawn."""
    queues = list(_QUEUES[: draw.randint(1, 3)])
    works = [_workload(name, i, queues, draw) for i, name in enumerate(_NAMES)]
    steps = _pod_steps(draw)
    taken = {step["atMs"] for step in steps}  # an edit and a stop at once: open order
    steps += [stop for stop in _stops(queues, draw) if stop["atMs"] not in taken]
    draw.shuffle(steps)
    return {
        "mode": "script",
        "now": _START,
        "config": {"fairSharing": None, "waitForPodsReady": _waiting(draw)},
        "objects": [
            _NAMESPACE,
            _FLAVOR,
            *(_queue(name, draw) for name in queues),
            *(_local(name, "None") for name in queues),
            *works,
        ],
        "steps": sorted(steps, key=lambda step: int(step["atMs"])),
        "untilMs": 300_000,
        "expect": {"finalPending": {}},
    }


def _waiting(draw: random.Random) -> dict[str, Any]:
    strategy: dict[str, Any] = {"backoffBaseSeconds": draw.randint(1, 30)}
    strategy["backoffMaxSeconds"] = draw.randint(5, 60)
    if draw.random() < 0.6:
        strategy["backoffLimitCount"] = draw.randint(0, 3)
    if draw.random() < 0.3:
        strategy["timestamp"] = "Creation"
    waiting: dict[str, Any] = {"timeout": f"{draw.randint(2, 40)}s"}
    waiting["requeuingStrategy"] = strategy
    if draw.random() < 0.6:
        waiting["recoveryTimeout"] = f"{draw.randint(1, 20)}s"
    return waiting


def _pod_steps(draw: random.Random) -> list[dict[str, Any]]:
    acts = [(op, 0.7) for op in _OFTEN] + [(op, 0.2) for op in _SELDOM]
    return [
        {"atMs": 1000 * draw.randint(1, 150), "op": op, "wl": f"ns/{name}"}
        for name in _NAMES
        for op, share in acts
        if draw.random() < share
    ]


def _stops(queues: list[str], draw: random.Random) -> list[dict[str, Any]]:
    policies = ["Hold", "HoldAndDrain", "None", "None"]
    return [
        {
            "atMs": 1000 * draw.randint(1, 200),
            "op": "apply",
            "object": _local(draw.choice(queues), draw.choice(policies)),
        }
        for _ in range(draw.choice([0, 0, 2, 4]))
    ]


def _queue(name: str, draw: random.Random) -> dict[str, Any]:
    quota = [{"name": "cpu", "nominalQuota": str(draw.randint(1, 4))}]
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": quota}],
    }
    spec: dict[str, Any] = {"namespaceSelector": {}, "resourceGroups": [group]}
    if draw.random() < 0.6:
        spec["cohortName"] = "c"
    return {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def _local(name: str, stop: str) -> dict[str, Any]:
    spec = {"clusterQueue": name, "stopPolicy": stop}
    metadata = {"name": name, "namespace": "ns"}
    return {"kind": "LocalQueue", "metadata": metadata, "spec": spec}


def _workload(
    name: str, number: int, queues: list[str], draw: random.Random
) -> dict[str, Any]:
    requests = {"requests": {"cpu": str(draw.randint(1, 3))}}
    template = {"spec": {"containers": [{"name": "c", "resources": requests}]}}
    spec: dict[str, Any] = {
        "queueName": draw.choice(queues),
        "priority": draw.choice([0, 0, 10]),
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }
    if draw.random() < 0.4:
        spec["maximumExecutionTimeSeconds"] = draw.randint(5, 90)
    created = f"2026-08-01T11:59:{10 + number}Z"
    metadata = {"name": name, "namespace": "ns", "uid": name}
    metadata["creationTimestamp"] = created
    return {"kind": "Workload", "metadata": metadata, "spec": spec, "status": {}}


class OpenOrderError(Exception):
    """What follows is not told by the text: two heads of a cycle tie. `events` came before."""

    def __init__(self, events: list[Event]) -> None:
        super().__init__("the text tells no more")
        self.events = events


class ReactivatedError(OpenOrderError):
    """A person activates a Workload that ran out of retries.

    The text leaves it inactive, a control plane was seen to let it run again.
    """


@dataclass(eq=False)
class _PendingQueue:
    name: str
    cohort: str
    quota: int
    stop: str = "None"  # of its LocalQueue
    failed: set[Class] = field(default_factory=set)  # until it is requeued


@dataclass(eq=False)
class _Workload:
    """One workload: what the text says of it, as plain values. Seconds."""

    name: str
    cpu: int
    priority: int
    queue: _PendingQueue
    longest: int | None
    created: float
    admitted_at: int | None = None
    ready: bool = False
    lost_at: int | None = None  # pods were ready and no longer are
    retries: int = 0
    again_at: int = 0  # no try before
    ran: int = 0  # in admissions that are over
    evicted: str = ""  # why, until it is admitted again
    evicted_at: int = 0
    active: bool = True
    off: bool = False  # taken out because it is not active
    gone: bool = False  # finished, or deactivated by Kueue
    inadmissible: bool = False  # until its tree is requeued
    stuck: bool = False  # whatever is requeued

    @property
    def alike(self) -> Class:
        return self.cpu, self.priority


@dataclass
class Timers:
    """Goes through a script second by second."""

    script: dict[str, Any]
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        given = self.script["config"]["waitForPodsReady"]
        self.strategy = given["requeuingStrategy"]
        self.timeout = int(given["timeout"][:-1])
        recovery = given.get("recoveryTimeout")
        self.recovery = None if recovery is None else int(recovery[:-1])
        found = self.script["objects"]
        queues = [_read_queue(obj) for obj in found if obj["kind"] == "ClusterQueue"]
        self.queues = {queue.name: queue for queue in queues}
        manifests = [obj for obj in found if obj["kind"] == "Workload"]
        self.works = [
            _read_work(i, obj, self.queues) for i, obj in enumerate(manifests)
        ]

    def run(self) -> list[Event]:
        """Return what is admitted and evicted, second by second."""
        for now in range(self.script["untilMs"] // 1000 + 1):
            for step in self.script["steps"]:
                if step["atMs"] == 1000 * now:
                    self._play(step, now)
            self._look(now)
            for work in self.works:
                if work.again_at == now:
                    self._enter(work)
            self._admit(now)
        return self.events

    def _look(self, now: int) -> None:
        begin = len(self.events)
        for work in self.works:
            self._expire(work, now)
        self.events[begin:] = sorted(self.events[begin:])

    def _play(self, step: dict[str, Any], now: int) -> None:
        if step["op"] == "apply":
            self._stop(step["object"]["spec"])
            return
        [work] = [w for w in self.works if w.name == step["wl"].removeprefix("ns/")]
        if work.gone:
            if step["op"] == "active" and work.evicted == _OUT_OF_RETRIES:
                raise ReactivatedError(self.events)
            if step["op"] == ("active" if work.evicted else "inactive"):
                self._requeue_inadmissible(work.queue, now)  # deactivated, or once more
        elif step["op"] in ("active", "inactive"):
            work.active = step["op"] == "active"
            if work.active and work.off:
                self._enter(work)
                work.inadmissible |= work.stuck
        elif work.admitted_at is not None:
            self._play_pods(work, step["op"], now)

    def _stop(self, spec: dict[str, Any]) -> None:
        queue = self.queues[spec["clusterQueue"]]
        if queue.stop != "None" and spec["stopPolicy"] == "None":
            for work in self.works:
                if work.queue is queue:
                    work.inadmissible = False  # tried, though its like has failed
        queue.stop = spec["stopPolicy"]

    def _enter(self, work: _Workload) -> None:
        """Put it among those to try, backoff or not, unless its like has failed."""
        work.inadmissible = work.alike in work.queue.failed

    def _requeue_inadmissible(self, queue: _PendingQueue, now: int) -> None:
        """Requeue the tree; a held LocalQueue's workloads wake nobody."""
        if queue.stop != "None":
            return
        for member in self._tree(queue):
            member.failed.clear()
        for work in self.works:
            over = work.again_at <= now and not work.stuck
            if work.queue in self._tree(queue) and over:
                work.inadmissible = False

    def _play_pods(self, work: _Workload, op: str, now: int) -> None:
        if op == "finish":
            work.gone, work.admitted_at = True, None
            self._requeue_inadmissible(work.queue, now)
        elif op == "ready":
            work.ready, work.lost_at = True, None
        elif work.ready:
            work.ready, work.lost_at = False, now

    # ---- evictions ----

    def _expire(self, work: _Workload, now: int) -> None:
        if work.gone:
            return
        if not work.active:
            if not work.evicted:
                self._evict(work, "Deactivated", now)
            if not work.off:
                work.retries = work.again_at = 0
                self._requeue_inadmissible(work.queue, now)
        work.off = not work.active
        if not work.active:
            return
        if work.admitted_at is not None:
            self._expire_admitted(work, now)

    def _expire_admitted(self, work: _Workload, now: int) -> None:
        assert work.admitted_at is not None
        if work.again_at > now:
            return  # brought back by its queue: looked at when its backoff is over
        before = work.ran
        overtime = work.longest is not None and (
            now >= work.admitted_at + work.longest - work.ran
        )
        limit = self.strategy.get("backoffLimitCount")
        if work.queue.stop == "HoldAndDrain":
            self._evict(work, "LocalQueueStopped", now)
        elif self._pods_took_too_long(work, now):
            if limit is not None and work.retries + 1 > limit:
                self._evict(work, _OUT_OF_RETRIES, now)
                work.gone = True
            else:
                self._back_off(work, now)
        if overtime and not work.gone:
            self._end_overtime(work, before, now)

    def _pods_took_too_long(self, work: _Workload, now: int) -> bool:
        assert work.admitted_at is not None
        if work.ready:
            return False
        if work.lost_at is None:
            return now >= work.admitted_at + self.timeout
        return self.recovery is not None and now >= work.lost_at + self.recovery

    def _back_off(self, work: _Workload, now: int) -> None:
        self._evict(work, "PodsReadyTimeout", now)
        work.retries += 1
        wait = self.strategy["backoffBaseSeconds"] * 2 ** (work.retries - 1)
        if work.retries > 1:
            wait = min(wait, self.strategy["backoffMaxSeconds"])
        work.again_at, work.inadmissible = now + wait, True

    def _end_overtime(self, work: _Workload, before: int, now: int) -> None:
        """Deactivate for good, unless an earlier run had left time behind."""
        work.ran -= before
        if not work.evicted:
            self._evict(work, "DeactivatedDueToMaximumExecutionTimeExceeded", now)
            work.ran, work.stuck = 0, True
        work.retries = work.again_at = 0
        work.active, work.off, work.gone = False, True, not before

    def _evict(self, work: _Workload, why: str, now: int) -> None:
        self.events.append((now, "evict", work.name, why))
        work.evicted, work.evicted_at, work.stuck = why, now, False
        if work.admitted_at is not None:
            work.ran += now - work.admitted_at
        work.admitted_at, work.ready, work.lost_at = None, False, None
        self._requeue_inadmissible(work.queue, now)

    # ---- cycles ----

    def _admit(self, now: int) -> None:
        """Run cycles until no queue has a head."""
        while heads := self._heads([w for w in self.works if self._waits(w)]):
            able = [head for head in heads if self._fits(head)]
            blocked = [h for h in heads if h not in able and h.cpu <= h.queue.quota]
            for head in heads:
                if head not in able:
                    self._set_inadmissible(head)
            self._refuse_ties(able + blocked)
            self._cycle(able, blocked, now)
            self._look(now)

    def _cycle(self, able: list[_Workload], blocked: list[_Workload], now: int) -> None:
        """Admit in order; who could only preempt, and whom nobody yields, reserves."""
        reserved: dict[_PendingQueue, int] = {}
        admitted = []
        for head in sorted(able + blocked, key=self._rank):
            if head in blocked:
                reserved[head.queue] = head.cpu
            elif self._fits(head, reserved):
                admitted.append(head)
                head.admitted_at, head.evicted = now, ""
        self.events += sorted((now, "admit", head.name, "") for head in admitted)

    def _set_inadmissible(self, head: _Workload) -> None:
        """Set it aside, and its like with it."""
        head.queue.failed.add(head.alike)
        for work in self.works:
            if work.queue is head.queue and work.alike == head.alike:
                work.inadmissible = True

    def _waits(self, work: _Workload) -> bool:
        open_ = work.queue.stop == "None" and work.active and not work.gone
        return open_ and work.admitted_at is None and not work.inadmissible

    def _heads(self, waiting: list[_Workload]) -> list[_Workload]:
        """Return the first of each queue."""
        first: dict[_PendingQueue, _Workload] = {}
        for work in sorted(waiting, key=lambda w: (*self._place(w), w.name)):
            first.setdefault(work.queue, work)
        return list(first.values())

    def _place(self, work: _Workload) -> tuple[float, float]:
        by_eviction = self.strategy.get("timestamp") != "Creation"
        timed_out = work.evicted == "PodsReadyTimeout" and by_eviction
        return -work.priority, work.evicted_at if timed_out else work.created

    def _rank(self, work: _Workload) -> tuple[bool, float, float]:
        mine = self._used([work.queue]) + work.cpu
        return mine > work.queue.quota, *self._place(work)

    def _refuse_ties(self, able: list[_Workload]) -> None:
        """Stop where the order of two heads of one cohort is open."""
        keys = [(w.queue.cohort, self._rank(w)) for w in able if w.queue.cohort]
        if len(set(keys)) < len(keys):
            raise OpenOrderError(self.events)

    def _fits(
        self, work: _Workload, reserved: Mapping[_PendingQueue, int] | None = None
    ) -> bool:
        members = self._tree(work.queue)
        quota = sum(q.quota - (reserved or {}).get(q, 0) for q in members)
        return self._used(members) + work.cpu <= quota

    def _tree(self, queue: _PendingQueue) -> list[_PendingQueue]:
        queues = self.queues.values()
        return [
            q for q in queues if q is queue or (q.cohort and q.cohort == queue.cohort)
        ]

    def _used(self, queues: list[_PendingQueue]) -> int:
        return sum(
            work.cpu
            for work in self.works
            if work.admitted_at is not None and work.queue in queues
        )


def _read_queue(manifest: dict[str, Any]) -> _PendingQueue:
    spec = manifest["spec"]
    [flavor] = spec["resourceGroups"][0]["flavors"]
    quota = int(flavor["resources"][0]["nominalQuota"])
    return _PendingQueue(
        manifest["metadata"]["name"], spec.get("cohortName", ""), quota
    )


def _read_work(
    number: int, manifest: dict[str, Any], queues: dict[str, _PendingQueue]
) -> _Workload:
    spec = manifest["spec"]
    [container] = spec["podSets"][0]["template"]["spec"]["containers"]
    return _Workload(
        name=manifest["metadata"]["name"],
        cpu=int(container["resources"]["requests"]["cpu"]),
        priority=spec["priority"],
        queue=queues[spec["queueName"]],
        longest=spec.get("maximumExecutionTimeSeconds"),
        created=float(number - 100),
    )
