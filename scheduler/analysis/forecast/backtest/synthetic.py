"""Two logs that are made up by a seed: steady arrivals, and campaigns of users."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random

from scheduler.input.traces.trace import Trace, TraceJob
from scheduler.model import streams

PROCESSORS = 128
JOBS = 6_000
_USERS = 24


def synthetic(name: str, seed: int) -> Trace:
    """Return a made-up trace: one of SYNTHETIC."""
    random = Random(streams.bits(seed, "backtest", name))
    trace = Trace(file=name, size={"cpu": str(PROCESSORS)})
    for line, (submit, user, family, size, run) in enumerate(SYNTHETIC[name](random)):
        job = TraceJob(
            line=line + 1,
            name=str(line + 1),
            submit_s=submit,
            run_s=run,
            pods=size,
            user=str(user),
            values={"executable": str(family)},
        )
        trace.jobs.append(job)
    return trace


Given = tuple[float, int, int, int, float]


def _steady(random: Random) -> Iterator[Given]:
    """Poisson arrivals; each user's run times are lognormal about their own mean."""
    means = [random.gauss(6.5, 1.2) for _ in range(_USERS)]
    at = 0.0
    for _ in range(JOBS):
        at += random.expovariate(1 / 600)
        user = random.randrange(_USERS)
        size = 2 ** random.randrange(6)
        yield at, user, user, size, math.exp(random.gauss(means[user], 0.8))


def _campaigns(random: Random) -> Iterator[Given]:
    """Users send campaigns of like jobs by day; some of a campaign fail at once."""
    at, made = 0.0, 0
    while made < JOBS:
        at += random.expovariate((0.2 + 1.8 * _is_day(at)) / 7200)
        family, user = made, random.randrange(_USERS)
        size, mean = 2 ** random.randrange(7), random.gauss(7.0, 1.3)
        inside = at
        for _ in range(1 + int(random.paretovariate(1.2)) % 60):
            inside += random.expovariate(1 / 120)
            fails = random.random() < 0.15
            run = 5.0 + random.random() if fails else math.exp(random.gauss(mean, 0.3))
            yield inside, user, family, size, run
            made += 1


def _is_day(at_s: float) -> bool:
    return 8 <= at_s / 3600 % 24 < 20


SYNTHETIC: dict[str, Callable[[Random], Iterator[Given]]] = {
    "synthetic-steady": _steady,
    "synthetic-campaigns": _campaigns,
}
