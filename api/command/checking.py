"""The command `check`: a change of policy for pipelines, without a server or database."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.base import library
from scheduler.cli import check


def main(words: Sequence[str]) -> int:
    """Check; return the exit status. Scenarios of the library are known by name."""
    return check.main(words, library=library.known_files, prog="quotalab check")
