"""Why, asked of a sandbox: the explanations of the engine, at any tick."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache import caches

from sandbox.base.errors import ConflictError, GoneError, InvalidError, NotFoundError
from sandbox.base.refusals import Absent, NotTaken, Refused
from sandbox.explain.counting import pressure_of
from sandbox.models import Event, Sandbox
from sandbox.twins.ticks import was_observed
from sandbox.world import history, worlds
from scheduler.analysis.explain import queues, to_document
from scheduler.analysis.explain.answers import overview
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.fairness import fairness
from scheduler.analysis.explain.film.moments import film_now, film_of, other_strategy
from scheduler.analysis.explain.past import ENDS, Ended
from scheduler.analysis.explain.pods import capacity, explain_pod
from scheduler.analysis.explain.preemptions import explain_preemption
from scheduler.analysis.explain.queues import queue_fairness
from scheduler.analysis.explain.sentences import meant
from scheduler.analysis.explain.workloads import explain
from scheduler.analysis.explain.would import overview_run
from scheduler.analysis.reproduction import (
    Reproduction,
    Start,
    reproduce,
    start_of_world,
)
from scheduler.engine.world import World
from scheduler.model import decisions
from scheduler.model.decisions import (
    Admit,
    Bind,
    Decision,
    Fail,
    PermitWait,
    Preempt,
    ReserveQuota,
    Wait,
)
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems.library import plain_word
from scheduler.model.scenario import Match

#: How far a counterfactual runs, and how many runs a question may cost.
HORIZON_MS = 600_000
MOST_RUNS = 24
#: A film that stands in a page of others is made once in this time.
_FILM_KEPT_S = 600
_FILMING = [threading.Lock() for _ in range(16)]
#: The decisions that are films, by the type of their event.
FILMED: dict[str, type[Decision]] = {
    kind.__name__: kind
    for kind in (Admit, ReserveQuota, Wait, Preempt, Bind, PermitWait, Fail)
}


def explain_object(sandbox: Sandbox, key: Key, tick: int | None) -> dict[str, Any]:
    """Return why a Workload or Pod is where it is, now or at a tick.

    What runs in a worker cluster is explained there, under the names that it has there.
    """
    with _world(sandbox, tick) as manager:
        key = _meant(manager, key)
        world, inner = manager.inside(key)
        if key.kind != "Pod":
            return to_document(explain(world, inner))
        return to_document(explain_pod(world, inner, bound=_bound(sandbox, key, tick)))


def _bound(sandbox: Sandbox, key: Key, tick: int | None) -> bool:
    """Return whether a scheduler bound the pod by then, or may have: history is cut."""
    if sandbox.kept_tick or sandbox.is_real:
        return True
    upto = None if tick is None else history.revision_at(sandbox, tick)
    binds = history.rows_of(Event, sandbox, upto).filter(type="Bind")
    return binds.filter(subject=str(key)).exists()


class EventPast:
    """What the stored events of a sandbox say of ends of runs, now or at a tick."""

    def __init__(self, sandbox: Sandbox, tick: int | None) -> None:
        upto = None if tick is None else history.revision_at(sandbox, tick)
        types = [one.__name__ for one in ENDS]
        self._rows = history.rows_of(Event, sandbox, upto).filter(type__in=types)

    def of(self, key: Key) -> list[Ended]:
        """Return the ends of the runs of one Workload or pod, in order."""
        rows = self._rows.filter(subject=str(key)).order_by("revision", "seq")
        return [
            Ended(
                type=row.type,
                at_ms=row.t_ms,
                subject=key,
                by=key_of(row.by) if row.by else None,
                reason=row.reason,
                message=row.message,
            )
            for row in rows
        ]

    def named(self, name: str) -> list[Key]:
        """Return whose runs ended, of this name, with or without its namespace."""
        found = self._rows.filter(subject__endswith=f"/{name}").order_by("subject")
        return [
            key_of(one) for one in found.values_list("subject", flat=True).distinct()
        ]


def explain_overview(
    sandbox: Sandbox, about: str, tick: int | None, *, tried: bool = False
) -> dict[str, Any]:
    """Return what waits and for what, and answers about what is named, if anything is.

    With `tried` also what copies of the world that run on say of it.
    """
    made = overview_run if tried else overview
    with _world(sandbox, tick) as world:
        try:
            return to_document(made(world, about, EventPast(sandbox, tick)))
        except SchedulerError as error:
            raise NotFoundError(error.said) from error


def explain_application(
    sandbox: Sandbox, name: str, tick: int | None
) -> dict[str, Any]:
    """Return why an application of YuniKorn waits, now or at a tick."""
    with _world(sandbox, tick) as world:
        if world.yunikorn is None or name not in world.yunikorn.partition.apps:
            raise NotFoundError(
                Refused.NOT_THERE.said(kind=plain_word("application"), name=name)
            )
        return to_document(queues.explain_application(world, name))


def explain_fairness(sandbox: Sandbox, tick: int | None) -> dict[str, Any]:
    """Return shares with their arithmetic, lenders and borrowers, whose turn it is.

    And how queues press each other, from the run's begin until now; of a past tick that
    is not told. Under YuniKorn the shares of its queues; refused where nothing is shared
    out.
    """
    with _world(sandbox, tick) as world:
        if world.yunikorn is not None:
            return to_document(queue_fairness(world))
        found = fairness(world)
    if found.tick == sandbox.tick:
        found.pressure = [*pressure_of(sandbox)]
    return to_document(found)


def explain_capacity(sandbox: Sandbox, tick: int | None) -> dict[str, Any]:
    """Return what may grow, what it costs, and why it does not grow for what waits."""
    with _world(sandbox, tick) as world:
        return to_document(capacity(world))


def explain_counterfactuals(
    sandbox: Sandbox,
    key: Key,
    tick: int | None,
    *,
    horizon_ms: int,
    limit: int,
    tell: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Return what would let a Workload in; every verdict was run on a copy.

    `tell` gets the verdicts so far after each one.
    """
    with _world(sandbox, tick) as world:
        about = _meant(world, key)
        found = counterfactuals(
            world,
            about,
            horizon_ms=horizon_ms,
            limit=limit,
            tell=lambda so_far: tell(to_document(so_far)),
        )
        return to_document(found)


