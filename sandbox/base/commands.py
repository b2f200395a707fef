"""How a management command ends: its exit status, as every other command's."""

from __future__ import annotations

from collections.abc import Sequence

from django.core import management
from django.core.exceptions import ImproperlyConfigured
from django.core.management import base

from scheduler.cli.statuses import REFUSED, ended, refused


class CommandError(base.CommandError):
    """What a command refuses, with the exit status 2."""

    def __init__(self, *said: object, returncode: int = REFUSED) -> None:
        super().__init__(*said, returncode=returncode)


def run_command(words: Sequence[str]) -> int:
    """Run a management command by its words, the program's name first.

    Returns its exit status: 0 good, 1 an assertion failed, 2 the input is refused,
    3 a fault of the program, which is printed.
    """

    def work() -> int:
        try:
            management.execute_from_command_line(list(words))
        except ImproperlyConfigured as problem:
            return refused(problem)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        return 0

    return ended(work)
