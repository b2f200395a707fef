"""Arrivals at given times."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scheduler.input.arrivals import Coming, length_ms
from scheduler.model.registry import register


class At(msgspec.Struct, forbid_unknown_fields=True):
    """Go durations from the start."""

    times: list[str]


@register("arrival", "at", label="At times", help="At each given time.", parameters=At)
def at(
    parameters: At, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming]:
    """Yield one arrival per time."""
    for number, time in enumerate(parameters.times):
        yield Coming(at_ms=length_ms(time, f"arrival at: times[{number}]"))
