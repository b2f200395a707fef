"""What befell work before now: its last preemption, eviction or end, and how often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, Self

from scheduler.model import durations
from scheduler.model.decisions import Deactivate, Decision, Evict, Finish, Preempt
from scheduler.model.objects import Key
from scheduler.model.sentence import Named, Sentence
from scheduler.words.why import Befell

#: The decisions that end a run of a Workload or a pod.
ENDS = (Preempt, Evict, Deactivate, Finish)


class Ended(NamedTuple):
    """A run of a Workload or a pod that ended: when, how, by whom, and why."""

    type: str  # the name of one of ENDS
    at_ms: int
    subject: Key
    by: Key | None
    reason: str
    message: str

    @classmethod
    def of(cls, one: Decision) -> Self:
        """Return a decision as such an end."""
        kind = type(one).__name__
        return cls(kind, one.at_ms, one.subject, one.by, one.reason, one.message)


class Past(Protocol):
    """Where ends of runs are known from."""

    def of(self, key: Key) -> Sequence[Ended]:
        """Return the ends of the runs of one Workload or pod, in order."""
        ...

    def named(self, name: str) -> Iterable[Key]:
        """Return whose runs ended, of this name, with or without its namespace."""
        ...


class DecidedPast:
    """What decisions say of ends. Cost: O(decisions) once."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self._ends: dict[Key, list[Ended]] = defaultdict(list)
        for one in decisions:
            if isinstance(one, ENDS):
                self._ends[one.subject].append(Ended.of(one))

    def of(self, key: Key) -> Sequence[Ended]:
        """Return the ends of the runs of one Workload or pod, in order."""
        return self._ends.get(key, ())

    def named(self, name: str) -> Iterable[Key]:
        """Return whose runs ended, of this name, with or without its namespace."""
        return [key for key in self._ends if name in (key.name, key.path)]


def befell(ends: Iterable[Ended]) -> Iterator[Sentence]:
    """Yield what ended the last run, and how often runs ended so; nothing without an end."""
    known: list[Ended] = []
    for one in ends:  # an eviction that carries out a preemption is none of its own
        if not known or one.type != "Evict" or _why(one) != _why(known[-1]):
            known.append(one)
    if not known:
        return
    last = known[-1]
    at, why = durations.duration_text(last.at_ms), last.reason or last.message
    if last.type == "Preempt" and last.by is not None:
        yield Befell.PREEMPTED.said(by=Named(last.by.name), at=at, why=why)
    elif last.type == "Finish":
        yield Befell.FINISHED.said(at=at, why=why)
    else:
        yield Befell.EVICTED.said(at=at, why=last.message or why)
    times = sum(one.type == last.type for one in known)
    if times > 1:
        yield Befell.TIMES.said(n=times)


def _why(one: Ended) -> tuple[int, Key | None, str]:
    return one.at_ms, one.by, one.reason
