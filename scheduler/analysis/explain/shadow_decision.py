"""One real decision opened: what was seen, what the engine decides, the smallest world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.analysis.explain.searches import Reader
from scheduler.analysis.reproduction.trimming import shrink
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.stage import Context
from scheduler.input.manifests.loading.loaded import rank
from scheduler.model.decisions import (
    Admit,
    AnyDecision,
    Decision,
    Preempt,
    ReserveQuota,
    Wait,
)
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object
from scheduler.recorded.shadow.compare import CYCLES, Judge
from scheduler.recorded.shadow.decisions import (
    SPREAD_MS,
    Admission,
    Parts,
    Real,
    parts_of,
)

Manifest = dict[str, Any]


class ShadowStep(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One step: a decision, or a sentence of the search behind it."""

    kind: str  # "admit", "preempt", "wait", or "search"
    t_ms: int
    subject: str = ""  # admitted, preempted or left waiting
    by: str = ""  # the preemptor
    queue: str = ""  # ClusterQueue
    flavors: list[str] = []  # "pod set: resource in flavor"
    text: str = ""  # a reason or a sentence


class SmallestWorld(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The objects that the engine's part needs, and how many there were."""

    before: int
    after: int
    minimal: bool  # none can be left out; else the search was stopped early
    documents: list[Manifest]


class OpenedDecision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A real decision and the engine's on the same state, step by step."""

    kind: str
    subject: str
    t_ms: int
    difference: str  # "" where the engine takes it too
    real: list[ShadowStep]
    engine: list[ShadowStep]
    smallest: SmallestWorld


@dataclass(frozen=True, slots=True)
class _Trial:
    """Runs the engine on some objects and says what comes of one workload."""

    subject: Key
    settings: Settings
    at_us: int
    at_ms: int

    def outcome(self, objects: Iterable[Object]) -> tuple[Any, ...]:
        """Return whether other workloads come first, and the outcome for this one.

        Where it is admitted, which workloads it preempts, or why it waits.
        """
        last: tuple[Any, ...] = ()
        others = False
        for decisions in self._cycles(self._stage(objects)):
            found, before = self._of_subject(decisions)
            if found and found[0] != "wait":
                return others or before, *found
            others, last = others or before, found or last
        return others, *last

    def _of_subject(
        self, decisions: Sequence[Decision]
    ) -> tuple[tuple[Any, ...], bool]:
        """Return what one cycle decides of the workload, and whether of others before."""
        victims: dict[str, str] = {}
        found: tuple[Any, ...] = ()
        others = False
        for one in decisions:
            if isinstance(one, Preempt) and one.by == self.subject:
                victims[str(one.subject)] = one.reason
            elif one.subject != self.subject:
                others |= isinstance(one, Admit | ReserveQuota | Preempt)
            elif isinstance(one, Admit | ReserveQuota):
                return ("admit", one.queue, parts_of(one.pod_sets)), others
            elif isinstance(one, Wait):
                found = ("wait", one.reason)
        return ("preempt", victims) if victims else found, others

    def steps(self, objects: Iterable[Object]) -> list[ShadowStep]:
        """Return each decision, and the sentences of the subject's searches."""
        stage = self._stage(objects)
        stage.traced, stage.trace = self.subject, Trace()
        found: list[ShadowStep] = []
        for decisions in self._cycles(stage):
            found += self._searches(stage)
            stage.trace = Trace()
            made = [one for one in map(self._step, decisions) if one is not None]
            found += made
            if any(str(self.subject) in (one.subject, one.by) for one in made):
                break
        return found

    def _stage(self, objects: Iterable[Object]) -> KueueStage:
        stage = KueueStage(Context(seed=0, epoch_us=self.at_us), self.settings)
        for obj in objects:
            stage.put(obj)
        stage.settle()
        stage.requeue_inadmissible()
        stage.context.journal.take_decisions()
        return stage

    def _cycles(self, stage: KueueStage) -> Iterable[Sequence[Decision]]:
        for _ in range(CYCLES):
            if not stage.cycle():
                return
            stage.reconcile()
            yield stage.context.journal.take_decisions()

    def _searches(self, stage: KueueStage) -> list[ShadowStep]:
        assert stage.trace is not None
        return [
            ShadowStep(
                kind="search",
                t_ms=self.at_ms,
                subject=step.workload,
                text=step.sentence,
            )
            for search in Reader(stage).searches(stage.trace.steps)
            for step in search.steps
            if step.sentence
        ]

    def _step(self, one: AnyDecision | Decision) -> ShadowStep | None:
        at = self.at_ms
        if isinstance(one, Admit | ReserveQuota):
            return _admitted(at, str(one.subject), one.queue, parts_of(one.pod_sets))
        if isinstance(one, Preempt):
            subject, by = str(one.subject), str(one.by or "")
            return ShadowStep(
                kind="preempt", t_ms=at, subject=subject, by=by, text=one.reason
            )
        if isinstance(one, Wait) and one.subject == self.subject:
            text = one.message or one.reason
            return ShadowStep(kind="wait", t_ms=at, subject=str(one.subject), text=text)
        return None


def opened(
    judge: Judge, real: Real, *, go_on: Callable[[], bool] = lambda: True
) -> OpenedDecision:
    """Return a real decision beside the engine's, from the state just before it.

    `go_on` says whether the search for the smallest world may go on. Cost: a few
    cycles of the engine for each try of the search.
    """
    judge.history.go_to(real.event)
    objects = sorted(judge.history.existing(), key=lambda obj: (rank(obj), obj.key))
    at_us = judge.epoch_us + real.at_ms * 1000
    trial = _Trial(real.subject, judge.settings, at_us, real.at_ms)
    verdict = judge.verdict(real)
    return OpenedDecision(
        kind=real.kind,
        subject=str(real.subject),
        t_ms=real.at_ms,
        difference=verdict.difference,
        real=real_steps(judge, real),
        engine=trial.steps(objects),
        smallest=_smallest(trial, real, objects, go_on),
    )


def real_steps(judge: Judge, real: Real) -> list[ShadowStep]:
    """Return the recorded decisions shortly before, and the decision itself."""
    near = [
        one
        for one in judge.real
        if one.event <= real.event and real.at_ms - one.at_ms <= SPREAD_MS
    ]
    return [step for one in near for step in _seen(one)]


def _seen(real: Real) -> list[ShadowStep]:
    if isinstance(real, Admission):
        return [_admitted(real.at_ms, str(real.subject), real.queue, real.parts)]
    return [
        ShadowStep(
            kind="preempt",
            t_ms=victim.at_ms,
            subject=str(key),
            by=str(real.preemptor),
            text=victim.reason,
        )
        for key, victim in real.victims.items()
    ]


def _admitted(at_ms: int, subject: str, queue: str, parts: Parts) -> ShadowStep:
    flavors = [
        f"{name}: {resource} in {flavor}"
        for name, (_, found) in parts.items()
        for resource, flavor in found.items()
    ]
    return ShadowStep(
        kind="admit", t_ms=at_ms, subject=subject, queue=queue, flavors=flavors
    )


def _smallest(
    trial: _Trial, real: Real, objects: Sequence[Object], go_on: Callable[[], bool]
) -> SmallestWorld:
    """Leave out what the engine's outcome does not need; what was decided on stays."""
    needed, wanted = _needed(real, objects), trial.outcome(objects)
    fixed = [obj for obj in objects if obj.key in needed]
    rest = [obj for obj in objects if obj.key not in needed]

    def shows(left: list[Object]) -> bool:
        return trial.outcome([*fixed, *left]) == wanted

    kept, minimal = shrink(rest, shows, go_on) if rest else ([], True)
    found = sorted([*fixed, *kept], key=lambda obj: (rank(obj), obj.key))
    return SmallestWorld(
        before=len(objects),
        after=len(found),
        minimal=minimal,
        documents=[_document(obj) for obj in found],
    )


def _document(obj: Object) -> Manifest:
    return {**obj.manifest, "status": obj.status} if obj.status else obj.manifest


def _needed(real: Real, objects: Sequence[Object]) -> set[Key]:
    """Return who was decided on: the workload, its queues and flavors, the victims."""
    found = {real.subject}
    if isinstance(real, Admission):
        found.add(Key("ClusterQueue", "", real.queue))
        flavors = {name for _, given in real.parts.values() for name in given.values()}
        found |= {Key("ResourceFlavor", "", name) for name in flavors}
    else:
        found |= set(real.victims)
    queues = {
        (obj.key.namespace, obj.spec.get("queueName", ""))
        for obj in objects
        if obj.key in found and obj.key.kind == "Workload"
    }
    for obj in objects:
        if obj.key.kind == "LocalQueue" and (obj.key.namespace, obj.key.name) in queues:
            found |= {
                obj.key,
                Key("ClusterQueue", "", obj.spec.get("clusterQueue", "")),
            }
    return found
