"""Files that somebody hands over, as a recording: of a recorder, of kubectl, or a folder's."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from scheduler.input.files.inflating import most_values
from scheduler.input.files.unpacking import Unpacking
from scheduler.input.manifests.releases import releases_named
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, Form, Wanted, in_field
from scheduler.recorded.qrec.frames import MAGIC, FrameReader, slim
from scheduler.recorded.qrec.reading import (
    Entry,
    Followed,
    Header,
    RecordedChange,
    check_object,
    read_entry,
    read_followed,
)
from scheduler.recorded.qrec.watch_events import read_watch_events
from scheduler.recorded.twin.observing import is_shown

Files = Sequence[tuple[str, bytes]]
Item = dict[str, Any]
_MOST = 1024 * 1024 * 1024
_PART = re.compile(r"\.([0-9]+)\.qrec$")
_WATCH, _BEGIN, _CONFIG = "watch.jsonl", "snapshot-0.json", "config.yaml"
_CONFIG_MAP = "controller_manager_config.yaml"


def read_files(files: Files, *, most: int = _MOST, values: int = 0) -> Followed:
    """Return the recording that these files are.

    They are a `.qrec` with its parts, or what `kubectl get --watch
    --output-watch-events -o json` printed, or of a folder its `snapshot-0.json`,
    `watch.jsonl` and, where there is one, `config.yaml`; all but the first may be
    packed. Raises SchedulerError that names the file for what is none of these, and
    for what is over `most` bytes or `values` values (0 = any number) when opened.
    """
    if not files:
        raise SchedulerError(Form.GOT_NONE.said(wanted=Wanted.RECORDING))
    if any(data.startswith(MAGIC) for _, data in files):
        return read_followed(_parts(files, most, values))
    unpacking = Unpacking(most)
    texts = [text for name, data in files for text in unpacking.texts(name, data)]
    for name, text in texts:
        values = _left(values, text.encode(), name)
    named = {name.rpartition("/")[2].removesuffix(".gz"): text for name, text in texts}
    if _WATCH in named and _BEGIN in named:
        return _folder(named)
    if _BEGIN in named or _CONFIG in named:
        absent = _WATCH if _WATCH not in named else _BEGIN
        raise SchedulerError(
            in_field(absent, FileProblem.BESIDE.said(known=", ".join(named)))
        )
    return read_followed(
        entry for name, text in texts for entry in read_watch_events(text, name)
    )


def _parts(files: Files, most: int, values: int) -> Iterator[Entry]:
    """Yield the entries of the parts, in order."""
    for name, data in sorted(files, key=lambda file: _number(file[0])):
        reader = FrameReader(io.BytesIO(data), name, most)
        number = 0
        for lines in reader:
            for line in lines:
                number += 1
                values = _left(values, line, name)
                yield read_entry(line, name, number)
        most = max(1, most - reader.opened_bytes)


def _left(values: int, data: bytes, name: str) -> int:
    """Return how many values may still come; 0 = any number. Raises SchedulerError."""
    if not values:
        return 0
    left = values - most_values(data)
    if left <= 0:
        raise SchedulerError(in_field(name, FileProblem.VALUES.said()))
    return left


def _number(name: str) -> int:
    found = _PART.search(name)
    return int(found[1]) if found else 0


def _folder(named: dict[str, str]) -> Followed:
    """Return a folder as one recording; it begins with its first event."""
    events = [seen for seen in _events(named[_WATCH]) if is_shown(seen.object)]
    if not events:
        raise SchedulerError(in_field(_WATCH, FileProblem.NO_EVENTS.said()))
    items = _items(named[_BEGIN])
    standing = [slim(item) for item in items if is_shown(item)]
    if _CONFIG in named:
        standing.append(_config_map(named[_CONFIG]))
    found = Followed(
        header=Header(
            cluster="", recorder="folder", releases=releases_named((), named.values())
        ),
        start_us=events[0].at_us,
        standing=standing,
        events=events,
    )
    found.leave_out_claims()
    return found


def _items(text: str) -> list[Item]:
    try:
        found = msgspec.json.decode(text)["items"]
        return [check_object(item) for item in found]
    except (msgspec.MsgspecError, SchedulerError, KeyError, TypeError) as error:
        raise SchedulerError(
            in_field(_BEGIN, FileProblem.ITEMS.said(problem=error))
        ) from error


def _events(text: str) -> Iterator[RecordedChange]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = msgspec.json.decode(line)
            at_us = durations.stamp_us(event["at"])
            manifest = check_object(event["object"])
            yield RecordedChange(at_us, str(event["type"]), slim(manifest))
        except (msgspec.MsgspecError, SchedulerError, KeyError, TypeError) as error:
            raise SchedulerError(
                in_field(
                    f"{_WATCH}:{number}", FileProblem.WATCH_EVENT.said(problem=error)
                )
            ) from error


def _config_map(text: str) -> Item:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "kueue-system", "name": "kueue-manager-config"},
        "data": {_CONFIG_MAP: text},
    }
