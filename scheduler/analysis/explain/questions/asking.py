"""What could be different, so that a waiting workload gets in: the questions.

A question is a ladder of changes, cheapest first. Which of them work is not
known here; every answer is a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from scheduler.analysis.explain.changes import (
    edit,
    local_queue_for,
    move_workload,
)
from scheduler.analysis.explain.fork import kueue_of
from scheduler.analysis.explain.questions.question import CandidateChange, Question
from scheduler.analysis.explain.questions.quotas import (
    limit_questions,
    quota_questions,
    short_of,
)
from scheduler.analysis.explain.shapes import Change, Explanation
from scheduler.analysis.explain.topology.questions import relaxations
from scheduler.engine.kueue.tree.quota import available_non_negative
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model.objects import Key

_NEVER = "Never"
_MOST_MOVES = 6
_MOST_PRIORITY = 2**31 - 1


def questions(world: World, key: Key, answer: Explanation) -> list[Question]:
    """Return the candidate changes for a pending Workload, likeliest first.

    `answer` is its explanation. A workload that holds quota, or is over, gets
    no question.
    """
    work = kueue_of(world).cluster.workloads.get(key)
    if work is None or work.reserved or work.finished:
        return []
    queue = kueue_of(world).cluster.cluster_queue_of(work)
    wait = Question(
        id="wait",
        kind="wait",
        now="",
        candidates=[CandidateChange(subject="time passes", change=None)],
    )
    if queue is None:
        return [wait, *_moves(world, work, queue)]
    return [
        wait,
        *_stops(world, work, queue),
        *(_one("topology", *each) for each in _relaxations(work)),
        *quota_questions(world, queue, answer),
        *limit_questions(world, queue, answer),
        *_priority(world, work, queue),
        *_weight(world, queue, answer),
        *_policies(world, queue, answer),
        *_moves(world, work, queue),
    ]


def _one(kind: str, now: str, subject: str, change: Change, value: str) -> Question:
    candidate = CandidateChange(subject=subject, change=change, value=value)
    return Question(id=f"{kind}/{value}", kind=kind, now=now, candidates=[candidate])


def _relaxations(work: WorkloadInfo) -> Iterator[tuple[str, str, Change, str]]:
    for now, subject, value, change in relaxations(work):
        yield now, subject, change, value


# ---- what is stopped ----


def _stops(world: World, work: WorkloadInfo, queue: ClusterQueue) -> Iterator[Question]:
    if not work.active:
        change = Change(edits=[edit(work.key, active=True)])
        yield _one("active", "false", "it is active", change, "true")
    stop = queue.spec.stop
    if stop != "None":
        key = Key(queue.kind, "", queue.name)
        change = Change(edits=[edit(key, stopPolicy="None")])
        subject = f"stopPolicy of {queue.name} is None"
        yield _one("stopPolicy", stop, subject, change, queue.name)
    local_queue = Key("LocalQueue", work.namespace, work.local_queue_name)
    known = world.objects.get(local_queue)
    stop = (known.spec.get("stopPolicy") or "None") if known is not None else "None"
    if stop != "None":
        change = Change(edits=[edit(local_queue, stopPolicy="None")])
        subject = f"stopPolicy of LocalQueue {local_queue.name} is None"
        yield _one("stopPolicy", stop, subject, change, local_queue.path)


# ---- quota ----


# ---- priority and weight ----


def _priority(
    world: World, work: WorkloadInfo, queue: ClusterQueue
) -> Iterator[Question]:
    """Ask about the priorities that put it before somebody it is not before now."""
    tree = queue.root.subtree() if isinstance(queue.root, Cohort) else (queue,)
    others = {other.priority for q in tree for other in q.admitted.workloads}
    others |= {
        other.priority for other in queue.pending.workloads() if other is not work
    }
    values = sorted(
        {
            value
            for priority in others
            for value in (priority, priority + 1)
            if work.priority < value <= _MOST_PRIORITY
        }
    )
    if values:
        yield Question(
            id="priority",
            kind="priority",
            now=str(work.priority),
            candidates=[
                CandidateChange(
                    subject=f"priority is {value}",
                    change=Change(edits=[edit(work.key, priority=value)]),
                    value=str(value),
                )
                for value in values
            ],
        )


def _weight(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about fair sharing weights, where they decide something."""
    fair = kueue_of(world).preemption.fair
    if not fair or queue.parent is None or not short_of(answer):
        return
    base = math.floor(queue.weight)
    values = [*(base + more for more in range(1, 10)), base + 15, base + 31, base + 63]
    key = Key(queue.kind, "", queue.name)
    yield Question(
        id="weight",
        kind="weight",
        now=f"{queue.weight:g}",
        candidates=[
            CandidateChange(
                subject=f"{queue.name} has weight {value}",
                change=Change(edits=[edit(key, fairSharing={"weight": str(value)})]),
                value=str(value),
            )
            for value in values
        ],
    )


