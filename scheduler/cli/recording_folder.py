"""Reading the folder of a recording of a control plane, as `shadow` and `plan` take it."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from scheduler.input.manifests.releases import releases_named
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, in_field
from scheduler.recorded.followed import CONFIGURATION, Source
from scheduler.recorded.qrec.reading import Followed, Header, RecordedChange

Item = dict[str, Any]
_START = re.compile(r"t=0 \((\S+?)\)")
_SNAPSHOT = re.compile(r"(?:snapshot|metrics)-([0-9]+)\.(?:json|txt)\.gz")
BEGIN = "snapshot-0.json.gz"


class Event(msgspec.Struct, frozen=True):
    """One watch event, at its time of receipt."""

    at: str
    type: str
    object: Item


def read_events(lines: Iterable[bytes], place: str) -> Iterator[Event]:
    """Yield the watch events but bookmarks, which change nothing.

    Raises SchedulerError with file and line, also of an error of the watch.
    """
    for number, line in enumerate(lines, start=1):
        try:
            event = msgspec.json.decode(line, type=Event)
        except msgspec.MsgspecError as error:
            raise SchedulerError(
                in_field(
                    f"{place}:{number}", FileProblem.WATCH_EVENT.said(problem=error)
                )
            ) from error
        if event.type == "BOOKMARK":
            continue
        item = event.object
        if not (item.get("kind") and (item.get("metadata") or {}).get("name")):
            said = item.get("message") or item.get("kind") or "none"
            raise SchedulerError(
                in_field(
                    f"{place}:{number}",
                    FileProblem.WATCHED.said(
                        given=event.type, problem=f"{said!s:.200}"
                    ),
                )
            )
        yield event


def followed_of(start: str, standing: list[Item], seen: Iterable[Event]) -> Followed:
    """Return what stood at `start` and what was seen after it."""
    events = [
        RecordedChange(durations.stamp_us(event.at), event.type, event.object)
        for event in seen
    ]
    start_us = durations.stamp_us(start)
    return Followed(start_us=start_us, standing=standing, events=events)


def read_followed_folder(folder: Path) -> tuple[Followed, list[Source]]:
    """Read what stood at t=0 and every event since, and Kueue's Configuration.

    Raises SchedulerError that names what is missing, OSError.
    """
    watch = folder / "watch.jsonl.gz"
    seen = read_events(lines_in(watch), str(watch))
    found = followed_of(read_start(folder), items_in(folder / BEGIN), seen)
    metrics = [packed_in(path) for path in by_second_in(folder, "metrics-*.txt.gz")[:1]]
    found.header = Header(recorder="folder", releases=releases_named((), metrics))
    return found, configuration_in(folder)


def read_start(folder: Path) -> str:
    """Return the wall time of t=0, which the folder's README states."""
    start = _START.search(text_in(folder / "README.md"))
    if start is None:
        raise SchedulerError(f"{folder}/README.md: expected t=0 (TIME), found none")
    return start[1]


def configuration_in(folder: Path) -> list[Source]:
    """Return Kueue's Configuration, where the folder has it."""
    path = folder / CONFIGURATION
    return [(path.name, text_in(path))] if path.is_file() else []


def text_in(path: Path) -> str:
    """Return a file's text; raises SchedulerError where there is none."""
    return file_in(path).read_text(encoding="utf-8")


def file_in(path: Path) -> Path:
    """Return the path; raises SchedulerError where it is no file."""
    if not path.is_file():
        raise SchedulerError(f"{path}: expected a file of a recording, found none")
    return path


def by_second_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of this pattern by their second."""
    paths = [p for p in folder.glob(pattern) if _SNAPSHOT.fullmatch(p.name)]
    return sorted(paths, key=second_of)


def second_of(path: Path) -> int:
    """Return the second that a file of the folder is of."""
    match = _SNAPSHOT.fullmatch(path.name)
    return int(match[1]) if match else 0


def items_in(snapshot: Path) -> list[Item]:
    """Return the objects of a snapshot."""
    text = b"".join(lines_in(snapshot))
    items: list[Item] = msgspec.json.decode(text)["items"]
    return items


def packed_in(path: Path) -> str:
    """Return the text of a gzip file."""
    with gzip.open(path, "rt") as text:
        return text.read()


def lines_in(path: Path) -> Iterator[bytes]:
    """Yield the lines of a packed file; raises SchedulerError where it is cut off."""
    number = 0
    try:
        with gzip.open(file_in(path)) as lines:
            for line in lines:
                number += 1
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SchedulerError(
            f"{path}: expected a whole gzip file, it breaks off after line {number}; "
            f"copy it again: {error}"
        ) from error
