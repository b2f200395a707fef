"""The range of every number that enters: documents, REST bodies and queries.

One place, so that what one way in refuses no other lets through.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Range(NamedTuple):
    """The least and the most that is accepted, both included."""

    least: int
    most: int

    def __contains__(self, value: object) -> bool:
        """Return whether the number is in it; nan is in none."""
        return isinstance(value, int | float) and self.least <= value <= self.most

    def __str__(self) -> str:
        """Return it for a message."""
        return f"{self.least} to {self.most}"


_DAY_MS = 86_400_000

#: The present and any past tick. With the longest tick, times still fit 64 bits.
TICK = Range(0, 10**10)
#: The wall time of virtual 0, in microseconds since 1970: up to the year 3000.
START_TIME_US = Range(0, 32_503_680_000 * 10**6)
#: Of one step.
TICKS_PER_STEP = Range(1, 10**6)
#: Virtual time per tick.
TICK_MS = Range(1, _DAY_MS)
#: How long a binding takes, or a pod until it runs.
LATENCY_MS = Range(0, _DAY_MS)
#: A number of an object that its API declares as int64.
INTEGER = Range(-(2**63), 2**63 - 1)
#: How many of something a status names: an int32 there.
COUNT = Range(0, 2**31 - 1)
SEED = Range(0, 2**63 - 1)
REVISION = Range(0, 2**62)
#: Ticks a second; 0 = as fast as it goes, and else not below a tenth.
SPEED = Range(0, 1000)
#: History kept: 0 = as the operator keeps.
KEEP_TICKS = Range(0, 10**10)
KEEP_DAYS = Range(0, 36_500)
#: Source: MaxExtenderPriority, <https://pkg.go.dev/k8s.io/kube-scheduler/extender/v1>
EXTENDER_SCORE = Range(0, 10)
#: Where the rows of an answer begin.
OFFSET = Range(0, 2**31 - 1)


def meta(bounds: Range) -> msgspec.Meta:
    """Return the annotation of a field of a document."""
    return msgspec.Meta(ge=bounds.least, le=bounds.most)
