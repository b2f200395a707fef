"""Our annotations on Jobs, Pods, Workloads and PodGroups: when they come and go."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scheduler import durations, streams
from scheduler.errors import QuantityError

PREFIX = "quotalab.dev/"
ARRIVAL = PREFIX + "arrival"
RUNTIME = PREFIX + "runtime"
READY_AFTER = PREFIX + "ready-after"
FAILS_AFTER = PREFIX + "fails-after"
RECREATE = PREFIX + "recreate"
KNOWN = (ARRIVAL, RUNTIME, READY_AFTER, FAILS_AFTER, RECREATE)

_DRAWN = re.compile(r"(exp|uniform)\(([^(),]+)(?:,([^(),]+))?\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A length of time, fixed or drawn from the seed; milliseconds."""

    shape: str  # "fixed", "exp" or "uniform"
    low: int  # the length, the mean, or the lower end
    high: int = 0  # the upper end of "uniform"

    def draw(self, seed: int, purpose: str, subject: str, n: int = 0) -> int:
        """Return the length for this subject; equal draws for equal arguments."""
        if self.shape == "exp":
            return round(streams.exponential(seed, purpose, subject, n, mean=self.low))
        if self.shape == "uniform":
            share = streams.uniform(seed, purpose, subject, n)
            return round(self.low + share * (self.high - self.low))
        return self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What the annotations of one object say; None means not given."""

    arrival: Span | None = None
    runtime: Span | None = None
    ready_after: Span | None = None
    fails_after: Span | None = None
    recreate: bool = False


NONE = Timing()


def read_span(text: str) -> Span:
    """Return the span of "60s", "exp(60s)" or "uniform(10s,60s)".

    Raises QuantityError that says what was expected.
    """
    match = _DRAWN.fullmatch(text.replace(" ", ""))
    if match is None:
        return Span(shape="fixed", low=_length(text))
    if (match[1] == "uniform") != (match[3] is not None):
        raise QuantityError(f"expected exp(MEAN) or uniform(LOW,HIGH), got {text!r}")
    low = _length(match[2])
    high = _length(match[3]) if match[3] else 0
    if match[1] == "uniform" and high < low:
        raise QuantityError(f"expected LOW no more than HIGH, got {text!r}")
    return Span(shape=match[1], low=low, high=high)


def _length(text: str) -> int:
    length = durations.milliseconds(text)
    if length < 0:
        raise QuantityError(f"expected a length of 0 or more, got {text!r}")
    return length


def read_timing(annotations: Mapping[str, str]) -> Timing:
    """Return the timing of one object.

    Raises QuantityError naming the annotation: an unknown key of ours, or a
    value that is not a span.
    """
    ours = {k: v for k, v in annotations.items() if k.startswith(PREFIX)}
    if not ours:
        return NONE
    unknown = sorted(set(ours) - set(KNOWN))
    if unknown:
        known = ", ".join(KNOWN)
        raise QuantityError(f"unknown annotation {unknown[0]}; known: {known}")
    return Timing(
        arrival=_span(ours, ARRIVAL),
        runtime=_span(ours, RUNTIME),
        ready_after=_span(ours, READY_AFTER),
        fails_after=_span(ours, FAILS_AFTER),
        recreate=_flag(ours, RECREATE),
    )


def _span(ours: Mapping[str, str], name: str) -> Span | None:
    if name not in ours:
        return None
    try:
        return read_span(ours[name])
    except QuantityError as error:
        raise QuantityError(f"{name}: {error}") from error


def _flag(ours: Mapping[str, str], name: str) -> bool:
    value = ours.get(name, "false")
    if value not in ("true", "false"):
        raise QuantityError(f'{name}: expected "true" or "false", got {value!r}')
    return value == "true"
