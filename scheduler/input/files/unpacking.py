"""Bytes of files to named texts: unpacked, decoded, each within its limit.

A zip or tar is every file in it; `.gz` is the file without that ending.
Whoever reads files from disk or from a request comes here, so that all of them read
the same. One file that cannot be read is an `UnreadText` among
the others, which an import refuses alone.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import (
    FileProblem,
    Problem,
    RequestProblem,
    Wanted,
    expected,
    in_field,
)
from scheduler.model.sentence import Sentence, plain

#: Endings of files that hold manifests or traces.
READ = (".yaml", ".yml", ".json", ".jsonl", ".swf", ".csv")
PACKED = (".gz", ".tgz", ".zip", ".tar")
_METRICS = re.compile(r"(?:^|/)metrics[^/]*\.txt$|\.prom$")
_MOST_BYTES = 256 * 2**20
_MOST_FILES = 20_000
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
#: Other archives by their first bytes: named, not read.
_OTHERS = {
    b"\xfd7zXZ\0": "xz",
    b"BZh9": "bzip2",
    b"7z\xbc\xaf": "7z",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"Rar!\x1a": "rar",
}
_DEEPEST = 3  # archives within archives

Text = tuple[str, str]  # (name, text)


class UnreadText(str):
    """The empty text of a file that cannot be read; `error` says why, and where."""

    __slots__ = ("error",)
    error: ManifestError

    @classmethod
    def of(cls, error: ManifestError) -> UnreadText:
        """Return the text that stands for a file with this error."""
        made = cls()
        made.error = error
        return made


def is_read(name: str) -> bool:
    """Return whether a file of this name holds manifests or a trace, or is packed.

    Or Kueue's metrics, which say its release.
    """
    lower = name.lower()
    return lower.endswith((*READ, *PACKED)) or _METRICS.search(lower) is not None


class Unpacking:
    """Files being unpacked one after the other, with what may still come of them."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self.left = most
        self.files = 0

    def texts(self, name: str, data: bytes) -> Iterator[Text]:
        """Yield (name, text) of what one more file holds; never raises ManifestError.

        What cannot be read of it is an `UnreadText`; the rest of an archive counts.
        """
        return self._texts(name, data, 0)

    def _texts(self, name: str, data: bytes, depth: int) -> Iterator[Text]:
        try:
            yield from self._read(name, data, depth)
        except ManifestError as error:
            yield name, UnreadText.of(error)

    def _read(self, name: str, data: bytes, depth: int) -> Iterator[Text]:
        if depth > _DEEPEST:
            raise _wrong(name, FileProblem.NESTED.said(most=_DEEPEST))
        if data.startswith(_ZIP):
            yield from self._members(name, self._zip(name, data), depth)
        elif data.startswith(_GZIP):
            inner, plain = self._gzip(name, data), _without_gz(name)
            yield from self._texts(plain, inner, depth + 1)
        elif _is_tar(data):
            yield from self._members(name, self._tar(name, data), depth)
        else:
            yield name, _decoded(name, data)

    def _members(
        self, name: str, members: Iterable[tuple[str, bytes]], depth: int
    ) -> Iterator[Text]:
        for inner, data in members:
            self.files += 1
            if self.files > _MOST_FILES:
                raise _wrong(name, FileProblem.FILES.said(most=_MOST_FILES))
            path = f"{name}/{inner}"
            if is_read(inner):
                yield from self._texts(path, data, depth + 1)
            else:
                yield path, _if_text(path, data)

    def _gzip(self, name: str, data: bytes) -> bytes:
        """Inflate, no further than the limit; several streams one after the other."""
        parts: list[bytes] = []
        while data.startswith(_GZIP):
            opener = zlib.decompressobj(wbits=31)
            try:
                part = opener.decompress(data, self.left + 1)
            except zlib.error as error:
                raise _wrong(name, in_field("expected gzip", plain(error))) from error
            self._take(name, len(part))
            if not opener.eof:
                raise _wrong(name, RequestProblem.GZIP.said())
            parts.append(part)
            data = opener.unused_data
        return b"".join(parts)

    def _zip(self, name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for info in archive.infolist():
                    if not info.is_dir() and not _is_noise(info.filename):
                        with archive.open(info) as file:
                            yield info.filename, self._part(name, file)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise _wrong(name, RequestProblem.ZIP.said(problem=error)) from error
        except (zlib.error, EOFError, OSError) as error:
            raise _wrong(name, RequestProblem.ZIP.said(problem=error)) from error

    def _tar(self, name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
                for info in archive:
                    file = archive.extractfile(info) if info.isfile() else None
                    if file is not None and not _is_noise(info.name):
                        yield info.name, self._part(name, file)
        except (tarfile.TarError, EOFError, OSError) as error:
            raise _wrong(name, FileProblem.TAR.said(problem=error)) from error

    def _part(self, name: str, file: Any) -> bytes:
        found: bytes = file.read(self.left + 1)
        self._take(name, len(found))
        return found

    def _take(self, name: str, size: int) -> None:
        if size > self.left:
            self.left = 0  # never below: it bounds what is read of the next file
            raise _wrong(name, FileProblem.UNPACKED.said())
        self.left -= size


def _if_text(name: str, data: bytes) -> str:
    """Return the text of a file whose name has no ending; "" where it is none.

    Logs of machines have such names; what the text holds shows by itself.
    """
    if "." in name.rsplit("/", 1)[-1]:
        return ""
    try:
        return _decoded(name, data)
    except ManifestError:
        return ""


def _is_tar(data: bytes) -> bool:
    return len(data) > 512 and data[257:262] == b"ustar"


def _is_noise(name: str) -> bool:
    """Return whether a system put the file beside those that somebody packed."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or parts[-1].startswith("._")


def _without_gz(name: str) -> str:
    lower = name.lower()
    if lower.endswith(".tgz"):
        return name[:-4]
    return name[:-3] if lower.endswith(".gz") else name


def _decoded(name: str, data: bytes) -> str:
    """Return the text; UTF-16 with its mark too, as some shells write it."""
    for mark, packed in _OTHERS.items():
        if data.startswith(mark):
            raise _wrong(name, RequestProblem.PACKED.said(name=packed))
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            text = data.decode("utf-16")
        else:
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"the byte 0x{error.object[error.start]:02X}; save it as UTF-8"
        line = data.count(b"\n", 0, error.start) + 1
        raise _wrong(name, expected(Wanted.UTF8, given=got), line) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _wrong(name, Problem.BINARY.said(), line)
    return text


def _wrong(name: str, problem: Sentence, line: int = 1) -> ManifestError:
    return ManifestError(problem, place=SourceLocation(file=name, line=line))
