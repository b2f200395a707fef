"""A sandbox's forecasts as they are listed, with its track record."""

from __future__ import annotations

import msgspec

from sandbox.forecasts.asking import ForecastState, state_of
from sandbox.forecasts.outcomes import kept_of, record_of
from sandbox.models import Sandbox
from scheduler.analysis.forecast.track_record import TrackRecord


class Forecasts(msgspec.Struct, frozen=True, kw_only=True):
    """The forecasts that are kept of a sandbox, newest first, and how they came out."""

    items: list[ForecastState]  # without what they forecast
    record: TrackRecord


def forecasts_of(sandbox: Sandbox, most: int) -> Forecasts:
    """Return the newest so many forecasts, and the sandbox's track record."""
    found = kept_of(sandbox).defer("world", "given")
    items = [state_of(one, whole=False) for one in found.order_by("-pk")[:most]]
    return Forecasts(items=items, record=record_of(sandbox))
