"""Arrivals of a Poisson process, drawn from the seed."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scheduler.input.arrivals import Coming, length_ms
from scheduler.model import streams
from scheduler.model.errors import PolicyError
from scheduler.model.problems import Wanted, expected
from scheduler.model.registry import register


class Poisson(msgspec.Struct, forbid_unknown_fields=True):
    """Gaps with mean `every`, from `start`, until `count` came or `until` passed."""

    every: str
    count: int = 0
    start: str = "0s"
    until: str = ""


@register(
    "arrival",
    "poisson",
    label="Poisson",
    help="Independent arrivals with a mean gap, drawn from the seed of the run.",
    parameters=Poisson,
)
def poisson(
    parameters: Poisson, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming]:
    """Yield arrivals; without `count` and `until`, none.

    Raises PolicyError for what is no length of time, and for no time between arrivals.
    """
    mean = length_ms(parameters.every, "arrival poisson: every")
    if not mean:
        said = expected(Wanted.AT_LEAST.said(least="1ms"), parameters.every)
        raise PolicyError(said, "arrival poisson: every")
    until = parameters.until
    end = length_ms(until, "arrival poisson: until") if until else None
    at = float(length_ms(parameters.start, "arrival poisson: start"))
    number = 0
    while number < parameters.count or (not parameters.count and end is not None):
        at += streams.exponential(seed, "poisson", subject, number, mean=mean)
        if end is not None and at > end:
            return
        yield Coming(at_ms=round(at))
        number += 1


# ------------------------------------------------------------------------
# Arrivals at a fixed interval.


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
