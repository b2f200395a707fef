"""What a scheduler inside the world is: a stage with its own state and timers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from scheduler.model.decisions import Decision, Fail
from scheduler.model.objects import Key, Object
from scheduler.model.releases.release import NO_RELEASE, Release
from scheduler.model.sentence import Sentence

US_PER_MS = 1000


@dataclass(slots=True)
class Complaint:
    """Problems of one sort, and how several of them are said as one."""

    several: Callable[[int], Sentence] | None
    problems: dict[str, Sentence] = field(default_factory=dict)

    @property
    def said(self) -> Sentence:
        """Return the one problem, or a summary of several."""
        count = len(self.problems)
        if count > 1 and self.several is not None:
            return self.several(count)
        return next(iter(self.problems.values()))


@dataclass(slots=True, kw_only=True)
class Journal:
    """What was decided and which objects changed, since the last time it was read.

    Stages append in the order in which they decide. `touched` keeps first-touch
    order; a removed object is in `removed` and not in `touched`. `problems` are
    sentences for people: something the engine gave up on.
    """

    decisions: list[Decision] = field(default_factory=list)
    touched: dict[Key, None] = field(default_factory=dict)
    stale: dict[Key, None] = field(default_factory=dict)  # touched, not written yet
    removed: dict[Key, int] = field(default_factory=dict)  # the how manieth, in order
    removals: int = 0  # how many were removed ever
    problems: dict[str, Complaint] = field(default_factory=dict)  # by sort
    heard: int = 0  # how many of `decisions` were carried out
    _latest: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def emit(self, decision: Decision) -> None:
        """Append one decision; one that repeats at an instant is counted instead."""
        if decision.merges and not _is_final(decision):
            identity = _identity(decision)
            at = self._latest.get(identity)
            if at is not None and at < len(self.decisions):
                before = self.decisions[at]
                if before.at_ms == decision.at_ms and _identity(before) == identity:
                    times = _times(before) + _times(decision)
                    self.decisions[at] = msgspec.structs.replace(decision, times=times)
                    return
            self._latest[identity] = len(self.decisions)
        self.decisions.append(decision)

    def touch(self, key: Key) -> None:
        """Note that the object's status, state or manifest changed."""
        self.touched[key] = None
        self.stale[key] = None

    def take_decisions(self) -> list[Decision]:
        """Return the decisions since the last call and start anew."""
        taken, self.decisions, self.heard = self.decisions, [], 0
        self._latest.clear()
        return taken

    def complain(
        self,
        problem: Sentence,
        *,
        several: Callable[[int], Sentence] | None = None,
        sort: str = "",
    ) -> None:
        """Note something that people should know; said once.

        Problems of one `sort` are one: what the first of them gave as `several` says
        how many they are.
        """
        said = self.problems.setdefault(sort or problem.text, Complaint(several))
        said.problems.setdefault(problem.text, problem)

    def take_problems(self) -> list[Sentence]:
        """Return the problems since the last call, and clear them."""
        taken, self.problems = self.problems, {}
        return [one.said for one in taken.values()]

    def remove(self, key: Key) -> None:
        """Note that the object is gone."""
        self.touched.pop(key, None)
        self.stale.pop(key, None)
        self.removed.pop(key, None)
        self.removals += 1
        self.removed[key] = self.removals


def _identity(decision: Decision) -> tuple[Any, ...]:
    """Return what makes two decisions of one instant the same."""
    node = getattr(decision, "node", "")
    return type(decision), decision.subject, node, decision.reason, decision.message


def _is_final(decision: Decision) -> bool:
    """Return whether it is the failure of a pod on its node, which ends the pod."""
    return isinstance(decision, Fail) and bool(decision.node)


def _times(decision: Decision) -> int:
    return int(getattr(decision, "times", 1))


@dataclass(slots=True)
class SearchTally:
    """What searches for victims cost, in work that does not depend on the machine.

    `looked` counts looks at candidates: one that is looked at in two rounds counts
    twice. `simulations` counts how often it was tried whether the preemptor fits
    after a victim was taken out of the usage or put back.
    """

    searches: int = 0
    looked: int = 0
    simulations: int = 0

    def add(self, other: SearchTally) -> None:
        """Count another tally's work too."""
        self.searches += other.searches
        self.looked += other.looked
        self.simulations += other.simulations

    def since(self, before: SearchTally) -> SearchTally:
        """Return the difference from an earlier copy."""
        return SearchTally(
            self.searches - before.searches,
            self.looked - before.looked,
            self.simulations - before.simulations,
        )


@dataclass(slots=True, kw_only=True)
class Context:
    """What a stage may know of the run: seed, clock, and where decisions go.

    Virtual time is `now_ms`, integer milliseconds since the start of the run.
    Timestamps on objects are microseconds since the Unix epoch (`now_us`).
    """

    seed: int
    epoch_us: int  # the wall time that virtual 0 stands for
    now_ms: int = 0
    decides_as: Release = NO_RELEASE  # the policy's
    journal: Journal = field(default_factory=Journal)
    #: What Kueue's searches cost in this process, those that are known as often as
    #: they are asked for. It is not stored: readers take differences.
    searched: SearchTally = field(default_factory=SearchTally)

    @property
    def now_us(self) -> int:
        """Return the present instant as microseconds since the Unix epoch."""
        return self.epoch_us + self.now_ms * US_PER_MS

    def us(self, at_ms: int) -> int:
        """Return a virtual time as microseconds since the Unix epoch."""
        return self.epoch_us + at_ms * US_PER_MS

    def ms(self, at_us: int) -> int:
        """Return a timestamp as virtual milliseconds, rounded down."""
        return (at_us - self.epoch_us) // US_PER_MS


class Stage(Protocol):
    """A scheduler as the world drives it.

    A stage is derived: `put` with `restore` for every stored object, after
    `load_state` of its own state, gives exactly the state that wrote them.
    """

    name: str

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object that is new or changed, or (restore) one from storage.

        With `restore` the object's status and state are trusted and nothing
        is decided.
        """

    def remove(self, key: Key) -> None:
        """Forget an object."""

    def write(self, obj: Object) -> None:
        """Write this stage's part of the status and state into the object."""

    def due(self) -> int | None:
        """Return the next instant (ms) at which the stage has a timer, or None."""

    def awaited(self) -> str:
        """Return in words what `due` names: for an instant that does not end."""

    def dump_state(self) -> dict[str, Any]:
        """Return the state of the stage that no object holds: small plain values."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned, before any object is restored."""
