"""What an explanation says of admission checks and of usage that decays."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scheduler.analysis.explain.shapes import CheckRow, UsageRow
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.usage.decay import Usage, add
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.amounts import decimal_si
from scheduler.model.kueue.check_state import READY
from scheduler.model.sentence import Items, Sentence
from scheduler.words.why import Awaited


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
