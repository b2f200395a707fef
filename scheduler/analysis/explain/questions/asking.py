"""What could be different, so that a waiting workload gets in: the questions.

A question is a ladder of changes, cheapest first. Which of them work is not
known here; every answer is a run.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from scheduler.analysis.explain import namespaces
from scheduler.analysis.explain.changes import (
    add_quota,
    edit,
    kueue_of,
    listed,
    local_queue_for,
    move_workload,
    without_limit,
)
from scheduler.analysis.explain.flavor_options import (
    MOST_KEEPERS,
    borrowing_bound,
    keepers,
)
from scheduler.analysis.explain.shapes import Amount, Change, Explanation, FlavorRow
from scheduler.analysis.explain.topology.searches import relaxations
from scheduler.engine.kueue.tree.quota import available_non_negative
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model import amounts
from scheduler.model.objects import Key
from scheduler.model.sentence import several

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
        *_namespace(world, work, queue),
        *(_one("topology", *each) for each in _relaxations(work)),
        *_placements(world, work, queue, answer),
        *quota_questions(world, queue, answer),
        *limit_questions(world, queue, answer),
        *_priority(world, work, queue),
        *_weight(world, queue, answer),
        *_policies(world, work, queue, answer),
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


# ---- what its namespace keeps it from ----


def _namespace(
    world: World, work: WorkloadInfo, queue: ClusterQueue
) -> Iterator[Question]:
    cluster = kueue_of(world).cluster
    for kind, found in namespaces.changes_of(world, cluster, work, queue):
        candidates = [
            CandidateChange(subject=subject, change=change, value=value)
            for _, subject, change, value in found
        ]
        yield Question(id=kind, kind=kind, now=found[0][0], candidates=candidates)


# ---- what no flavor of the queue can run ----


def _placements(
    world: World, work: WorkloadInfo, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about resources that no group covers, and selectors that bar its flavors."""
    key = Key(queue.kind, "", queue.name)
    missing: dict[str, int] = {}
    for row in answer.flavors:
        if row.verdict == "uncovered":
            missing[row.resource] = missing.get(row.resource, 0) + int(row.requested)
    groups = copy.deepcopy(list(world.objects[key].spec.get("resourceGroups") or ()))
    if missing and groups:
        first = groups[0]
        texts = {name: amounts.text_of(name, n) for name, n in missing.items()}
        first["coveredResources"] = [*first["coveredResources"], *missing]
        more = [{"name": name, "nominalQuota": text} for name, text in texts.items()]
        for flavor in first["flavors"]:
            flavor["resources"] = [*flavor["resources"], *more]
        named = ", ".join(f"{text} {name}" for name, text in texts.items())
        subject = f"{queue.name} covers {named} in its first resource group"
        change = Change(edits=[edit(key, resourceGroups=groups)])
        yield _one("coveredResources", "", subject, change, ", ".join(missing))
    pod_sets = copy.deepcopy([dict(part) for part in work.pod_set_specs])
    found: dict[str, str] = {}
    for part in pod_sets:
        found |= (part["template"].get("spec") or {}).pop("nodeSelector", None) or {}
    if found and any(row.verdict == "barred" for row in answer.flavors):
        now = ", ".join(f"{name}={value}" for name, value in found.items())
        change = Change(edits=[edit(work.key, podSets=pod_sets)])
        yield _one("nodeSelector", now, f"it has no nodeSelector {now}", change, "")


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


def _above_threshold(answer: Explanation, priority: int) -> int | None:
    """Return the highest priority that the threshold alone keeps from going."""
    tests = (step.test for search in answer.searches for step in search.steps)
    found = [
        test.priority
        for test in tests
        if test is not None
        and test.threshold is not None
        and test.priority is not None
        and test.threshold < test.priority < priority
    ]
    return max(found, default=None)


