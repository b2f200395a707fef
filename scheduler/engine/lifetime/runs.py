"""A run: one attempt after another of a Workload, Job or Pod to do its work."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from scheduler.model.objects import Key

#: What the Job controller writes into the condition of a Job past its deadline.
OVERRAN = "Job was active longer than specified deadline"
#: The values that the state of every run has.
_ALWAYS = 12


class Due(IntEnum):
    """What a timer is for, in the order in which one instant handles them.

    A finish precedes an arrival of the same instant.
    Source: docs/semantics/kueue-lifecycle.md#one-instant.
    """

    FINISH = 0
    ARRIVAL = 1
    READY = 2
    LEAVE = 3
    START = 4  # a run: its pods are made
    SUSPEND = 5  # a run: its pods are deleted
    GONE = 6  # a pod that was deleted has ended
    RELEASE = 7  # a run: the end of its pods is seen
    COMPLETE = 8  # a run: the end of its work is seen
    SEEN = 9  # a run: the readiness of its pods is seen
    REPLACE = 10  # a run: its Job makes up for pods that failed
    SCHEDULE = 11  # a CronJob makes its next Job, another controller what it lacks
    POD_ENDS = 12  # a pod of a Job whose pods end one by one
    RECLAIM = 13  # such pods: their Workload says that they have ended
    DEADLINE = 14  # a run: its Job was active for as long as it may
    FAILURE = 15  # a node or a domain: it fails, or is repaired
    ROUND = 16  # a run: a round of its pods is over, but not the last one
    EXPIRE = 17  # a Job that has ended: it is deleted
    PRESSURE = 18  # a node that is or was low: it is looked at
    COLLECT = 19  # a pod whose node was deleted: pod garbage collection takes it
    RUNS = 20  # a pod that gets ready later: its containers have started


class Rounds(NamedTuple):
    """How far a Job of more completions than pods has come.

    Where no pods are placed it goes on in rounds; pods each end by themselves.
    """

    ended: int
    pods: int  # of one round
    each_ms: int
    next_ms: int | None = None  # when this one ends; None: with the run, or stopped
    more: int = 0  # pods that succeeded besides those of whole rounds
    alone: bool = False  # its pods each end by themselves

    @property
    def succeeded(self) -> int:
        """Return how many pods have succeeded, or would have where none are placed."""
        return self.ended * self.pods + self.more

    def of(self, succeeded: int) -> Rounds:
        """Return these with so many pods that succeeded."""
        ended, more = divmod(succeeded, self.pods) if self.pods else (0, succeeded)
        return self._replace(ended=ended, more=more)


@dataclass(slots=True, kw_only=True)
class Run:
    """Where one owner stands. Virtual milliseconds; None means not yet."""

    owner: Key
    attempt: int = 0  # how often it was started
    active: bool = False  # quota or place given, not stopped
    pods: list[Key] = field(default_factory=list)
    made: int = 0  # pods ever made for it: their names never repeat
    waiting: dict[Key, int] = field(default_factory=dict)  # bound pod -> ready at
    ready: dict[Key, None] = field(default_factory=dict)
    started_ms: int | None = None  # of this attempt
    ready_ms: int | None = None  # all pods ready: work goes on from here
    ends_ms: int | None = None
    done: bool = False
    failed: bool = False  # it ends, or ended, by failing
    lost_ms: int = 0  # work thrown away by stops, all attempts
    step: tuple[int, int] | None = None  # what comes next (a Due), and when
    seen_ms: int | None = None  # when its pods' readiness is seen
    kept_ms: int = 0  # work that checkpoints saved from stops
    ending: bool = False  # its pods were deleted and have not all ended
    failures: int = 0  # pods that this attempt lost: a Job backs off
    ends: dict[Key, int] = field(default_factory=dict)  # pod -> its own end
    #: pod set -> how many of its pods ended by themselves and are not reclaimed yet
    ended: dict[str, int] = field(default_factory=dict)
    deadline_ms: int | None = None  # when its Job fails for being active so long
    overran: bool = False  # it failed, or is about to, for its deadline
    counted_ms: int | None = None  # what was lost before is counted already
    rounds: Rounds | None = None  # of a Job of more completions than pods
    #: Whether it is of plain pods, each of which ends by itself; None: not asked yet
    members: bool | None = field(default=None, compare=False)
    lost_pods: int = 0  # pods that all attempts lost, as its Job counts them
    why_failed: tuple[str, str] | None = None  # reason and sentence of its Job
    #: index of a Job that counts failures by index -> its failed pods
    failed_at: dict[str, int] = field(default_factory=dict)
    delayed: dict[str, int] = field(default_factory=dict)  # such an index -> not before
    completed: str = ""  # indexes that succeeded, such as 0,2-4
    #: Index, and work (ms), that stopped pods of their own left to those that follow
    parts: list[tuple[int | None, int]] = field(default_factory=list)
    begun: dict[Key, int] = field(default_factory=dict)  # pod -> work it goes on from
    #: Indexes of its pods when the last was made; their count tells whether they stand
    taken: set[int] | None = field(default=None, compare=False)

    @property
    def ends_by_pods(self) -> bool:
        """Return whether it is over when enough of its pods have ended."""
        return self.rounds is not None and self.rounds.alone

    def all_ready(self) -> bool:
        """Return whether every pod of the run is there and ready, or has succeeded."""
        if self.rounds is not None and self.rounds.alone:
            return len(self.ready) + self.rounds.succeeded >= self.rounds.pods
        return len(self.ready) == len(self.pods) and self.step_due() != Due.REPLACE

    def step_due(self) -> int | None:
        """Return the next step, or None when nothing is in progress."""
        return self.step[0] if self.step is not None else None

    def state(self) -> list[Any]:
        """Return plain values from which `from_state` makes this run again.

        What is under way comes last and only when something is, after it the rounds.
        """
        values = [
            self.attempt,
            self.active,
            [list(key) for key in self.pods],
            self.made,
            [[*key, at] for key, at in self.waiting.items()],
            [list(key) for key in self.ready],
            self.started_ms,
            self.ready_ms,
            self.ends_ms,
            self.done,
            self.failed,
            self.lost_ms,
        ]
        under_way = [self.step, self.seen_ms, self.ending]
        if self.ended:
            late = [self.deadline_ms, self.overran, self.counted_ms, dict(self.ended)]
            values.append([*under_way, self.failures, self.kept_ms, *late])
        elif self.counted_ms is not None:
            late = [self.deadline_ms, self.overran, self.counted_ms]
            values.append([*under_way, self.failures, self.kept_ms, *late])
        elif self.deadline_ms is not None or self.overran:
            late = [self.deadline_ms, self.overran]
            values.append([*under_way, self.failures, self.kept_ms, *late])
        elif self.kept_ms:
            values.append([*under_way, self.failures, self.kept_ms])
        elif self.failures:
            values.append([*under_way, self.failures])
        elif any(value not in (None, False) for value in under_way):
            values.append(under_way)
        failing = [self.why_failed, self.failed_at, self.completed]
        if self.rounds is not None or self.lost_pods or self.ends or any(failing):
            rounds: list[Any] = [] if self.rounds is None else [*self.rounds]
            if self.rounds is not None and not self.rounds.alone:
                rounds = rounds[:4]
            elif self.parts or self.begun:
                begun = [[*key, done] for key, done in self.begun.items()]
                rounds += [[list(part) for part in self.parts], begun]
            values += [rounds] if len(values) > _ALWAYS else [[], rounds]
        if self.lost_pods or self.ends or any(failing):
            values.append(self.lost_pods)
        if self.ends or any(failing):
            values.append([[*key, at] for key, at in self.ends.items()])
        if any(failing):
            more = [self.completed, dict(self.delayed)] if self.delayed else []
            more = more or ([self.completed] if self.completed else [])
            values.append([self.why_failed, dict(self.failed_at), *more])
        return values

    @classmethod
    def from_state(cls, owner: Key, values: list[Any]) -> Run:
        """Return the run that wrote these values."""
        attempt, active, pods, made, waiting, ready, *rest = values
        started, ready_ms, ends, done, failed, lost, *later = rest
        step, seen, ending, *rest = (later and later[0]) or (None, None, False)
        usual: list[Any] = [0, 0, None, False, None, {}]
        further = list(rest) + usual[len(rest) :]
        failures, kept, deadline, overran, counted, ended = further
        rounds: list[Any] = list(later[1]) if len(later) > 1 else []
        parts, begun = rounds[6:] or ([], [])
        rounds = rounds[:6]
        why_failed, failed_at, *more = later[4] if len(later) > 4 else (None, {})
        return cls(
            owner=owner,
            attempt=attempt,
            active=active,
            pods=[Key(*key) for key in pods],
            made=made,
            waiting={Key(*entry[:3]): entry[3] for entry in waiting},
            ready={Key(*key): None for key in ready},
            started_ms=started,
            ready_ms=ready_ms,
            ends_ms=ends,
            done=done,
            failed=failed,
            lost_ms=lost,
            step=(step[0], step[1]) if step else None,
            seen_ms=seen,
            ending=ending,
            failures=failures,
            kept_ms=kept,
            deadline_ms=deadline,
            overran=overran,
            counted_ms=counted,
            ended=dict(ended),
            rounds=Rounds(*rounds) if rounds else None,
            parts=[(index, done) for index, done in parts],
            begun={Key(*entry[:3]): entry[3] for entry in begun},
            lost_pods=later[2] if len(later) > 2 else 0,
            ends={Key(*e[:3]): e[3] for e in (later[3] if len(later) > 3 else ())},
            why_failed=(why_failed[0], why_failed[1]) if why_failed else None,
            failed_at=dict(failed_at),
            completed=more[0] if more else "",
            delayed=dict(more[1]) if len(more) > 1 else {},
        )


@dataclass(slots=True)
class Timers:
    """What is due when: a heap of instants, and one of entries for each of them.

    Order at one instant: kind, then key. An entry whose owner no longer waits for it
    is void; the reader checks. Thousands of arrivals are of a few instants.
    """

    instants: list[int] = field(default_factory=list)
    entries: dict[int, list[tuple[int, Key, int]]] = field(default_factory=dict)

    def add(self, at_ms: int, due: Due, key: Key, attempt: int = 0) -> None:
        """Set a timer for this key."""
        entry = int(due), key, attempt
        if (known := self.entries.get(at_ms)) is not None:
            heapq.heappush(known, entry)
            return
        self.entries[at_ms] = [entry]
        heapq.heappush(self.instants, at_ms)

    def first(self) -> tuple[int, Due, Key, int] | None:
        """Return the first entry, which stays; None when empty."""
        if not self.instants:
            return None
        at = self.instants[0]
        due, key, attempt = self.entries[at][0]
        return at, Due(due), key, attempt

    def take(self, now_ms: int) -> tuple[int, Due, Key, int] | None:
        """Remove and return the first entry that is due, or None."""
        if not self.instants or self.instants[0] > now_ms:
            return None
        at = self.instants[0]
        known = self.entries[at]
        due, key, attempt = heapq.heappop(known)
        if not known:
            del self.entries[at]
            heapq.heappop(self.instants)
        return at, Due(due), key, attempt
