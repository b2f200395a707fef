"""Victims are those who lose the least work.

The order of candidates follows the time since each one's last checkpoint, weighted by
what it holds. Priority still decides who may be a candidate at all.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from quotalab.policies import Policy, Work, proposal


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """What a loss is measured in."""

    resource: Annotated[
        str,
        msgspec.Meta(
            title="Resource",
            description="A loss is the time times what is held of it; empty: the time "
            "alone.",
        ),
    ] = ""
    priority_first: Annotated[
        bool, msgspec.Meta(title="Lower priorities first, whatever they lose")
    ] = False


@proposal(
    "WorkLost",
    label="Least work lost",
    help="Among the candidates those go first who lose the least work since their last "
    "checkpoint.",
    settings=Settings,
)
class WorkLost(Policy):
    """Orders candidates by what a stop throws away."""

    def loss(self, victim: Work) -> float:
        """Return what is lost if the victim stops now."""
        resource = self.settings.resource
        if not resource:
            return victim.lost_ms
        held = sum(n for (_, name), n in victim.usage.items() if name == resource)
        return victim.lost_ms * held

    def victim_order(self, victim: Work, by: Work, now_ms: int) -> float:
        """Return the loss; candidates of equal loss go in the order of the release."""
        most = 2.0**52  # above any loss: a priority counts more than all of it
        above = victim.priority * most if self.settings.priority_first else 0
        return above + min(self.loss(victim), most - 1)
