"""How many processes of a worker may run experiments at once: all but one.

One process is left for ticks, which must not wait for a run to end. A seat is
a lock of the process that holds it on one byte of a file without a name: it
is gone when the process is, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


class Seats:
    """The seats of one worker; made before its processes, which inherit the file."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.file, path = tempfile.mkstemp(prefix="quotalab-seats-")
        os.unlink(path)

    @contextmanager
    def one(self) -> Iterator[bool]:
        """Hold a seat while the block runs; give False when none is free."""
        seat = next((n for n in range(self.count) if self._take(n)), None)
        try:
            yield seat is not None
        finally:
            if seat is not None:
                fcntl.lockf(self.file, fcntl.LOCK_UN, 1, seat)

    def _take(self, seat: int) -> bool:
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, seat)
        except OSError:
            return False
        return True


_seats: Seats | None = None


def provide(processes: int) -> None:
    """Provide the seats of a worker with so many processes, before it has them."""
    global _seats
    _seats = Seats(max(1, processes - 1))


@contextmanager
def one() -> Iterator[bool]:
    """Hold a seat of this worker; outside of a worker there is always one."""
    if _seats is None:
        yield True
    else:
        with _seats.one() as seated:
            yield seated
