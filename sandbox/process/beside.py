"""A second process for one piece of work: forked, it has what its parent has in memory.

The child only computes and sends. It opens nothing, and uses no connection of its
parent. It ends with the work, with its parent, or when it stands still.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any, NoReturn

#: Gets what sends a value, and what shows that the work goes on.
Work = Callable[[Callable[[Any], None], Callable[[], None]], None]

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.2


def can_fork() -> bool:
    """Return whether a second process is of use: a processor is free for it, on Linux."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


class Beside:
    """Work in a forked process. What it sends is kept here until it is asked for.

    Values are pickled. Raises OSError when no process can be had.
    """

    def __init__(self, work: Work, *, standstill_s: float) -> None:
        reading, writing = Pipe(duplex=False)
        with warnings.catch_warnings():
            # Other threads may hold locks now; the child takes none of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            parent, process = os.getpid(), os.fork()
        if process == 0:
            _work(work, writing, parent, standstill_s)
        writing.close()
        self.process = process
        self._values: list[Any] = []
        self._ended = False
        self._changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self.reader.start()

    def next(self, hear: Callable[[], None]) -> Any:
        """Return the next value, calling `hear` while it waits. Raises EOFError at the end."""
        while True:
            with self._changed:
                if not self._values and not self._ended:
                    self._changed.wait(_LOOK_S)
                if self._values:
                    return self._values.pop(0)
                if self._ended:
                    raise EOFError
            hear()

    def end(self) -> None:
        """End the process; nothing when it has ended."""
        with self._changed:
            if not self._ended:
                os.kill(self.process, signal.SIGKILL)

    def _read(self, reading: Connection) -> None:
        """Take what comes, then take leave of the process: in a thread."""
        try:
            while True:
                value = reading.recv()
                with self._changed:
                    self._values.append(value)
                    self._changed.notify_all()
        except (EOFError, OSError):
            pass
        finally:
            reading.close()
            with self._changed:
                os.waitpid(self.process, 0)
                self._ended = True
                self._changed.notify_all()


def _work(
    work: Work, writing: Connection, parent: int, standstill_s: float
) -> NoReturn:
    """Be the child, to its end."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        if os.getppid() == parent:

            def goes_on() -> None:
                signal.setitimer(signal.ITIMER_REAL, standstill_s)

            goes_on()
            work(writing.send, goes_on)
            status = 0
    finally:
        os._exit(status)
