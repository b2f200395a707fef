"""What the two sets of preemption laws decide differently; both are plug-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace

#: The partition: laws read it, and the partition holds its laws.
P = TypeVar("P", contravariant=True)


@dataclass(frozen=True, slots=True)
class PreemptionPlan:
    """A node and the victims that make room there, first to go first."""

    node: SchedulingNode
    victims: list[Ask]

    @property
    def start_index(self) -> int:
        """Return the index of the last victim; -1 when none is needed."""
        return len(self.victims) - 1


class Laws(Protocol[P]):
    """One set of laws. Source: docs/semantics/yunikorn.md#laws-of-preemption"""

    name: str
    positional: bool  # queue order looks fair-max up by position
    starting: bool  # applications pass through Starting
    daemons_beyond_cluster: bool  # a full cluster does not stop required nodes

    def sort_name(self, given: str) -> str:
        """Return the application sort that a configured name stands for."""

    def delay_ms(self, leaf: Queue) -> int:
        """Return how long an ask of this leaf waits before it may preempt."""

    def choose(
        self, partition: P, ask: Ask, *, nodes_tried: bool, trace: Trace | None = None
    ) -> PreemptionPlan | str:
        """Return victims and their node for an ask, or why there are none.

        "" is no reason in particular. Changes nothing.
        """

    def required_victims(
        self, partition: P, node: SchedulingNode, ask: Ask
    ) -> list[Ask]:
        """Return the victims on a required node for the ask; [] when they do not suffice."""
