"""The garbage collector, held off while many values are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Hold the garbage collector off while many small values are made.

    They are all kept, and looking at every one of them again and again is most of the
    cost of opening a large page, and two fifths of copying a world of 10,000 workloads. What
    is let go of meanwhile is young, so the first collection afterwards frees it.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
