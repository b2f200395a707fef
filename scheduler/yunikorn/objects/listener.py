"""Who hears what a partition decides: a listener, nobody, or a trace of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from scheduler.yunikorn.objects.model import Application, Ask, Node


class Listener(Protocol):
    """Who hears what the partition decides, in the order it decides."""

    def allocated(self, ask: Ask, node: Node) -> None:
        """Hear that an ask got a node."""

    def reserved(self, ask: Ask, node: Node) -> None:
        """Hear that a node is held for an ask."""

    def unreserved(self, ask: Ask, node: Node) -> None:
        """Hear that a node is no longer held."""

    def attempting(self, ask: Ask) -> None:
        """Hear that preemption is tried for an ask; its next try is later."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Hear that victims were told to go for an ask."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Hear that a pod was told to go for no ask: timeout, quota change."""

    def refused(self, ask: Ask, message: str) -> None:
        """Hear why an ask got nothing."""

    def entered(self, app: Application) -> None:
        """Hear that an application is in a new state."""


class Trace(Protocol):
    """Who wants every step of a cycle with its numbers; for explanations."""

    def step(self, name: str, **numbers: Any) -> None:
        """Take one step: order, leaf, request, node, preemption."""


class NullListener:
    """A listener that nobody hears."""

    def allocated(self, ask: Ask, node: Node) -> None:
        """Say nothing."""

    def reserved(self, ask: Ask, node: Node) -> None:
        """Say nothing."""

    def unreserved(self, ask: Ask, node: Node) -> None:
        """Say nothing."""

    def attempting(self, ask: Ask) -> None:
        """Say nothing."""

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Say nothing."""

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Say nothing."""

    def refused(self, ask: Ask, message: str) -> None:
        """Say nothing."""

    def entered(self, app: Application) -> None:
        """Say nothing."""
