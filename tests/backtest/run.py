"""A backtest: forecast at past instants, correct by what came since, score."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from scheduler.analysis.forecast.scores import (
    LEVELS,
    Conformal,
    Made,
    binomial_bound,
    crps,
    last_waits,
    pinball,
)
from scheduler.analysis.forecast.track_record import Pool
from scheduler.input.traces.options import Trace, TraceJob
from scheduler.model import streams
from scheduler.model.errors import SchedulerError
from tests.backtest.log import Log
from tests.backtest.models import Model
from tests.backtest.past import Past

# ------------------------------------------------------------------------
# A backtest: forecast at past instants, correct by what came since, score.


_BANDS = {50: (0.25, 0.75), 90: (0.05, 0.95)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One forecast and what came: times in ms from `at_ms`."""

    at_ms: int
    ident: int
    came_ms: int
    given: Sequence[float]  # at LEVELS
    raw: Sequence[float]  # before its correction
    baselines: tuple[float, float]  # their CRPS, ms

    def inside(self, band: int) -> bool:
        """Return whether the outcome lies within the band of a given percentage."""
        low, high = _BANDS[band]
        return (
            self.given[LEVELS.index(low)]
            <= self.came_ms
            <= self.given[LEVELS.index(high)]
        )


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The scores of a backtest; its text is the command's closing line."""

    scored: list[Scored] = field(default_factory=list)

    def coverage(self, band: int) -> float:
        """Return the share that came within the band."""
        return _mean(scored.inside(band) for scored in self.scored)

    def crps_s(self) -> float:
        """Return the mean CRPS in seconds."""
        return _mean(crps(one.given, one.came_ms) for one in self.scored) / 1000

    def raw_crps_s(self) -> float:
        """Return the mean CRPS of the forecasts before their correction."""
        return _mean(crps(one.raw, one.came_ms) for one in self.scored) / 1000

    def pinball_s(self, level: float) -> float:
        """Return the mean pinball loss of one quantile in seconds."""
        at = LEVELS.index(level)
        losses = (pinball(level, one.given[at], one.came_ms) for one in self.scored)
        return _mean(losses) / 1000

    def baseline_s(self, number: int) -> float:
        """Return the mean CRPS of the last waits (0) or the binomial bound (1)."""
        return _mean(one.baselines[number] for one in self.scored) / 1000

    def __str__(self) -> str:
        return (
            f"coverage50 {self.coverage(50):.3f}, coverage90 {self.coverage(90):.3f}, "
            f"crps {self.crps_s():.1f}, "
            f"baselines {self.baseline_s(0):.1f} {self.baseline_s(1):.1f}"
        )


def backtest(
    log: Log,
    models: Sequence[Model],
    *,
    instants: int,
    seed: int,
) -> BacktestResult:
    """Forecast at several instants of `log` with the knowledge of that time, and score.

    Several models are pooled by how well each did so far.
    """
    times = instants_of(log, instants, seed)
    return BacktestResult(list(_walk(log, times, models, seed)))


def _walk(
    log: Log,
    times: Sequence[int],
    models: Sequence[Model],
    seed: int,
) -> Iterator[Scored]:
    past, conformal, pool = Past(log), Conformal(), Pool(len(models))
    open_: dict[int, list[Made]] = {}
    for now in times:
        for ident in past.advance(now):
            for made in open_.pop(ident, ()):
                made.start_ms = log.starts[ident]
                pool.learn(made)
        conformal.learn(now)
        wanted = wanted_of(list(past.waiting), now, seed)
        found = [model(past, wanted) for model in models]
        for ident in wanted:
            parts = [rests[ident] for rests in found]
            raw = pool.mix(parts)
            given = conformal.corrected(raw)
            made = conformal.note(now, raw, given, 1.0 / len(wanted))
            pool.note(made, parts)
            open_.setdefault(ident, []).append(made)
            yield _scored(past, ident, raw, given)


def _scored(
    past: Past, ident: int, raw: Sequence[float], given: Sequence[float]
) -> Scored:
    work = past.log.works[ident]
    waits, age = past.waits[work.queue], past.now_ms - work.submit_ms
    came = past.log.starts[ident] - past.now_ms
    return Scored(
        at_ms=past.now_ms,
        ident=ident,
        came_ms=came,
        given=given,
        raw=raw,
        baselines=(
            crps(last_waits(waits, age), came),
            crps(binomial_bound(waits, age), came),
        ),
    )


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


# ------------------------------------------------------------------------
# The instants of a backtest: drawn by a seed among submissions that had to wait.


#: The first part of a log is only learned from.
LEARN = 0.1
#: So many waiting workloads of one instant are scored.
MOST_OF_ONE = 8


def instants_of(log: Log, most: int, seed: int) -> list[int]:
    """Return up to `most` instants (ms), ascending: when work came that had to wait.

    Raises SchedulerError for a log in which nothing waits.
    """
    first, last = log.works[0].submit_ms, log.works[-1].submit_ms
    begin = first + LEARN * (last - first)
    found = sorted(
        {
            work.submit_ms
            for work in log.works
            if work.submit_ms >= begin and log.starts[work.ident] > work.submit_ms
        }
    )
    if not found:
        raise SchedulerError(f"{log.name}: nothing in it waits; give a higher --load")
    random = Random(streams.bits(seed, "backtest", "instants"))
    return sorted(random.sample(found, min(most, len(found))))


def wanted_of(waiting: list[int], now_ms: int, seed: int) -> list[int]:
    """Return the workloads of one instant that are scored."""
    random = Random(streams.bits(seed, "backtest", str(now_ms)))
    return sorted(random.sample(waiting, min(MOST_OF_ONE, len(waiting))))


# ------------------------------------------------------------------------
# Two logs that are made up by a seed: steady arrivals, and campaigns of users.


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


# ------------------------------------------------------------------------
# A recording of a real control plane as a log: its workloads and first admissions.


_COUNTER = re.compile(r"([-_.]?[0-9]+)+$")


class _Admission(msgspec.Struct):
    at: float


class _Arrival(msgspec.Struct, rename="camel"):
    """What is read of one line of `arrivals.json`; seconds since t=0."""

    name: str
    namespace: str
    seen_at: float
    cluster_queue: str = ""
    parallelism: int | None = None
    runtime_seconds: float | None = None
    actual_run_seconds: float | None = None
    admissions: list[_Admission] = []


def recorded_trace(data: bytes, file: str) -> Trace:
    """Return the workloads of `arrivals.json` as jobs of a trace.

    Those never admitted have no start, and no wait that could be scored. Raises
    SchedulerError for what is not of the format.
    """
    try:
        arrivals = msgspec.json.decode(data, type=list[_Arrival])
    except msgspec.DecodeError as error:
        raise SchedulerError(
            f"{file}: expected arrivals of a recording: {error}"
        ) from error
    jobs = [_job(line, arrival) for line, arrival in enumerate(arrivals, start=1)]
    return Trace(file=file, format="recording", jobs=jobs)


def _job(line: int, arrival: _Arrival) -> TraceJob:
    run = arrival.actual_run_seconds or arrival.runtime_seconds or 0.0
    first = arrival.admissions[0].at if arrival.admissions else None
    return TraceJob(
        line=line,
        name=arrival.name,
        submit_s=arrival.seen_at,
        run_s=run,
        start_s=first,
        pods=arrival.parallelism,
        user=arrival.namespace,
        queue=arrival.cluster_queue,
        values={"executable": _COUNTER.sub("", arrival.name)},
    )
