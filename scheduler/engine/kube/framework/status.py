"""Statuses that plug-ins answer with, and the state one pod's cycle carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol, Self


class Code(IntEnum):
    """What a plug-in said; the order is of no meaning."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    UNRESOLVABLE = 2
    PENDING = 3
    ERROR = 4
    WAIT = 5
    SKIP = 6

    @property
    def text(self) -> str:
        """Return the name that kube-scheduler prints."""
        return _TEXTS[self]

    @property
    def rejected(self) -> bool:
        """Return whether it is a rejection, which is no error."""
        return Code.UNSCHEDULABLE <= self <= Code.PENDING


_TEXTS = {
    Code.SUCCESS: "Success",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.PENDING: "Pending",
    Code.ERROR: "Error",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
}


@dataclass(frozen=True, slots=True)
class Status:
    """A code, the reasons for it, and the plug-in that gave it."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def ok(self) -> bool:
        """Return whether it is Success."""
        return self.code is Code.SUCCESS

    @property
    def message(self) -> str:
        """Return the reasons as one sentence part."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the status with the plug-in named, unless it names one."""
        return self if self.plugin else Status(self.code, self.reasons, plugin)


OK = Status()
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Return a rejection that preemption may turn."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a rejection that removing pods from the node cannot turn."""
    return Status(Code.UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    """Return a failure of the plug-in itself: the pod is tried again."""
    return Status(Code.ERROR, (reason,))


class Copied(Protocol):
    """A piece of cycle state that a dry run may change."""

    def copy(self) -> Any:
        """Return a copy that shares nothing that changes."""


class Fixed:
    """A piece of cycle state that no dry run changes."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return itself."""
        return self


@dataclass(slots=True)
class CycleState:
    """What the plug-ins of one cycle leave for each other and for themselves.

    Keyed by plug-in name; a dry run of preemption works on a `copy`.
    """

    data: dict[str, Copied] = field(default_factory=dict)
    skip_filter: set[str] = field(default_factory=set)
    skip_score: set[str] = field(default_factory=set)

    def copy(self) -> CycleState:
        """Return a state that can be changed without touching this one."""
        data = {name: value.copy() for name, value in self.data.items()}
        return CycleState(data, self.skip_filter, self.skip_score)
