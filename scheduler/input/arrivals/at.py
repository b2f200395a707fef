"""Arrivals at given times."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scheduler.input.arrivals import Coming
from scheduler.model import durations
from scheduler.model.registry import register


class At(msgspec.Struct, forbid_unknown_fields=True):
    """Go durations from the start."""

    times: list[str]


@register("arrival", "at", label="At times", help="At each given time.", parameters=At)
def at(
    parameters: At, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming]:
    """Yield one arrival per time."""
    for time in parameters.times:
        yield Coming(at_ms=durations.span_ms(time))
