"""Budgets by week: what a queue may use in a week, borrowed against the next one.

A head is admitted while what its queue has used, what its running Workloads still take,
and what the head takes stay within the budget. A queue may go over it by a part of the
next week's budget, which that week then lacks.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from quotalab.policies import Policy, Queue, Work, proposal, span_ms

HOUR_MS = 3_600_000


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What each queue may use, and how much of it before its time."""

    resource: Annotated[str, msgspec.Meta(title="Resource")] = "nvidia.com/gpu"
    budgets: Annotated[
        dict[str, float],
        msgspec.Meta(
            title="Budgets",
            description="Hours of one unit of the resource, by ClusterQueue; others are "
            "not limited.",
        ),
    ] = {}
    period: Annotated[str, msgspec.Meta(title="Period", examples=["168h"])] = "168h"
    borrow: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Borrowed from the next period",
            description="A part of it.",
        ),
    ] = 0.25


@proposal(
    "WeeklyBudget",
    label="Budget by week",
    help="A ClusterQueue is admitted nothing that would take it over its budget of the "
    "week, and of a part of the next week's, which that one then lacks.",
    settings=Settings,
)
class WeeklyBudget(Policy):
    """Keeps, per queue, [period, used in it, owed from before], in units x ms."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.period_ms = span_ms(settings.period)
        if self.period_ms <= 0:
            raise ValueError(f"period: expected above 0s, got {settings.period}")
        scale = 1000 if settings.resource == "cpu" else 1
        self.budgets = {
            name: hours * HOUR_MS * scale for name, hours in settings.budgets.items()
        }

    def account(self, queue: str, now_ms: int) -> tuple[int, float, float]:
        """Return period, what is used in it, and what earlier ones owe."""
        period = now_ms // self.period_ms
        known, used, owed = self.state.get(queue, (period, 0, 0))
        budget = self.budgets.get(queue, math.inf)
        while known < period:
            known, owed, used = known + 1, max(0, used + owed - budget), 0
            if not owed:
                known = period
        return period, used, owed

    def ran(self, queue: Queue, since_ms: int, now_ms: int) -> None:
        """Charge the span to the periods that it lies in."""
        if queue.name not in self.budgets:
            return
        held = self._amount(queue.usage)
        while since_ms < now_ms:
            period, used, owed = self.account(queue.name, since_ms)
            end = min(now_ms, (period + 1) * self.period_ms)
            self.state[queue.name] = [period, used + held * (end - since_ms), owed]
            since_ms = end

    def _amount(self, usage: dict[tuple[str, str], int]) -> int:
        wanted = self.settings.resource
        return sum(n for (_, name), n in usage.items() if name == wanted)

    def _takes(self, work: Work, now_ms: int, begin_ms: int) -> float:
        """Return what a Workload takes of the period that begins then, if all goes on."""
        ends = work.ends_ms
        if work.admitted_ms is None and work.run_time_ms is not None:
            ends = now_ms + work.run_time_ms
        end = begin_ms + self.period_ms
        lasts = (end if ends is None else min(ends, end)) - max(now_ms, begin_ms)
        return self._amount(work.usage) * max(0, lasts)

    def hold_until(self, work: Work, queue: Queue, now_ms: int) -> float:
        """Hold a head to the next period where it would break the budget of one."""
        budget = self.budgets.get(queue.name)
        if budget is None or not self._amount(work.usage):
            return 0
        period, used, owed = self.account(queue.name, now_ms)
        works = [*queue.running(), work]
        most = budget * (1 + self.settings.borrow)
        begin = period * self.period_ms
        while self._takes(work, now_ms, begin):
            used += sum(self._takes(one, now_ms, begin) for one in works)
            if used > most - owed:
                return (period + 1) * self.period_ms
            if work.run_time_ms is None:
                break
            begin, owed, used = begin + self.period_ms, max(0, used + owed - budget), 0
        return 0
