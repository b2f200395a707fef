"""How a question leaves the engine: disabled, recorded, or passed on and recorded.

The engine calls nobody: a `Port` carries the question out, and a replay gives
back the recorded answer.
"""

from __future__ import annotations

from typing import Any, Protocol

from scheduler.kube.extender.webhook import Extender


class ExtenderError(Exception):
    """A call that failed: refused address, timeout, bad status, bad answer."""


class Port(Protocol):
    """How a question leaves the engine; raises ExtenderError."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the decoded JSON answer."""


class DisabledExtender:
    """The port of a server whose operator allows no address."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Refuse."""
        raise ExtenderError(
            f"extender {extender.url_prefix}: calls are off; the operator of this "
            "server has not allowed the address"
        )


class RecordedExtender:
    """Gives back answers in the order in which they were given before."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = iter(answers)

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the next answer; a recorded error is raised again."""
        try:
            answer = next(self._answers)
        except StopIteration:
            raise ExtenderError("no recorded answer is left") from None
        if isinstance(answer, dict) and set(answer) == {"failed"}:
            raise ExtenderError(answer["failed"])
        return answer


class RecordingExtender:
    """Passes questions on and keeps the answers for a replay."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.answers: list[Any] = []

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Ask, and keep what came."""
        try:
            answer = self._port.call(extender, verb, payload)
        except ExtenderError as problem:
            self.answers.append({"failed": str(problem)})
            raise
        self.answers.append(answer)
        return answer
