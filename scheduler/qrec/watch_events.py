"""What `kubectl get --watch --output-watch-events -o json` printed, as entries.

Such a stream has no time of receipt: an event's is the latest time that its
object shows, and never before that of the event above it. The first events,
which are ADDED, stand for the list.
Source: <https://kubernetes.io/docs/reference/kubectl/generated/kubectl_get/>
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scheduler.durations import stamp_us
from scheduler.errors import QuantityError, SchedulerError
from scheduler.qrec.entries import EVENTS, Entry, Header, Manifest
from scheduler.qrec.reading import stamp


def read_watch_events(text: str, name: str) -> Iterator[Entry]:
    """Yield the entries of the output of one or of several such commands.

    Raises SchedulerError, naming the file and the event, on what is no event.
    """
    events = list(_events(text, name))
    initial = _initial(events)
    start = max((_latest_us(event["object"]) for event in events[:initial]), default=0)
    kinds = list(dict.fromkeys(event["object"]["kind"] for event in events))
    yield Entry(stamp(start), "BEGIN", header=Header(kinds=kinds))
    for event in events[:initial]:
        kind = event["object"]["kind"]
        yield Entry(stamp(start), "LISTED", kind, event["object"])
    for kind in kinds:
        yield Entry(stamp(start), "SYNCED", kind)
    for event in events[initial:]:
        start = max(start, _latest_us(event["object"]))
        kind = event["object"]["kind"]
        yield Entry(stamp(start), event["type"], kind, event["object"])


def _initial(events: list[dict[str, Any]]) -> int:
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


def _events(text: str, name: str) -> Iterator[dict[str, Any]]:
    decoder, at, number = json.JSONDecoder(), 0, 0
    while rest := text[at:].lstrip() if at else text.lstrip():
        number += 1
        try:
            event, length = decoder.raw_decode(rest)
            if event["type"] in EVENTS:
                event["object"]["metadata"]["name"], event["object"]["kind"]
                yield event
        except (ValueError, KeyError, TypeError) as error:
            raise SchedulerError(
                f"{name}: event {number}: expected type and object: {error}"
            ) from error
        text, at = rest, length


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
