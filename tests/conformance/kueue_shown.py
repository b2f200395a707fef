"""What objects show at the end of each instant of a timed vector.

Source: docs/semantics/kueue-admission-checks.md#recorded-answers.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.controller.status import queue_verdict
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.usage.decay import Usage, add
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.amounts import decimal_si
from scheduler.model.kueue.check_state import CheckState

Row = dict[str, Any]


class Shown:
    """Notes changes of workloads' statuses and of queues' Active conditions."""

    def __init__(self, stage: KueueStage) -> None:
        self.stage = stage
        self.changes: list[Row] = []
        self.usage: list[Row] = []
        self._statuses: dict[str, Row] = {}
        self._verdicts: dict[str, tuple[bool, str, str]] = {}
        self._ledger: Row | None = None

    def queue_changes(self, now_ms: int) -> list[Row]:
        """Return an event per ClusterQueue whose Active condition changed."""
        cluster, rows = self.stage.cluster, []
        ready = True, "Ready", "Can admit new workloads"
        for name in sorted(cluster.forest.queues):
            verdict = queue_verdict(cluster, cluster.forest.queues[name])
            if verdict != self._verdicts.get(name, ready):
                active, reason, message = verdict
                row = {"name": name, "active": active, "reason": reason}
                rows.append(
                    {"tMs": now_ms, "ev": "clusterQueue", **row, "message": message}
                )
            self._verdicts[name] = verdict
        return rows

    def note(self, now_ms: int) -> None:
        """Note which workloads show something else than before."""
        works = self.stage.cluster.workloads.values()
        for work in sorted(works, key=lambda work: work.name):
            status = _status(work, self.stage.context.epoch_us)
            known = self._statuses.get(work.name)
            if status != known:
                row = {"tMs": now_ms, "wl": work.name, "status": status}
                self.changes.append(row)
            self._statuses[work.name] = status
        ledger = _ledger(self.stage)
        if ledger != self._ledger:
            self.usage.append({"tMs": now_ms, "queues": ledger})
            self._ledger = ledger


def _ledger(stage: KueueStage) -> Row:
    """Return what LocalQueues consumed and are charged, without what is nothing."""
    ledger, queues = stage.life.ledger, {}
    for local_queue, entry in {} if ledger is None else ledger.entries.items():
        consumed = _amounts(entry.consumed)
        pending = {n: a for n, p in entry.pending.items() if (a := _amounts(p))}
        if consumed or pending:
            key = local_queue.key
            queues[f"{key.namespace}/{key.name}"] = {
                "consumed": consumed,
                "pending": _amounts(add(entry.pending.values())),
            }
    return queues


def _amounts(usage: Usage) -> Row:
    return {
        name: decimal_si(amount, exponent=-9)
        for name, amount in usage.items()
        if amount
    }


def _status(work: WorkloadInfo, epoch_us: int) -> Row:
    status: Row = {
        "conditions": {
            kind: f"{c.status}|{c.reason}|{c.message}"
            for kind, c in work.conditions.items()
        }
    }
    if work.checks:
        status["checks"] = {n: _check(state) for n, state in work.checks.items()}
    if work.requeue_count or work.requeue_at_us is not None:
        status["requeue"] = {}
        if work.requeue_at_us is not None:
            status["requeue"]["atMs"] = (work.requeue_at_us - epoch_us) // 1000
        if work.requeue_count:
            status["requeue"]["count"] = work.requeue_count
    if work.evictions:
        counts = {f"{a}/{b}": n for (a, b), n in work.evictions.items()}
        status["evictions"] = counts
    if not work.active:
        status["active"] = False
    return status


def _check(check: CheckState) -> Row:
    row: Row = {"state": check.state, "message": check.message}
    if check.requeue_after_s is not None:
        row["requeueAfterSeconds"] = check.requeue_after_s
    if check.retry_count is not None:
        row["retryCount"] = check.retry_count
    if check.pod_set_updates:
        row["podSetUpdates"] = len(check.pod_set_updates)
    return row
