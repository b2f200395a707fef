"""Nobody is preempted twice within a while: written by docs/policies.md alone."""

from __future__ import annotations

from typing import Annotated

import msgspec
from quotalab.policies import Policy, Work, proposal, span_ms


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How long who was preempted is safe."""

    within: Annotated[str, msgspec.Meta(title="Not twice within", examples=["10m"])] = (
        "10m"
    )


@proposal(
    "NotTwice",
    label="Not twice",
    help="Nobody is preempted again before a while has passed.",
    settings=Settings,
)
class NotTwice(Policy):
    """Remembers when each Workload was preempted last."""

    def spare_until(self, victim: Work, by: Work, now_ms: int) -> float:
        """Spare who was preempted a short time ago."""
        last = self.state.get(victim.name)
        return 0 if last is None else last + span_ms(self.settings.within)

    def preempted(self, victim: Work, by: Work, now_ms: int) -> None:
        """Remember it."""
        self.state[victim.name] = now_ms
