"""The decisions of a real cluster beside this engine's, from a twin's history."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from sandbox.base.errors import ConflictError, InvalidError, NotFoundError
from sandbox.base.refusals import Absent, NotTaken, Refused
from sandbox.models import Event, Revision, Sandbox
from sandbox.twins import ticks as twins
from sandbox.world import history, operations, worlds
from sandbox.world.operations import Observe
from sandbox.world.seen import unpack
from scheduler.analysis.explain.changes import apply
from scheduler.analysis.explain.shadow_decision import OpenedDecision, opened
from scheduler.analysis.explain.shapes import Change
from scheduler.analysis.forecast.workloads import waits
from scheduler.analysis.incident import (
    IncidentReplay,
    Window,
    compared,
    owner_name,
    replay,
    window_work,
)
from scheduler.engine.world import fork
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.recorded.qrec.reading import stamp
from scheduler.recorded.shadow.compare import Judge, Verdict
from scheduler.recorded.shadow.decisions import History
from scheduler.recorded.twin.going_on import go_on
from scheduler.recorded.twin.observing import Manifest, ObservedChange

#: The time that was judged is cut into so many stretches.
STRETCHES = 24


class KindAgreement(msgspec.Struct, frozen=True, rename="camel"):
    """How often the engine agrees on one kind of decision."""

    kind: str  # "admission" or "preemption"
    judged: int
    agree: int


class AgreementAt(msgspec.Struct, frozen=True, rename="camel"):
    """How often the engine agrees on one kind of decision in a stretch of time."""

    kind: str
    t_ms: int  # its begin
    tick: int
    judged: int
    agree: int


class Disagreement(msgspec.Struct, frozen=True, rename="camel"):
    """A real decision that the engine does not take from the state just before it."""

    event: int  # its number, to open it by
    kind: str
    subject: str  # key of the Workload: admitted, or for which was preempted
    t_ms: int
    tick: int
    difference: str  # what differs first


class Agreement(msgspec.Struct, frozen=True, rename="camel"):
    """The real decisions that were held against the engine's, the newest ones."""

    decisions: int  # all that are known
    judged: int
    agree: int
    kinds: list[KindAgreement]
    times: list[AgreementAt]  # in order; stretches in which nothing was are left out
    disagreements: list[Disagreement]


class Opened(msgspec.Struct, frozen=True, rename="camel"):
    """A real decision opened, and what its smallest world is made a sandbox with."""

    decision: OpenedDecision
    tick: int
    policy: dict[str, Any]


def shadow(sandbox: Sandbox, *, seconds: float, most: int) -> Agreement:
    """Hold the newest `most` admissions and preemptions against the engine's.

    Ends when `seconds` of the wall are over; fewer are judged then. Raises
    ConflictError for a sandbox that shows no real cluster, or one without Kueue.
    """
    deadline = time.monotonic() + seconds
    judge = _judge(sandbox)
    verdicts: list[Verdict] = []
    for real in judge.real[::-1][:most]:
        if verdicts and time.monotonic() > deadline:
            break
        verdicts.append(judge.verdict(real))
    judged = Counter(one.real.kind for one in verdicts)
    agree = Counter(one.real.kind for one in verdicts if one.agrees)
    return Agreement(
        decisions=len(judge.real),
        judged=len(verdicts),
        agree=agree.total(),
        kinds=[
            KindAgreement(kind, n, agree[kind]) for kind, n in sorted(judged.items())
        ],
        times=_times(sandbox, verdicts),
        disagreements=[
            _disagreement(sandbox, one) for one in verdicts if not one.agrees
        ],
    )


def open_decision(sandbox: Sandbox, event: int, *, seconds: float) -> Opened:
    """Return a real decision and the engine's, step by step, with the smallest world.

    The search for that ends when `seconds` of the wall are over. Raises ConflictError
    as `shadow`, and NotFoundError where this event shows no decision.
    """
    deadline = time.monotonic() + seconds
    judge = _judge(sandbox)
    real = next((one for one in judge.real if one.event == event), None)
    if real is None:
        raise NotFoundError(Absent.DECISION.said(event=event))
    found = opened(judge, real, go_on=lambda: time.monotonic() < deadline)
    start = stamp(judge.epoch_us + real.at_ms * 1000)
    policy: dict[str, Any] = {**worlds.policy_of(sandbox)["spec"]}
    policy["simulation"] = {**policy.get("simulation", {}), "startTime": start}
    return Opened(found, _tick(sandbox, real.at_ms), policy)


