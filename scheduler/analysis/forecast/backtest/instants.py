"""The instants of a backtest: drawn by a seed among submissions that had to wait."""

from __future__ import annotations

from random import Random

from scheduler.analysis.forecast.backtest.log import Log
from scheduler.model import streams
from scheduler.model.errors import SchedulerError

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
