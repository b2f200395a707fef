"""When waiting workloads start, asked of a sandbox: many futures of a copy of its world."""

from __future__ import annotations

import time

from sandbox.models import Sandbox
from sandbox.world import history, worlds
from scheduler.forecast.starts import Forecast
from scheduler.forecast.world import forecast
from scheduler.world import World

FUTURES = 20
MOST_FUTURES = 200
HORIZON_MS = 3_600_000


def forecast_starts(
    sandbox: Sandbox,
    tick: int | None,
    *,
    futures: int,
    seed: int,
    horizon_ms: int,
    seconds: float,
) -> Forecast:
    """Return when each waiting Workload starts, from now or from a tick.

    Nothing is kept and nobody is kept waiting: futures run on copies, until
    `seconds` of the wall are over. Raises SchedulerError when none came to its end
    in them, and under a stack without Kueue.
    """
    world = _copy(sandbox, tick)
    deadline = time.monotonic() + seconds
    return forecast(
        world,
        futures=futures,
        seed=seed,
        horizon_ms=horizon_ms,
        go_on=lambda: time.monotonic() < deadline,
    )


def _copy(sandbox: Sandbox, tick: int | None) -> World:
    if tick is None or tick == sandbox.tick:
        return worlds.copy_of(sandbox.pk)[0]
    return history.world_at(sandbox, history.revision_at(sandbox, tick))