def explain_event(sandbox: Sandbox, revision: int, seq: int) -> dict[str, Any]:
    """Return the search behind a preemption, step by step: its tick run again."""
    event = history.events(sandbox).filter(revision=revision, seq=seq).first()
    if event is None or event.type != "Preempt":
        raise NotFoundError(Absent.PREEMPTION.said(event=f"{revision}.{seq}"))
    if was_observed(sandbox, revision):
        raise ConflictError(Refused.REAL_SEARCH.said(event=f"{revision}.{seq}"))
    world = history.world_at(sandbox, revision - 1)
    decision = _decision(event)
    return to_document(explain_preemption(world, decision))


def film_of_event(
    sandbox: Sandbox, revision: int, seq: int, *, other: bool
) -> dict[str, Any]:
    """Return the cycle behind a decision, frame by frame: its tick run again.

    With `other` the same moment by the other strategy, whatever that decides. Raises
    NotFoundError where no scheduler decided that, ConflictError for what was observed.
    """
    event = history.events(sandbox).filter(revision=revision, seq=seq).first()
    place = f"{revision}.{seq}"
    if event is None:
        raise NotFoundError(Absent.EVENT.said(event=place))
    if event.type not in FILMED or (event.type == "Preempt" and not event.by):
        raise InvalidError(NotTaken.FILM.said(event=place, type=event.type))
    if was_observed(sandbox, revision):
        raise ConflictError(Refused.REAL_SEARCH.said(event=place))
    world = history.world_at(sandbox, revision - 1)
    subject = key_of(event.by if event.type == "Preempt" else event.subject)
    if other:
        return to_document(film_of(other_strategy(world), subject))
    return to_document(film_of(world, subject, _decision(event)))


def film_kept(
    sandbox: Sandbox, revision: int, seq: int, *, before: Callable[[], None]
) -> dict[str, Any]:
    """Return the film of a decision, made once in ten minutes for all who look at it.

    `before` is called when it has to be made. Raises as `film_of_event` does.
    """
    name, films = f"film-{sandbox.pk}-{revision}-{seq}", caches["kept"]
    taken = history.events(sandbox).filter(revision=revision, seq=seq)
    with _FILMING[hash(name) % len(_FILMING)]:  # of a class that opens it, one makes it
        kept: dict[str, Any] | None = films.get(name) if taken.exists() else None
        if kept is not None:
            return kept
        before()
        film = film_of_event(sandbox, revision, seq, other=False)
        films.set(name, film, _FILM_KEPT_S)
        return film


