"""A worker process that stands still is ended by the kernel, whatever it is doing.

The alarm's default action ends the process even in the middle of a call that never
returns to Python. What the process was at was counted before it was begun, so that
whoever finds it twice gives it up. In a process that serves others only the thread is
ended, when it is back in Python.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

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


#: How a block of this thread is raised in again, innermost last.
_blocks = threading.local()


@contextmanager
def _raised_again(raise_again: Callable[[type[BaseException]], None]) -> Iterator[None]:
    """Raise again in the block what a callback of the collector or a finalizer swallowed.

    Python drops what is raised in those; `raise_again` is told, and raises later from
    another thread: raised here, it would be dropped in the hook, too.
    """
    blocks = _blocks.__dict__.setdefault("open", [])
    blocks.append(raise_again)
    if sys.unraisablehook is not _note_dropped:
        _others[:] = [sys.unraisablehook]
        sys.unraisablehook = _note_dropped
    try:
        yield
    finally:
        blocks.remove(raise_again)


_others: list[Callable[[Any], object]] = []  # the hook that was there


def _note_dropped(dropped: Any) -> None:
    blocks = getattr(_blocks, "open", None)
    if blocks and issubclass(dropped.exc_type, OverdueError | EndedError):
        blocks[-1](dropped.exc_type)
    else:
        _others[-1](dropped)


#: How often the processor time of requests is looked at.
LOOK_S = 0.1

_stops: set[Callable[[type[BaseException]], None]] = set()  # of the blocks that run
_ending = threading.Event()


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise OverdueError in the block when it takes so long (0 = no limit).

    Raises EndedError in it where the process is to end. Both are raised between two
    instructions of Python: a call into C ends first.
    """
    lock, open_, thread = threading.RLock(), [True], threading.get_ident()
    timers: list[threading.Timer] = []

    def stop(error: type[BaseException]) -> None:
        with lock:
            if open_:
                open_.clear()
                _raise_in(thread, error)

    def later(error: type[BaseException], after_s: float = LOOK_S) -> None:
        with lock:
            open_[:] = [True]
            timers.append(threading.Timer(after_s, partial(stop, error)))
            timers[-1].daemon = True
            timers[-1].start()

    if seconds:
        later(OverdueError, seconds)
    _stops.add(stop)
    try:
        with _raised_again(later):
            yield
    finally:
        _stops.discard(stop)
        with lock:
            open_.clear()
            for timer in timers:
                timer.cancel()


def end() -> None:
    """End the blocks of `stopped_after`, now that this process was asked to end."""
    mark_ending()
    for stop in list(_stops):
        stop(EndedError)


def mark_ending() -> None:
    """Note that this process was asked to end; what it has begun goes on."""
    _ending.set()


def is_ending() -> bool:
    """Return whether this process was asked to end."""
    return _ending.is_set()


def tries_taken_back(column: str = "tries") -> dict[str, int]:
    """Return what a renewal writes beside the lease: no try once the process is to end.

    It may be killed because its work takes long, and that says nothing of the work.
    """
    return {column: 0} if is_ending() else {}


@dataclass(eq=False, slots=True)
class _Watched:
    """A thread that may use its processor's time up to a moment of its own clock."""

    thread: int
    clock: int
    until: float


class _CpuWatch:
    """Looks at the processor time of threads from a thread of its own, while any is watched."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watched: set[_Watched] = set()
        self._process = 0  # in which the thread runs: a fork starts its own

    def begin(self, watched: _Watched) -> None:
        with self._changed:
            self._watched.add(watched)
            if self._process != os.getpid():
                self._process = os.getpid()
                threading.Thread(target=self._look_on, name="cpu", daemon=True).start()
            self._changed.notify()

    def end(self, watched: _Watched) -> None:
        with self._changed:
            self._watched.discard(watched)

    def _look_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._watched))
                for one in list(self._watched):
                    if time.clock_gettime(one.clock) > one.until:
                        self._watched.discard(one)
                        _raise_in(one.thread, OverdueError)
            time.sleep(LOOK_S)


_cpu = _CpuWatch()


@contextmanager
def within_cpu(seconds: float) -> Iterator[None]:
    """Raise OverdueError in the block when this thread computes for so long. 0 = no limit.

    Waiting costs nothing. A call into C ends first; nothing is raised where threads
    have no clock of their own (macOS).
    """
    if not seconds or not hasattr(time, "pthread_getcpuclockid"):
        yield
        return
    thread = threading.get_ident()
    clock = time.pthread_getcpuclockid(thread)
    watched = _Watched(thread, clock, time.clock_gettime(clock) + seconds)
    _cpu.begin(watched)
    try:
        with _raised_again(lambda _: _cpu.begin(watched)):
            yield
    finally:
        _cpu.end(watched)


class ForWorkerError(BaseException):
    """A request asks for more than a process that serves others does: a worker does it.

    Nothing was changed. Whoever catches every Exception lets it pass.
    """


_serving = threading.local()


@contextmanager
def serving() -> Iterator[None]:
    """Mark that the block answers a request in a process that serves others."""
    _serving.now = True
    try:
        yield
    finally:
        _serving.now = False


def leave_to_worker(size: int = 1, most: int = 0) -> None:
    """Leave what is larger than `most` to a worker: ForWorkerError, where a request is served.

    It is asked before anything of that size is read or made. Nothing happens elsewhere.
    """
    if size > most and getattr(_serving, "now", False):
        raise ForWorkerError


def is_serving() -> bool:
    """Return whether this thread answers a request in a process that serves others."""
    return getattr(_serving, "now", False)


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
    thread has ended when the block has: none renews what was given back. In a transaction
    there is none: nobody takes what it holds before its end, which the thread would wait for.
    """
    if connection.in_atomic_block:
        yield
        return
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
