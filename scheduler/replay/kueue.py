"""Kueue's vectors: one cycle, cycles until quiet, or a timeline.

Source: docs/semantics/kueue-lifecycle.md#one-instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler import durations
from scheduler.amounts import text_of
from scheduler.decisions import (
    Admit,
    Decision,
    Evict,
    Finish,
    PodSetAdmission,
    Preempt,
    Replace,
)
from scheduler.kueue.configuration import Settings, read_configuration
from scheduler.kueue.stage import KueueStage
from scheduler.kueue.tree.shares import weighted_share
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.reasons import QUOTA_RESERVED
from scheduler.records.objects import Key, Object
from scheduler.replay.compare import differences
from scheduler.replay.kueue_script import Script
from scheduler.stage import Context

Vector = dict[str, Any]
Outcome = dict[str, Any]

ARRIVAL, RUNTIME = "sim/arrivalMs", "sim/runtimeMs"
_MOST_CYCLES = 200
_SECOND_PASS_MS = 1000
_COMPARED = {
    "cycle": ("admitted", "replaced", "evicted", "preempted", "pending", "shares"),
    "settle": ("events", "finalAdmitted", "finalPending"),
    "timed": ("events", "unfinished", "endMs"),
    "script": ("events", "finalAdmitted", "finalPending", "requeueCounts"),
}


def handles(vector: Vector) -> bool:
    """Return whether this is a vector of Kueue."""
    return vector.get("mode") in _COMPARED and "objects" in vector


def run(vector: Vector) -> list[str]:
    """Return the differences between what Kueue decided and what we decide."""
    expected, actual = show(vector)
    return differences(expected, actual)


def show(vector: Vector) -> tuple[Outcome, Outcome]:
    """Return what is compared: expected and actual."""
    expect = vector["expect"]
    names = _COMPARED[vector["mode"]]
    outcome = decide(vector)
    return (
        {name: expect.get(name) for name in names},
        {name: outcome.get(name) for name in names},
    )


def decide(vector: Vector) -> Outcome:
    """Return what our engine does with the input of a vector."""
    drive = {
        "cycle": _one_cycle,
        "settle": _until_quiet,
        "timed": _timeline,
        "script": _script,
    }
    return drive[vector["mode"]](vector)


def settings_of(vector: Vector) -> Settings:
    """Return the settings of a vector's config."""
    config = vector.get("config") or {}
    document = {name: value for name, value in config.items() if value is not None}
    return read_configuration(document)


def objects_of(vector: Vector) -> Iterator[Object]:
    """Yield the objects of a vector."""
    for manifest in vector["objects"]:
        metadata = manifest["metadata"]
        key = Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        status = manifest.get("status") or {}
        yield Object(key=key, manifest=manifest, status=status)


def stage_of(vector: Vector) -> KueueStage:
    """Return a stage at the vector's time with nothing in it."""
    context = Context(seed=0, epoch_us=durations.stamp_us(vector["now"]))
    return KueueStage(context, settings_of(vector))


def _loaded(vector: Vector) -> KueueStage:
    stage = stage_of(vector)
    for obj in objects_of(vector):
        stage.put(obj)
    stage.settle()
    stage.requeue_inadmissible()
    return stage


# ---- one cycle ----


def _one_cycle(vector: Vector) -> Outcome:
    stage = _loaded(vector)
    shares = _shares(stage)
    if stage.life.second_passes:
        stage.context.now_ms += _SECOND_PASS_MS
    stage.cycle()
    return {
        "admitted": _admitted(stage),
        "replaced": _replaced(stage),
        "evicted": _evicted(stage),
        "preempted": _preempted(stage),
        "pending": _pending(stage),
        "shares": shares,
    }


def _shares(stage: KueueStage) -> dict[str, int]:
    nodes = stage.cluster.forest.nodes()
    return {f"{node.kind}/{node.name}": weighted_share(node) for node in nodes}


def _admitted(stage: KueueStage) -> dict[str, Any]:
    return {
        d.subject.path: _admission(d.queue, d.pod_sets)
        for d in stage.context.journal.decisions
        if isinstance(d, Admit)
    }


def _replaced(stage: KueueStage) -> dict[str, Any] | None:
    """Return new assignments of failed nodes; a vector without any has no such key."""
    return {
        d.subject.path: _admission(d.queue, d.pod_sets)
        for d in stage.context.journal.decisions
        if isinstance(d, Replace)
    } or None


def _evicted(stage: KueueStage) -> dict[str, Any] | None:
    return {
        d.subject.path: {"reason": d.reason, "message": d.message}
        for d in stage.context.journal.decisions
        if isinstance(d, Evict)
    } or None


