"""The garbage collector, kept out of the way of large worlds: seldom, and in time."""

from __future__ import annotations

import ctypes
import gc
import sys

#: Objects of worlds that are worth a look at everything.
LEAST_RELEASED = 2_000

_seldom = False  # this process holds worlds, and collects seldom
_released = 0  # objects, since the last collection


def begin() -> None:
    """Let a process look for garbage after 50,000 new objects, not after 700.

    What it imports stays: looking through that took a tenth of every start.
    """
    gc.set_threshold(50_000, 20, 20)


def collect_seldom() -> None:
    """Let a process that holds worlds look for garbage less often.

    A world is many thousand values that stay; what a tick throws away goes by
    reference counts. Whole worlds do not: who drops one calls `note_released`.
    """
    global _seldom
    _seldom = True
    gc.set_threshold(50_000, 20, 50)


def note_released(objects: int, *, kept: int) -> None:
    """Count the objects of a released world; collect garbage after enough of them.

    The parts of a world point at each other, so only the collector frees them,
    and where it comes seldom, worlds that were read anew would pile up. Collects
    when what was released is half of what is `kept`; costs nothing elsewhere.
    """
    global _released
    if not _seldom:
        return
    _released += objects
    if _released > max(LEAST_RELEASED, kept // 2):
        _released = 0
        gc.collect()


def give_back() -> None:
    """Collect garbage, and return free pages of memory to the operating system.

    A freed world leaves holes that the allocator keeps otherwise. Costs tenths of a
    second where much is held.
    """
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:  # glibc alone has it
            trim(0)