def film_of_object(
    sandbox: Sandbox, key: Key, tick: int | None, *, other: bool
) -> dict[str, Any]:
    """Return the cycle in which an object would be tried now, or at a tick."""
    with _world(sandbox, tick) as world:
        key = _meant(world, key)
        return to_document(film_now(other_strategy(world) if other else world, key))


def _decision(event: Event) -> Decision:
    kind = FILMED[event.type]
    return kind(
        at_ms=event.t_ms,
        subject=key_of(event.subject),
        by=key_of(event.by) if event.by else None,
        reason=event.reason,
        message=event.message,
        **(event.data if event.type == "Preempt" else _node(event)),
    )


def _node(event: Event) -> dict[str, str]:
    """Return the node of a decision, by which a cycle is known; nothing without one."""
    node = event.data.get("node")
    return {"node": node} if node and hasattr(FILMED[event.type], "node") else {}


def key_of(text: str) -> Key:
    """Return the key of "Kind/namespace/name"."""
    kind, namespace, name = text.split("/", 2)
    return Key(kind, namespace, name)


@contextmanager
def _world(sandbox: Sandbox, tick: int | None) -> Iterator[World]:
    """Lend the world as it is now, or as it was at a tick.

    A sandbox may tick on after its row was read: the newest world is then of a later
    tick than the one that is asked about.
    """
    if tick is None or tick == sandbox.tick:
        with worlds.reading(sandbox) as world:
            if tick is None or tick == world.tick:
                yield world
                return
    yield history.world_at(sandbox, history.revision_at(sandbox, tick))


def _meant(world: World, key: Key) -> Key:
    found = meant(world, key)
    if found is None:
        raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    return found


# ------------------------------------------------------------------------
# The smallest world that still shows an event, found from a sandbox's history.


#: How long a search may take in the wall's seconds, unless it is given.
PATIENCE_S = 20.0
MOST_TRIALS = 2000
#: Events that no engine decides: a person did them.
_DECIDED = frozenset(
    name
    for name, kind in vars(decisions).items()
    if isinstance(kind, type)
    and issubclass(kind, decisions.Decision)
    and name not in ("Decision", "Edit")
)


def reproduce_event(
    sandbox: Sandbox,
    revision: int,
    seq: int,
    *,
    seconds: float = PATIENCE_S,
    most_runs: int = MOST_TRIALS,
    hear: Callable[[int, int], None] = lambda runs, left: None,
) -> Reproduction:
    """Return the smallest world found that takes the decision of an event.

    First from the world as it stood before the event, then from the run's first
    state. Not found when only what lies between the two made it so: positions
    in queues and backoffs that objects do not show, or edits. Raises
    NotFoundError and InvalidError.
    """
    event = history.events(sandbox).filter(revision=revision, seq=seq).first()
    if event is None:
        raise NotFoundError(Absent.EVENT.said(event=f"{revision}.{seq}"))
    if event.type not in _DECIDED:
        raise InvalidError(
            NotTaken.EDIT.said(event=f"{revision}.{seq}", type=event.type)
        )
    if was_observed(sandbox, revision):
        raise ConflictError(Refused.REAL_EVENT.said(event=f"{revision}.{seq}"))
    deadline = time.monotonic() + seconds
    return reproduce(
        _starts(sandbox, event),
        _wanted(event),
        most_runs=most_runs,
        go_on=lambda: time.monotonic() < deadline,
        hear=hear,
    )


def _wanted(event: Event) -> Match:
    node = event.data.get("node", "") if isinstance(event.data, dict) else ""
    return Match(
        type=event.type,
        subject=event.subject,
        by=event.by,
        reason=event.reason,
        node=str(node or ""),
    )


def _starts(sandbox: Sandbox, event: Event) -> list[Start]:
    worlds: list[World] = [history.world_at(sandbox, event.revision - 1)]
    try:
        first = history.revision_at(sandbox, 0)
        worlds.append(history.world_at(sandbox, first))
    except (GoneError, NotFoundError):
        pass  # what began it is no longer kept
    return [start_of_world(world, event.t_ms) for world in worlds]