def _preempted(stage: KueueStage) -> dict[str, Any]:
    return {
        d.subject.path: {"reason": d.reason, "by": d.by.path if d.by else ""}
        for d in stage.context.journal.decisions
        if isinstance(d, Preempt)
    }


def _admission(queue: str, pod_sets: tuple[PodSetAdmission, ...]) -> dict[str, Any]:
    return {"clusterQueue": queue, "podSets": [_part(part) for part in pod_sets]}


def _part(part: PodSetAdmission) -> dict[str, Any]:
    written = {
        "name": part.name,
        "count": part.count,
        "flavors": part.flavors,
        "usage": {name: text_of(name, amount) for name, amount in part.usage.items()},
    }
    if part.topology is not None:
        written["topologyAssignment"] = part.topology.expanded()
    return written


def _pending(stage: KueueStage) -> dict[str, Any]:
    works = stage.cluster.workloads.values()
    return {w.name: _place(w) for w in works if not w.reserved and not w.finished}


def _place(work: WorkloadInfo) -> dict[str, Any]:
    condition = work.conditions.get(QUOTA_RESERVED)
    line = work.pending_queue
    return {
        "queued": line is not None,
        "inadmissible": line is not None and line.is_inadmissible(work),
        "reason": condition.reason if condition else "",
        "message": condition.message if condition else "",
    }


# ---- cycles until quiet ----


def _until_quiet(vector: Vector) -> Outcome:
    stage = _loaded(vector)
    events: list[dict[str, Any]] = []
    _controllers(stage)
    _report(stage, events, 0)
    quiet = 0
    for number in range(1, _MOST_CYCLES + 1):
        before = _places(stage)
        stage.context.now_ms = number * 1000
        if not stage.cycle():
            break
        _controllers(stage)
        decided = _report(stage, events, number)
        quiet = 0 if decided or _places(stage) != before else quiet + 1
        if quiet == 2:
            break
    return {
        "events": events,
        "finalAdmitted": _holding(stage),
        "finalPending": _pending(stage),
    }


def _controllers(stage: KueueStage) -> None:
    """Let evictions finish at once, then run the controllers, until all is reported."""
    stage.reconcile()
    while stage.stopping():
        for key in stage.stopping():
            stage.stopped(key)
        stage.reconcile()


def _places(stage: KueueStage) -> dict[str, bool]:
    works = stage.cluster.workloads.values()
    return {
        w.name: w.pending_queue.is_inadmissible(w)
        for w in works
        if w.pending_queue is not None
    }


def _report(stage: KueueStage, events: list[dict[str, Any]], cycle: int) -> bool:
    """Append what was decided since the last report; return whether it was anything."""
    decisions = stage.context.journal.take_decisions()
    event: dict[str, list[dict[str, Any]]] = {}
    for d in decisions:
        if isinstance(d, Admit):
            admission = _admission(d.queue, d.pod_sets)
            event.setdefault("admitted", []).append({"wl": d.subject.path, **admission})
        elif isinstance(d, Preempt):
            by = d.by.path if d.by else ""
            row = {"wl": d.subject.path, "reason": d.reason, "by": by}
            event.setdefault("preempted", []).append(row)
        elif isinstance(d, Replace):
            parts = [_part(part) for part in d.pod_sets]
            event.setdefault("replaced", []).append(
                {"wl": d.subject.path, "podSets": parts}
            )
        elif isinstance(d, Evict):
            row = {"wl": d.subject.path, "reason": d.reason}
            event.setdefault("evicted", []).append(row)
    for name in ("admitted", "replaced", "evicted", "preempted"):
        event.get(name, []).sort(key=lambda row: row["wl"])
    if event:
        events.append({"cycle": cycle, **event})
    return bool(event)


def _holding(stage: KueueStage) -> dict[str, Any]:
    return {
        w.name: _current(w)
        for w in stage.cluster.workloads.values()
        if w.cluster_queue is not None
    }


def _current(work: WorkloadInfo) -> dict[str, Any]:
    assert work.admission is not None
    parts = tuple(
        PodSetAdmission(part.name, part.count, part.flavors, part.usage, part.topology)
        for part in work.admission.pod_sets
    )
    return _admission(work.admission.queue, parts)


# ---- a script ----


def _script(vector: Vector) -> Outcome:
    """Return what happens under the steps, with the parts that the vector states."""
    script = Script(_loaded(vector), list(objects_of(vector)))
    script.run(vector["steps"], vector["untilMs"])
    stage, expect = script.stage, vector["expect"]
    counts = {w.name: w.requeue_count for w in stage.cluster.workloads.values()}
    pending = {
        name: _stated(row, expect["finalPending"].get(name))
        for name, row in _pending(stage).items()
    }
    return {
        "events": [_row(decision) for decision in script.events],
        "finalAdmitted": _holding(stage),
        "finalPending": pending,
        "requeueCounts": _stated(counts, expect.get("requeueCounts")),
    }


