"""Reading the folder of a recording, as `rerun` and `shadow` need it."""

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
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.recorded.absences import late_begin, not_replayed
from scheduler.recorded.qrec.reading import Followed, Header, RecordedChange
from scheduler.recorded.recording import (
    CONFIGURATION,
    MEASURED_KINDS,
    Attempts,
    Event,
    Recording,
    read_arrivals,
    read_attempts,
    read_events,
)
from scheduler.recorded.worlds import Source

_START = re.compile(r"t=0 \((\S+?)\)")
_SNAPSHOT = re.compile(r"(?:snapshot|metrics)-([0-9]+)\.(?:json|txt)\.gz")
_BEGIN = "snapshot-0.json.gz"
_ALONE = "pods that ran before the first Job (of DaemonSets, say) are left out"


def read_folder(folder: Path) -> Recording:
    """Read a recording. Raises SchedulerError that names what is missing."""
    start = read_start(folder)
    manifests = sorted((folder / "manifests").glob("*.yaml"))
    if not manifests:
        raise SchedulerError(f"{folder}/manifests: expected YAML files, found none")
    sources = [(path.name, _text(path)) for path in manifests]
    sources += _configuration(folder)
    watch = folder / "watch.jsonl.gz"
    seen = list(read_events(_lines(watch), str(watch)))
    events = [event for event in seen if event.object["kind"] in MEASURED_KINDS]
    if not events:
        raise SchedulerError(f"{watch}: expected events of Jobs, Workloads and Pods")
    arrivals = folder / "arrivals.json"
    first = folder / _BEGIN
    items = _items(first) if first.is_file() else []
    changes = ((event.type, event.object) for event in events)
    alone = [] if first.is_file() else [f"{first}: not there: {_ALONE}"]
    notes = alone or late_begin(items, changes, str(watch))
    return Recording(
        name=folder.name,
        start=start,
        sources=sources,
        arrivals=read_arrivals(_file(arrivals).read_bytes(), str(arrivals)),
        events=events,
        standing=_standing(items),
        attempts=_attempts(folder),
        notes=notes + not_replayed(_followed(start, items, seen), str(folder)),
    )


def _followed(
    start: str, standing: list[dict[str, Any]], seen: Iterable[Event]
) -> Followed:
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
    seen = read_events(_lines(watch), str(watch))
    found = _followed(read_start(folder), _items(folder / _BEGIN), seen)
    metrics = [_packed(path) for path in _by_second(folder, "metrics-*.txt.gz")[:1]]
    found.header = Header(recorder="folder", releases=releases_named((), metrics))
    return found, _configuration(folder)


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
    name = f"snapshot-{given}.json.gz" if is_whole(given) else given
    for path in (folder / name, Path(name)):
        if path.is_file():
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            return path.name.removesuffix(".gz"), text.decode()
    known = [path.name for path in _by_second(folder, "snapshot-*.json.gz")]
    raise SchedulerError(
        in_field(
            folder,
            expected(
                Wanted.ONE_OF.said(
                    known=", ".join(known) or "its snapshots (none is there)"
                ),
                given,
            ),
        )
    )


def _configuration(folder: Path) -> list[Source]:
    """Return Kueue's Configuration, where the folder has it."""
    path = folder / CONFIGURATION
    return [(path.name, _text(path))] if path.is_file() else []


def _text(path: Path) -> str:
    """Return a file's text; raises SchedulerError where there is none."""
    return _file(path).read_text(encoding="utf-8")


def _file(path: Path) -> Path:
    """Return the path; raises SchedulerError where it is no file."""
    if not path.is_file():
        raise SchedulerError(f"{path}: expected a file of a recording, found none")
    return path


def _by_second(folder: Path, pattern: str) -> list[Path]:
    """Return the files of this pattern by their second."""
    paths = [p for p in folder.glob(pattern) if _SNAPSHOT.fullmatch(p.name)]
    return sorted(paths, key=_second)


def _second(path: Path) -> int:
    match = _SNAPSHOT.fullmatch(path.name)
    return int(match[1]) if match else 0


def _standing(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pods that ran before the first Job came."""
    return [
        item for item in items if item["kind"] == "Pod" and item["spec"].get("nodeName")
    ]


def _items(snapshot: Path) -> list[dict[str, Any]]:
    """Return the objects of a snapshot."""
    text = b"".join(_lines(snapshot))
    items: list[dict[str, Any]] = msgspec.json.decode(text)["items"]
    return items


def _attempts(folder: Path) -> list[tuple[int, Attempts]]:
    return [
        (1000 * _second(path), read_attempts(_packed(path)))
        for path in _by_second(folder, "metrics-*.txt.gz")
    ]


def _packed(path: Path) -> str:
    with gzip.open(path, "rt") as text:
        return text.read()


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a packed file; raises SchedulerError where it is cut off."""
    number = 0
    try:
        with gzip.open(_file(path)) as lines:
            for line in lines:
                number += 1
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SchedulerError(
            f"{path}: expected a whole gzip file, it breaks off after line {number}; "
            f"copy it again: {error}"
        ) from error
