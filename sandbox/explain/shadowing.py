"""The decisions of a real cluster beside this engine's, from a twin's history."""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from sandbox.base.errors import ConflictError
from sandbox.models import Revision, Sandbox
from sandbox.world import history, operations
from sandbox.world.operations import Observe
from sandbox.world.seen import unpack
from scheduler.shadow.compare import Judge, Verdict
from scheduler.shadow.history import History
from scheduler.twin.observing import Manifest, ObservedChange


class KindAgreement(msgspec.Struct, frozen=True, rename="camel"):
    """How often the engine agrees on one kind of decision."""

    kind: str  # "admission" or "preemption"
    judged: int
    agree: int


class Disagreement(msgspec.Struct, frozen=True, rename="camel"):
    """A real decision that the engine does not take from the state just before it."""

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
    disagreements: list[Disagreement]


def shadow(sandbox: Sandbox, *, seconds: float, most: int) -> Agreement:
    """Hold the newest `most` admissions and preemptions against the engine's.

    Ends when `seconds` of the wall are over; fewer are judged then. Raises
    ConflictError for a sandbox that shows no real cluster, or one without Kueue.
    """
    if not sandbox.is_real:
        raise ConflictError("it shows no real cluster; a twin's decisions are compared")
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
        disagreements=[
            _disagreement(sandbox, one) for one in verdicts if not one.agrees
        ],
    )


def _disagreement(sandbox: Sandbox, verdict: Verdict) -> Disagreement:
    real = verdict.real
    tick = -(-real.at_ms // sandbox.tick_ms)
    return Disagreement(
        real.kind, str(real.subject), real.at_ms, tick, verdict.difference
    )


def _judge(sandbox: Sandbox) -> Judge:
    begin = history.revision_at(sandbox, sandbox.kept_tick)
    world = history.world_at(sandbox, begin)
    if world.kueue is None:
        raise ConflictError("only decisions of Kueue are compared; it has none")
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
    past = history.lineage(sandbox)
    rows = Revision.objects.filter(
        history.within(past, "number"), number__gt=begin, kind=Revision.TICK
    ).order_by("number")
    found = (
        operations.from_document(document)
        for document in rows.values_list("operation", flat=True).iterator()
    )
    return [operation for operation in found if isinstance(operation, Observe)]
