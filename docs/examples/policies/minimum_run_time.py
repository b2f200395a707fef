"""Nobody is preempted before a minimum run time is over.

After design 126 of KAI Scheduler: one minimum against preemption inside a queue, one
against reclaim by other queues, and queues that have their own.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from quotalab.policies import Policy, Work, proposal, span_ms

Length = Annotated[str, msgspec.Meta(examples=["10m", "1h30m"])]


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How long a Workload holds its quota before others may take it."""

    preempt: Annotated[Length, msgspec.Meta(title="Against its own queue")] = "10m"
    reclaim: Annotated[Length, msgspec.Meta(title="Against other queues")] = "10m"
    queues: Annotated[
        dict[str, Length], msgspec.Meta(title="Queues with a minimum of their own")
    ] = {}


@proposal(
    "MinimumRunTime",
    label="Minimum run time",
    help="A Workload is no candidate for preemption or reclaim before it held its quota "
    "for so long.",
    settings=Settings,
)
class MinimumRunTime(Policy):
    """Spares a victim until its admission is old enough."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.preempt_ms = span_ms(settings.preempt)
        self.reclaim_ms = span_ms(settings.reclaim)
        self.own_ms = {name: span_ms(text) for name, text in settings.queues.items()}

    def minimum_ms(self, victim: Work, by: Work) -> int:
        """Return how long a victim is safe from a preemptor."""
        usual = self.preempt_ms if victim.queue == by.queue else self.reclaim_ms
        return self.own_ms.get(victim.queue, usual)

    def spare_until(self, victim: Work, by: Work, now_ms: int) -> float:
        """Return the end of the minimum, counted from the admission."""
        if victim.admitted_ms is None:
            return 0
        return victim.admitted_ms + self.minimum_ms(victim, by)
