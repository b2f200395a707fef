"""Two runs of one world to one horizon, without and with a change: who gains and loses.

A run is read from its decisions alone, in order, so that it can be read while it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from scheduler.engine.world import World
from scheduler.model.decisions import (
    Admit,
    Bind,
    Checkpoint,
    Decision,
    Evict,
    Fail,
    Finish,
    Preempt,
)
from scheduler.model.objects import Key

#: By the start that holds: "only" starts with the change alone, "never" without alone.
StartVerdict = Literal["same", "earlier", "later", "never", "only"]


def start_verdict(without_ms: int | None, changed_ms: int | None) -> StartVerdict:
    """Return how a start came out with a change; None = it does not run."""
    if without_ms == changed_ms:
        return "same"
    if changed_ms is None:
        return "never"
    if without_ms is None:
        return "only"
    return "earlier" if changed_ms < without_ms else "later"


class RunCourse(msgspec.Struct, kw_only=True, rename="camel"):
    """What became of one subject in one run; milliseconds of virtual time.

    `started_ms` is the start that holds at the horizon, or that it ended from. None: it
    waits, or did not end. `place` is "" where it is as at the begin. `lost_ms` is held
    and thrown away by evictions, `preemptions` are among the evictions.
    """

    started_ms: int | None = None
    finished_ms: int | None = None
    place: str = ""  # queue and flavors, or the node, of the start that holds
    evictions: int = 0
    preemptions: int = 0
    lost_ms: int = 0


class WorkloadVerdict(msgspec.Struct, kw_only=True, rename="camel"):
    """One subject whose outcome differs with the change.

    `start` compares the starts that hold; where they are equal, `gains` and `loses`
    go by the ends. Neither: it only gets another place, or is evicted on the way.
    """

    subject: str
    start: StartVerdict
    gains: bool
    loses: bool
    without: RunCourse
    changed: RunCourse


class RunTotals(msgspec.Struct, kw_only=True, rename="camel"):
    """One run in sums over the same time."""

    started: int  # starts, again after an eviction too
    finished: int
    evictions: int
    preemptions: int
    work_lost_ms: int


class ChangeVerdict(msgspec.Struct, kw_only=True, rename="camel"):
    """What a change makes different: two runs from one instant to one horizon.

    `workloads` are all whose outcome differs, Pods where nothing but pods is scheduled;
    `pods` counts the pods of Workloads that get another node, or get one at another
    time. Nothing changes exactly when `differs` is false.
    """

    from_ms: int
    to_ms: int
    differs: bool
    workloads: list[WorkloadVerdict]
    pods: int
    without: RunTotals
    changed: RunTotals


def running_since(world: World) -> dict[Key, int]:
    """Return since when (ms) each Workload, job and pod that runs now does."""
    runs = world.lifetime.runs
    since = {
        key: run.started_ms
        for key, run in runs.items()
        if run.active and run.started_ms is not None
    }
    for pod in world.lifetime.placed:
        owner = world.lifetime.owners.get(pod, pod)
        since.setdefault(pod, since.get(owner, world.context.now_ms))
    return since


@dataclass(slots=True, kw_only=True)
class RunReader:
    """Follows the subjects of one kind through the decisions of a run, as they come."""

    kind: str  # Workload or Pod
    since: Mapping[Key, int]  # what runs at the begin, and since when (ms)
    courses: dict[Key, RunCourse] = field(default_factory=dict)
    starts: int = 0

    def hear(self, decisions: Iterable[Decision]) -> None:
        """Take decisions, in order."""
        for decision in decisions:
            if decision.subject.kind != self.kind:
                if isinstance(decision, Checkpoint):
                    self._kept(decision)
                continue
            match decision:
                case Admit() if self.kind == "Workload":
                    self._start(decision, _admitted_to(decision))
                case Bind() if self.kind == "Pod":
                    self._start(decision, decision.node)
                case Preempt() | Evict():
                    self._lose(decision)
                case Fail() if decision.node:
                    self._lose(decision)
                case Finish():
                    self.course(decision.subject).finished_ms = decision.at_ms
                case Checkpoint():
                    self._kept(decision)
                case _:
                    pass

    def totals(self) -> RunTotals:
        """Return the sums so far."""
        courses = self.courses.values()
        return RunTotals(
            started=self.starts,
            finished=sum(one.finished_ms is not None for one in courses),
            evictions=sum(one.evictions for one in courses),
            preemptions=sum(one.preemptions for one in courses),
            work_lost_ms=sum(one.lost_ms for one in courses),
        )

    def all_courses(self) -> dict[Key, RunCourse]:
        """Return the course of every subject, including those that ran at the beginning."""
        for key in self.since:
            if key.kind == self.kind:
                self.course(key)
        return self.courses

    def course(self, key: Key) -> RunCourse:
        """Return the course of a subject so far."""
        course = self.courses.get(key)
        if course is None:
            course = self.courses[key] = RunCourse(started_ms=self.since.get(key))
        return course

    def _start(self, decision: Decision, place: str) -> None:
        course = self.course(decision.subject)
        course.started_ms, course.place = decision.at_ms, place
        self.starts += 1

    def _lose(self, decision: Decision) -> None:
        course = self.course(decision.subject)
        if course.started_ms is None:
            return
        course.evictions += 1
        course.lost_ms += decision.at_ms - course.started_ms
        course.preemptions += isinstance(decision, Preempt)
        course.started_ms, course.place = None, ""

    def _kept(self, decision: Checkpoint) -> None:
        """Take back what is kept of what was counted as lost."""
        for key in (decision.by, decision.subject):
            course = None if key is None else self.courses.get(key)
            if course is not None and course.evictions:
                course.lost_ms = max(0, course.lost_ms - decision.kept_ms)
                return


def _admitted_to(decision: Admit) -> str:
    flavors = sorted(
        {name for part in decision.pod_sets for name in part.flavors.values()}
    )
    return f"{decision.queue} ({', '.join(flavors)})"


def verdict(
    without: Sequence[Decision],
    changed: Sequence[Decision],
    *,
    kind: str,
    from_ms: int,
    to_ms: int,
    since: Mapping[Key, int],
) -> ChangeVerdict:
    """Return the differences of two runs of one world, from `from_ms` to `to_ms`.

    `kind` is that of what waits and runs: "Workload" under Kueue, else "Pod". `since`
    is `running_since` of the world at the begin. Equal decisions give a verdict that does not differ. O(decisions).
    """
    readers = [RunReader(kind=kind, since=since) for _ in range(2)]
    pods = [RunReader(kind="Pod", since=since) for _ in range(2)]
    for decisions, reader, bound in zip((without, changed), readers, pods, strict=True):
        reader.hear(decisions)
        if kind != "Pod":
            bound.hear(decisions)
    workloads = _differing_of(*readers)
    other_pods = len(_differing_of(*pods))
    return ChangeVerdict(
        from_ms=from_ms,
        to_ms=to_ms,
        differs=bool(workloads or other_pods),
        workloads=workloads,
        pods=other_pods,
        without=readers[0].totals(),
        changed=readers[1].totals(),
    )


def _differing_of(without: RunReader, changed: RunReader) -> list[WorkloadVerdict]:
    keys = sorted({*without.courses, *changed.courses})
    return differing(
        {str(key): without.course(key) for key in keys},
        {str(key): changed.course(key) for key in keys},
    )


def differing(
    without: Mapping[str, RunCourse], changed: Mapping[str, RunCourse]
) -> list[WorkloadVerdict]:
    """Return the subjects whose outcome differs: losers first, then in the given order.

    Whoever is in one of them alone has the empty course in the other.
    """
    none = RunCourse()
    found = []
    for name in {**without, **changed}:
        one, other = without.get(name, none), changed.get(name, none)
        if one != other:
            found.append(_judged(name, one, other))
    return sorted(found, key=lambda one: not one.loses)


def _judged(subject: str, without: RunCourse, changed: RunCourse) -> WorkloadVerdict:
    start = start_verdict(without.started_ms, changed.started_ms)
    end = start_verdict(without.finished_ms, changed.finished_ms)
    by = end if start == "same" else start
    return WorkloadVerdict(
        subject=subject,
        start=start,
        gains=by in ("earlier", "only"),
        loses=by in ("later", "never"),
        without=without,
        changed=changed,
    )
