"""Each real decision held against the engine's, within the order it may take.

A decision agrees when the engine takes it from the state just before it was seen,
or from another reading of what Kueue knew (`readings`), and everything that the
engine decides earlier on that way was really decided around then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scheduler.model.errors import SchedulerError
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object
from scheduler.model.problems.runs import RunProblem
from scheduler.model.reasons import (
    EXCEEDS_MAX_QUOTA,
    NO_MATCHING_FLAVOR,
    WAITING_FOR_PODS_READY,
    WAITING_FOR_PREEMPTED,
    WAITING_FOR_QUOTA,
    condition,
)
from scheduler.recorded.shadow.decisions import (
    SPREAD_MS,
    Admission,
    Decided,
    History,
    Parts,
    Preemption,
    Real,
    find,
)
from scheduler.recorded.shadow.known import KnownCycles

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
        self.known = KnownCycles(settings)
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
        for decided in self.known.cycles(objects, now, CYCLES):
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


# ------------------------------------------------------------------------
# The readings of a state that Kueue may have decided on.
#
# A decision becomes visible after it was taken: Kueue decides on what it knew when
# its cycle began, and writes while others are written. Which workloads it had put
# aside as inadmissible is not shown.

STATES = 60  # at most so many states before a decision are tried

TRIED = "those tried in vain aside"
OTHERS = "all others aside"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what Kueue knew, and in how far it is not the plain one.

    The plain one is the state just before the decision was seen, as it was seen.
    `earlier` counts the events between the state and the decision, `aside` says who
    is taken as inadmissible, `assumed` counts the admissions that are seen later,
    and `split` that the victims were decisions one after the other.
    """

    at_ms: int
    earlier: int = 0
    aside: str = ""
    assumed: int = 0
    split: bool = False

    def __str__(self) -> str:
        parts = [
            "an earlier state" if self.earlier else "the state just before",
            self.aside,
            "admissions seen later" if self.assumed else "",
            "victims one after the other" if self.split else "",
        ]
        return ", ".join(part for part in parts if part)


class Readings:
    """Finds the readings for the decisions of one history."""

    def __init__(self, history: History, real: Sequence[Real]) -> None:
        self.history = history
        self.admissions = [one for one in real if isinstance(one, Admission)]

    def states(self, real: Real) -> Iterator[tuple[int, Reading]]:
        """Yield states that may have been decided on, the latest first."""
        changes = self.history.changes
        first = bisect_left(
            changes, real.at_ms - SPREAD_MS, key=lambda change: change.at_ms
        )
        first = max(first, real.event - STATES)
        for position in range(real.event, first - 1, -1):
            at = changes[position - 1].at_ms if position else real.at_ms
            earlier = real.event - position
            yield position, Reading(at if earlier else real.at_ms, earlier)
            if position and self._began_to_wait(real.subject, position - 1):
                return

    def _began_to_wait(self, subject: Key, event: int) -> bool:
        """Return whether this event brought the workload into being."""
        change = self.history.changes[event]
        return change.key == subject and change.before is None

    def views(
        self, real: Real, position: int, state: Reading
    ) -> Iterator[tuple[Reading, list[Object]]]:
        """Yield what Kueue may have known: what was seen, then with less waiting.

        Last the same with quota that was taken already and is seen a little later:
        an admission counts from its cycle on, and is written afterwards.
        """
        self.history.go_to(position)
        known = {obj.key: obj for obj in self.history.existing()}
        yield from _fewer(known, real.subject, state)
        for number, obj in enumerate(self._assumed(real, position), start=1):
            known[obj.key] = obj
            later = replace(state, assumed=number)
            yield from _fewer(known, real.subject, later)

    def _assumed(self, real: Real, position: int) -> Iterator[Object]:
        """Yield the others that are seen to be admitted shortly after, in order."""
        until = real.at_ms + SPREAD_MS
        for one in self.admissions:
            soon = position <= one.event and one.at_ms <= until
            if soon and one.workload != real.subject:
                manifest = self.history.changes[one.event].after
                assert manifest is not None
                yield Object(
                    key=one.workload, manifest=manifest, status=manifest["status"]
                )


def _fewer(
    known: Mapping[Key, Object], subject: Key, reading: Reading
) -> Iterator[tuple[Reading, list[Object]]]:
    """Yield all, then what is left when others are inadmissible.

    Which workloads Kueue has put aside in a BestEffortFIFO queue it does not
    show: equivalents of a failed one get no condition, and after a release they
    come back in batches.
    """
    everybody = list(known.values())
    yield reading, everybody
    aside = waiting_aside(everybody, subject)
    tried = {key for key, reason in aside.items() if reason in _TRIED}
    for name, out in ((TRIED, tried), (OTHERS, set(aside))):
        if out:
            left = [obj for obj in everybody if obj.key not in out]
            yield replace(reading, aside=name), left


_TRIED = frozenset(
    {
        EXCEEDS_MAX_QUOTA,
        NO_MATCHING_FLAVOR,
        WAITING_FOR_PODS_READY,
        WAITING_FOR_PREEMPTED,
        WAITING_FOR_QUOTA,
    }
)


def waiting_aside(objects: Iterable[Object], subject: Key) -> dict[Key, str]:
    """Return the others that may be inadmissible -> why they have no quota."""
    objects = list(objects)
    strict = {
        obj.key.name
        for obj in objects
        if obj.key.kind == "ClusterQueue"
        and obj.spec.get("queueingStrategy") == "StrictFIFO"
    }
    queues = {
        (obj.key.namespace, obj.key.name): obj.spec.get("clusterQueue", "")
        for obj in objects
        if obj.key.kind == "LocalQueue"
    }
    found = {}
    for obj in objects:
        if obj.key.kind != "Workload" or obj.key == subject:
            continue
        reserved = condition(obj.status, "QuotaReserved") or {}
        queue = queues.get((obj.key.namespace, obj.spec.get("queueName", "")), "")
        if reserved.get("status") != "True" and queue not in strict:
            found[obj.key] = reserved.get("reason", "")
    return found
