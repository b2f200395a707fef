"""The decisions that a recording shows: admissions, and preemptions by preemptor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.model.conditions import condition, is_true
from scheduler.model.decisions import PodSetAdmission
from scheduler.model.objects import Key
from scheduler.model.reasons import PREEMPTOR_UID
from scheduler.recorded.shadow.history import Change, Manifest

#: Victims of one preemption are written side by side and become visible one by one.
SPREAD_MS = 5_000

Parts = dict[str, tuple[int, dict[str, str]]]  # pod set -> count, resource -> flavor


@dataclass(frozen=True, slots=True)
class Admission:
    """A Workload whose quota became reserved at this event."""

    at_ms: int
    event: int
    workload: Key
    queue: str
    parts: Parts

    @property
    def kind(self) -> str:
        """Return the kind of decision, for counts."""
        return "admission"

    @property
    def subject(self) -> Key:
        """Return the key of the admitted object."""
        return self.workload


@dataclass(frozen=True, slots=True)
class Victim:
    """One victim: when it was seen to be evicted, and for what reason."""

    at_ms: int
    event: int
    reason: str


@dataclass(frozen=True, slots=True)
class Preemption:
    """The victims of one preemptor that were seen shortly after each other."""

    preemptor: Key
    victims: dict[Key, Victim]  # in the order in which they were seen

    @property
    def first(self) -> Victim:
        """Return the victim that was seen first."""
        return next(iter(self.victims.values()))

    @property
    def at_ms(self) -> int:
        """Return when the first victim was seen."""
        return self.first.at_ms

    @property
    def event(self) -> int:
        """Return the event that showed the first victim."""
        return self.first.event

    @property
    def reasons(self) -> dict[Key, str]:
        """Return each victim's reason."""
        return {key: victim.reason for key, victim in self.victims.items()}

    def without(self, victims: Iterable[Key]) -> Preemption:
        """Return the preemption of the others."""
        gone = set(victims)
        rest = {key: one for key, one in self.victims.items() if key not in gone}
        return Preemption(self.preemptor, rest)

    @property
    def kind(self) -> str:
        """Return the kind of decision, for counts."""
        return "preemption"

    @property
    def subject(self) -> Key:
        """Return the workload that the victims were preempted for."""
        return self.preemptor


Real = Admission | Preemption


def find(changes: Sequence[Change]) -> list[Real]:
    """Return the decisions in the order in which they were first seen."""
    uids = {
        change.after["metadata"].get("uid", ""): change.key
        for change in changes
        if change.after is not None and change.key.kind == "Workload"
    }
    found: list[Real] = [*_admissions(changes), *_preemptions(changes, uids)]
    return sorted(found, key=lambda real: real.event)


def _admissions(changes: Sequence[Change]) -> Iterator[Admission]:
    for number, change, status in _becoming(changes, "QuotaReserved"):
        admission = status.get("admission") or {}
        yield Admission(
            at_ms=change.at_ms,
            event=number,
            workload=change.key,
            queue=admission.get("clusterQueue", ""),
            parts={
                part["name"]: (part.get("count", 0), part.get("flavors") or {})
                for part in admission.get("podSetAssignments") or ()
            },
        )


def _preemptions(
    changes: Sequence[Change], uids: Mapping[str, Key]
) -> Iterator[Preemption]:
    """Yield groups of victims; a preemptor may make room again much later."""
    groups: dict[Key, Preemption] = {}
    for number, change, status in _becoming(changes, "Evicted"):
        evicted = condition(status, "Evicted") or {}
        preemptor = _preemptor(evicted, uids)
        if preemptor is None:
            continue
        reason = (condition(status, "Preempted") or {}).get("reason", "")
        victim = Victim(change.at_ms, number, reason)
        group = groups.get(preemptor)
        if group is None or change.at_ms - group.at_ms > SPREAD_MS:
            group = Preemption(preemptor, {change.key: victim})
            groups[preemptor] = group
            yield group
        else:
            group.victims[change.key] = victim


def _preemptor(evicted: Mapping[str, Any], uids: Mapping[str, Key]) -> Key | None:
    """Return who the victim made room for; None for other evictions."""
    named = PREEMPTOR_UID.search(evicted.get("message", ""))
    if evicted.get("reason") != "Preempted" or named is None:
        return None
    return uids.get(named[1])


def _becoming(
    changes: Sequence[Change], name: str
) -> Iterator[tuple[int, Change, Manifest]]:
    """Yield where this condition of a Workload became true."""
    for number, change in enumerate(changes):
        if change.key.kind != "Workload" or change.after is None:
            continue
        status = change.after.get("status") or {}
        before = (change.before or {}).get("status") or {}
        if is_true(status, name) and not _same(before, status, name):
            yield number, change, status


def _same(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Return whether the condition was true before, for the same reason."""
    was, now = condition(before, name), condition(after, name)
    if was is None or now is None or was.get("status") != "True":
        return False
    if name == "QuotaReserved":
        return True
    return bool(was.get("message") == now.get("message"))


def parts_of(pod_sets: Sequence[PodSetAdmission]) -> Parts:
    """Return what the engine assigned, in the form of a recorded admission."""
    return {part.name: (part.count, dict(part.flavors)) for part in pod_sets}
