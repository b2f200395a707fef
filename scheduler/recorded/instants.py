"""The objects of a snapshot at one instant, as the watch shows what changed until then.

The lists of a snapshot are read one after the other: in a busy cluster its pods may
be 15 s newer than its Workloads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.assembly import prepare
from scheduler.input.manifests.documents import read_documents
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.conditions import condition
from scheduler.model.objects import Key, Object
from scheduler.recorded.recording import Recording
from scheduler.recorded.steps import PodTimes, Stopwatch

Item = dict[str, Any]
Versions = Mapping[Key, str]  # object -> resourceVersion


def brought_to(
    objects: Iterable[Object], versions: Versions, recording: Recording, until_ms: int
) -> list[Object]:
    """Return the objects as the watch shows them at an instant (ms since t=0).

    What a list holds newer than the watch, by `versions`, stays; so does what has none.
    Cost: the events until then.
    """
    found = {obj.key: obj for obj in objects}
    newest: dict[Key, tuple[str, Item]] = {}
    for event in recording.events:
        if recording.ms(event.at) <= until_ms:
            newest[_key(event.object)] = event.type, event.object
    news = []
    for key, (change, item) in newest.items():
        if key in found and not _is_newer(item, versions.get(key)):
            continue
        if change == "DELETED":
            found.pop(key, None)
        else:
            news.append(item)
    return list((found | {obj.key: obj for obj in _loaded(news)}).values())


def note_receipt(
    objects: Iterable[Object], watch: Stopwatch, recording: Recording
) -> None:
    """Write into pods when the watch showed their conditions: seconds are too coarse."""
    for obj in objects:
        if obj.key.kind == "Pod" and obj.uid in watch.pods:
            seen, _ = watch.pods[obj.uid]
            for name, at in _times(seen):
                known = condition(obj.status, name)
                if known is not None and at is not None:
                    us = recording.start_us + 1000 * at
                    _set_time(obj, name, durations.stamp_text(us))


def read_versions(name: str, text: str) -> Versions:
    """Return the resourceVersions of a snapshot's objects; loading drops them."""
    found = {}
    for document in read_documents(text, file=name):
        version = (document.data.get("metadata") or {}).get("resourceVersion")
        if version:
            found[_key(document.data)] = str(version)
    return found


def received(recording: Recording, versions: Versions) -> int | None:
    """Return when (us) the watch showed the newest of these objects; None for none."""
    found = (
        durations.stamp_us(event.at)
        for event in recording.events
        if _version(event.object) == versions.get(_key(event.object))
    )
    return max(found, default=None)


def _times(seen: PodTimes) -> list[tuple[str, int | None]]:
    ready = seen.ready if seen.succeeded is None else seen.succeeded
    return [("PodScheduled", seen.bound), ("Ready", ready)]


def _set_time(obj: Object, name: str, text: str) -> None:
    obj.status["conditions"] = [
        {**one, "lastTransitionTime": text} if one.get("type") == name else one
        for one in obj.status["conditions"]
    ]


def _key(item: Item) -> Key:
    metadata = item["metadata"]
    return Key(item["kind"], metadata.get("namespace", ""), metadata["name"])


def _version(item: Item) -> str:
    return str(item["metadata"].get("resourceVersion") or "")


def _is_newer(item: Item, known: str | None) -> bool:
    """Return whether a resourceVersion comes after the known one; they are numbers."""
    version = _version(item)
    if known is None or not (is_whole(version) and is_whole(known)):
        return False
    return int(version) > int(known)


def _loaded(items: list[Item]) -> list[Object]:
    """Return objects as a file of them would be loaded."""
    if not items:
        return []
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return prepare([("watch.json", text)]).loaded.objects
