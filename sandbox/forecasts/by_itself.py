"""Twins that forecast themselves, as often as the operator says."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from sandbox.base.errors import SandboxError
from sandbox.explain.forecasting import ForecastOptions
from sandbox.forecasts import asking
from sandbox.models import KeptForecast, Sandbox
from scheduler.model.errors import SchedulerError

logger = logging.getLogger(__name__)

#: At one look so many twins begin a forecast; the others at the next.
MOST_AT_ONCE = 4
_LOOK_EVERY_S = 1.0
_last = 0.0  # monotonic seconds of this process's last look


def look() -> None:
    """Begin a forecast of each twin that plays and has none young enough."""
    global _last
    every = settings.TWIN_FORECAST_EVERY_S
    if not every or time.monotonic() < _last + _LOOK_EVERY_S:
        return
    _last = time.monotonic()
    for sandbox in due(every)[:MOST_AT_ONCE]:
        begin(sandbox, every)


def due(every_s: int) -> list[Sandbox]:
    """Return the twins that play and were last forecast so long ago, or never."""
    young = KeptForecast.objects.filter(
        created_at__gt=timezone.now() - timedelta(seconds=every_s)
    )
    playing = Sandbox.objects.filter(playing=True).exclude(source={})
    return list(playing.exclude(pk__in=young.values("sandbox_id")).order_by("pk"))


def begin(sandbox: Sandbox, every_s: int) -> None:
    """Begin its forecast; wanted until the next one is due."""
    try:
        found = asking.ask(sandbox, None, ForecastOptions(seconds=min(every_s, 60)))
        asking.want(found, every_s)
    except (SchedulerError, SandboxError) as error:
        logger.info("not forecast: %s", error, extra={"sandbox": sandbox.pk})
    except DatabaseError:
        raise
    except Exception:  # the others get theirs
        logger.exception("not forecast", extra={"sandbox": sandbox.pk})
