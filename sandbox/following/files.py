"""The file that a recorder appends to: whole frames, rotated, safe against a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sandbox.base.environment import make_private_file
from sandbox.base.errors import InvalidError
from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.frames import MAGIC, FrameReader, frame

#: A part is ended above this size, unless another is given.
ROTATE_BYTES = 256 * 1024 * 1024


class RecordingFile:
    """Appends frames to the newest part of a recording.

    `PATH.qrec` is the first part, `PATH.1.qrec` the next. `resumed` says that a
    recording was there; a torn end, left by a crash, is cut off first.
    Raises InvalidError for a file of another format.
    """

    def __init__(self, path: Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.first = path
        self.rotate_bytes = rotate_bytes
        self.part = len(parts_of(path))
        self.resumed = self.part > 0
        self.part = max(0, self.part - 1)
        self.cut_bytes = self._cut() if self.resumed else 0
        self._open()

    @property
    def path(self) -> Path:
        """Return the part that is written now."""
        return part_path(self.first, self.part)

    @property
    def is_full(self) -> bool:
        """Return whether the part is above the size at which a new one begins."""
        return self._size() >= self.rotate_bytes

    def append(self, lines: Iterable[bytes]) -> None:
        """Write one frame, and wait until the disk has it."""
        self.stream.write(frame(lines))
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def rotate(self) -> None:
        """End this part and begin the next."""
        self.close()
        self.part += 1
        self._open()

    def close(self) -> None:
        """Close the part."""
        self.stream.close()

    def discard(self) -> None:
        """Close the part, and leave no file where nothing was written to a new one."""
        self.stream.close()
        if self.path.stat().st_size <= len(MAGIC):
            self.path.unlink()

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        make_private_file(self.path)
        self.stream = self.path.open("ab")
        if self._size() == 0:
            self.stream.write(MAGIC)

    def _size(self) -> int:
        return os.fstat(self.stream.fileno()).st_size

    def _cut(self) -> int:
        """Cut a torn end off; return how many bytes it had."""
        if self.path.stat().st_size < len(MAGIC):
            os.truncate(self.path, 0)
            return 0
        with self.path.open("rb") as stream:
            try:
                reader = FrameReader(stream, str(self.path))
            except SchedulerError as error:
                raise InvalidError(error.said) from error
            for _ in reader:
                pass
        size = self.path.stat().st_size
        os.truncate(self.path, reader.position)
        return size - reader.position


def part_path(first: Path, part: int) -> Path:
    """Return the path of a part; 0 is the first."""
    return first if part == 0 else first.with_suffix(f".{part}{first.suffix}")


def parts_of(first: Path) -> list[Path]:
    """Return the parts of a recording that are there, in order."""
    found: list[Path] = []
    while (path := part_path(first, len(found))).is_file():
        found.append(path)
    return found
