"""Files and folders from disk, as every command reads them: unpacked, by their names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from scheduler.input.files.unpacking import READ, Text, Unpacking, UnreadText, is_read
from scheduler.input.manifests.loading.rendered import OTHERS
from scheduler.model.errors import SchedulerError
from scheduler.model.policy import Stack
from scheduler.model.releases.release import TITLES

_STDIN = "stdin.yaml"


def add_stack_word(parser: argparse.ArgumentParser) -> None:
    """Add the word that says which stack the files are run by."""
    parser.add_argument(
        "--stack",
        choices=get_args(Stack),
        help="which schedulers run; else those that the files are for",
    )


def add_release_word(parser: argparse.ArgumentParser) -> None:
    """Add the word that says whose decisions are taken."""
    parser.add_argument(
        "--release",
        action="append",
        default=[],
        metavar="kueue=0.19.2",
        help="the release whose decisions are taken, of kueue, kubernetes or yunikorn; "
        "may be given for each",
    )


def release_of(given: Iterable[str]) -> dict[str, str]:
    """Return scheduler -> release of words such as `kueue=0.19.2`, or of Kueue alone.

    Raises SchedulerError for an invalid word; a release is checked with the policy.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, version = text.partition("=")
        scheduler, version = (name, version) if equals else ("kueue", name)
        if scheduler not in TITLES or not version:
            raise SchedulerError(
                f"--release {text}: expected kueue=0.19.2, kubernetes=1.36.3 or "
                "yunikorn=1.9.0"
            )
        if scheduler in found:
            raise SchedulerError(f"--release {text}: {scheduler} is given twice")
        found[scheduler] = version
    return found


def read_paths(paths: Iterable[Path | str], *, short: bool = False) -> list[Text]:
    """Return (name, text) of each file; folders are looked through, `-` is stdin.

    What a folder holds under other names is reported on stderr. Archives are
    unpacked. `short` names begin below the folder that is given. A file that is no
    text is an `UnreadText`. Raises SchedulerError for a path that does not exist or may
    not be read, and for a folder without a file to read.
    """
    return [
        text
        for name, data in read_bytes(paths, short=short)
        for text in Unpacking().texts(name, data)
    ]


def read_one(path: Path | str) -> Text:
    """Return (name, text) of the one file there. Raises as `read_paths`, or unread."""
    found = read_paths([path])
    for _, text in found:
        if isinstance(text, UnreadText):
            raise text.error
    if len(found) != 1:
        raise SchedulerError(f"{path}: expected one file, found {len(found)}")
    return found[0]


def read_bytes(
    paths: Iterable[Path | str], *, short: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each file, packed as it is; else as `read_paths`."""
    for path in map(Path, paths):
        if str(path) == "-":
            yield _STDIN, sys.stdin.buffer.read()
            continue
        if not path.exists():
            raise SchedulerError(f"{path}: No such file or directory")
        files = [*_inside(path)] if path.is_dir() else [path]
        if not files:
            raise SchedulerError(f"{path}: expected files of manifests, found none")
        for file in files:
            base = path if path.is_dir() else path.parent
            name = file.relative_to(base).as_posix() if short else str(file)
            yield name, _bytes(file)


def _inside(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and (is_read(file.name) or file.name.endswith(OTHERS)):
            yield file
        elif not file.is_dir() and not _is_hidden(file.relative_to(folder)):
            known = ", ".join(sorted(READ))
            expected = f"a name in {known}" if file.is_file() else "a file"
            sys.stderr.write(f"{file}: ignored; expected {expected}\n")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise SchedulerError(f"{file}: {error.strerror or error}") from error
