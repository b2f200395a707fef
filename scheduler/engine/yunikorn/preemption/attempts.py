"""Attempts to preempt: who may try when, and what follows from a plan."""

from __future__ import annotations

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.listener import Trace
from scheduler.engine.yunikorn.objects.model import Ask
from scheduler.engine.yunikorn.objects.partition import CYCLE_MS, Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan

STRATEGY = "QueueGuarantee"
MAX_ATTEMPTS = 10  # per visit of a leaf
RETRY_MS = 15_000  # between two attempts of one ask


def try_preemption(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Try to make room by preemption; at most ten attempts per visit of a leaf."""
    if not partition.spec.preemption:
        return False
    if not partition.rules.counts_attempts_made:
        if partition.attempts <= 0:
            return False
        partition.attempts -= 1
    if not _may_preempt(partition, ask):
        partition.log_failure(ask, messages.PRECONDITIONS_FAILED)
    elif partition.attempts <= 0 and partition.rules.counts_attempts_made:
        partition.due_at(partition.now_ms + CYCLE_MS, ask)
        partition.log_failure(ask, messages.ATTEMPTS_EXHAUSTED)
    else:
        partition.attempts -= int(partition.rules.counts_attempts_made)
        ask.checked_ms = partition.now_ms
        partition.listener.attempting(ask)
        partition.due_at(partition.now_ms + RETRY_MS, ask)
        if _preempt(partition, ask, nodes_tried=nodes_tried):
            return True
    return False


def _preempt(partition: Partition, ask: Ask, *, nodes_tried: bool) -> bool:
    """Ask victims to end, and reserve their node, where the laws allow it."""
    plan = _plan(partition, ask, nodes_tried=nodes_tried)
    if partition.trace is not None:
        _trace_plan(partition.trace, ask, plan, nodes_tried=nodes_tried)
    if isinstance(plan, str):
        if plan:
            partition.log_failure(ask, plan)
        return False
    partition.mark_preempted(plan.victims)
    ask.triggered = True
    partition.listener.preempting(ask, plan.victims, STRATEGY)
    for other in list(plan.node.reservations.values()):
        if other is not ask:  # long overdue: the search has looked
            partition.unreserve(other)
    partition.reserve(ask, plan.node)
    return True


def _plan(partition: Partition, ask: Ask, *, nodes_tried: bool) -> PreemptionPlan | str:
    """Return the laws' choice; equal asks of a leaf are refused alike in one cycle."""
    key = (
        ask.app.queue.path,
        ask.needs,
        frozenset(ask.resource),
        ask.priority,
        ask.predicate,
        ask.reserved_on,
        nodes_tried,
    )
    refused: str | None = partition.refused_attempts.get(key)
    if refused is not None:
        return refused
    plan = partition.laws.choose(partition, ask, nodes_tried=nodes_tried)
    if isinstance(plan, str):
        partition.refused_attempts[key] = plan
    return plan


def _trace_plan(
    trace: Trace, ask: Ask, plan: PreemptionPlan | str, *, nodes_tried: bool
) -> None:
    if isinstance(plan, str):
        trace.step("preemption", ask=ask.key, refused=plan or messages.DOES_NOT_HELP)
    else:
        keys = [victim.key for victim in plan.victims]
        node = plan.node.name
        trace.step(
            "preemption", ask=ask.key, node=node, victims=keys, nodesTried=nodes_tried
        )


def _may_preempt(partition: Partition, ask: Ask) -> bool:
    """Return whether an ask may try now.

    Source: docs/semantics/yunikorn.md#preemption-preconditions
    """
    if not ask.allow_other or ask.triggered or ask.required_node is not None:
        return False
    ready = ask.create_ms + partition.laws.delay_ms(ask.app.queue)
    if ask.checked_ms is not None:
        ready = max(ready, ask.checked_ms + RETRY_MS)
    if partition.now_ms < ready:
        partition.due_at(ready, ask)
        return False
    return True
