"""EASY backfill: who fits behind a blocked head runs, if the head starts no later.

A StrictFIFO queue lets nobody pass its head. Here the first one that does not fit gets
a reservation: the earliest time at which enough is free by the stated run times. Others
pass it if they end before, or take nothing that it needs then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Annotated, NamedTuple

import msgspec
from quotalab.policies import FlavorResource, Policy, Queue, Work, proposal, span_ms


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Which queues are filled, and for how long work runs that states nothing."""

    queues: Annotated[
        list[str], msgspec.Meta(title="Queues", description="None: all StrictFIFO.")
    ] = []
    unstated: Annotated[
        str, msgspec.Meta(title="Run time where none is stated", examples=["24h"])
    ] = "24h"


class Reservation(NamedTuple):
    """When the first in line starts, and what is left beside it then."""

    at_ms: float
    spare: dict[str, int]


@proposal(
    "EasyBackfill",
    label="EASY backfill",
    help="Behind a head of a StrictFIFO queue that does not fit, others run that do not "
    "make it start later, by their stated run times.",
    settings=Settings,
)
class EasyBackfill(Policy):
    """Holds whom a reservation forbids; a queue alone with one flavor is exact."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.unstated_ms = span_ms(settings.unstated)
        self.filled: dict[str, bool] = {}

    def strict(self, queue: str, strict: bool) -> bool:
        """Let others than the head be tried in the queues that are filled."""
        names = self.settings.queues
        self.filled[queue] = strict and (not names or queue in names)
        return strict and not self.filled[queue]

    def reservation(self, first: Work, queue: Queue, now_ms: int) -> Reservation:
        """Return when the first in line starts, if what runs ends as stated."""
        free = by_resource(queue.free)
        at: float = now_ms
        ends = sorted(
            ((self._end(one, now_ms), one) for one in queue.running()),
            key=lambda one: one[0],
        )
        for end, leaving in groupby(ends, key=lambda one: one[0]):
            if fits(first.requests, free):
                break
            at = end
            for _, one in leaving:
                for name, amount in by_resource(one.usage).items():
                    free[name] = free.get(name, 0) + amount
        if not fits(first.requests, free):
            at = math.inf
        left = {name: n - first.requests.get(name, 0) for name, n in free.items()}
        return Reservation(at, left)

    def _end(self, work: Work, now_ms: int) -> int:
        ends = work.ends_ms
        # One that is late, as its pods were, ends soon: it is asked again by then.
        soon = now_ms + 1000
        return max(soon, now_ms + self.unstated_ms if ends is None else ends)

    def hold_until(self, work: Work, queue: Queue, now_ms: int) -> float:
        """Hold a Workload that would delay the first one in front of it."""
        ahead = queue.ahead_of(work) if self.filled.get(queue.name) else ()
        if not ahead:
            return 0
        first = self.reservation(ahead[0], queue, now_ms)
        runs = work.run_time_ms
        end = now_ms + (self.unstated_ms if runs is None else runs)
        if end <= first.at_ms or fits(by_resource(work.usage), first.spare):
            return 0
        return math.inf if first.at_ms <= now_ms else first.at_ms


def by_resource(usage: Mapping[FlavorResource, int]) -> dict[str, int]:
    """Return amounts summed over flavors."""
    total: dict[str, int] = {}
    for (_, resource), amount in usage.items():
        total[resource] = total.get(resource, 0) + amount
    return total


def fits(asked: Mapping[str, int], free: Mapping[str, int]) -> bool:
    """Return whether all that is asked for is free."""
    return all(amount <= free.get(name, 0) for name, amount in asked.items() if amount)
