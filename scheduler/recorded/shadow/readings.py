"""The readings of a state that Kueue may have decided on.

A decision becomes visible after it was taken: Kueue decides on what it knew when
its cycle began, and writes while others are written. Which workloads it had put
aside as inadmissible is not shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler.model.objects import Key, Object
from scheduler.model.reasons import (
    EXCEEDS_MAX_QUOTA,
    NO_MATCHING_FLAVOR,
    WAITING_FOR_PODS_READY,
    WAITING_FOR_PREEMPTED,
    WAITING_FOR_QUOTA,
    condition,
)
from scheduler.recorded.shadow.decisions import SPREAD_MS, Admission, History, Real

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
