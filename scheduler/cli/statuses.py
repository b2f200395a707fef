"""How a command ends: its exit status, and what is said of it.

0 good, 1 an assertion failed or what was asked for does not exist, 2 the input is
refused, 3 a fault of the program.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from scheduler.model.errors import InvariantError, NoProgressError, RegistrationError

GOOD, FAILED, REFUSED, OURS = 0, 1, 2, 3
INTERRUPTED = 128 + signal.SIGINT
NOBODY_READS = 128 + signal.SIGPIPE
_REPORT = (
    "This is a fault of the program, not of the input. Please report it to the "
    "maintainers, with the command, the files and the lines above.\n"
)


def ended(work: Callable[[], int]) -> int:
    """Return the status that `work` returns, or that of how it failed.

    Flushes what was written: a reader that went away (`| head`) is noticed here.
    """
    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED
    except RegistrationError as error:  # a plug-in of theirs, read with the engine
        return refused(error)
    except Exception:
        traceback.print_exc()
        sys.stderr.write(_REPORT)
        return OURS
    return status


def refused(error: Exception) -> int:
    """Print why a command ends and return its exit status.

    Raises BrokenPipeError again, which is no fault.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    said = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        said = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"{said}\n")
    if isinstance(error, InvariantError | NoProgressError):
        sys.stderr.write(_REPORT)
        return OURS
    return REFUSED


def try_to_write(paths: Iterable[Path | None]) -> None:
    """Raise OSError for the first file that cannot be written; change none of them."""
    for path in paths:
        if path is None:
            continue
        there = path.exists()
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
