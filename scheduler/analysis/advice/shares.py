"""First guesses: quota in proportion to the work that came to each queue."""

from __future__ import annotations

import math

from scheduler.analysis.advice.goal import Numbers
from scheduler.analysis.advice.space import Point, Pool, Space, repair


def guesses(space: Space, base: Numbers) -> list[Point]:
    """Return first settings to run, derived from the shares of the base run.

    Quota in proportion to work where queues share a total, the rest as it is; and
    half-way there. O(steps of the totals x queues).
    """
    found = list(space.base)
    for pool in space.pools:
        for member, index in _shared(space, pool, base).items():
            found[member] = index
    pairs = zip(space.base, found, strict=True)
    half = repair(space, tuple(round((now + then) / 2) for now, then in pairs))
    settings = [tuple(found), half or space.base]
    return [one for one in dict.fromkeys(settings) if one != space.base]


def _shared(space: Space, pool: Pool, base: Numbers) -> dict[int, int]:
    """Return values of a pool's members: step by step to who has most work for it."""
    work = _work(pool, base)
    lowest = dict(zip(pool.members, pool.lowest, strict=False))
    found = dict.fromkeys(work, 0)

    def load(at: int) -> float:
        steps = lowest[at] + found[at]
        return work[at] / steps if steps > 0 else math.inf

    for _ in range(pool.room + sum(space.dimensions[at].now for at in work)):
        able = [at for at in work if found[at] + 1 < len(space.dimensions[at].values)]
        if not able:
            break
        found[max(able, key=load)] += 1
    return found


def _work(pool: Pool, base: Numbers) -> dict[int, float]:
    """Return per member what came to its queue; not where nothing could start.

    What was held, and as much again for each that did not start.
    """
    found = {}
    for at, queue in zip(pool.members, pool.queues, strict=False):
        held = base.get(f"usedHours.{queue}.{pool.resource}", 0.0)
        started = base.get(f"queues.{queue}.started", 0.0)
        if held > 0 and started > 0:
            found[at] = held * base[f"queues.{queue}.arrived"] / started
    return found
