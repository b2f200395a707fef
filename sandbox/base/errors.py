"""What can go wrong in a sandbox, one class per thing a caller can do something about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.input.manifests.repairs import Repair
from scheduler.model.sentence import Sentence, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing that is wrong with what was given, and where."""

    problem: Sentence
    field: str = ""
    file: str = ""
    line: int = 0
    level: str = "error"  # "error", "warning" or "unsupported"
    count: int = 1  # how often it was found; the place is the first
    repairs: tuple[Repair, ...] = ()  # choices; one is the one repair


class SandboxError(Exception):
    """The root of every error that sandboxes raise on purpose."""

    def __init__(
        self, message: str | Sentence, *, causes: Sequence[Cause] = ()
    ) -> None:
        super().__init__(str(message))
        self.said = message if isinstance(message, Sentence) else plain(message)
        self.causes = tuple(causes)

    @property
    def message(self) -> str:
        """Return the error's sentence in English."""
        return self.said.text


class NotFoundError(SandboxError):
    """No such sandbox, object, tick or scenario, or none that you may see."""


class InvalidError(SandboxError):
    """What was given cannot be taken; the causes say why and where."""


class DeniedError(InvalidError):
    """A webhook of Kueue would deny what was given."""


class ForbiddenError(SandboxError):
    """You may look but not touch."""


class ConflictError(SandboxError):
    """Somebody else changed it first, or it exists already."""


class StaleError(ConflictError):
    """The edit names a revision that has passed; the message says what came since."""


class BusyError(SandboxError):
    """The sandbox was held by something else for too long; try again."""


class DisruptionError(SandboxError):
    """A disruption budget allows nobody to go now; try again later."""


class TooManyError(SandboxError):
    """As much of yours is under way as may be; `wait` is in seconds."""

    def __init__(self, message: str | Sentence, *, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class NotYetError(SandboxError):
    """A question is still worked out; `place` is where to ask for its answer.

    `place` is a path below the API's root, "" for that of the question's number;
    `so_far` is what is known of the answer, None where nothing is.
    """

    def __init__(self, question: int, place: str = "", so_far: Any = None) -> None:
        super().__init__(f"answer {question} is still being worked out; ask again")
        self.question = question
        self.place = place or f"answers/{question}"
        self.so_far = so_far


class GivenUpError(SandboxError):
    """A question that failed by a fault of ours, or cost a worker too often."""


class OvertakenError(SandboxError):
    """A commit found a newer revision or fence: its work is thrown away."""


class GoneError(SandboxError):
    """That part of history is no longer kept."""
