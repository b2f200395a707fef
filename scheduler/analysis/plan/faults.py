"""Everything that is wrong with the input of a plan, each with its file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.assembly import InputError
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.model.errors import ManifestError, SchedulerError, SourceLocation


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where."""

    place: SourceLocation
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class FaultsError(SchedulerError):
    """The input cannot be taken; `faults` has every reason once, in order."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(dict.fromkeys(faults))
        super().__init__("\n".join(map(str, self.faults)))


def faults_of(error: SchedulerError, file: str) -> list[Fault]:
    """Return the faults of an error; `file` is the place when the error names none."""
    if isinstance(error, FaultsError):
        return error.faults
    if isinstance(error, InputError):
        return faults_in(error.loaded.errors)
    if isinstance(error, ManifestError) and error.place is not None:
        return [Fault(error.place, error.problem.text)]
    return [Fault(SourceLocation(file=file, line=1), str(error))]


def faults_in(findings: Iterable[Finding]) -> list[Fault]:
    """Return the errors among findings."""
    return [Fault(f.place, f.problem) for f in findings if f.level == "error"]
