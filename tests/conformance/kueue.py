"""Kueue's vectors: one cycle, cycles until quiet, or a timeline.

Source: docs/semantics/kueue-lifecycle.md#one-instant.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.tree.quota import weighted_share
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.decisions import Admit, Evict, PodSetAdmission, Preempt, Replace
from scheduler.model.reasons import QUOTA_RESERVED
from tests.conformance.compare import differences, with_rounding
from tests.conformance.kueue_inputs import objects_of, stage_of
from tests.conformance.kueue_rows import admission_row, event_row, pod_set_row
from tests.conformance.kueue_script import Script
from tests.conformance.kueue_timed import Timeline

Vector = dict[str, Any]
Outcome = dict[str, Any]

_MOST_CYCLES = 200
_SECOND_PASS_MS = 1000
_COMPARED = {
    "cycle": ("admitted", "replaced", "evicted", "preempted", "pending", "shares"),
    "settle": ("events", "finalAdmitted", "finalPending"),
    "timed": ("events", "unfinished", "endMs"),
    "script": ("events", "finalAdmitted", "finalPending", "requeueCounts"),
}
#: Compared where they were recorded.
_FINER = ("changes", "finalPending", "usage")


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
    names = [*_COMPARED[vector["mode"]], *(n for n in _FINER if n in expect)]
    outcome = decide(vector)
    if "usage" in expect:
        outcome["usage"] = with_rounding(expect["usage"], outcome["usage"])
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


def loaded(vector: Vector) -> KueueStage:
    """Return a stage that was shown the objects of a vector and is settled."""
    stage = stage_of(vector)
    for obj in objects_of(vector):
        stage.put(obj)
    stage.settle()
    stage.requeue_inadmissible()
    return stage


# ---- one cycle ----


def _one_cycle(vector: Vector) -> Outcome:
    stage = loaded(vector)
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
        d.subject.path: admission_row(d.queue, d.pod_sets)
        for d in stage.context.journal.decisions
        if isinstance(d, Admit)
    }


def _replaced(stage: KueueStage) -> dict[str, Any] | None:
    """Return new assignments of failed nodes; a vector without any has no such key."""
    return {
        d.subject.path: admission_row(d.queue, d.pod_sets)
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
    stage = loaded(vector)
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
        "finalAdmitted": _admitted_workloads(stage),
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
            admission = admission_row(d.queue, d.pod_sets)
            event.setdefault("admitted", []).append({"wl": d.subject.path, **admission})
        elif isinstance(d, Preempt):
            by = d.by.path if d.by else ""
            row = {"wl": d.subject.path, "reason": d.reason, "by": by}
            event.setdefault("preempted", []).append(row)
        elif isinstance(d, Replace):
            parts = [pod_set_row(part) for part in d.pod_sets]
            event.setdefault("replaced", []).append(
                {"wl": d.subject.path, "podSets": parts}
            )
        elif isinstance(d, Evict):
            row = {"wl": d.subject.path, "reason": d.reason}
            event.setdefault("evicted", []).append(row)
    # Before the first cycle evictions stand as the controller went about them.
    for name in ("admitted", "replaced", *(("evicted",) if cycle else ()), "preempted"):
        event.get(name, []).sort(key=lambda row: row["wl"])
    if event:
        events.append({"cycle": cycle, **event})
    return bool(event)


def _admitted_workloads(stage: KueueStage) -> dict[str, Any]:
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
    return admission_row(work.admission.queue, parts)


# ---- a script ----


def _script(vector: Vector) -> Outcome:
    """Return what happens under the steps, with the parts that the vector states."""
    script = Script(loaded(vector), list(objects_of(vector)))
    script.run(vector["steps"], vector["untilMs"])
    stage, expect = script.stage, vector["expect"]
    counts = {w.name: w.requeue_count for w in stage.cluster.workloads.values()}
    pending = {
        name: _stated(row, expect["finalPending"].get(name))
        for name, row in _pending(stage).items()
    }
    return {
        "events": [event_row(decision) for decision in script.events],
        "finalAdmitted": _admitted_workloads(stage),
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
    timeline = Timeline(vector)
    outcome = timeline.run()
    return {**outcome, "finalPending": _pending(timeline.stage)}
