"""How a question leaves the engine: it calls nobody, a `Port` carries the question out."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from scheduler.model.kube.extender import Extender


class ExtenderError(Exception):
    """A call that failed: refused address, timeout, bad status, bad answer."""


class Port(Protocol):
    """How a question leaves the engine; raises ExtenderError."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the decoded JSON answer."""


@runtime_checkable
class StatingPort(Protocol):
    """A port that has answers for some addresses from the start."""

    def states(self, url_prefix: str) -> bool:
        """Return whether the answers of this address never change."""


class DisabledExtender:
    """The port of a server whose operator allows no address."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Refuse."""
        raise ExtenderError(
            f"extender {extender.url_prefix}: calls are off; the operator of this "
            "server has not allowed the address"
        )
