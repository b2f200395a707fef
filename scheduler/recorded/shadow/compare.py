"""Each real decision held against the engine's, within the order it may take.

A decision agrees when the engine takes it from the state just before it was seen,
or from another reading of what Kueue knew (`readings`), and everything that the
engine decides earlier on that way was really decided around then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from scheduler.model.errors import SchedulerError
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object
from scheduler.model.problems.runs import RunProblem
from scheduler.recorded.shadow.decisions import (
    SPREAD_MS,
    Admission,
    Decided,
    History,
    Parts,
    Preemption,
    Real,
    cycles,
    find,
)
from scheduler.recorded.shadow.readings import Reading, Readings

CYCLES = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the engine agrees with one real decision.

    `reading` is the one from which the engine takes it, None where there is none;
    `difference` then names what differs.
    """

    real: Real
    reading: Reading | None = None
    difference: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether the engine takes the decision too."""
        return self.reading is not None


@dataclass(slots=True)
class Shadow:
    """All decisions of a recording, judged."""

    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def agreeing(self) -> int:
        """Return how many decisions the engine takes too."""
        return sum(verdict.agrees for verdict in self.verdicts)

    def readings(self) -> Counter[str]:
        """Return how many agree on which reading of the state."""
        return Counter(str(v.reading) for v in self.verdicts if v.reading is not None)

    def __str__(self) -> str:
        return f"{len(self.verdicts)} decisions, {self.agreeing} agree"


class Judge:
    """Holds the decisions of one history against the engine."""

    def __init__(self, history: History, settings: Settings, epoch_us: int) -> None:
        self.history = history
        if settings.proposal is not None:
            raise SchedulerError(RunProblem.PROPOSAL.said(name=settings.proposal.name))
        self.settings = settings
        self.epoch_us = epoch_us
        self.real = find(history.changes)
        self.readings = Readings(history, self.real)
        #: Whether these victims of a preemption, seen at these events, are a decision
        #: of their own: it does not hang on the reading that left them.
        self._rests: dict[tuple[Key, frozenset[tuple[Key, int]]], bool] = {}
        self._admitted: dict[Key, list[Admission]] = defaultdict(list)
        self._preempted: dict[tuple[Key, Key], list[int]] = defaultdict(list)
        for real in self.real:
            if isinstance(real, Admission):
                self._admitted[real.workload].append(real)
            else:
                for key, victim in real.victims.items():
                    self._preempted[real.preemptor, key].append(victim.at_ms)

    def judge(self) -> Shadow:
        """Return the verdict on every decision. Cost: a few cycles for each."""
        return Shadow([self.verdict(real) for real in self.real])

    def verdict(self, real: Real) -> Verdict:
        """Return whether the engine takes this decision, and on which reading."""
        first = ""
        for position, state in self.readings.states(real):
            reading, what = self._try(real, position, state)
            if reading is not None:
                return Verdict(real, reading)
            first = first or what
        return Verdict(real, None, first)

    def _try(
        self, real: Real, position: int, state: Reading
    ) -> tuple[Reading | None, str]:
        """Return the reading of this state that agrees, or what differs first."""
        first = ""
        for reading, objects in self.readings.views(real, position, state):
            found = self._decide(real, objects, state.at_ms)
            if found is None:
                return reading, ""
            if found.taken:
                rest = self._takes_the_rest(real, found.taken)
                return (replace(reading, split=True) if rest else None), found.what
            first = first or found.what
        return None, first

    def _takes_the_rest(self, real: Real, taken: frozenset[Key]) -> bool:
        """Return whether the victims that are left were a decision of their own."""
        if not isinstance(real, Preemption):
            return False
        rest = real.without(taken)
        seen = frozenset((key, one.event) for key, one in rest.victims.items())
        known = self._rests.get((rest.preemptor, seen))
        if known is None:
            known = self.verdict(rest).agrees
            self._rests[rest.preemptor, seen] = known
        return known

    def _decide(
        self, real: Real, objects: list[Object], at_ms: int
    ) -> Difference | None:
        """Return what differs when the engine decides on these objects, or None."""
        now = self.epoch_us + at_ms * 1000
        victims: dict[Key, str] = {}
        for decided in cycles(objects, self.settings, now, CYCLES):
            victims |= decided.preempted.get(real.subject, {})
            found = difference(real, decided, victims)
            if found is None or found.what:
                return found
            if not self._was_real(decided, at_ms, real.at_ms):
                return Difference("another decision first", frozenset(victims))
        return Difference("not decided", frozenset(victims))

    def _was_real(self, decided: Decided, begin: int, seen: int) -> bool:
        """Return whether all of this was really decided around then."""
        until = seen + SPREAD_MS
        return all(
            any(
                begin <= one.at_ms <= until and (one.queue, one.parts) == assigned
                for one in self._admitted[key]
            )
            for key, assigned in decided.admitted.items()
        ) and all(
            any(begin <= at <= until for at in self._preempted[preemptor, victim])
            for preemptor, victims in decided.preempted.items()
            for victim in victims
        )


# ------------------------------------------------------------------------
# What differs between a real decision and what the engine decides.


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, if it is known yet; of a preemption, which victims are equal."""

    what: str = ""
    taken: frozenset[Key] = frozenset()


def difference(
    real: Real, decided: Decided, victims: Mapping[Key, str]
) -> Difference | None:
    """Return None for the same decision, an empty one while it is not complete.

    `victims` are those that the engine has taken for the real preemptor so far.
    """
    if isinstance(real, Admission):
        return _admission(real, decided)
    return _preemption(real, decided, victims)


def _admission(real: Admission, decided: Decided) -> Difference | None:
    if real.workload in decided.preempted:
        return Difference("preempts instead")
    if real.workload not in decided.admitted:
        return Difference()
    queue, parts = decided.admitted[real.workload]
    if queue != real.queue:
        return Difference("another queue")
    if _counts(parts) != _counts(real.parts):
        return Difference("another count")
    return None if parts == real.parts else Difference("another flavor")


def _counts(parts: Parts) -> dict[str, int]:
    return {name: count for name, (count, _) in parts.items()}


def _preemption(
    real: Preemption, decided: Decided, victims: Mapping[Key, str]
) -> Difference | None:
    if victims == real.reasons:
        return None
    if real.preemptor in decided.admitted:
        return Difference("admits instead", frozenset(victims))
    if set(victims) == set(real.victims):
        return Difference("another reason")
    if set(victims) <= set(real.victims):
        return Difference(taken=frozenset(victims))
    return Difference("other victims")
