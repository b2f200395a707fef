"""How long work runs: what similar finished work took, given how long it runs already.

Similar is tried step by step, from the same work of the same user at the same size and
limit down to anything finished. A step with few observations lends part of its
weight to the next.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

#: So many of the newest observations count at one step.
MOST = 60
#: A step with n observations is believed with weight n / (n + DOUBT).
DOUBT = 1.0
#: The newest observation weighs 1, each older one this much of the next newer.
FADE = 0.93
#: Work may outlast all that is known with chance 1 / (n + TAIL_DOUBT); its end is
#: then within twice its age with chance 1/2, and within MOST_AGES of it.
TAIL_DOUBT = 5.0
MOST_AGES = 16.0
#: Without any history and limit: work ends about now.
GUESS_MS = 60_000
JITTER = 0.08

STEPS = (
    "same work, user, size and limit",
    "same work and user",
    "same user, queue and size class",
    "same user",
    "same queue, size class and limit class",
    "same queue",
    "anything finished",
)
UNKNOWN = "nothing finished yet"


def _class(value: float | None) -> int:
    """Return the power of two that a size or a limit is of; -1 for none."""
    return -1 if value is None else math.frexp(max(value, 1))[1]


def _keys(work: WorkloadProfile) -> Iterator[tuple[Hashable, ...]]:
    """Yield what work of each step has in common, in the order of STEPS."""
    size, limit = _class(work.size), _class(work.limit_ms)
    yield 0, work.user, work.family, work.queue, work.size, work.limit_ms
    yield 1, work.user, work.family
    yield 2, work.user, work.queue, size
    yield 3, work.user
    yield 4, work.queue, size, limit
    yield 5, work.queue
    yield 6, None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """A distribution of run times (ms, ascending), and the step that it is mostly of."""

    values: list[float]
    until: list[float]  # cumulative weights, the last is 1
    least_ms: int  # it runs so long already
    limit_ms: int | None
    step: str
    known: float  # how many observations it rests on, the newer the more
    family: Hashable

    def draw(self, random: Random) -> int:
        """Return one run time: at least `least_ms`, never above the limit."""
        at = bisect_right(self.until, random.random())
        if at < len(self.values):
            value = self.values[at] * math.exp(JITTER * (random.random() - 0.5))
        else:
            base = self.least_ms or self.limit_ms or GUESS_MS
            value = base / max(1.0 - random.random(), 1.0 / MOST_AGES)
        if self.limit_ms is not None:
            value = min(value, self.limit_ms)
        return max(round(value), self.least_ms + 1)


@dataclass(slots=True)
class RunTimes:
    """The run times of finished work, newest last, by what work has in common."""

    seen: dict[Hashable, deque[int]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=MOST))
    )
    running: dict[Hashable, dict[int, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(self, work: WorkloadProfile, run_ms: int) -> None:
        """Take finished work into account."""
        for key in _keys(work):
            self.seen[key].append(run_ms)
            self.running[key].pop(work.ident, None)

    def begin(self, work: WorkloadProfile, start_ms: int) -> None:
        """Take work into account that runs: it takes at least as long as it ran."""
        for key in _keys(work):
            self.running[key][work.ident] = start_ms

    def given(self, work: WorkloadProfile, now_ms: int, elapsed_ms: int = 0) -> RunTime:
        """Return the distribution of the run time of `work` that runs so long already.

        Never below `elapsed_ms`, never above its limit. What runs now counts as
        longer than it ran (Kaplan and Meier), else only the short would be known.
        Cost: O((MOST + running) x steps).
        """
        weights: dict[float, float] = defaultdict(float)
        left, main, share, known, tail = 1.0, UNKNOWN, 0.0, 0.0, 0.0
        for step, key in zip(STEPS, _keys(work), strict=True):
            found = [run for run in self.seen.get(key, ()) if run > elapsed_ms]
            ages = [
                age
                for ident, start in self.running.get(key, {}).items()
                if ident != work.ident and (age := now_ms - start) > elapsed_ms
            ]
            number = len(found) + len(ages)
            if not number:
                continue
            weight = left * (1.0 if key[0] == 6 else number / (number + DOUBT))
            tail += _spread(weights, found, ages, weight)
            if weight > share:
                main, share, known = step, weight, float(number)
            left -= weight
        return _distribution(weights, work, elapsed_ms, main, known, tail)


def _spread(
    weights: dict[float, float], found: list[int], ages: list[int], weight: float
) -> float:
    """Give observations (newest last) their part of a step's weight.

    The part of what still runs goes to those longer than its age; that of the
    longest to nobody, and is returned.
    """
    fade = 1.0
    marks = [(age, False, 1.0) for age in ages]
    for run in reversed(found):
        marks.append((run, True, fade))
        fade *= FADE
    marks.sort()
    right = sum(mark[2] for mark in marks)
    scale = weight / right
    for value, ended, part in marks:
        right -= part
        if ended:
            weights[value] += part * scale
        elif right > 1e-9:
            scale *= 1.0 + part / right
        else:
            return part * scale
    return 0.0


def _distribution(
    weights: dict[float, float],
    work: WorkloadProfile,
    elapsed_ms: int,
    step: str,
    known: float,
    beyond: float,
) -> RunTime:
    values = sorted(weights)
    total = sum(weights.values())
    tail = 1.0 / (known + TAIL_DOUBT) if elapsed_ms else 0.0
    tail = max(tail, beyond)
    scale = (1.0 - tail) / total if total else 0.0
    return RunTime(
        values=values,
        until=list(accumulate(weights[value] * scale for value in values)),
        least_ms=elapsed_ms,
        limit_ms=None if work.limit_ms is None else max(work.limit_ms, elapsed_ms + 1),
        step=step,
        known=min(known, 8.0),
        family=(work.user, work.family, work.queue, work.size, work.limit_ms),
    )


# ------------------------------------------------------------------------
# What a forecast knows of a workload: who sends it, what it asks, its limit.


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadProfile:
    """A workload as run times are compared: times in milliseconds of virtual time.

    `family` is what makes two workloads runs of one thing: the owner's name without
    its counter, or the executable of a trace. `size` counts pods or processors.
    """

    ident: int  # its place in the history; also the tie of equal submit times
    submit_ms: int
    size: int
    queue: str = ""
    user: str = ""
    family: str = ""
    limit_ms: int | None = None
    priority: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """Return the sort key of Kueue's queues: priority, then time."""
        return -self.priority, self.submit_ms, self.ident
