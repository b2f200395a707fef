"""The two sets of preemption laws, one file each; every file enrols itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scheduler.yunikorn.objects.application import Ask
    from scheduler.yunikorn.objects.node import Node
    from scheduler.yunikorn.objects.partition import Partition
    from scheduler.yunikorn.objects.queue import Queue
    from scheduler.yunikorn.preemption.victims import Plan


class Laws(Protocol):
    """What the two sets decide differently."""

    name: str
    positional: bool  # queue order looks fair-max up by position
    starting: bool  # applications pass through Starting
    daemons_beyond_cluster: bool  # a full cluster does not stop required nodes

    def sort_name(self, given: str) -> str:
        """Return the application sort that a configured name stands for."""

    def delay_ms(self, leaf: Queue) -> int:
        """Return how long an ask of this leaf waits before it may preempt."""

    def choose(
        self, partition: Partition, ask: Ask, *, nodes_tried: bool
    ) -> Plan | str:
        """Return victims and their node for an ask, or why there are none.

        "" is no reason in particular. Changes nothing.
        """

    def required_victims(self, partition: Partition, node: Node, ask: Ask) -> list[Ask]:
        """Return who has to leave a required node for the ask; [] when no use."""
