"""The decisions that a recording shows: admissions, and preemptions by preemptor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Context
from scheduler.model.decisions import Admit, Decision, PodSetAdmission, Preempt
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import PREEMPTOR_UID, condition, is_true

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


# ------------------------------------------------------------------------
# What Kueue read, as it changed: the state at any event of a recording.


Manifest = dict[str, Any]

#: Kinds that an admission cycle depends on. Everything else is passed over.
KINDS = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LimitRange",
        "LocalQueue",
        "Namespace",
        "ResourceFlavor",
        "RuntimeClass",
        "Topology",
        "Workload",
        "WorkloadPriorityClass",
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """One event: what the object was before it, and what it is after it."""

    at_ms: int
    key: Key
    before: Manifest | None
    after: Manifest | None


class History:
    """The objects at an event; `go_to` moves to another one.

    Events are numbered from 0; the state at `i` is the one just before event `i`.
    """

    def __init__(
        self, standing: Iterable[Manifest], events: Iterable[tuple[int, str, Manifest]]
    ) -> None:
        self.objects: dict[Key, Manifest] = {
            key_of(manifest): manifest for manifest in standing if _is_read(manifest)
        }
        self.changes = list(self._changes(events))
        self.position = len(self.changes)

    def _changes(self, events: Iterable[tuple[int, str, Manifest]]) -> Iterable[Change]:
        """Yield the events that matter, and leave the state behind the last one."""
        for at, kind, manifest in events:
            if not _is_read(manifest):
                continue
            key = key_of(manifest)
            for after in (
                [None] if kind == "DELETED" else _steps(self.objects.get(key), manifest)
            ):
                before = self.objects.get(key)
                self._set(key, after)
                if _differ(before, after):
                    yield Change(at, key, before, after)

    def go_to(self, position: int) -> None:
        """Move to the state just before this event. Cost: the events between."""
        while self.position > position:
            self.position -= 1
            change = self.changes[self.position]
            self._set(change.key, change.before)
        while self.position < position:
            change = self.changes[self.position]
            self._set(change.key, change.after)
            self.position += 1

    def _set(self, key: Key, manifest: Manifest | None) -> None:
        if manifest is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = manifest

    def existing(self) -> Iterable[Object]:
        """Yield the objects at the position, without the finished Workloads."""
        for key, manifest in self.objects.items():
            status = manifest.get("status") or {}
            if key.kind != "Workload" or not is_true(status, "Finished"):
                yield Object(key=key, manifest=manifest, status=status)


def _steps(before: Manifest | None, after: Manifest) -> list[Manifest]:
    """Return a Workload's changes one by one, where a watch skipped some.

    What is admitted when it is first seen waited before; what was admitted and
    evicted between two events was admitted first.
    """
    status = after.get("status") or {}
    if not is_true(status, "QuotaReserved"):
        return [after]
    steps = [{**after, "status": {}}] if before is None else []
    was = (before or {}).get("status") or {}
    if is_true(status, "Evicted") and not is_true(was, "QuotaReserved"):
        kept = [c for c in status["conditions"] if c["type"] not in _OF_EVICTION]
        steps.append({**after, "status": {**status, "conditions": kept}})
    return [*steps, after]


_OF_EVICTION = ("Evicted", "Preempted")


def key_of(manifest: Mapping[str, Any]) -> Key:
    """Return the key of a document as the API gives it."""
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def _is_read(manifest: Mapping[str, Any]) -> bool:
    return manifest.get("kind") in KINDS


def _differ(before: Manifest | None, after: Manifest | None) -> bool:
    """Return whether an admission cycle may see a difference.

    Queues report their usage all the time; only what they ask for counts.
    """
    if before is None or after is None or after["kind"] == "Workload":
        return before is not after
    return any(
        before.get(part) != after.get(part) for part in ("spec", "webhooks")
    ) or before["metadata"].get("labels") != after["metadata"].get("labels")


# ------------------------------------------------------------------------
# What the engine decides from a state: a few admission cycles, and nothing else.


@dataclass(slots=True)
class Decided:
    """What one cycle decided."""

    admitted: dict[Key, tuple[str, Parts]] = field(default_factory=dict)
    preempted: dict[Key, dict[Key, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.admitted or self.preempted)


def cycles(
    objects: Iterable[Object], settings: Settings, at_us: int, most: int
) -> Iterator[Decided]:
    """Yield what each cycle decides, until there are no heads or `most` are over.

    Victims keep their quota, as they do until their pods are gone. Cost: that of
    loading the objects, and of the cycles taken.
    """
    stage = KueueStage(Context(seed=0, epoch_us=at_us), settings)
    for obj in objects:
        stage.put(obj)
    stage.settle()
    stage.requeue_inadmissible()
    stage.context.journal.take_decisions()
    for _ in range(most):
        if not stage.cycle():
            return
        stage.reconcile()
        yield _decided(stage.context.journal.take_decisions())


def _decided(decisions: Iterable[Decision]) -> Decided:
    found = Decided()
    for one in decisions:
        if isinstance(one, Admit):
            found.admitted[one.subject] = (one.queue, parts_of(one.pod_sets))
        elif isinstance(one, Preempt) and one.by is not None:
            found.preempted.setdefault(one.by, {})[one.subject] = one.reason
    return found
