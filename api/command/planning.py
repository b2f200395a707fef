"""The command `plan`: what a change would do, without a server or database."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.base import library
from scheduler.cli import plan


def main(words: Sequence[str]) -> int:
    """Plan; return the exit status. Scenarios of the library are known by name."""
    return plan.main(words, library=library.known_files, prog="quotalab plan")
