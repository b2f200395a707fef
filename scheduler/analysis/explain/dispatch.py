"""Which worker clusters were asked for a workload, and what each of them says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scheduler.analysis.explain.shapes import ClusterRow
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue.checks import CLUSTER, connection
from scheduler.engine.multikueue.dispatch import Dispatch
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.conditions import condition, is_true
from scheduler.model.objects import Key, qualified
from scheduler.model.reasons import ADMITTED, QUOTA_RESERVED
from scheduler.model.sentence import Sentence
from scheduler.words.why import Awaited

if TYPE_CHECKING:
    from scheduler.engine.multikueue.stage import MultiKueueStage


def clusters_of(world: World, work: WorkloadInfo) -> list[ClusterRow]:
    """Return the worker clusters of a workload's check, once it holds quota.

    None without MultiKueue: before the manager's quota no cluster is asked.

    Source: docs/semantics/kueue-multikueue.md#dispatch.
    """
    stage = world.multikueue
    if stage is None or work.finished or not work.reserved:
        return []
    return [_row(world, stage, work, name) for name in stage.clusters_of(work.key)]


def _row(
    world: World, stage: MultiKueueStage, work: WorkloadInfo, cluster: str
) -> ClusterRow:
    if Key(CLUSTER, "", cluster) not in stage.checks.objects:
        return ClusterRow(cluster=cluster, state="missing")
    if cluster not in stage.workers.worlds:
        return ClusterRow(cluster=cluster, state="absent")
    found = stage.dispatches.get(work.key) or Dispatch()
    if not stage.checks.reached(cluster):
        return _lost(world, stage, work.key, cluster, ours=found.cluster == cluster)
    if stage.name_taken(cluster, work.key):
        return ClusterRow(cluster=cluster, state="taken")
    if work.key in world.workers()[cluster].objects:
        return _copy(world.workers()[cluster], work.key, cluster)
    if found.cluster:
        return ClusterRow(cluster=cluster, state="dropped")
    until = stage.next_round_ms(work.key)
    return ClusterRow(cluster=cluster, state="unasked", until_ms=until)


def _lost(
    world: World, stage: MultiKueueStage, key: Key, cluster: str, *, ours: bool
) -> ClusterRow:
    return ClusterRow(
        cluster=cluster,
        state="lost",
        until_ms=stage.lost_until_ms(key) if ours else None,
        **_words(world, connection(stage.checks.objects[Key(CLUSTER, "", cluster)])),
    )


def _copy(worker: World, key: Key, cluster: str) -> ClusterRow:
    """Return what a worker's copy waits for, or that it waits for nothing."""
    status = worker.get(key).status
    state, kind = "pending", QUOTA_RESERVED
    if is_true(status, ADMITTED):
        state, kind = "admitted", ADMITTED
    elif is_true(status, QUOTA_RESERVED):
        state = "reserved"
    return ClusterRow(
        cluster=cluster,
        state=state,
        copy=str(qualified(key, cluster)),
        **_words(worker, condition(status, kind) or {}),
    )


def _words(world: World, found: Mapping[str, Any]) -> dict[str, Any]:
    since = found.get("lastTransitionTime")
    return {
        "reason": str(found.get("reason") or ""),
        "message": str(found.get("message") or ""),
        "since_ms": world.context.ms(durations.stamp_us(since)) if since else None,
    }


def sentences_of(rows: list[ClusterRow]) -> Iterator[Sentence]:
    """Yield what each worker cluster has to do with a workload's waiting."""
    for row in rows:
        yield _sentence(row)


def _sentence(row: ClusterRow) -> Sentence:
    if row.state == "lost":
        return Awaited.LOST.said(
            cluster=row.cluster,
            since=_at(Awaited.SINCE, row.since_ms),
            words=_condition(row),
            until=_at(Awaited.UNTIL, row.until_ms),
        )
    if row.state == "unasked":
        following = _at(Awaited.NEXT, row.until_ms)
        return Awaited.UNASKED.said(cluster=row.cluster, next=following)
    if row.state in _SAID:
        return _SAID[row.state].said(cluster=row.cluster)
    return _ASKED[row.state].said(cluster=row.cluster, words=_condition(row))


def _condition(row: ClusterRow) -> Sentence | str:
    words = f"{row.message} ({row.reason})" if row.message else row.reason
    return Awaited.WORDS.said(words=words.rstrip(".")) if words else ""


def _at(words: Awaited, at_ms: int | None) -> Sentence | str:
    return "" if at_ms is None else words.said(seconds=at_ms / 1000)


_ASKED = {
    "admitted": Awaited.RUNS,
    "reserved": Awaited.RESERVED,
    "pending": Awaited.PENDING,
}
_SAID = {
    "missing": Awaited.MISSING,
    "absent": Awaited.ABSENT,
    "dropped": Awaited.DROPPED,
    "taken": Awaited.TAKEN,
}
