"""A worker process that stands still is ended by the kernel, whatever it is doing.

The alarm's default action ends the process even in the middle of a call that never
returns to Python. What the process was at was counted before it was begun, so that
whoever finds it twice gives it up. In a process that serves others only the thread is
ended, when it is back in Python.
"""

from __future__ import annotations

import ctypes
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

_running = False  # whether this process is at work that ends with it


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """End this process when the block, or what follows a sign of life, takes so long.

    For worker processes, whose parent fills the place. 0 = no limit.
    """
    global _running
    _running = True
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        _running = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def goes_on(seconds: float) -> None:
    """Show that the work goes on: the seconds begin anew. Nothing outside of a block."""
    if _running:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def in_worker() -> bool:
    """Return whether this process is a worker's, inside `ended_after`."""
    return _running


class OverdueError(BaseException):
    """A block took too long; whoever catches every Exception lets it pass."""


class EndedError(BaseException):
    """Whoever operates this process ends it, whatever the block is at."""


_stops: set[Callable[[type[BaseException]], None]] = set()  # of the blocks that run
_ending = threading.Event()


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise OverdueError in the block when it takes so long (0 = no limit).

    Raises EndedError in it where the process is to end. Both are raised between two
    instructions of Python: a call into C ends first.
    """
    lock, open_, thread = threading.Lock(), [True], threading.get_ident()

    def stop(error: type[BaseException]) -> None:
        with lock:
            if open_:
                open_.clear()
                _raise_in(thread, error)

    timer = threading.Timer(seconds, partial(stop, OverdueError))
    timer.daemon = True
    if seconds:
        timer.start()
    _stops.add(stop)
    try:
        yield
    finally:
        _stops.discard(stop)
        with lock:
            open_.clear()
            timer.cancel()


def end() -> None:
    """End the blocks of `stopped_after`, now that this process was asked to end."""
    _ending.set()
    for stop in list(_stops):
        stop(EndedError)


def is_ending() -> bool:
    """Return whether this process was asked to end."""
    return _ending.is_set()


def _raise_in(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error)
    )


@contextmanager
def renewing(
    renew: Callable[[], bool], every_s: float, *, name: str = "renew"
) -> Iterator[None]:
    """Renew what the block holds from a thread for as long as it runs.

    `renew` returns whether it is held still. A process that dies renews nothing. The
    thread has ended when the block has: none renews what was given back.
    """
    done = threading.Event()
    thread = threading.Thread(
        target=_renew_until, args=(done, renew, every_s), name=name, daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew_until(
    done: threading.Event, renew: Callable[[], bool], every_s: float
) -> None:
    asked = False
    try:
        while not done.wait(every_s):
            asked = True
            if not renew():
                return
    except DatabaseError as error:
        logger.warning("a lease was not renewed: %s", error)
    finally:
        if asked:
            connection.close()
