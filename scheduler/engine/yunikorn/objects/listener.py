"""Listeners: what a partition decides is reported to one, and its steps to a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from scheduler.engine.yunikorn.objects.model import Application, Ask, SchedulingNode


class Listener(Protocol):
    """Gets what the partition decides, in the order it decides."""

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """An ask got a node."""

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """A node was reserved for an ask."""

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """A reservation ended."""

    def attempting(self, ask: Ask) -> None:
        """Preemption is tried for an ask; its next try is later."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Victims were asked to end for an ask."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """A pod ends for no other ask: timeout, quota change, replacement."""

    def refused(self, ask: Ask, message: str) -> None:
        """An ask got nothing, and why."""

    def entered(self, app: Application) -> None:
        """An application is in a new state."""


class Trace(Protocol):
    """Gets every step of a cycle with its numbers; for explanations."""

    def step(self, name: str, **numbers: Any) -> None:
        """Record one step: order, leaf, request, node, preemption."""


class NullListener:
    """A listener that does nothing."""

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Do nothing."""

    def attempting(self, ask: Ask) -> None:
        """Do nothing."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Do nothing."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Do nothing."""

    def refused(self, ask: Ask, message: str) -> None:
        """Do nothing."""

    def entered(self, app: Application) -> None:
        """Do nothing."""
