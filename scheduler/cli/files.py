"""Files and folders from disk, as every command reads them: unpacked, by their names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from scheduler.errors import SchedulerError
from scheduler.files.unpacking import READ, Text, is_read, texts_of

_STDIN = "stdin.yaml"


def read_paths(paths: Iterable[Path | str], *, short: bool = False) -> list[Text]:
    """Return (name, text) of each file; folders are looked through, `-` is stdin.

    What a folder holds under other names is reported on stderr. Archives are
    unpacked. `short` names have no folder. Raises SchedulerError for a path that is
    not there, not text, or no archive.
    """
    found: list[Text] = []
    for path in map(Path, paths):
        if str(path) == "-":
            found += texts_of(_STDIN, sys.stdin.buffer.read())
            continue
        if not path.exists():
            raise SchedulerError(f"{path}: No such file or directory")
        for file in _inside(path) if path.is_dir() else [path]:
            found += texts_of(file.name if short else str(file), _bytes(file))
    return found


def _inside(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and is_read(file.name):
            yield file
        elif file.is_file() and not any(part.startswith(".") for part in file.parts):
            known = ", ".join(sorted(READ))
            sys.stderr.write(f"{file}: ignored; expected a name in {known}\n")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SchedulerError(f"{file}: {error.strerror or error}") from error
