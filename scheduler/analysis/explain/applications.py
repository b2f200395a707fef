"""Why a YuniKorn application waits: its state, its line, and its next ask in full."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain.asks import explain_ask
from scheduler.analysis.explain.fork import fork_yunikorn
from scheduler.analysis.explain.shapes import Amount, AskExplanation, Shape
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Application
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.scheduling.node_fit import may_run
from scheduler.model.english import counted
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import Form


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
        allocated=_amounts(app.allocated),
        pending=_amounts(app.pending),
        before=_before(app),
        waiting=waiting,
        placed=sorted(app.allocations),
        next=following,
        laws_differ=following is not None and following.laws_differ,
        sentences=[],
    )
    answer.sentences = list(_sentences(answer))
    return answer


def _pod(path: str) -> Key:
    namespace, _, name = path.partition("/")
    return Key("Pod", namespace, name)


def _amounts(given: dict[str, int]) -> list[Amount]:
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
