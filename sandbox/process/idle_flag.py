"""A mark on the bus while no sandbox plays: the clock then speaks seldom."""

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
#: How long the mark stays. Should nobody take it away, whoever plays waits so long.
MARK_MS = 500


def mark_if_idle() -> bool:
    """Put the mark when nothing plays and no experiment or forecast runs; return whether it is so."""
    still = not (
        Sandbox.objects.filter(playing=True).exists()
        or Experiment.objects.filter(state=Experiment.RUNNING).exists()
        or KeptForecast.objects.filter(state=KeptForecast.RUNNING).exists()
    )
    if still:
        _ask(lambda bus: bus.set(MARK, 1, px=MARK_MS))
    return still


def clear_after_commit() -> None:
    """Take the mark away once it is committed that something plays."""
    transaction.on_commit(lambda: _ask(lambda bus: bus.delete(MARK)), robust=True)


def _ask(command: Callable[[redis.Redis], Any]) -> None:
    bus = bus_client(settings.BUS_URL)
    try:
        command(bus)
    except (redis.RedisError, OSError) as problem:
        logger.debug("the bus was not reached", extra={"problem": problem})
    finally:
        bus.close()
