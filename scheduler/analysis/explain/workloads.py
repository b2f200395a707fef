"""Why a workload is where it is: one admission cycle on a copy, written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.analysis.explain import namespaces, places, sentences, two_phase
from scheduler.analysis.explain.changes import fork_kueue, kueue_of, object_of
from scheduler.analysis.explain.flavor_options import FlavorOptions, limits_of
from scheduler.analysis.explain.searches import Reader, cost_of, decisive
from scheduler.analysis.explain.shapes import (
    Amount,
    Condition,
    Explanation,
    FlavorAttempt,
    NodeName,
    Victim,
    Waiting,
)
from scheduler.analysis.explain.topology.searches import topology_searches
from scheduler.engine.kueue.controller.evictions import kept_out
from scheduler.engine.kueue.scheduler.cycle import Cycle
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import Wanted, expected
from scheduler.model.reasons import (
    ADMITTED,
    DEACTIVATION_TARGET,
    EVICTED,
    FINISHED,
    MISCONFIGURED,
    QUOTA_RESERVED,
)
from scheduler.model.releases.release import coarse
from scheduler.model.sentence import Items, Quantity, Sentence, few
from scheduler.words.gaps import of_proposal
from scheduler.words.why import NotTried, Short, Why

#: Of those before a workload in its line, this many are named.
MOST_AHEAD = 10


def explain(world: World, key: Key) -> Explanation:
    """Return why a Workload is where it is, at this instant.

    One admission cycle is run on a copy, with this workload as the head of its
    queue and its search begun at the first flavor. Raises SchedulerError for
    what is not a Workload of this world. O(workloads that hold quota, and queues); those
    that wait are only counted.
    """
    kueue_of(world)
    if key.kind != "Workload":
        raise SchedulerError(expected(Wanted.WORKLOAD, given=key))
    object_of(world, key)
    return explain_with(world, key, fork_kueue(world, tried=key))


def explain_with(world: World, key: Key, stage: KueueStage) -> Explanation:
    """Return the explanation of a Workload by a copy of the world's Kueue stage.

    The copy is whole, or good for one cycle with this Workload; it is spent.
    """
    work = stage.cluster.workloads.get(key)
    answer = _blank(world, key, world.get(key).status)
    slices: list[Sentence] = []
    bars: list[Sentence] = []
    if work is not None:
        slices = [
            *sentences.of_slice(stage.cluster, work),
            *sentences.of_variants(stage.cluster, work),
        ]
        # Whom it waits behind may be left out of the copy.
        live = kueue_of(world)
        line = live if live.handlers.settled else stage
        answer.waiting = waiting_of(line, line.cluster.workloads[key])
        _fill(answer, stage, work)
        queue = _queue_of(stage, work)
        if queue is not None and answer.attempt.reason == MISCONFIGURED:
            bars = [*namespaces.sentences_of(world, stage.cluster, work, queue)]
        if work.reserved:
            bars = [*_holds(world, work)]
        answer.clusters = two_phase.clusters_of(world, work)
    answer.said = [
        *of_proposal(world.policy.spec),
        *places.sentences_of(world, key),  # first: they are what it waits for
        *slices,
        *sentences.of(answer, bars),
        *(_selectors(world, work, answer) if work is not None else ()),
        *two_phase.sentences_of(answer.checks, answer.usage),
        *two_phase.dispatch_sentences(answer.clusters),
    ]
    answer.sentences = [sentence.text for sentence in answer.said]
    return answer


def _holds(world: World, work: WorkloadInfo) -> Iterator[Sentence]:
    """Yield the quota that a Workload holds, and how much its queue borrows there."""
    held: dict[str, list[Quantity]] = {}
    borrowed: dict[str, list[Quantity]] = {}
    for node, amount in work.usage:
        flavor, resource = node.flavor_resource
        held.setdefault(flavor, []).append(Quantity(resource, str(amount)))
        if (over := node.usage - node.nominal) > 0 and node.node.parent is not None:
            borrowed.setdefault(flavor, []).append(Quantity(resource, str(over)))
    for flavor, parts in held.items():
        more = borrowed.get(flavor, [])
        word = Why.BORROWS if more else Why.HOLDS
        queue = work.cluster_queue.name if work.cluster_queue is not None else ""
        yield word.said(held=few(parts), flavor=flavor, queue=queue, borrowed=few(more))
    status = world.get(work.key).status.get("admission") or {}
    given = sum(one.get("count") or 0 for one in status.get("podSetAssignments") or ())
    asked = sum(int(part.get("count") or 0) for part in work.pod_set_specs)
    if 0 < given < asked:
        yield Why.REDUCED.said(n=given, of=asked)


def _selectors(
    world: World, work: WorkloadInfo, answer: Explanation
) -> Iterator[Sentence]:
    """Yield the labels of each flavor that the nodeSelector of its pods bars."""
    asked: dict[str, str] = {}
    for part in work.pod_set_specs:
        asked |= (part["template"].get("spec") or {}).get("nodeSelector") or {}
    barred = [row.flavor for row in answer.flavors if row.verdict == "barred"]
    for name in dict.fromkeys(barred):
        flavor = world.objects.get(Key("ResourceFlavor", "", name))
        given = (flavor.spec.get("nodeLabels") if flavor is not None else None) or {}
        apart = {key: value for key, value in asked.items() if given.get(key) != value}
        if given.keys() & apart.keys():
            yield Short.SELECTOR.said(
                asked=_labels(apart), flavor=name, given=_labels(given)
            )


def _labels(given: Mapping[str, str]) -> Items:
    return few(f"{key}={value}" for key, value in given.items())


def _blank(world: World, key: Key, status: Mapping[str, Any]) -> Explanation:
    """Return what the object alone says: enough for what finished or is to come."""
    conditions = [
        Condition(
            type=item["type"],
            status=item["status"] == "True",
            reason=item.get("reason", ""),
            message=item.get("message", ""),
            since_ms=world.context.ms(durations.stamp_us(item["lastTransitionTime"])),
        )
        for item in status.get("conditions") or ()
    ]
    arrives = world.lifetime.waits(key)
    why = (NotTried.FUTURE if arrives else NotTried.FINISHED).said()
    return Explanation(
        workload=str(key),
        at_ms=world.context.now_ms,
        tick=world.tick,
        state="future" if arrives else "finished",
        priority=int(world.objects[key].spec.get("priority") or 0),
        chain=[],
        condition=next((c for c in conditions if c.type == FINISHED), None),
        conditions=conditions,
        waiting=None,
        attempt=FlavorAttempt(
            ran=False, status="", reason="", message=why.text, said=why
        ),
        flavors=[],
        searches=[],
        cost=cost_of([]),
        decisive=None,
        sentences=[],
    )


def _fill(answer: Explanation, stage: KueueStage, work: WorkloadInfo) -> None:
    """Say where a workload that has not finished stands, and try it."""
    queue = _queue_of(stage, work)
    answer.state, answer.priority = state_of(work), work.priority
    answer.chain = list(_chain(work, queue))
    answer.condition = _deciding(answer)
    answer.checks = two_phase.checks_of(stage, work)
    if queue is not None:
        answer.usage = two_phase.usage_of(stage, work, queue)
    if queue is None:
        answer.attempt = _untried(answer, _leads_nowhere(work))
        return
    options = FlavorOptions(work, queue)
    answer.flavors = options.rows
    problem = _barred(stage, work, queue)
    if problem is not None:
        answer.attempt = _untried(answer, problem)
        return
    trace = Trace()
    answer.attempt = attempt(stage, work, queue, trace)
    options.take(trace.steps)
    for row in answer.flavors:
        row.limits = list(limits_of(queue, row))
    answer.searches = Reader(stage).searches(trace.steps)
    answer.cost = cost_of(answer.searches)
    answer.topology = topology_searches(trace.steps)
    targets = [(victim.workload, victim.reason) for victim in answer.attempt.targets]
    answer.decisive = decisive(answer.searches, targets)


def state_of(work: WorkloadInfo) -> str:
    """Return the state of a workload that has not finished; see Explanation."""
    if not work.active:
        return "inactive"
    if work.reserved:
        held = "admitted" if work.has_condition(ADMITTED) else "reserved"
        return "evicted" if work.evicted else held
    return "requeued" if work.evicted else "pending"


def waits(work: WorkloadInfo) -> bool:
    """Return whether a workload waits: it has no quota, or it was told to give it back."""
    over = work.finished or not work.active
    return not over and (work.evicted or not work.reserved)


def _queue_of(stage: KueueStage, work: WorkloadInfo) -> ClusterQueue | None:
    return (
        work.cluster_queue
        if work.cluster_queue is not None
        else stage.cluster.cluster_queue_of(work)
    )


def _chain(work: WorkloadInfo, queue: ClusterQueue | None) -> Iterator[NodeName]:
    yield NodeName(kind="LocalQueue", name=work.local_queue_name)
    if queue is not None:
        yield NodeName(kind=queue.kind, name=queue.name)
        for cohort in queue.ancestors:
            yield NodeName(kind=cohort.kind, name=cohort.name)


def _deciding(answer: Explanation) -> Condition | None:
    """Return the condition that says the state."""
    by_type = {condition.type: condition for condition in answer.conditions}
    evicted = by_type.get(EVICTED)
    if answer.state in ("evicted", "inactive") and evicted is not None:
        return evicted
    wanted = ADMITTED if answer.state == "admitted" else QUOTA_RESERVED
    return by_type.get(wanted)


def waiting_of(stage: KueueStage, work: WorkloadInfo) -> Waiting | None:
    """Return its place in line; None when it waits in none."""
    line = work.pending_queue
    queue = stage.cluster.cluster_queue_of(work)
    if line is None or queue is None or kept_out(work):
        return None
    sticky = line.preemptor
    usage_of = line.usage_of or (lambda _: 0.0)
    members = sorted(
        line.workloads(),
        key=lambda w: (usage_of(w.local_queue), w is not sticky, w.queue_order),
    )
    at = members.index(work)
    later = work.requeue_at_us
    return Waiting(
        position=at + 1,
        of=len(members),
        ahead=[str(other.key) for other in members[max(0, at - MOST_AHEAD) : at]],
        more_ahead=max(0, at - MOST_AHEAD),
        inadmissible=line.is_inadmissible(work),
        sticky=sticky is work,
        strategy=queue.spec.strategy,
        not_before_ms=None if later is None else stage.context.ms(later),
    )


def _barred(
    stage: KueueStage, work: WorkloadInfo, queue: ClusterQueue
) -> Sentence | None:
    """Return why it would not be tried at all, if so."""
    if work.reserved:
        return NotTried.HOLDS_QUOTA.said()
    if not work.active:
        target = work.conditions.get(DEACTIVATION_TARGET)
        if target is not None and target.status:
            return NotTried.OVERTIME.said(reason=target.reason)
        return NotTried.INACTIVE.said()
    if reason := kept_out(work):
        return NotTried.KEPT_OUT.said(reason=reason)
    if work.gated:
        return NotTried.GATED.said()
    if stage.cluster.is_parent(work):
        return NotTried.VARIANTS.said()
    own = work.local_queue.spec
    if own is not None and own.stop != "None":
        name = work.local_queue_name
        return NotTried.STOPPED.said(kind="LocalQueue", queue=name, value=own.stop)
    return closed(stage, queue)


def closed(stage: KueueStage, queue: ClusterQueue) -> Sentence | None:
    """Return why a ClusterQueue admits nothing; None for one that is active."""
    if queue.active:
        return None
    if (value := queue.spec.stop) != "None":
        return NotTried.STOPPED.said(kind=queue.kind, queue=queue.name, value=value)
    why = "; ".join(text for _, text in stage.cluster.problems(queue))
    return NotTried.CLUSTER_QUEUE.said(queue=queue.name, message=why)


def _leads_nowhere(work: WorkloadInfo) -> Sentence:
    """Return which queue is not here on the way from a Workload to its ClusterQueue."""
    name, own = work.local_queue_name, work.local_queue.spec
    if own is None:
        return NotTried.NO_LOCAL_QUEUE.said(queue=name, namespace=work.namespace)
    return NotTried.NO_QUEUE.said(queue=name, name=own.queue)


def _untried(answer: Explanation, why: Sentence) -> FlavorAttempt:
    reason = answer.condition.reason if answer.condition is not None else ""
    return FlavorAttempt(
        ran=False, status="", reason=reason, message=why.text, said=why
    )


def attempt(
    stage: KueueStage, work: WorkloadInfo, queue: ClusterQueue, trace: Trace
) -> FlavorAttempt:
    """Run one cycle with this workload as the head of its queue; spends the stage.

    Its search begins at the first flavor, whatever was tried before.
    """
    work.last_assignment = None
    if work.pending_queue is not None:
        work.pending_queue.remove(work)
    others = (
        stage.cluster.forest.queues[n] for n in sorted(stage.cluster.forest.queues)
    )
    heads = [Entry(work, queue)]
    for other in others:
        if other is not queue and other.active and other.pending.pending_active:
            head = other.pending.pop()
            if head is not None:
                heads.append(Entry(head, other))
    heads.sort(key=lambda entry: entry.queue.name)
    stage.cluster.cycle += 1
    cycle = Cycle(
        stage.cluster,
        stage.preemption,
        gated=stage.gated,
        blocked=stage.blocked,
        trace=trace,
        traced=work,
    )
    entries = cycle.run(heads)
    order, entry = next((i, e) for i, e in enumerate(entries, 1) if e.work is work)
    return FlavorAttempt(
        ran=True,
        status=entry.status.value,
        reason=reason_of(entry, stage),
        message=entry.message,
        borrow=entry.borrow,
        order=order,
        heads=[str(e.work.key) for e in entries],
        targets=[victim(target.work, target.reason) for target in entry.targets],
    )


def reason_of(entry: Entry, stage: KueueStage) -> str:
    """Return the reason that a condition gets of this, as the release spells it.

    Misconfigured stays itself: it alone says that no quota is waited for.
    """
    if entry.reason in ("", MISCONFIGURED) or stage.settings.gates.fine_reasons:
        return entry.reason
    return coarse(entry.reason, by_scheduler=True)


def victim(work: WorkloadInfo, reason: str) -> Victim:
    """Return a target as a victim that has no message yet."""
    return Victim(
        workload=str(work.key),
        queue=work.cluster_queue.name if work.cluster_queue is not None else "",
        reason=reason,
        priority=work.priority,
        held=[
            Amount(
                flavor=resource_node.flavor_resource[0],
                resource=resource_node.flavor_resource[1],
                amount=str(amount),
            )
            for resource_node, amount in work.usage
        ],
    )
