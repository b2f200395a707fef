"""Some futures of a forecast: taken up by a conditional UPDATE, and held by a lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from sandbox.base.database_time import DatabaseTime
from sandbox.explain.forecasting import ForecastOptions
from sandbox.models import ForecastPart, KeptForecast
from sandbox.models.fields import Sayings
from sandbox.process import watchdog
from scheduler.model.problems.runs import RunProblem

LEASE_S = 10.0
#: Futures at which a worker was lost this often are given up: they may be the reason.
MOST_TRIES = 2
_GLANCE = 8
#: A forecast is split into at most so many parts.
MOST_PARTS = 24


@dataclass(frozen=True, slots=True)
class PartClaim:
    """The right to write what came of some futures, while the fence is the newest."""

    part_id: int
    forecast_id: int
    numbers: range  # of its futures
    fence: int


def options_of(forecast: KeptForecast) -> ForecastOptions:
    """Return the options with which a forecast was asked for."""
    return msgspec.convert(forecast.options, ForecastOptions)


def split(forecast: KeptForecast, futures: int) -> None:
    """Write the parts of a forecast of so many futures."""
    size = -(-futures // MOST_PARTS)
    ForecastPart.objects.bulk_create(
        ForecastPart(
            forecast=forecast,
            number=number,
            first=first,
            count=min(size, futures - first),
        )
        for number, first in enumerate(range(0, futures, size))
    )


def open_parts() -> QuerySet[ForecastPart]:
    """Return the parts that anybody may take up.

    The first one alone until whoever has it has written the world that all begin from.
    """
    return ForecastPart.objects.filter(
        Q(number=0) | Q(forecast__world__isnull=False),
        futures=None,
        lease_until__lt=DatabaseTime(),
        forecast__state=KeptForecast.RUNNING,
    )


def take(forecast_id: int | None = None) -> PartClaim | None:
    """Take up a part, of any forecast unless one is named; None when none waits."""
    parts = open_parts()
    if forecast_id is not None:
        parts = parts.filter(forecast_id=forecast_id)
    while found := list(parts.order_by("number", "forecast_id")[:_GLANCE]):
        for part in found:
            if part.tries >= MOST_TRIES:
                error = Sayings([RunProblem.LOST.said(count=part.tries)])
                end(running(part.forecast_id), state=KeptForecast.FAILED, error=error)
                continue
            same = ForecastPart.objects.filter(pk=part.pk, fence=part.fence)
            lease = {"fence": part.fence + 1, "lease_until": DatabaseTime() + LEASE_S}
            won = same.filter(futures=None).update(tries=part.tries + 1, **lease)
            if won == 1:
                numbers = range(part.first, part.first + part.count)
                return PartClaim(part.pk, part.forecast_id, numbers, part.fence + 1)
    return None


def renew(claim: PartClaim) -> bool:
    """Extend the claim; return False when another worker has the part or nobody wants it."""
    end_lapsed()
    mine = _mine(claim).filter(forecast__state=KeptForecast.RUNNING)
    back = watchdog.tries_taken_back()
    return mine.update(lease_until=DatabaseTime() + LEASE_S, **back) == 1


def finish(claim: PartClaim, futures: Sequence[Any]) -> bool:
    """Write the results of the futures; False when another worker has the part."""
    return _mine(claim).update(futures=msgspec.to_builtins(list(futures))) == 1


def close(forecast_id: int) -> None:
    """End every part of a forecast that is left, with no future; any holder loses it."""
    left = ForecastPart.objects.filter(forecast_id=forecast_id, futures=None)
    left.update(futures=[], fence=F("fence") + 1, lease_until=0)


def running(forecast_id: int) -> QuerySet[KeptForecast]:
    """Return the forecast while it runs."""
    return KeptForecast.objects.filter(pk=forecast_id, state=KeptForecast.RUNNING)


def end(one: QuerySet[KeptForecast], **columns: object) -> None:
    """End forecasts that run, with what came of them; their parts go."""
    with transaction.atomic():
        if one.update(world=None, **columns):
            ended = ForecastPart.objects.exclude(forecast__state=KeptForecast.RUNNING)
            ended.delete()


def end_lapsed() -> None:
    """Cancel forecasts that were not asked for again in time, in one UPDATE.

    Once the time of a forecast is over it is left for two leases: its parts end by
    themselves, and the futures that ended are the answer.
    """
    now = DatabaseTime()
    running = KeptForecast.objects.filter(state=KeptForecast.RUNNING)
    lapsed = running.filter(wanted_until__lte=now)
    ending = Q(until__lte=now, until__gt=now - 2 * LEASE_S)
    end(lapsed.exclude(ending), state=KeptForecast.CANCELLED)


def all_ended(forecast_id: int | None = None) -> list[int]:
    """Return the forecasts whose parts have ended, and whose last worker was lost then.

    Whoever ends the last part puts the answer together while its lease lasts.
    """
    parts = ForecastPart.objects.filter(forecast=OuterRef("pk"))
    at_work = parts.filter(Q(futures=None) | Q(lease_until__gte=DatabaseTime()))
    found = KeptForecast.objects.filter(~Exists(at_work), state=KeptForecast.RUNNING)
    if forecast_id is not None:
        found = found.filter(pk=forecast_id)
    return list(found.values_list("pk", flat=True))


def _mine(claim: PartClaim) -> QuerySet[ForecastPart]:
    return ForecastPart.objects.filter(
        pk=claim.part_id, fence=claim.fence, futures=None
    )