# ---- policies ----


def _policies(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    spec = queue.spec
    key = Key(queue.kind, "", queue.name)
    short = bool(short_of(answer))

    def policy(field: str, now: str, value: str, patch: object = None) -> Question:
        preemption = {field: patch if patch is not None else value}
        change = Change(edits=[edit(key, preemption=preemption)])
        subject = f"{field} of {queue.name} is {value}"
        return _one(field, now, subject, change, value)

    if short and queue.parent is not None and spec.reclaim != "Any":
        yield policy("reclaimWithinCohort", spec.reclaim, "Any")
    if short and spec.within_queue == _NEVER:
        yield policy("withinClusterQueue", _NEVER, "LowerPriority")
    fair = kueue_of(world).preemption.fair
    borrows = not fair and spec.reclaim != _NEVER and queue.parent is not None
    if short and borrows and spec.borrow_policy == _NEVER:
        value = "LowerPriority"
        yield policy("borrowWithinCohort", _NEVER, value, {"policy": value})
    behind = answer.waiting is not None and answer.waiting.position > 1
    if behind and spec.strategy == "StrictFIFO":
        change = Change(edits=[edit(key, queueingStrategy="BestEffortFIFO")])
        subject = f"queueingStrategy of {queue.name} is BestEffortFIFO"
        yield _one("queueingStrategy", spec.strategy, subject, change, "BestEffortFIFO")


# ---- other queues ----


def _moves(
    world: World, work: WorkloadInfo, queue: ClusterQueue | None
) -> Iterator[Question]:
    """Ask about other ClusterQueues that its namespace has a LocalQueue for, roomiest first."""
    cluster = kueue_of(world).cluster
    others = [
        other
        for other in cluster.forest.queues.values()
        if other is not queue and other.active
    ]
    asked = 0
    for other in sorted(others, key=lambda q: (-_free_for(work, q), q.name)):
        name = other.name
        if asked == _MOST_MOVES:
            return
        local_queues = (
            key.name
            for key in world.keys("LocalQueue")
            if key.namespace == work.namespace
            and world.objects[key].spec.get("clusterQueue") == name
        )
        if next(local_queues, None) is None or not cluster.matches(
            other, work.namespace
        ):
            continue
        asked += 1
        local_queue = local_queue_for(
            world, work.namespace, Key("ClusterQueue", "", name)
        )
        yield _one(
            "localQueue",
            work.local_queue_name,
            f"it is in LocalQueue {local_queue} (ClusterQueue {name})",
            move_workload(world, work.key, local_queue),
            local_queue,
        )


def _free_for(work: WorkloadInfo, queue: ClusterQueue) -> float:
    """Return how many times the request is free, in the best flavors of a queue.

    Only the order of the questions depends on it.
    """
    times = []
    for _, _, total in work.scaled_pod_sets(None):
        for resource, amount in total.items():
            if amount and resource not in queue.group_of:
                return 0.0
            if amount:
                group = queue.spec.groups[queue.group_of[resource]]
                resource_nodes = (
                    queue.resource_nodes[flavor, resource] for flavor in group.flavors
                )
                times.append(max(map(available_non_negative, resource_nodes)) / amount)
    return min(times, default=0.0)
