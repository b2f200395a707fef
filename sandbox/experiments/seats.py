"""How many processes of a worker may run experiments at once: all but one.

One process is left for ticks, which must not wait for a run to end. A seat is
a lock of the process that holds it on one byte of a file without a name: it
is gone when the process is, however it ends.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


class Seats:
    """The seats of one worker; made before its processes are."""

    def __init__(self, count: int) -> None:
        self.count = count
        # Open for as long as the worker lives: its processes inherit it.
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - see above

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


seats = Seats(1)


def provide(processes: int) -> None:
    """Provide the seats of a worker with so many processes."""
    seats.count = max(1, processes - 1)
