"""What `kubectl get --watch --output-watch-events -o json` printed, as entries.

Such a stream has no time of receipt: an event's is the latest time that its
object shows, and never before that of the event above it. The first events,
which are ADDED, stand for the list.
Source: <https://kubernetes.io/docs/reference/kubectl/generated/kubectl_get/>
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from scheduler.model.durations import stamp_us
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.problems import FileProblem, in_field
from scheduler.recorded.qrec.reading import (
    EVENTS,
    Entry,
    Header,
    Manifest,
    check_object,
    stamp,
)

Event = dict[str, Any]
_SPACE = re.compile(r"\s*")


def read_watch_events(text: str, name: str) -> Iterator[Entry]:
    """Yield the entries of the output of one or of several such commands.

    Raises SchedulerError, naming the file and the event, on what is no event.
    """
    events = list(_events(text, name))
    listed, later = _parted(events)
    start = max((_latest_us(event["object"]) for event in listed), default=0)
    kinds = list(dict.fromkeys(_kind(event) for event in events))
    yield Entry(stamp(start), "BEGIN", header=Header(kinds=kinds))
    for event in listed:
        yield Entry(stamp(start), "LISTED", _kind(event), event["object"])
    for kind in kinds:
        yield Entry(stamp(start), "SYNCED", kind)
    for at, event in later:
        time = stamp(max(at, start))
        yield Entry(time, event["type"], _kind(event), event["object"])


def _parted(events: list[Event]) -> tuple[list[Event], list[tuple[int, Event]]]:
    """Return the lists at the begin, and the events after them with their times.

    One command follows one kind: where every kind stands for itself, one after the
    other, each has a list of its own, and their events come in the order of time.
    """
    runs = [list(run) for _, run in itertools.groupby(events, _kind)]
    if len(runs) > len({_kind(event) for event in events}):
        runs = [events]  # several kinds in one stream, in the order of receipt
    listed: list[Event] = []
    later: list[tuple[int, Event]] = []
    for run in runs:
        initial = _initial(run)
        listed += run[:initial]
        at = 0
        for event in run[initial:]:
            at = max(at, _latest_us(event["object"]))
            later.append((at, event))
    return listed, sorted(later, key=lambda one: one[0])


def _kind(event: Event) -> str:
    return str(event["object"]["kind"])


def _initial(events: list[Event]) -> int:
    """Return how many events at the begin are the list: ADDED, each object once."""
    seen = set()
    for number, event in enumerate(events):
        manifest = event["object"]
        metadata = manifest["metadata"]
        place = manifest["kind"], metadata.get("namespace", ""), metadata["name"]
        if event["type"] != "ADDED" or place in seen:
            return number
        seen.add(place)
    return len(events)


def _events(text: str, name: str) -> Iterator[Event]:
    decoder, at, number = json.JSONDecoder(), 0, 0
    while (at := _SPACE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        number += 1
        try:
            event, at = decoder.raw_decode(text, at)
            if event["type"] in EVENTS:
                check_object(event["object"])
                yield event
        except (
            ValueError,
            KeyError,
            TypeError,
            RecursionError,
            SchedulerError,
        ) as error:
            raise SchedulerError(
                in_field(
                    f"{name}: event {number}", FileProblem.TYPED.said(problem=error)
                )
            ) from error


def _latest_us(manifest: Manifest) -> int:
    """Return the latest time that an object shows of itself; 0 without one."""
    times = []
    waiting: list[Any] = [manifest]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, str) and part[10:11] == "T" and part[-1:] == "Z":
            times.append(_us(part))
    return max(times, default=0)


def _us(text: str) -> int:
    try:
        return stamp_us(text)
    except QuantityError:
        return 0
