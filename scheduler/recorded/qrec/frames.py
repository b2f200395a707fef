"""The bytes of a `.qrec` file: a magic line, then frames that are whole or ignored.

A frame is a length, a CRC-32 and that many bytes of zlib data. A writer only
appends, so a crash at any byte leaves whole frames and at most one torn end.
The format is described in docs/recording.md#the-file.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from scheduler.input.files.inflating import inflated_size
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, RequestProblem, in_field

MAGIC = b"QREC 1\n"
#: No frame is longer; a length above it is a torn or foreign end.
MOST_BYTES = 64 * 1024 * 1024
_HEAD = struct.Struct("<II")


def frame(lines: Iterable[bytes]) -> bytes:
    """Return one frame of these lines (JSON texts without line ends)."""
    data = zlib.compress(b"\n".join(lines), 6)
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


class FrameReader:
    """Yields the lines of each whole frame.

    `position` is the offset behind the last whole frame that was read, and
    `torn_bytes` what lies behind it once the iteration has ended.
    """

    def __init__(self, stream: BinaryIO, name: str, most: int = 0) -> None:
        """Raises SchedulerError when the stream does not begin as a `.qrec`.

        `most` bytes may come out of its frames, 0 = any number: more are refused, as
        SchedulerError, before they are in memory.
        """
        found = stream.read(len(MAGIC))
        if not MAGIC.startswith(found):  # a begin of it is one that a crash cut off
            raise SchedulerError(
                in_field(
                    name,
                    FileProblem.RECORDING.said(known=repr(MAGIC), given=repr(found)),
                )
            )
        self.stream = stream
        self.position = len(MAGIC) if found == MAGIC else 0
        self.torn_bytes = 0
        self.name, self.most = name, most
        self.opened_bytes = 0

    def __iter__(self) -> Iterator[list[bytes]]:
        while True:
            head = self.stream.read(_HEAD.size)
            data = self._data(head)
            if data is None:
                return
            self.position += len(head) + len(data)
            yield self._opened(data).split(b"\n")

    def _opened(self, data: bytes) -> bytes:
        try:
            if self.most:
                self._check_size(data)
            return zlib.decompress(data)
        except zlib.error as error:
            raise SchedulerError(
                in_field(self.name, FileProblem.ZLIB.said(problem=error))
            ) from error

    def _check_size(self, data: bytes) -> None:
        left = self.most - self.opened_bytes
        self.opened_bytes += (size := inflated_size(data, left))
        if size > left:
            raise SchedulerError(
                in_field(self.name, RequestProblem.OPENED.said(most=self.most))
            )

    def _data(self, head: bytes) -> bytes | None:
        """Return the bytes of a whole frame; None at the end or a torn one."""
        self.torn_bytes = len(head)
        if len(head) < _HEAD.size:
            return None
        length, crc = _HEAD.unpack(head)
        if length > MOST_BYTES:
            return None
        data = self.stream.read(length)
        self.torn_bytes += len(data)
        if len(data) < length or zlib.crc32(data) != crc:
            return None
        self.torn_bytes = 0
        return data
