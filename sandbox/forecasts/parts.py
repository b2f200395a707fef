"""Some futures of a forecast: taken up by a conditional UPDATE, and held by a lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from sandbox.base.database_time import DatabaseTime
from sandbox.models import ForecastPart, KeptForecast

LEASE_S = 10.0
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
    """Return the parts that anybody may take up."""
    return ForecastPart.objects.filter(
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
            same = ForecastPart.objects.filter(pk=part.pk, fence=part.fence)
            lease = {"fence": part.fence + 1, "lease_until": DatabaseTime() + LEASE_S}
            if same.filter(futures=None).update(**lease) == 1:
                numbers = range(part.first, part.first + part.count)
                return PartClaim(part.pk, part.forecast_id, numbers, part.fence + 1)
    return None


def renew(claim: PartClaim) -> bool:
    """Hold on for longer; False when the part is lost or no longer wanted."""
    now = DatabaseTime()
    running = KeptForecast.objects.filter(
        pk=claim.forecast_id, state=KeptForecast.RUNNING
    )
    if not running.filter(wanted_until__gt=now).exists():
        running.filter(wanted_until__lte=now).update(
            state=KeptForecast.CANCELLED, world=None
        )
        return False
    return _mine(claim).update(lease_until=now + LEASE_S) == 1


def finish(claim: PartClaim, futures: Sequence[Any]) -> bool:
    """Write what came of the futures; False when somebody else has the part."""
    return _mine(claim).update(futures=list(futures)) == 1


def _mine(claim: PartClaim) -> QuerySet[ForecastPart]:
    return ForecastPart.objects.filter(
        pk=claim.part_id, fence=claim.fence, futures=None
    )
