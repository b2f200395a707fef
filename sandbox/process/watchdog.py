"""A worker process that stands still is ended by the kernel, whatever it is doing.

The alarm's default action ends the process even in the middle of a call that never
returns to Python. What the process was at was counted before it was begun, so that
whoever finds it twice gives it up.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
