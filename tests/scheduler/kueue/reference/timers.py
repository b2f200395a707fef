"""Kueue's timers the slow way: one queue, second by second, everyone looked at.

Source: docs/semantics/kueue-lifecycle.md#podsready-timeout, #maximum-execution-time.
"""

from __future__ import annotations

import random
from typing import Any

Event = tuple[int, str, str, str]  # second, admit or evict, who, why
_START = "2026-08-01T12:00:00Z"
_NAMES = "abcdefgh"
_NAMESPACE = {"kind": "Namespace", "metadata": {"name": "ns", "labels": {}}}
_FLAVOR = {"kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": {}}


def case(draw: random.Random) -> dict[str, Any]:
    """Return a script of eight workloads on four cores, its times drawn."""
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
    steps = [
        {"atMs": 1000 * draw.randint(1, 150), "op": op, "wl": f"ns/{name}"}
        for name in _NAMES
        for op in ("ready", "ready", "unready", "finish")
        if draw.random() < 0.7
    ]
    draw.shuffle(steps)
    works = [_workload(name, number, draw) for number, name in enumerate(_NAMES)]
    return {
        "mode": "script",
        "now": _START,
        "config": {"fairSharing": None, "waitForPodsReady": waiting},
        "objects": [_NAMESPACE, _FLAVOR, *_queue(), *works],
        "steps": sorted(steps, key=lambda step: int(step["atMs"])),
        "untilMs": 300_000,
        "expect": {"finalPending": {}},
    }


def _queue() -> list[dict[str, Any]]:
    quota = [{"name": "cpu", "nominalQuota": "4"}]
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": quota}],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    local = {"name": "q", "namespace": "ns"}
    return [
        {"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": spec},
        {"kind": "LocalQueue", "metadata": local, "spec": {"clusterQueue": "q"}},
    ]


def _workload(name: str, number: int, draw: random.Random) -> dict[str, Any]:
    requests = {"requests": {"cpu": str(draw.randint(1, 3))}}
    template = {"spec": {"containers": [{"name": "c", "resources": requests}]}}
    spec: dict[str, Any] = {
        "queueName": "q",
        "priority": draw.choice([0, 0, 10]),
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }
    if draw.random() < 0.4:
        spec["maximumExecutionTimeSeconds"] = draw.randint(5, 90)
    created = f"2026-08-01T11:59:{10 + number}Z"
    metadata = {"name": name, "namespace": "ns", "uid": name}
    metadata["creationTimestamp"] = created
    return {"kind": "Workload", "metadata": metadata, "spec": spec, "status": {}}


class BothAtOnceError(Exception):
    """Two deadlines fell together, which the text leaves open: what came before."""

    def __init__(self, events: list[Event]) -> None:
        super().__init__("two deadlines fell together")
        self.events = events


class _TimedWorkload:
    """One workload: what the text says of it, as plain values. Seconds."""

    def __init__(self, number: int, manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        template = spec["podSets"][0]["template"]["spec"]
        self.name = str(manifest["metadata"]["name"])
        self.cpu = int(template["containers"][0]["resources"]["requests"]["cpu"])
        self.priority = int(spec["priority"])
        self.longest = spec.get("maximumExecutionTimeSeconds")
        self.created = self.queued_at = float(number - 100)
        self.admitted_at: int | None = None
        self.ready = False
        self.lost_at: int | None = None  # pods were ready and no longer are
        self.retries = 0
        self.again_at = 0  # no try before
        self.ran = 0  # in admissions that are over
        self.gone = False  # finished or deactivated


class Timers:
    """Goes through a script second by second."""

    def __init__(self, script: dict[str, Any]) -> None:
        given = script["config"]["waitForPodsReady"]
        self.strategy = given["requeuingStrategy"]
        self.timeout = int(given["timeout"][:-1])
        recovery = given.get("recoveryTimeout")
        self.recovery = None if recovery is None else int(recovery[:-1])
        found = [obj for obj in script["objects"] if obj["kind"] == "Workload"]
        self.works = [_TimedWorkload(number, obj) for number, obj in enumerate(found)]
        self.events: list[Event] = []
        self.script = script

    def run(self) -> list[Event]:
        """Return what is admitted and evicted, second by second."""
        for now in range(self.script["untilMs"] // 1000 + 1):
            for step in self.script["steps"]:
                if step["atMs"] == 1000 * now:
                    self._play(step["op"], step["wl"].removeprefix("ns/"), now)
            for work in self.works:
                self._expire(work, now)
            self._admit(now)
        return self.events

    def _play(self, op: str, name: str, now: int) -> None:
        [work] = [work for work in self.works if work.name == name]
        if work.gone or work.admitted_at is None:
            return
        if op == "finish":
            work.gone, work.admitted_at = True, None
        elif op == "ready":
            work.ready, work.lost_at = True, None
        elif work.ready:
            work.ready, work.lost_at = False, now

    def _expire(self, work: _TimedWorkload, now: int) -> None:
        if work.admitted_at is None or work.gone:
            return
        overtime = work.longest is not None and (
            now >= work.admitted_at + work.longest - work.ran
        )
        if overtime and self._pods_took_too_long(work, now):
            raise BothAtOnceError(self.events)
        if self._pods_took_too_long(work, now):
            limit = self.strategy.get("backoffLimitCount")
            if limit is not None and work.retries + 1 > limit:
                self._deactivate(work, "RequeuingLimitExceeded", now)
            else:
                self._back_off(work, now)
        elif overtime:
            self._deactivate(work, "MaximumExecutionTimeExceeded", now)

    def _pods_took_too_long(self, work: _TimedWorkload, now: int) -> bool:
        assert work.admitted_at is not None
        if work.ready:
            return False
        if work.lost_at is None:
            return now >= work.admitted_at + self.timeout
        return self.recovery is not None and now >= work.lost_at + self.recovery

    def _back_off(self, work: _TimedWorkload, now: int) -> None:
        assert work.admitted_at is not None
        self.events.append((now, "evict", work.name, "PodsReadyTimeout"))
        work.retries += 1
        wait = self.strategy["backoffBaseSeconds"] * 2 ** (work.retries - 1)
        if work.retries > 1:
            wait = min(wait, self.strategy["backoffMaxSeconds"])
        work.again_at, work.ran = now + wait, work.ran + now - work.admitted_at
        work.admitted_at, work.ready, work.lost_at = None, False, None
        if self.strategy.get("timestamp") != "Creation":
            work.queued_at = now

    def _deactivate(self, work: _TimedWorkload, why: str, now: int) -> None:
        self.events.append((now, "evict", work.name, f"DeactivatedDueTo{why}"))
        work.gone, work.admitted_at = True, None

    def _admit(self, now: int) -> None:
        waiting = [
            work
            for work in self.works
            if work.admitted_at is None and not work.gone and work.again_at <= now
        ]
        waiting.sort(key=lambda work: (-work.priority, work.queued_at, work.name))
        for work in waiting:
            used = sum(w.cpu for w in self.works if w.admitted_at is not None)
            if used + work.cpu <= 4:
                work.admitted_at = now
                self.events.append((now, "admit", work.name, ""))
