"""Preemption for guarantees as yunikorn-core does it.

Source: docs/semantics/yunikorn.md#preemption-for-guarantees
"""

from __future__ import annotations

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Ask, Trace
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption.attempts import (
    CandidatesByQueue,
    candidates,
    victim_order,
)
from scheduler.engine.yunikorn.preemption.victims import (
    Snapshot,
    VictimSearch,
    candidate_nodes,
    remaining,
)
from scheduler.model.yunikorn import resources


def choose(
    partition: Partition, ask: Ask, *, nodes_tried: bool, trace: Trace | None = None
) -> PreemptionPlan | str:
    """Return the victims and their nodes, or the reason why there are none.

    "" is no reason in particular: preemption does not help. Changes nothing.
    """
    if _hopeless(ask):
        return messages.GUARANTEES_FAILED
    rules = partition.rules
    snapshot = Snapshot(
        partition.root.walk(), ask.app.queue, asked_types=rules.asked_types
    )
    found = candidates(snapshot, ask, fenced_by_next=rules.fenced_by_next)
    if not _guarantee_allows(snapshot, found, ask):
        return messages.GUARANTEES_FAILED
    ordered = sorted((pod for pods in found.values() for pod in pods), key=victim_order)
    search = VictimSearch(snapshot, ask, ordered, trace)
    plan = search.choose(candidate_nodes(partition, ask), nodes_tried=nodes_tried)
    if plan is None:
        return ""
    extra = _additional(snapshot, ask, plan, ordered)
    if extra is None or not (plan.victims or extra):
        return ""
    victims = _trimmed(ask, plan, extra)
    if trace is not None:
        keys = [pod.key for pod in extra]
        trace.step("additional", node=plan.node.name, victims=keys)
    if victims is None:
        return messages.SHORT_OF_RESOURCES
    return PreemptionPlan(plan.node, victims)


def _hopeless(ask: Ask) -> bool:
    """Return whether no victim at all could make the guarantees check pass.

    Nothing is guaranteed on the path, or the queue's own guarantee is too
    small: what others hold does not touch that. Spares the search.
    """
    leaf = ask.app.queue
    home = Snapshot(reversed(leaf.route), leaf).ask_queue
    if remaining(home) is None:
        return True
    own = home.guaranteed or {}
    return any(
        name in own and own[name] - home.used.get(name, 0) < value
        for name, value in ask.resource.items()
    )


def _guarantee_allows(snapshot: Snapshot, found: CandidatesByQueue, ask: Ask) -> bool:
    """Return whether the ask stays within the guarantee that its queue sees.

    Without a guarantee of its own, removing candidates below the same
    ancestor may make it so. Source: docs/semantics/yunikorn.md#guarantees-check
    """
    left = remaining(snapshot.ask_queue)
    fits = left is not None and resources.fits_existing(left, ask.resource)
    if fits and snapshot.asked_types:
        return True
    if not found:
        return False
    # Removing only ever frees, so that the end shows whether any step sufficed.
    snapshot.add(snapshot.ask_queue, ask.resource)
    for path, pods in found.items():
        total: dict[str, int] = {}
        for pod in pods:
            resources.add_to(total, pod.resource)
        snapshot.remove(snapshot.queues[path], total)
    enough = snapshot.within_guarantee(ask)
    snapshot.restore()
    return enough


def _additional(
    snapshot: Snapshot, ask: Ask, plan: PreemptionPlan, ordered: list[Ask]
) -> list[Ask] | None:
    """Return more victims on any node while the ask's guarantee lasts.

    None when the ask's queue would be over afterwards.
    Source: docs/semantics/yunikorn.md#additional-victims
    """
    chosen = {pod.key for pod in plan.victims}
    for pod in plan.victims:
        snapshot.remove(snapshot.queues[pod.app.queue.path], pod.resource)
    taken: list[Ask] = []
    for pod in ordered:
        if pod.key in chosen:
            continue
        queue = snapshot.queues[pod.app.queue.path]
        if not snapshot.eligible(queue, ask):
            continue
        snapshot.remove(queue, pod.resource)
        before = remaining(snapshot.ask_queue)
        if not snapshot.has_room_for(pod.resource):
            snapshot.add(queue, pod.resource)
            break
        snapshot.add(snapshot.ask_queue, pod.resource)
        if remaining(snapshot.ask_queue) == before:
            snapshot.remove(snapshot.ask_queue, pod.resource)
            snapshot.add(queue, pod.resource)
        else:
            taken.append(pod)
    untouched = not taken and snapshot.asked_types
    enough = untouched or snapshot.within_guarantee(ask)
    snapshot.restore()
    return taken if enough else None


def _trimmed(ask: Ask, plan: PreemptionPlan, extra: list[Ask]) -> list[Ask] | None:
    """Return the victims that are really needed, None when they fall short.

    What is free on the node is not counted. Source: docs/semantics/yunikorn.md#trimming-victims
    """
    total: dict[str, int] = {}
    kept: list[Ask] = []
    for pod in (*plan.victims, *extra):
        if plan.victims and pod.node is not plan.node:
            continue
        if resources.exceeds_existing(ask.resource, total):
            kept.append(pod)
        resources.add_to(total, pod.resource)
    return None if resources.exceeds_existing(ask.resource, total) else kept
