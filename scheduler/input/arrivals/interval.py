"""Arrivals at a fixed interval."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scheduler.input.arrivals import Coming, length_ms
from scheduler.model.registry import register


class Interval(msgspec.Struct, forbid_unknown_fields=True):
    """`count` arrivals, `every` apart, the first at `start`."""

    every: str
    count: int
    start: str = "0s"


@register(
    "arrival",
    "interval",
    label="At an interval",
    help="A number of arrivals, evenly apart.",
    parameters=Interval,
)
def interval(
    parameters: Interval, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming]:
    """Yield `count` arrivals."""
    start = length_ms(parameters.start, "arrival interval: start")
    every = length_ms(parameters.every, "arrival interval: every")
    for number in range(parameters.count):
        yield Coming(at_ms=start + number * every)
