"""Forks of a process that has every test ready, one for each change of the code."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable

from mutmut.mutation import trampoline

Say = Callable[[str], None]


def change(name: str) -> None:
    """Make the change of this name in this process; "" makes none."""
    trampoline.set_mutant_under_test(name)
    # The one that mutmut brings reads the environment at each call.
    trampoline.get_mutant_under_test = lambda: name


def call(work: Callable[[Say], None]) -> tuple[list[str], int]:
    """Do this in a fork; return the lines that it said and the signal that ended it.

    What it prints is lost, and the processes that it has started end with it. An
    error of the work itself ends it without a line more.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            work(lambda line: _write(writing, line))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        lines = said.read().splitlines()
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return lines, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _write(descriptor: int, line: str) -> None:
    left = f"{line}\n".encode()
    while left:
        left = left[os.write(descriptor, left) :]


def limit(processor_s: float, wall_s: float) -> None:
    """End this process after so long from now, unless it is limited anew."""
    signal.setitimer(signal.ITIMER_PROF, processor_s)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
