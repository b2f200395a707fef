"""Why a YuniKorn ask has no node, and what both sets of preemption laws would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Literal

from scheduler.analysis.explain.ask_gates import gates_of
from scheduler.analysis.explain.changes import fork_yunikorn
from scheduler.analysis.explain.shapes import (
    Amount,
    Asked,
    AskExplanation,
    Check,
    NodeVerdict,
    Plan,
    QueueHeadroom,
    SortedLevel,
    UsedShare,
    Victim,
)
from scheduler.engine.world import World
from scheduler.engine.yunikorn.explain import (
    Row,
    obstacle,
    preemption,
    sorting,
)
from scheduler.engine.yunikorn.objects.model import (
    Application,
    Ask,
    Queue,
    SchedulingNode,
    State,
)
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import ROOT
from scheduler.engine.yunikorn.scheduling.node_fit import may_run
from scheduler.engine.yunikorn.shim.pods import app_id
from scheduler.model import registry
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.reasons import APPLICATION_REJECTED
from scheduler.model.sentence import Items, Quantity, Sentence, few, named, plain
from scheduler.model.yunikorn.resources import Needs, fits_undefined
from scheduler.words.placing import Failed, Looked, Obstacle, Placing
from scheduler.words.why import Unplaced

Limits = Mapping[str, int]
CheckName = Literal[
    "application",
    "queueQuota",
    "userQuota",
    "preemption",
    "mayPreempt",
    "delay",
    "first",
]

#: Of the nodes at most this many are returned, in the order of the partition.
MOST_NODES = 200
_LARGEST = 1e9


def explain_ask(world: World, key: Key) -> AskExplanation:
    """Return what stands between a pod and a node under YuniKorn.

    Both sets of laws choose victims on a copy, whatever their preconditions
    say; `checks` say which of those hold. Raises SchedulerError for a pod
    that YuniKorn does not schedule. Costs a copy.
    """
    stage = fork_yunikorn(world, "asks")
    partition = stage.partition
    ask = partition.asks.get(key.path)
    if ask is None:
        status = world.get(key).status if key in world.objects else {}
        ended = f"{status.get('reason', '')}:{status.get('message', '')}".strip(":")
        if status.get("reason") == APPLICATION_REJECTED:
            refused = partition.rejected.get(app_id(world.objects[key]))
            if refused is not None:
                raise SchedulerError(
                    f"YuniKorn rejected its application: {refused.message}"
                )
        why = stage.rejected.get(key) or ended
        why = why or "it is not YuniKorn's, gated or finished"
        raise SchedulerError(f"{key} is no ask of YuniKorn: {why}")
    answer = explanation_of(partition, ask, world.context.now_ms)
    reserving = reserving_of(ask.app) if ask.held else None
    if reserving is not None:
        holder = next(one for one in ask.app.requests if one.placeholder)
        held = explanation_of(partition, holder, world.context.now_ms)
        answer.said = [reserving, *held.said]
        answer.sentences = [one.text for one in answer.said]
    return answer


def reserving_of(app: Application) -> Sentence | None:
    """Return how many places of its gang an application has; None where it asks for none."""
    open_ = sum(ask.placeholder for ask in app.requests)
    placed = sum(ask.placeholder for ask in app.allocations.values())
    return Unplaced.RESERVING.said(n=placed, of=placed + open_) if open_ else None


def explanation_of(partition: Partition, ask: Ask, now_ms: int) -> AskExplanation:
    """Return what stands between an ask and a node in a partition as it is.

    Changes nothing. O(nodes + pods).
    """
    verdicts = [_verdict(partition, node, ask) for node in partition.nodes]
    found = preemption(partition, ask) if ask.node is None else {}
    answer = AskExplanation(
        pod=f"Pod/{ask.key}",
        at_ms=now_ms,
        application=ask.app.id,
        application_state=str(ask.app.state),
        queue=ask.app.queue.path,
        node=ask.node.name if ask.node is not None else "",
        reserved_on=ask.reserved_on.name if ask.reserved_on is not None else "",
        requests=amounts_of(ask.resource),
        allow_preempt_self=ask.allow_self,
        allow_preempt_other=ask.allow_other,
        originator=ask.originator,
        path=[
            check for queue in ask.app.queue.route for check in headrooms(queue, ask)
        ],
        headroom=amounts_of(ask.app.queue.headroom() or {}),
        checks=list(_checks(partition, ask, found)) if found else [],
        sorting=[]
        if ask.node is not None
        else [_level(row) for row in sorting(partition, ask)],
        node_sort=partition.spec.node_sort,
        node_verdicts=verdicts[:MOST_NODES],
        feasible_nodes=sum(not found.verdict for found in verdicts),
        nodes=len(verdicts),
        plans=list(_plans(partition, ask, found)) if found else [],
        laws_differ=False,
        log=list(ask.log),
        sentences=[],
        said=[],
    )
    answer.laws_differ = _differ(answer.plans)
    whys = Counter(found.verdict for found in verdicts if found.verdict)
    alike = {found.verdict: found.said for found in verdicts}
    most = [(n, alike[why]) for why, n in whys.most_common(_MOST_WHYS)]
    gates = gates_of(partition, ask) if found else ()
    answer.said = list(_sentences(answer, most, gates))
    answer.sentences = [one.text for one in answer.said]
    return answer


def _verdict(partition: Partition, node: SchedulingNode, ask: Ask) -> NodeVerdict:
    order = partition.nodes
    said = _obstacle(*found) if (found := obstacle(node, ask)) else plain("")
    return NodeVerdict(
        node=node.name,
        verdict=said.text,
        used=_finite(order.used_share(node)),
        score=_finite(node.entry[0]),
        shares=[
            UsedShare(resource=name, share=_finite(share), weight=weight)
            for name, share, weight in order.shares(node)
        ],
        said=said,
    )


def _obstacle(code: str, names: list[str]) -> Sentence:
    if code == "predicate":  # in kube-scheduler's words
        return plain(*names)
    return _OBSTACLES[code].said(names=Items(tuple(names), all=True))


def _finite(share: float) -> float:
    """Return a share that JSON can hold: of nothing, infinitely much is used."""
    return max(-_LARGEST, min(_LARGEST, share))


def amounts_of(given: Limits) -> list[Amount]:
    """Return a resource as amounts, by name."""
    return [Amount(resource=name, amount=str(n)) for name, n in sorted(given.items())]


def headrooms(queue: Queue, ask: Ask) -> Iterator[QueueHeadroom]:
    """Yield a queue's quota and usage of each type that is asked."""
    for name in sorted(ask.resource):
        limit = (queue.max or {}).get(name)
        used = queue.allocated.get(name, 0)
        promised = (queue.guaranteed or {}).get(name)
        yield QueueHeadroom(
            queue=queue.path,
            resource=name,
            guaranteed=None if promised is None else str(promised),
            max=None if limit is None else str(limit),
            used=str(used),
            pending=str(queue.pending.get(name, 0)),
            left=None if limit is None else str(limit - used),
        )


