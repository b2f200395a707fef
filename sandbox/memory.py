"""The garbage collector, kept out of the way of large worlds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold the garbage collector off while many small values are made.

    They are all kept, and looking at every one of them again and again is most
    of the cost of opening a large page.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def collect_seldom() -> None:
    """Let a process that holds worlds look for garbage less often.

    A world is many thousand values that stay; what a tick throws away goes by
    reference counts.
    """
    gc.set_threshold(50_000, 20, 50)
