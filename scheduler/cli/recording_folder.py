"""Reading the folder of a recording, as `rerun` and `shadow` need it."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from scheduler import durations
from scheduler.errors import SchedulerError
from scheduler.kueue.configuration import Settings, read_configuration
from scheduler.manifests.documents import read_documents
from scheduler.qrec.reading import Followed, RecordedChange
from scheduler.recordings.recording import (
    Attempts,
    Recording,
    read_arrivals,
    read_attempts,
    read_events,
)
from scheduler.recordings.worlds import Source
from scheduler.shadow.history import History

_START = re.compile(r"t=0 \((\S+?)\)")
_SNAPSHOT = re.compile(r"(?:snapshot|metrics)-(\d+)\.(?:json|txt)\.gz")
_US_PER_MS = 1000


def read_folder(folder: Path) -> Recording:
    """Read a recording. Raises SchedulerError that names what is missing."""
    start = read_start(folder)
    manifests = sorted((folder / "manifests").glob("*.yaml"))
    if not manifests:
        raise SchedulerError(f"{folder}/manifests: expected YAML files, found none")
    sources = [(path.name, _text(path)) for path in manifests]
    if (folder / "config.yaml").is_file():
        sources.append(("config.yaml", _text(folder / "config.yaml")))
    watch = folder / "watch.jsonl.gz"
    events = list(read_events(_lines(watch), str(watch)))
    if not events:
        raise SchedulerError(f"{watch}: expected events of Jobs, Workloads and Pods")
    arrivals = folder / "arrivals.json"
    return Recording(
        name=folder.name,
        start=start,
        sources=sources,
        arrivals=read_arrivals(arrivals.read_bytes(), str(arrivals)),
        events=events,
        standing=_standing(folder),
        attempts=_attempts(folder),
    )


def read_history(folder: Path) -> History:
    """Read what Kueue's objects were at each event. Raises SchedulerError, OSError."""
    start_us = durations.stamp_us(read_start(folder))
    events = _events(folder / "watch.jsonl.gz", start_us)
    return History(_items(folder / "snapshot-0.json.gz"), events)


def read_followed_folder(folder: Path) -> tuple[Followed, list[Source]]:
    """Read what stood at t=0 and every event since, and Kueue's Configuration.

    Raises SchedulerError that names what is missing, OSError.
    """
    start_us = durations.stamp_us(read_start(folder))
    events = [
        RecordedChange(start_us + _US_PER_MS * at_ms, type_, item)
        for at_ms, type_, item in _events(folder / "watch.jsonl.gz", start_us)
    ]
    standing = _items(folder / "snapshot-0.json.gz")
    path = folder / "config.yaml"
    config = [(path.name, _text(path))] if path.is_file() else []
    return Followed(start_us=start_us, standing=standing, events=events), config


def read_settings(folder: Path) -> Settings:
    """Return what the recording's Configuration sets; the defaults without one."""
    path = folder / "config.yaml"
    if not path.is_file():
        return Settings()
    [document] = read_documents(_text(path), file=path.name)
    return read_configuration(document.data)


def read_start(folder: Path) -> str:
    """Return the wall time of t=0, which the folder's README states."""
    start = _START.search(_text(folder / "README.md"))
    if start is None:
        raise SchedulerError(f"{folder}/README.md: expected t=0 (TIME), found none")
    return start[1]


def read_snapshot(folder: Path, given: str | None) -> Source | None:
    """Return a snapshot's name and text; `given` is a file, or its second.

    Raises SchedulerError that says which snapshots there are.
    """
    if given is None:
        return None
    name = f"snapshot-{given}.json.gz" if given.isdecimal() else given
    for path in (folder / name, Path(name)):
        if path.is_file():
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            return path.name.removesuffix(".gz"), text.decode()
    known = [path.name for path in _by_second(folder, "snapshot-*.json.gz")]
    raise SchedulerError(
        f"{folder}: expected one of {', '.join(known) or 'its snapshots (none is there)'}, "
        f"got {given!r}"
    )


def _text(path: Path) -> str:
    """Return a file's text; raises SchedulerError where there is none."""
    if not path.is_file():
        raise SchedulerError(f"{path}: expected a file of a recording, found none")
    return path.read_text(encoding="utf-8")


def _by_second(folder: Path, pattern: str) -> list[Path]:
    """Return the files of this pattern by their second."""
    paths = [p for p in folder.glob(pattern) if _SNAPSHOT.fullmatch(p.name)]
    return sorted(paths, key=_second)


def _second(path: Path) -> int:
    match = _SNAPSHOT.fullmatch(path.name)
    return int(match[1]) if match else 0


def _standing(folder: Path) -> list[dict[str, Any]]:
    """Return the pods that ran before the first Job came."""
    first = folder / "snapshot-0.json.gz"
    if not first.is_file():
        return []
    return [
        item
        for item in _items(first)
        if item["kind"] == "Pod" and item["spec"].get("nodeName")
    ]


def _items(snapshot: Path) -> list[dict[str, Any]]:
    """Return the objects of a snapshot."""
    text = b"".join(_lines(snapshot))
    items: list[dict[str, Any]] = msgspec.json.decode(text)["items"]
    return items


def _attempts(folder: Path) -> list[tuple[int, Attempts]]:
    found = []
    for path in _by_second(folder, "metrics-*.txt.gz"):
        with gzip.open(path, "rt") as text:
            found.append((1000 * _second(path), read_attempts(text.read())))
    return found


def _events(path: Path, start_us: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield (ms since t=0, type, object); raises SchedulerError with file and line."""
    for number, line in enumerate(_lines(path), start=1):
        try:
            event = msgspec.json.decode(line)
            at = durations.stamp_us(event["at"])
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise SchedulerError(
                f"{path}:{number}: expected a watch event with at, type and "
                f"object: {error}"
            ) from error
        yield (at - start_us) // _US_PER_MS, event["type"], event["object"]


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a packed file; raises SchedulerError where it is cut off."""
    number = 0
    try:
        with gzip.open(path) as lines:
            for line in lines:
                number += 1
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SchedulerError(
            f"{path}: expected a whole gzip file, it breaks off after line {number}; "
            f"copy it again: {error}"
        ) from error
