"""Fair shares of YuniKorn's queues with their numbers, and the child that a parent serves next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler.analysis.explain.asks import explain_ask, reserving_of
from scheduler.analysis.explain.changes import fork_yunikorn
from scheduler.analysis.explain.shapes import Amount, AskExplanation, Shape
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Application, NullListener, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.scheduling.node_fit import may_run
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import Form
from scheduler.model.sentence import counted
from scheduler.model.yunikorn.properties import SORT_POLICY
from scheduler.words.gaps import of_proposal


class QueueFraction(Shape):
    """What a queue holds of what it is held against, for one resource."""

    resource: str  # YuniKorn's names: vcore, memory
    allocated: str
    whole: str  # guaranteed, else the max that holds here
    of: str  # "guaranteed" or "max"
    ratio: float
    winning: bool


class QueueShare(Shape):
    """The fair share of one queue, and its place in the line of its parent.

    `order` is None when the queue waits for nothing. `priority` is what it
    publishes to its parent; whether that or the share comes first is the parent's.
    """

    name: str  # the whole path
    parent: str
    leaf: bool
    fractions: list[QueueFraction]
    share: float
    priority: int
    order: int | None
    pending: list[Amount]
    next: str  # application that a leaf serves first; "" for none
    #: The order of its applications. A parent's property reaches the leaves below it,
    #: where none nearer says another: `sort_from` is who says it, "" for nobody.
    sort_policy: str = ""  # "" of a parent, which serves its children by fair share
    sort_from: str = ""


class PartitionQueues(Shape):
    """The queues of another partition: on Kubernetes no node or pod is in it."""

    name: str
    queues: list[QueueShare]


class QueueFairness(Shape):
    """Every queue of the partition, parents first."""

    at_ms: int
    tick: int
    laws: str
    queues: list[QueueShare]
    partition: str
    others: list[PartitionQueues]


def queue_fairness(world: World) -> QueueFairness:
    """Return fair shares with their arithmetic, as the next cycle would see them.

    Raises SchedulerError when the stack has no YuniKorn. Changes nothing;
    costs a copy. Source: docs/semantics/yunikorn.md#order-of-queues
    """
    partition = fork_yunikorn(world, "YuniKorn").partition
    return QueueFairness(
        at_ms=world.context.now_ms,
        tick=world.tick,
        laws=partition.laws.name,
        queues=list(_shares(partition)),
        partition=partition.spec.name,
        others=[
            PartitionQueues(
                name=spec.name,
                queues=list(_shares(Partition(spec, partition.laws, NullListener()))),
            )
            for spec in partition.spec.others
        ],
    )


def _shares(partition: Partition) -> Iterator[QueueShare]:
    places: dict[str, int] = {}
    for queue in partition.root.walk():
        if not queue.leaf:
            order = children_in_order(partition, queue)
            places |= {child.path: at for at, child in enumerate(order, start=1)}
        yield queue_share(queue, places.get(queue.path))


def queue_share(queue: Queue, order: int | None = None) -> QueueShare:
    """Return the fair share of one queue with its arithmetic."""
    share = share_of(queue)
    fractions = list(_fractions(queue))
    for fraction in fractions:
        fraction.winning = share > 0 and fraction.ratio == share
    return QueueShare(
        name=queue.path,
        parent=queue.parent.path if queue.parent is not None else "",
        leaf=queue.leaf,
        fractions=fractions,
        share=share,
        priority=queue.published,
        order=order,
        pending=_amounts(queue.pending),
        next=_next(queue),
        sort_policy=queue.sorted_by if queue.leaf else "",
        sort_from=_sort_from(queue) if queue.leaf else "",
    )


def _sort_from(queue: Queue) -> str:
    """Return the path of the queue whose property orders the applications of a leaf."""
    for at in queue.route:
        if at.own_texts.get(SORT_POLICY):
            return at.path
    return ""


def _fractions(queue: Queue) -> Iterator[QueueFraction]:
    guaranteed, most = queue.guaranteed or {}, queue.fair_max or {}
    for name in sorted({*guaranteed, *queue.allocated}):
        of = "guaranteed" if name in guaranteed else "max"
        whole = guaranteed.get(name, most.get(name))
        if whole is None:
            continue
        held = queue.allocated.get(name, 0)
        empty = 1.0 if held else 0.0  # nothing is promised, and it is used
        yield QueueFraction(
            resource=name,
            allocated=str(held),
            whole=str(whole),
            of=of,
            ratio=held / whole if whole > 0 else empty,
            winning=False,
        )


def _next(queue: Queue) -> str:
    if not queue.leaf or queue.sort is None:
        return ""
    first: Application | None = next(iter(queue.sort.candidates(queue)), None)
    return "" if first is None else first.id


def _amounts(values: Mapping[str, int]) -> list[Amount]:
    return [
        Amount(resource=name, amount=str(amount))
        for name, amount in sorted(values.items())
        if amount
    ]


# ------------------------------------------------------------------------
# Why a YuniKorn application waits: its state, its line, and its next ask in full.


class ApplicationExplanation(Shape):
    """An application, who stands before it in its queue, and its next ask."""

    application: str
    at_ms: int
    queue: str
    state: str
    user: str
    submitted_ms: int
    may_run: bool  # its queue and user have room for one more application
    allocated: list[Amount]
    pending: list[Amount]
    before: list[str]  # applications of its queue that are visited first
    waiting: list[str]  # pods, in the order in which they are asked for
    placed: list[str]
    next: AskExplanation | None  # of the first that waits
    laws_differ: bool  # both sets of laws would do other things for it
    sentences: list[str]


def explain_application(world: World, name: str) -> ApplicationExplanation:
    """Return why an application of YuniKorn is where it is. Changes nothing.

    Raises SchedulerError when there is none of this id. Costs two copies.
    """
    partition = fork_yunikorn(world, "applications").partition
    app = partition.apps.get(name)
    if app is None:
        raise SchedulerError(Form.ABSENT.said(kind="application", name=repr(name)))
    return _explanation(world, partition, app)


def _explanation(
    world: World, partition: Partition, app: Application
) -> ApplicationExplanation:
    waiting = [ask.key for ask in app.requests]
    following = explain_ask(world, _pod(waiting[0])) if waiting else None
    answer = ApplicationExplanation(
        application=app.id,
        at_ms=world.context.now_ms,
        queue=app.queue.path,
        state=str(app.state),
        user=app.user,
        submitted_ms=app.submit_ms,
        may_run=may_run(partition, app),
        allocated=_application_amounts(app.allocated),
        pending=_application_amounts(app.pending),
        before=_before(app),
        waiting=waiting,
        placed=sorted(app.allocations),
        next=following,
        laws_differ=following is not None and following.laws_differ,
        sentences=[],
    )
    answer.sentences = list(_sentences(answer))
    if reserving := reserving_of(app):
        answer.sentences.insert(1, reserving.text)
    answer.sentences[:0] = [said.text for said in of_proposal(world.policy.spec)]
    return answer


def _pod(path: str) -> Key:
    namespace, _, name = path.rpartition("/")  # placeholders have no namespace
    return Key("Pod", namespace, name)


def _application_amounts(given: dict[str, int]) -> list[Amount]:
    return [Amount(resource=n, amount=str(v)) for n, v in sorted(given.items()) if v]


def _before(app: Application) -> list[str]:
    if app.queue.sort is None:
        return []
    order = [other.id for other in app.queue.sort.candidates(app.queue)]
    return order[: order.index(app.id)] if app.id in order else []


def _sentences(answer: ApplicationExplanation) -> Iterator[str]:
    placed, waiting = len(answer.placed), len(answer.waiting)
    yield (
        f"It is {answer.state} in {answer.queue}: {counted(placed, 'pod')} placed, "
        f"{waiting} waiting."
    )
    if not waiting:
        return
    if not answer.may_run:
        yield "No more applications may run in its queue or for its user."
    elif answer.before:
        first = counted(len(answer.before), "application")
        yield f"{first} of its queue are visited before it."
    if answer.next is not None:
        yield from answer.next.sentences