def _level(row: Row) -> SortedLevel:
    if "children" in row:
        children = row["children"]
        return SortedLevel(
            kind="queues",
            name=row["queue"],
            order=[child["queue"] for child in children],
            shares=[float(child["share"]) for child in children],
        )
    if "applications" in row:
        return SortedLevel(
            kind="applications", name=row["queue"], order=row["applications"]
        )
    return SortedLevel(kind="asks", name=row["application"], order=row["requests"])


def _checks(partition: Partition, ask: Ask, found: Row) -> Iterator[Check]:
    app, now = ask.app, partition.now_ms
    runs = may_run(partition, app)
    yield _check("application", runs, _state(partition, app, runs=runs))
    headroom = app.queue.headroom()
    yield _quota("queueQuota", ask.needs, headroom, Looked.QUEUE)
    limit = partition.limits.headroom(app) if partition.limits.active else None
    user = _quota("userQuota", ask.needs, limit, Looked.USER)
    for one in user.asked:
        _name_limit(partition, app, one)
    yield user
    yield _check("preemption", found["enabled"], Looked.PREEMPTION.said())
    yield _check("mayPreempt", found["allowed"], Looked.MAY_PREEMPT.said())
    ready = found["notBeforeMs"]
    detail = Looked.DELAY.said(ready=ready / 1000, now=now / 1000)
    yield _check("delay", now >= ready, detail)
    yield _check("first", not found["triggered"], Looked.FIRST.said())


def _state(partition: Partition, app: Application, *, runs: bool) -> Sentence:
    """Return the state of an application, and which maxapplications keeps it from running."""
    state = str(app.state)
    if runs or app.state is not State.ACCEPTED:
        return Looked.STATE.said(state=state)
    queue = app.queue.full_for(app)
    if queue is not None:
        most = str(queue.max_applications)
        return Looked.FULL.said(state=state, queue=queue.path, most=most)
    full = partition.limits.full_for(app)
    if full is None:
        return Looked.STATE.said(state=state)
    (path, kind, name), running = full
    return Looked.FULL_FOR_USER.said(
        state=state, whose=f"{kind} {name}", queue=path, most=str(running)
    )


def _name_limit(partition: Partition, app: Application, asked: Asked) -> None:
    """Note which limit of the user or group leaves least of a resource."""
    limits = [
        (left[asked.resource], whose, most[asked.resource])
        for whose, most, left in partition.limits.headrooms(app)
        if asked.resource in left
    ]
    _, (asked.queue, kind, name), most = min(limits)
    asked.whose, asked.most = f"{kind} {name}", str(most)


def _check(name: CheckName, holds: bool, said: Sentence) -> Check:
    return Check(name=name, holds=holds, detail=said.text, said=said)


