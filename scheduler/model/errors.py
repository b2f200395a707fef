"""What can go wrong in the engine, one class per thing a caller can act on."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.problems.forms import in_field
from scheduler.model.sentence import Sentence, plain, shortened


class SchedulerError(Exception):
    """The root of every error that the engine raises on purpose.

    `said` is what it says with its code; a plain text has the code "".
    """

    def __init__(self, said: Sentence | str) -> None:
        super().__init__(str(said))
        self.said = said if isinstance(said, Sentence) else plain(said)


class FieldError(SchedulerError):
    """What is wrong with something that was given, and in which field; has a code."""

    def __init__(self, problem: Sentence, field: str = "") -> None:
        super().__init__(in_field(field, problem) if field else problem)
        self.problem = problem
        self.field = field


class QuantityError(FieldError):
    """A text that is not a Kubernetes quantity."""


class PatternError(FieldError):
    """A text that is no regular expression of Go."""


class PolicyError(FieldError):
    """A policy with an unknown key or a value out of range; names the path."""


class UnknownNameError(FieldError):
    """A name that nothing has enrolled under; the message lists the known ones."""


class DuplicateNameError(SchedulerError):
    """Two things enrolled under the same family and name."""


class RegistrationError(SchedulerError):
    """Something cannot enrol as it is; the message says what does not agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """Where in the input something stands: file, line from 1, dotted field."""

    file: str
    line: int
    field: str = ""

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}"
        return f"{text}: {self.field}" if self.field else text


#: Letters of a problem that repeats what was given, which may be megabytes.
LONGEST_PROBLEM = 1_000


class ManifestError(SchedulerError):
    """A document that cannot be taken: says where, what was given and expected."""

    def __init__(
        self, problem: Sentence, *, place: SourceLocation | None = None
    ) -> None:
        self.problem = shortened(problem, LONGEST_PROBLEM)
        super().__init__(in_field(place, self.problem) if place else self.problem)
        self.place = place


class NoProgressError(SchedulerError):
    """An instant came round again and again: the world never comes to rest.

    Names the instant, the stage and what it waits for. A defect of ours.
    """


class InvariantError(SchedulerError):
    """The world broke one of its own laws: a defect of ours, never of the input."""