def _stated(row: dict[str, Any], stated: dict[str, Any] | None) -> dict[str, Any]:
    """Return the keys of a row that the vector states; all if it states none."""
    if stated is None:
        return row
    return {name: value for name, value in row.items() if name in stated}


# ---- a timeline ----


def _timeline(vector: Vector) -> Outcome:
    return Timeline(vector).run()


class Timeline:
    """Arrivals, run times and cycles on a virtual clock."""

    def __init__(self, vector: Vector) -> None:
        self.stage = stage_of(vector)
        self.arrivals: dict[int, list[Object]] = {}
        self.runtimes: dict[Key, int] = {}
        self.finishes: dict[int, dict[Key, None]] = {}
        self.ends: dict[Key, int] = {}
        self.events: list[Decision] = []
        self.decided = False  # whether the last controllers' pass reported anything
        self.now = 0
        for obj in objects_of(vector):
            self._take(obj)

    def _take(self, obj: Object) -> None:
        if obj.key.kind != "Workload":
            self.stage.put(obj)
            return
        at = int(obj.annotations.get(ARRIVAL, 0))
        self.arrivals.setdefault(at, []).append(obj)
        self.runtimes[obj.key] = int(obj.annotations.get(RUNTIME, 0))

    def run(self) -> Outcome:
        """Return the events, who never finished, and when the last one did."""
        while self.arrivals or self.finishes:
            self.now = min([*self.arrivals, *self.finishes])
            self.stage.context.now_ms = self.now
            self._finish()
            self._arrive()
            self._cycles()
        works = self.stage.cluster.workloads.values()
        unfinished = sorted(work.name for work in works if not work.finished)
        return {
            "events": [_row(decision) for decision in self.events],
            "unfinished": unfinished,
            "endMs": self.now,
        }

    def _finish(self) -> None:
        due = self.finishes.pop(self.now, {})
        for key in sorted(due):
            del self.ends[key]
            self.stage.finish(key)
        if due:
            self._controllers()

    def _arrive(self) -> None:
        due = self.arrivals.pop(self.now, [])
        for obj in due:
            self.stage.put(obj)
        if due:
            self._controllers()

    def _controllers(self) -> None:
        _controllers(self.stage)
        self._record()

    def _cycles(self) -> None:
        quiet = 0
        for _ in range(1000):
            before = self._numbers()
            if not self.stage.cycle():
                return
            self._controllers()
            quiet = 0 if self.decided or self._numbers() != before else quiet + 1
            if quiet == 2:
                return

    def _numbers(self) -> tuple[int, int]:
        lines = [queue.pending for queue in self.stage.cluster.forest.queues.values()]
        return sum(line.pending_active for line in lines), sum(
            line.pending_inadmissible for line in lines
        )

    def _record(self) -> None:
        """Take the decisions since the last time; start and cancel finishes."""
        reported = [
            d
            for d in self.stage.context.journal.take_decisions()
            if type(d) in _REPORTED
        ]
        for decision in reported:
            if isinstance(decision, Admit):
                self._start(decision.subject)
            elif not isinstance(decision, Finish):
                self._cancel(decision.subject)
        self.decided = bool(reported)
        self.events.extend(
            sorted(reported, key=lambda d: (_REPORTED[type(d)], d.subject.path))
        )

    def _start(self, key: Key) -> None:
        end = self.now + self.runtimes[key]
        self.ends[key] = end
        self.finishes.setdefault(end, {})[key] = None

    def _cancel(self, key: Key) -> None:
        end = self.ends.pop(key, None)
        if end is not None:
            del self.finishes[end][key]
            if not self.finishes[end]:
                del self.finishes[end]


#: What is reported, and in which order at one instant.
#: Source: docs/semantics/kueue-lifecycle.md#one-instant.
_REPORTED: dict[type, int] = {Finish: 0, Admit: 1, Preempt: 2, Evict: 3}


def _row(decision: Decision) -> dict[str, Any]:
    row: dict[str, Any] = {"tMs": decision.at_ms, "wl": decision.subject.path}
    match decision:
        case Admit():
            admission = _admission(decision.queue, decision.pod_sets)
            return {**row, "ev": "admit", "admission": admission}
        case Preempt():
            by = decision.by.path if decision.by else ""
            return {**row, "ev": "preempt", "by": by, "reason": decision.reason}
        case Evict():
            return {**row, "ev": "evict", "reason": decision.reason}
        case _:
            return {**row, "ev": "finish"}