def _policies(
    world: World, work: WorkloadInfo, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    spec, held = queue.spec, queue.spec.preemption
    key = Key(queue.kind, "", queue.name)
    short = bool(short_of(answer))

    def policy(field: str, now: str, value: str, patch: object = None) -> Question:
        preemption = {field: patch if patch is not None else value}
        change = Change(edits=[edit(key, preemption=preemption)])
        subject = f"{field} of {queue.name} is {value}"
        return _one(field, now, subject, change, value)

    if short and queue.parent is not None and held.reclaim != "Any":
        yield policy("reclaimWithinCohort", held.reclaim, "Any")
    if short and held.within_queue == _NEVER:
        yield policy("withinClusterQueue", _NEVER, "LowerPriority")
    fair = kueue_of(world).preemption.fair
    borrows = not fair and held.reclaim != _NEVER and queue.parent is not None
    if short and borrows and held.borrow_policy == _NEVER:
        value = "LowerPriority"
        yield policy("borrowWithinCohort", _NEVER, value, {"policy": value})
    barred = _above_threshold(answer, work.priority)
    if short and held.borrow_threshold is not None and barred is not None:
        now, value = str(held.borrow_threshold), str(barred)
        patch = {"borrowWithinCohort": {"maxPriorityThreshold": barred}}
        subject = f"borrowWithinCohort.maxPriorityThreshold of {queue.name} is {value}"
        change = Change(edits=[edit(key, preemption=patch)])
        yield _one("maxPriorityThreshold", now, subject, change, value)
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


# ------------------------------------------------------------------------
# How much more quota, or how much higher a limit, would let a workload in.


Added = dict[tuple[str, str], int]
_SHORT = ("noFit", "noCandidates", "preempt", "reclaim")
#: A ladder of quota has at most this many candidates up to what is short.
_MOST_STEPS = 32
_MOST_FLAVORS = 3
_BEYOND = (10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)


def short_of(answer: Explanation) -> dict[str, list[FlavorRow]]:
    """Return the rows that are short, by flavor in order."""
    found: dict[str, list[FlavorRow]] = {}
    for row in answer.flavors:
        if row.verdict in _SHORT and int(row.shortfall) > 0:
            found.setdefault(row.flavor, []).append(row)
    return dict(list(found.items())[:_MOST_FLAVORS])


def _missing(rows: list[FlavorRow]) -> Added:
    """Return what is short per place; several podsets ask one after the other."""
    short: Added = {}
    for row in rows:
        place = (row.flavor, row.resource)
        short[place] = max(short.get(place, 0), int(row.shortfall))
    return short


def quota_questions(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about nominal quota of the ClusterQueue, in each flavor that is short."""
    key = Key(queue.kind, "", queue.name)
    for flavor, rows in short_of(answer).items():
        short = _missing(rows)
        ladder, hint = _ladder(short, rows)
        yield Question(
            id=f"nominalQuota/{flavor}",
            kind="nominalQuota",
            now=several(listed({(f, r): _nominal(queue, (f, r)) for f, r in short})),
            candidates=[
                CandidateChange(
                    subject=(
                        f"{queue.name} has +{several(listed(added))} nominal quota "
                        f"in flavor {flavor}"
                    ),
                    change=add_quota(world, key, added),
                    value=flavor,
                    amounts=listed(added),
                )
                for added in ladder
            ],
            hint=hint,
        )


def _nominal(queue: ClusterQueue, place: tuple[str, str]) -> int:
    resource_node = queue.resource_nodes.get(place)
    return resource_node.nominal if resource_node is not None else 0


def _ladder(short: Added, rows: list[FlavorRow]) -> tuple[list[Added], int]:
    """Return amounts in equal steps up to what is short, then in growing ones.

    Others who wait may take what is added first, so that more than what is
    short may be needed: up to 16 times that. The step is one that request and shortfall are multiples of, where that is
    not too fine. The hint is what is short.
    """
    first = next(iter(short))
    unit = math.gcd(short[first], *(int(r.requested) for r in rows if r.requested))
    count = max(1, min(_MOST_STEPS, short[first] // max(1, unit)))
    beyond = sorted({-(-count * eighths // 8) for eighths in _BEYOND})
    steps = [*range(1, count + 1), *(step for step in beyond if step > count)]
    ladder = [
        {place: -(-amount * step // count) for place, amount in short.items()}
        for step in steps
    ]
    return ladder, count - 1


def limit_questions(
    world: World, queue: ClusterQueue, answer: Explanation
) -> Iterator[Question]:
    """Ask about the limits that keep the workload short of what its tree has free.

    Those of the ClusterQueue and the cohorts above it to borrow, of others to lend.
    """
    for flavor, rows in short_of(answer).items():
        found: dict[tuple[QuotaNode, str], Added] = {}
        for place, amount in _missing(rows).items():
            node = queue.resource_nodes.get(place)
            if node is None:
                continue
            limited = [(one, "borrowingLimit") for one in borrowing_bound(node)]
            limited += [(one, "lendingLimit") for one in keepers(node)[:MOST_KEEPERS]]
            for one, field_name in limited:
                found.setdefault((one.node, field_name), {})[place] = amount
        for (holder, field_name), short in found.items():
            yield _limit(world, holder, field_name, flavor, short, rows)


def _limit(
    world: World,
    holder: QuotaNode,
    name: str,
    flavor: str,
    short: Added,
    rows: list[FlavorRow],
) -> Question:
    """Ask how much higher a limit has to be, and last of all about none."""
    key = Key(holder.kind, "", holder.name)
    ladder, hint = _ladder(short, rows)
    candidates = [
        CandidateChange(
            subject=(
                f"{name} of {holder.name} in flavor {flavor} is "
                f"{several(listed(added))} higher"
            ),
            change=add_quota(world, key, added, name),
            value=flavor,
            amounts=listed(added),
        )
        for added in ladder
    ]
    removed = CandidateChange(
        subject=f"{holder.name} has no {name} in flavor {flavor}",
        change=without_limit(world, key, set(short), name),
        value=flavor,
    )
    nodes = {place: holder.resource_nodes[place] for place in short}
    now = {
        place: (one.borrowing_limit if name == "borrowingLimit" else one.lending_limit)
        or 0
        for place, one in nodes.items()
    }
    return Question(
        id=f"{name}/{holder.name}/{flavor}",
        kind=name,
        now=several(listed(now)),
        candidates=[*candidates, removed],
        hint=hint,
    )


# ------------------------------------------------------------------------
# One question: a ladder of changes, cheapest first, of which every one is really run.


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateChange:
    """One change to try: the sentence "would be admitted if ..." and the patch."""

    subject: str
    change: Change | None
    value: str = ""
    amounts: list[Amount] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One kind of change; `hint` is the candidate that is likely to be the smallest."""

    id: str
    kind: str
    now: str
    candidates: list[CandidateChange]
    hint: int = 0
