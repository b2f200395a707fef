"""The command `check`: a change of policy for pipelines, without a server or database."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.base import library
from sandbox.base.errors import NotFoundError
from scheduler.cli import check


def main(words: Sequence[str]) -> int:
    """Check; return the exit status. Scenarios of the library are known by name."""
    return check.main(words, library=_scenario, prog="quotalab check")


def _scenario(name: str) -> list[tuple[str, str]] | None:
    try:
        return library.files_of(name)
    except NotFoundError:
        return None
