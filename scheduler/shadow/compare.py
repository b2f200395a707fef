"""Each real decision held against the engine's, within the order it may take.

A decision becomes visible after it was taken: Kueue decides on what it knew when
its cycle began, and writes while others are written. So a decision agrees when the
engine takes it from the state just before it was seen, or from one that stood
shortly before, and everything that the engine decides earlier on that way was
really decided around then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.kueue.configuration import Settings
from scheduler.reasons import (
    EXCEEDS_MAX_QUOTA,
    NO_MATCHING_FLAVOR,
    WAITING_FOR_PODS_READY,
    WAITING_FOR_PREEMPTED,
    WAITING_FOR_QUOTA,
)
from scheduler.records.conditions import condition
from scheduler.records.objects import Key, Object
from scheduler.shadow.decisions import (
    SPREAD_MS,
    Admission,
    Parts,
    Preemption,
    Real,
    find,
)
from scheduler.shadow.engine import Decided, cycles
from scheduler.shadow.history import History

CYCLES = 8
STATES = 60  # at most so many states before a decision are tried


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the engine agrees with one real decision.

    `earlier_ms` is how long before it was seen the state stood from which the engine
    takes it; `difference` names what differs where it does not.
    """

    real: Real
    agrees: bool
    earlier_ms: int = 0
    difference: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, if it is known yet; of a preemption, which victims are equal."""

    what: str = ""
    taken: frozenset[Key] = frozenset()


@dataclass(slots=True)
class Shadow:
    """All decisions of a recording, judged."""

    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def agreeing(self) -> int:
        """Return how many decisions the engine takes too."""
        return sum(verdict.agrees for verdict in self.verdicts)

    def __str__(self) -> str:
        return f"{len(self.verdicts)} decisions, {self.agreeing} agree"


class Judge:
    """Holds the decisions of one history against the engine."""

    def __init__(self, history: History, settings: Settings, epoch_us: int) -> None:
        self.history = history
        self.settings = settings
        self.epoch_us = epoch_us
        self.real = find(history.changes)
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
        """Return whether the engine takes this decision."""
        difference = ""
        for position, at_ms in self._states(real):
            found = self._try(real, position, at_ms)
            if found is None:
                return Verdict(real, True, real.at_ms - at_ms)
            if found.taken and self._takes_the_rest(real, found.taken):
                return Verdict(real, True, real.at_ms - at_ms)
            difference = difference or found.what
        return Verdict(real, False, difference=difference)

    def _takes_the_rest(self, real: Real, taken: frozenset[Key]) -> bool:
        """Return whether the victims that are left were a decision of their own."""
        return isinstance(real, Preemption) and self.verdict(real.without(taken)).agrees

    def _states(self, real: Real) -> Iterator[tuple[int, int]]:
        """Yield states that may have been decided on, the latest first."""
        changes = self.history.changes
        first = bisect_left(
            changes, real.at_ms - SPREAD_MS, key=lambda change: change.at_ms
        )
        first = max(first, real.event - STATES)
        for position in range(real.event, first - 1, -1):
            at = changes[position - 1].at_ms if position else real.at_ms
            yield position, real.at_ms if position == real.event else at
            if position and self._began_to_wait(real.subject, position - 1):
                return

    def _began_to_wait(self, subject: Key, event: int) -> bool:
        """Return whether this event brought the workload into being."""
        change = self.history.changes[event]
        return change.key == subject and change.before is None

    def _try(self, real: Real, position: int, at_ms: int) -> Difference | None:
        """Return what differs when the engine decides from this state, or None."""
        self.history.go_to(position)
        seen = {obj.key: obj for obj in self.history.living()}
        first = None
        for objects in self._views(seen, real, position):
            difference = self._decide(real, objects, at_ms)
            if difference is None or difference.taken:
                return difference
            first = first or difference
        return first

    def _views(
        self, seen: Mapping[Key, Object], real: Real, position: int
    ) -> Iterator[list[Object]]:
        """Yield what Kueue may have known: what was seen, then with less waiting.

        Last the same with quota that was taken already and is seen a little later:
        an admission counts from its cycle on, and is written afterwards.
        """
        yield list(seen.values())
        yield from self._fewer(list(seen.values()), real.subject)
        known = dict(seen)
        for obj in self._assumed(real, position):
            known[obj.key] = obj
            yield list(known.values())
            yield from self._fewer(list(known.values()), real.subject)

    def _assumed(self, real: Real, position: int) -> Iterator[Object]:
        """Yield the others that are seen to be admitted shortly after, in order."""
        for one in self.real:
            soon = position <= one.event and one.at_ms <= real.at_ms + SPREAD_MS
            if soon and isinstance(one, Admission) and one.workload != real.subject:
                manifest = self.history.changes[one.event].after
                assert manifest is not None
                yield Object(
                    key=one.workload, manifest=manifest, status=manifest["status"]
                )

    def _fewer(
        self, everybody: Sequence[Object], subject: Key
    ) -> Iterator[list[Object]]:
        """Yield what is left when others are inadmissible: those tried, then all.

        Which workloads Kueue has put aside in a BestEffortFIFO queue it does not
        show: equivalents of a failed one get no condition, and after a release they
        come back in batches.
        """
        aside = waiting_aside(everybody, subject)
        tried = {key for key, reason in aside.items() if reason in _TRIED}
        for out in (tried, set(aside)):
            if out:
                yield [obj for obj in everybody if obj.key not in out]

    def _decide(
        self, real: Real, objects: list[Object], at_ms: int
    ) -> Difference | None:
        """Return what differs when the engine decides on these objects, or None."""
        now = self.epoch_us + at_ms * 1000
        victims: dict[Key, str] = {}
        for decided in cycles(objects, self.settings, now, CYCLES):
            victims |= decided.preempted.get(real.subject, {})
            difference = _difference(real, decided, victims)
            if difference is None:
                return None
            if difference.what:
                return difference
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
            any(
                begin - SPREAD_MS <= at <= until
                for at in self._preempted[preemptor, victim]
            )
            for preemptor, victims in decided.preempted.items()
            for victim in victims
        )


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


def _difference(
    real: Real, decided: Decided, victims: Mapping[Key, str]
) -> Difference | None:
    """Return None for the same decision, an empty one while it is not complete."""
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