def _quota(
    name: CheckName, needs: Needs, headroom: Limits | None, word: Looked
) -> Check:
    """Return whether a limit leaves what is asked; what it does not, if anything."""
    limits = headroom or {}
    limited = [(name, value) for name, value in needs if name in limits]
    short = [(name, value) for name, value in limited if value > limits[name]]
    asked = [
        Asked(resource=name, amount=str(value), left=str(limits[name]))
        for name, value in short or limited
    ]
    parts = [
        word.said(
            asked=Quantity(one.resource, one.amount),
            left=Quantity(one.resource, one.left),
        )
        for one in asked
    ]
    none = Looked.NO_LIMIT if headroom is None else Looked.UNLIMITED
    holds = headroom is None or fits_undefined(headroom, needs)
    made = _check(name, holds, reduce(_and, parts) if parts else none.said())
    made.asked = asked
    return made


def _and(first: Sentence, second: Sentence) -> Sentence:
    return Looked.AND.said(first=first, second=second)


def _plans(partition: Partition, ask: Ask, found: Row) -> Iterator[Plan]:
    for entry in registry.entries("laws"):
        row = found[entry.name]
        yield Plan(
            laws=entry.name,
            in_force=entry.name == partition.laws.name,
            node=row.get("node", ""),
            victims=[_victim(partition.asks[key]) for key in row.get("victims", ())],
            reason=row.get("refused", ""),
        )


def _victim(pod: Ask) -> Victim:
    return Victim(
        workload=f"Pod/{pod.key}",
        queue=pod.app.queue.path,
        reason="PreemptedByScheduler",
        priority=pod.priority,
        held=amounts_of(pod.resource),
    )


def _differ(plans: list[Plan]) -> bool:
    found = {(p.node, tuple(sorted(v.workload for v in p.victims))) for p in plans}
    return len(found) > 1


def _sentences(
    answer: AskExplanation,
    whys: list[tuple[int, Sentence]],
    gates: Iterable[Sentence],
) -> Iterator[Sentence]:
    """Yield what is to be said.

    `whys`: how many nodes refuse it why, most nodes first; `gates`: why nobody goes.
    """
    if answer.node:
        yield _place(answer)
        if not answer.allow_preempt_self:
            yield Placing.OPTED_OUT.said()
        return
    if answer.reserved_on:
        yield Placing.RESERVED.said(node=answer.reserved_on)
    failed = [check for check in answer.checks if not check.holds]
    for check in failed:
        if check.name in _KEEPS_WAITING:
            yield _failed(check)
        if check.name == "queueQuota":
            yield from _limits(answer, check)
        for one in check.asked:
            if one.whose:
                most = Quantity(one.resource, one.most)
                yield Placing.LIMIT.said(whose=one.whose, queue=one.queue, most=most)
    yield Placing.TAKES.said(n=answer.nodes, feasible=answer.feasible_nodes)
    for number, why in whys if not answer.feasible_nodes else ():
        yield Placing.REFUSED.said(n=number, reason=why)
    goes = any(plan.in_force and plan.victims for plan in answer.plans)
    for check in failed:
        if check.name not in _KEEPS_WAITING and (goes or check.name != "delay"):
            yield _failed(check)
    for plan in sorted(answer.plans, key=lambda one: not one.in_force):
        if plan.in_force:
            yield _plan(plan)
            yield from gates if not plan.victims else ()
        elif answer.laws_differ:
            yield Placing.OTHERWISE.said(laws=plan.laws, plan=_plan(plan))


def _failed(check: Check) -> Sentence:
    return _FAILED[check.name].said(detail=check.said)


def _limits(answer: AskExplanation, check: Check) -> Iterator[Sentence]:
    """Yield of each resource that is short which queue's max leaves too little, leaf first."""
    for asked in check.asked:
        for row in answer.path:
            if row.resource != asked.resource or row.left is None:
                continue
            if int(row.left) < int(asked.amount):
                word = Placing.NODES_HAVE if row.queue == ROOT else Placing.MAX
                yield word.said(
                    queue=row.queue,
                    max=Quantity(row.resource, row.max or "0"),
                    used=Quantity(row.resource, row.used),
                )
                break


def _place(answer: AskExplanation) -> Sentence:
    """Return its node and how full that is, as the order of nodes counts it."""
    found = next((v for v in answer.node_verdicts if v.node == answer.node), None)
    if found is None or not found.shares:
        return Placing.ON.said(node=answer.node)
    parts = few(
        Placing.USED_PART.said(
            share=f"{row.share:.0%}", resource=row.resource, weight=row.weight
        )
        for row in found.shares
    )
    return Placing.USED.said(node=answer.node, used=f"{found.used:.0%}", parts=parts)


#: Checks without which it is not tried on nodes; the others are of preemption.
_KEEPS_WAITING = frozenset({"application", "queueQuota", "userQuota"})
_MOST_WHYS = 3
_FAILED = {one.rpartition(".")[2]: one for one in Failed}
_OBSTACLES = {one.rpartition(".")[2]: one for one in Obstacle}


def _plan(plan: Plan) -> Sentence:
    if not plan.victims:
        word = Placing.NOBODY_AS if plan.reason else Placing.NOBODY
        return word.said(reason=plan.reason)
    names = named(victim.workload for victim in plan.victims)
    return Placing.PLAN.said(names=names, node=plan.node)
