"""Fair sharing between ClusterQueues by what each used over time, with a half-life.

After the proposal of kubernetes-sigs/kueue#9734: usage in the past counts, and halves
with each half-life. Who used less goes first, and takes back from who used more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from quotalab.policies import FlavorResource, Policy, Queue, Work, proposal, span_ms


class Settings(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How usage is remembered, and how much more a victim must have used."""

    half_life: Annotated[str, msgspec.Meta(title="Half-life", examples=["1h"])] = "168h"
    resource: Annotated[
        str,
        msgspec.Meta(
            title="Resource", description="Usage of it counts; empty: of each alike."
        ),
    ] = ""
    margin: Annotated[
        str,
        msgspec.Meta(
            title="Margin",
            description="A victim is taken from a queue that used more by what the "
            "victim uses in this time.",
            examples=["10m"],
        ),
    ] = "10m"


@proposal(
    "UsedOverTime",
    label="Fair sharing by usage over time",
    help="The ClusterQueue that used least over time, by its weight, goes first and is "
    "given back what others used more; usage halves with each half-life.",
    settings=Settings,
)
class UsedOverTime(Policy):
    """Keeps decayed usage per queue, and when each queue last took from another.

    {"shares": {queue: [share, as of ms, weight]}, "turns": {by: {victim: ms}}}
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.half_life_ms = span_ms(settings.half_life)
        self.margin_ms = span_ms(settings.margin)
        if min(self.half_life_ms, self.margin_ms) <= 0:
            raise ValueError("halfLife and margin: expected lengths above 0s")

    def _known(self, queue: str, now_ms: int) -> tuple[float, int, float]:
        share, since, weight = self.state.get("shares", {}).get(queue, (0.0, now_ms, 1))
        return share, since, weight

    def share(self, queue: str, now_ms: int) -> float:
        """Return what a queue used over time, per weight; 0 and up."""
        share, since, _ = self._known(queue, now_ms)
        return share * self._left(now_ms - since)

    def _left(self, ms: float) -> float:
        return float(0.5 ** (ms / self.half_life_ms))

    def _measured(self, usage: Mapping[FlavorResource, int]) -> float:
        wanted = self.settings.resource
        return float(sum(n for (_, name), n in usage.items() if wanted in ("", name)))

    def ran(self, queue: Queue, since_ms: int, now_ms: int) -> None:
        """Add the usage of the span, decayed while it lasted."""
        weight = queue.weight or 1e-9
        added = self._measured(queue.usage) * (1 - self._left(now_ms - since_ms))
        share = self.share(queue.name, now_ms) + added / weight
        self.state.setdefault("shares", {})[queue.name] = [share, now_ms, weight]

    def preempted(self, victim: Work, by: Work, now_ms: int) -> None:
        """Remember when a queue took from another."""
        if victim.queue != by.queue:
            turns = self.state.setdefault("turns", {})
            turns.setdefault(by.queue, {})[victim.queue] = now_ms

    def precedence(self, work: Work, queue: Queue, now_ms: int) -> float:
        """Return the share of the head's queue."""
        return self.share(queue.name, now_ms)

    def spare_until(self, victim: Work, by: Work, now_ms: int) -> float:
        """Spare a victim of another queue that used no more by the margin, or just took."""
        if victim.queue == by.queue:
            return 0
        took = self.state.get("turns", {}).get(victim.queue, {}).get(by.queue)
        if took is not None and took + self.margin_ms > now_ms:
            return int(took) + self.margin_ms
        theirs, ours = self.share(victim.queue, now_ms), self.share(by.queue, now_ms)
        rate = self._measured(victim.usage) / self._known(victim.queue, now_ms)[2]
        if theirs - ours > rate * (1 - self._left(self.margin_ms)):
            return 0
        return now_ms + self.margin_ms / 4  # shares have moved by then

    def victim_order(self, victim: Work, by: Work, now_ms: int) -> float:
        """Return the share of the victim's queue: the largest goes first."""
        return -self.share(victim.queue, now_ms)
