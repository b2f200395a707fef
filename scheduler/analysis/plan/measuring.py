"""One run of one side in numbers: of the whole, and of each queue."""

from __future__ import annotations

import msgspec

from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.runs import run_until
from scheduler.analysis.measures import Measures, Waits
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.summary import Summary
from scheduler.analysis.plan.assertions import quantile_of
from scheduler.analysis.plan.sides import PLAIN, is_work
from scheduler.model.annotations import read_timing
from scheduler.model.objects import Key, Object

_HOUR_MS = 3_600_000
#: How long a run goes on after the last arrival when nothing is said of it.
AFTER_LAST_MS = 24 * _HOUR_MS
_QUANTILES = ("waitP50", "waitP90", "waitP95", "waitP99")
_SEEDS, _SEEDS_OF_LARGE = 3, 2
_LARGE = 2_000  # objects of work
NO_QUEUE = "(no queue)"

Numbers = dict[str, float]


class RunNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to. Equal input gives equal numbers, in whatever process.

    `lives`: what became of each unit of work.
    """

    hash: str
    settled: bool
    whole: Numbers
    queues: dict[str, Numbers]
    lives: Lives


def measure(
    base: FileBase, seed: int, horizon_ms: int, wanted: tuple[str, ...] = ()
) -> RunNumbers:
    """Run one side with one seed; `wanted` are quantiles beside the usual ones.

    A workload that never starts counts as one that waits until the horizon; what waits
    already at the begin counts from its arrival.
    """
    world = base.world(PLAIN, seed)
    begin_ms = world.context.now_ms
    measures = Measures(world, until_ms=begin_ms + horizon_ms)
    settled = run_until(world, begin_ms + horizon_ms, hear=measures.observe)
    lives = measures.reader.lives(begin_ms + horizon_ms, world)
    names = (*_QUANTILES, *wanted)
    hours = max(world.context.now_ms - begin_ms, 1) / _HOUR_MS
    whole = _whole(measures.summary(lives=lives), hours)
    whole |= _of_waits(lives.waits(), names)
    queues: dict[str, list[Key]] = {}
    for key, life in lives.units.items():
        if life.came_ms is not None:
            queue = lives.traits[key].queue or NO_QUEUE
            queues.setdefault(queue, []).append(key)
    return RunNumbers(
        hash=world.hash(),
        settled=settled,
        whole=whole,
        queues={
            queue: _of_waits(lives.waits(keys), names)
            for queue, keys in sorted(queues.items())
        },
        lives=lives,
    )


def _of_waits(waits: Waits, names: tuple[str, ...]) -> Numbers:
    found: Numbers = {
        "arrived": float(len(waits.ordered)),
        "waiting": float(waits.never_started),
    }
    measured = {"waitMean": waits.mean_ms, "waitMax": waits.max_ms}
    measured |= {name: waits.quantile(quantile_of(name) or 0.0) for name in names}
    found |= {name: value for name, value in measured.items() if value is not None}
    return found


def _whole(summary: Summary, hours: float) -> Numbers:
    found: Numbers = {
        "finished": float(summary.finished),
        "preemptions": float(summary.preemptions),
        "preemptionsPerHour": summary.preemptions / hours,
        "evictions": float(summary.evictions),
        "evictionsPerHour": summary.evictions / hours,
        "restarts": float(summary.restarts),
        "workLost": float(summary.work_lost_ms),
        "makespan": float(summary.makespan_ms),
    }
    for name, value in (
        ("jain", summary.jain),
        ("shareError", summary.share_error),
        ("timeToFair", summary.time_to_fair_ms),
        ("timeToFairMax", summary.time_to_fair_max_ms),
        ("searches", summary.searches),
        ("candidatesLookedAt", summary.candidates_looked_at),
        ("simulations", summary.simulations),
    ):
        if value is not None:
            found[name] = value
    for name, values in (
        ("workLost", summary.work_lost),
        ("utilisation", summary.utilisation),
        ("goodput", summary.goodput),
        ("fragmentation", summary.fragmentation),
    ):
        found |= {f"{name}.{resource}": value for resource, value in values.items()}
    return found


def usual_seeds(base: FileBase) -> int:
    """Return how many seeds are run when nothing is said of it.

    Large work says in fewer runs what small work says in more.
    """
    world = base.world(PLAIN, base.seed())
    work = sum(is_work(key.kind) for key in world.objects)
    return _SEEDS if work <= _LARGE else _SEEDS_OF_LARGE


def horizon_of(base: FileBase) -> int:
    """Return how long a run lasts when nothing is said of it.

    The scenario's horizon; else a day after the last arrival, or until nothing more
    happens, which is mostly much sooner.
    """
    if base.prepared.scenario is not None:
        return base.horizon_ms()
    world = base.world(PLAIN, base.seed())
    last_ms = max((_arrives(obj) for obj in world.objects.values()), default=0)
    return round(last_ms) + AFTER_LAST_MS


def _arrives(obj: Object) -> float:
    """Return the latest time at which an object may arrive, in ms from the begin."""
    arrival = read_timing(obj.annotations).arrival
    return 0 if arrival is None else arrival.values[-1]
