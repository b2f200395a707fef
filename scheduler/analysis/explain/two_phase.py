"""What an explanation says of admission checks and of usage that decays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scheduler.analysis.explain.shapes import CheckRow, ClusterRow, UsageRow
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.usage.decay import Usage, add
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue.checks import CLUSTER, connection
from scheduler.engine.multikueue.copies import Dispatch
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.amounts import decimal_si
from scheduler.model.kueue.check_state import READY
from scheduler.model.objects import Key, qualified
from scheduler.model.reasons import ADMITTED, QUOTA_RESERVED, condition, is_true
from scheduler.model.sentence import Items, Sentence
from scheduler.words.why import Awaited

if TYPE_CHECKING:
    from scheduler.engine.multikueue.stage import MultiKueueStage


def checks_of(stage: KueueStage, work: WorkloadInfo) -> list[CheckRow]:
    """Return the checks of a workload, with when a rule answers each."""
    return [
        CheckRow(
            name=name,
            state=check.state,
            message=check.message,
            since_ms=stage.context.ms(check.since_us) if check.since_us else None,
            answers_ms=stage.answers.answers_at(work, name),
        )
        for name, check in work.checks.items()
    ]


def usage_of(
    stage: KueueStage, work: WorkloadInfo, queue: ClusterQueue
) -> list[UsageRow]:
    """Return the LocalQueues of a ClusterQueue, least used first; none without AFS."""
    ledger = stage.life.ledger
    if ledger is None or not queue.spec.usage_based:
        return []
    rows = []
    for local_queue in stage.cluster.local_queues_of.get(queue.name, ()):
        value, entry = ledger.value(local_queue), ledger.entries.get(local_queue)
        spec = local_queue.spec
        rows.append(
            UsageRow(
                local_queue=str(local_queue.key),
                weight=1.0 if spec is None else spec.weight,
                usage=None if value == math.inf else value,
                consumed=_texts(entry.consumed if entry else {}),
                pending=_texts(add(entry.pending.values()) if entry else {}),
                ours=local_queue is work.local_queue,
            )
        )
    return sorted(rows, key=lambda r: (r.usage is None, r.usage or 0.0, r.local_queue))


def sentences_of(checks: list[CheckRow], usage: list[UsageRow]) -> Iterator[Sentence]:
    """Yield sentences on how admission checks and usage keep it pending."""
    waits = tuple(_answer(row) for row in checks if row.state != READY)
    if waits:
        yield Awaited.CHECKS.said(checks=Items(waits, all=True))
    for place, row in enumerate(usage, 1):
        if row.ours and len(usage) > 1:
            used = Awaited.INFINITE.said() if row.usage is None else row.usage
            yield Awaited.USAGE.said(used=used, place=place, of=len(usage))


def _answer(row: CheckRow) -> Sentence:
    name, state, message = row.name, row.state, row.message
    if row.answers_ms is None and message:
        return Awaited.CHECK_SAYS.said(name=name, state=state, message=message)
    if row.answers_ms is None:
        return Awaited.CHECK.said(name=name, state=state)
    seconds = row.answers_ms / 1000
    if message:
        return Awaited.CHECK_SAYS_AT.said(
            name=name, state=state, message=message, seconds=seconds
        )
    return Awaited.CHECK_AT.said(name=name, state=state, seconds=seconds)


def _texts(usage: Usage) -> dict[str, str]:
    return {
        name: decimal_si(amount, exponent=-9) for name, amount in sorted(usage.items())
    }


# ------------------------------------------------------------------------
# Which worker clusters were asked for a workload, and what each of them says.


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


def dispatch_sentences(rows: list[ClusterRow]) -> Iterator[Sentence]:
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