def _times(sandbox: Sandbox, verdicts: list[Verdict]) -> list[AgreementAt]:
    """Return the agreement in at most STRETCHES equal stretches, by kind."""
    at = [one.real.at_ms for one in verdicts]
    first, length = min(at, default=0), 1
    if at:
        length = max(1, -(-(max(at) - first + 1) // STRETCHES))
    judged: Counter[tuple[int, str]] = Counter()
    agree: Counter[tuple[int, str]] = Counter()
    for one in verdicts:
        place = ((one.real.at_ms - first) // length, one.real.kind)
        judged[place] += 1
        agree[place] += one.agrees
    return [
        AgreementAt(kind, begin, _tick(sandbox, begin), n, agree[number, kind])
        for (number, kind), n in sorted(judged.items())
        for begin in [first + number * length]
    ]


def _tick(sandbox: Sandbox, at_ms: int) -> int:
    return -(-at_ms // sandbox.tick_ms)


def _disagreement(sandbox: Sandbox, verdict: Verdict) -> Disagreement:
    real = verdict.real
    return Disagreement(
        real.event,
        real.kind,
        str(real.subject),
        real.at_ms,
        _tick(sandbox, real.at_ms),
        verdict.difference,
    )


def _judge(sandbox: Sandbox) -> Judge:
    if not sandbox.is_real:
        raise ConflictError(Refused.NO_CLUSTER.said())
    begin = history.revision_at(sandbox, sandbox.kept_tick)
    world = history.world_at(sandbox, begin)
    if world.kueue is None:
        raise ConflictError(Refused.NO_KUEUE.said())
    standing: list[Manifest] = [
        {**obj.manifest, "status": obj.status} for obj in world.objects.values()
    ]
    seen: list[ObservedChange] = []
    for operation in _observed(sandbox, begin):
        found = unpack(operation.seen)
        if operation.listed:
            standing += [one.object for one in found]
        else:
            seen += found
    events = [
        (one.at_ms, "DELETED" if one.gone else "MODIFIED", one.object) for one in seen
    ]
    epoch_us = world.context.epoch_us
    return Judge(History(standing, events), world.kueue.settings, epoch_us)


def _observed(sandbox: Sandbox, begin: int) -> list[Observe]:
    known = history.rows_of(Revision, sandbox)
    rows = known.filter(number__gt=begin, kind=Revision.TICK).order_by("number")
    found = (
        operations.from_document(document)
        for document in rows.values_list("operation", flat=True).iterator()
    )
    return [operation for operation in found if isinstance(operation, Observe)]


# ------------------------------------------------------------------------
# A window of a twin under its policy and under a changed one, run on copies.


def replay_incident(
    sandbox: Sandbox, from_tick: int, to_tick: int, change: Change, *, seconds: float
) -> IncidentReplay:
    """Return what the change would have come to between two ticks of a twin.

    What arrived and how long it ran is what really did. Nothing is kept. Raises
    ConflictError for a sandbox that shows no real cluster, InvalidError for no window,
    SchedulerError for a change that cannot be made or when the seconds are over.
    """
    if not sandbox.is_real:
        raise ConflictError(Refused.NO_REPLAY.said())
    if from_tick >= to_tick:
        raise InvalidError(NotTaken.WINDOW.said(start=from_tick, end=to_tick))
    revision = history.revision_at(sandbox, from_tick)
    last = history.revision_at(sandbox, to_tick)
    seen = history.world_at(sandbox, revision)
    world = go_on(seen, twins.after(sandbox, revision))
    begin, until = seen.context.now_ms, to_tick * sandbox.tick_ms
    check = _until(time.monotonic() + seconds)
    other = fork(world)
    apply(other, change)
    same, changed = replay(world, until, check), replay(other, until, check)
    waited = [key for key, obj in seen.objects.items() if waits(obj)]
    end = history.world_at(sandbox, last)
    there = window_work(end, begin, until, waited)
    starts, preempted = _decided(sandbox, revision, last)
    real = Window(
        work={
            owner_name(obj): (queue, came, starts.get(str(obj.key)))
            for obj, queue, came in there
        },
        preemptions=preempted,
    )
    return compared(real, same, changed, from_ms=begin, to_ms=until)


def _until(deadline: float) -> Callable[[], None]:
    def check() -> None:
        if time.monotonic() > deadline:
            raise SchedulerError(RequestProblem.WINDOW.said())

    return check


def _decided(sandbox: Sandbox, after: int, upto: int) -> tuple[dict[str, int], int]:
    """Return the first admission (ms) of each Workload, and how many were preempted."""
    known = history.rows_of(Event, sandbox, upto, whole=True)
    decided = known.filter(revision__gt=after, type__in=("Admit", "Preempt"))
    rows = decided.order_by("revision", "seq")
    starts: dict[str, int] = {}
    preempted = 0
    for kind, subject, at in rows.values_list("type", "subject", "t_ms"):
        if kind == "Admit":
            starts.setdefault(subject, at)
        preempted += kind == "Preempt"
    return starts, preempted
