"""A mark on the bus while no sandbox plays: the clock then rests until it is woken."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import redis
from django.conf import settings
from django.db import transaction

from sandbox.models import Experiment, KeptForecast, Sandbox
from sandbox.process.services import bus_client

logger = logging.getLogger(__name__)

MARK = "quotalab:still"
#: A list that gets an element when the mark is taken away: the resting clock reads it.
WAKE = "quotalab:wake"
WAKE_MS = 1000
#: Set while it is not a second ago that somebody looked which parts wait to be run.
LOOKED = "quotalab:looked"
#: How long the mark stays. Should nobody take it away, whoever plays waits so long.
MARK_MS = 5000


def mark_if_idle() -> bool:
    """Put the mark when nothing plays and no experiment or forecast runs; return whether it is so.

    Looks again once the mark is there: who began meanwhile may have woken the clock
    before it was put.
    """
    if not _is_idle():
        return False
    _ask(lambda bus: bus.set(MARK, 1, px=MARK_MS))
    if _is_idle():
        return True
    wake_clock()
    return False


def _is_idle() -> bool:
    """Ask whether anything plays or runs; one statement."""
    busy = Sandbox.objects.filter(playing=True).values_list("pk")
    running = Experiment.objects.filter(state=Experiment.RUNNING).values_list("pk")
    forecasts = KeptForecast.objects.filter(state=KeptForecast.RUNNING)
    return not busy.union(running, forecasts.values_list("pk"), all=True).exists()


def clear_after_commit() -> None:
    """Take the mark away, and wake the clock, once it is committed that something plays."""
    transaction.on_commit(wake_clock, robust=True)


def wake_clock() -> None:
    """Take the mark away and end the clock's rest."""
    _ask(_remove_mark)


def _remove_mark(bus: redis.Redis) -> None:
    with bus.pipeline(transaction=False) as ask:
        ask.delete(MARK, LOOKED)
        ask.lpush(WAKE, 1)
        ask.pexpire(WAKE, WAKE_MS)
        ask.execute()


def _ask(command: Callable[[redis.Redis], Any]) -> None:
    bus = bus_client(settings.BUS_URL)
    try:
        command(bus)
    except (redis.RedisError, OSError) as problem:
        logger.debug("the bus was not reached", extra={"problem": problem})
    finally:
        bus.close()
