"""What a recorder followed: its objects at any instant, and how long work ran."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.model import durations
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.latencies import USUAL
from scheduler.model.problems import Wanted, expected
from scheduler.model.reasons import is_true
from scheduler.recorded.absences import kinds_of_work
from scheduler.recorded.qrec.reading import (
    Followed,
    Place,
    RecordedChange,
    place_of,
    stamp,
)

Item = dict[str, Any]
Source = tuple[str, str]  # name, text
Owner = tuple[str, str, str]  # kind, namespace, name
#: The source that is Kueue's Configuration, where there is one.
CONFIGURATION = "config.yaml"
_US = 1_000_000
_CONFIGURATION = "controller_manager_config.yaml"
_QUEUES = "queues.yaml"
#: YuniKorn's ConfigMaps; what the first says wins.
_YUNIKORN = ("yunikorn-configs", "yunikorn-defaults")
_POLICY = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Policy",
    "metadata": {"name": "policy"},
}


def incident(found: Followed, at_us: int) -> list[Source]:
    """Return files that go on from an instant with what really arrived after it.

    What stood keeps its status. Work that arrived later comes at its time, and
    all work takes as long as it really took, where the recording shows its end.
    Raises SchedulerError when the recording does not cover the instant.
    """
    end = found.events[-1].at_us if found.events else found.start_us
    if not found.start_us <= at_us <= end:
        raise SchedulerError(
            expected(
                Wanted.TIME_WITHIN.said(least=stamp(found.start_us), most=stamp(end)),
                given=stamp(at_us),
            )
        )
    times = run_times(found.events)
    standing = state_at(found, at_us)
    items = [_timed(item, times) for item in standing.values()]
    items += _later(found, at_us, standing, times)
    return [
        *configuration(found),
        *_queues(found),
        ("policy.json", _policy(at_us, found.releases())),
        ("incident.json", list_of(items)),
    ]


def _policy(at_us: int, releases: Mapping[str, str]) -> str:
    """Return the policy's document: the instant, what ran, and the usual latencies."""
    latencies = msgspec.to_builtins(USUAL)
    simulation = {"startTime": stamp(at_us), "latencies": latencies}
    spec: dict[str, Any] = {"simulation": simulation}
    if releases:
        spec["release"] = dict(releases)
    return json.dumps({**_POLICY, "spec": spec})


def state_at(found: Followed, at_us: int) -> dict[Place, Item]:
    """Return the objects at an instant. Cost: the events before it."""
    objects = {place_of(item): item for item in found.standing}
    for seen in found.events:
        if seen.at_us > at_us:
            break
        if seen.type == "DELETED":
            objects.pop(place_of(seen.object), None)
        else:
            objects[place_of(seen.object)] = seen.object
    return objects


def _later(
    found: Followed, at_us: int, standing: dict[Place, Item], times: dict[Owner, float]
) -> Iterator[Item]:
    """Yield the work that arrived after an instant, each with its time."""
    kinds = kinds_of_work()
    arrived = set(standing)
    for seen in found.events:
        place = place_of(seen.object)
        if seen.at_us <= at_us or seen.type != "ADDED" or place in arrived:
            continue
        if place[0] in kinds and owner_of(seen.object) is None:
            arrived.add(place)
            item = as_given(seen.object, times)
            annotations = item["metadata"].setdefault("annotations", {})
            annotations[ARRIVAL] = f"{(seen.at_us - at_us) // 1000}ms"
            yield item


def as_given(item: Item, times: dict[Owner, float]) -> Item:
    """Return an object as it was given to the cluster, with the time it ran."""
    metadata = {**item["metadata"]}
    for field in ("creationTimestamp", "resourceVersion", "generation"):
        metadata.pop(field, None)
    metadata["annotations"] = dict(metadata.get("annotations") or {})
    given = {name: part for name, part in item.items() if name != "status"}
    return _timed({**given, "metadata": metadata}, times)


def _timed(item: Item, times: dict[Owner, float]) -> Item:
    """Return an owner of work with the time it really ran, where nothing says it."""
    seconds = times.get(place_of(item))
    annotations = item["metadata"].get("annotations") or {}
    if seconds is None or RUNTIME in annotations:
        return item
    annotations = {**annotations, RUNTIME: f"{round(1000 * seconds)}ms"}
    return {**item, "metadata": {**item["metadata"], "annotations": annotations}}


def configuration(found: Followed) -> list[Source]:
    """Return Kueue's Configuration from its recorded ConfigMap; nothing where none was recorded."""
    for item in found.standing:
        text = (item.get("data") or {}).get(_CONFIGURATION)
        if item["kind"] == "ConfigMap" and text and isinstance(text, str):
            return [(CONFIGURATION, text)]
    return []


def _queues(found: Followed) -> list[Source]:
    """Return YuniKorn's queues.yaml, where a ConfigMap of it was recorded."""
    texts = {
        item["metadata"]["name"]: str((item.get("data") or {}).get(_QUEUES) or "")
        for item in found.standing
        if item["kind"] == "ConfigMap"
    }
    given = [texts[name] for name in _YUNIKORN if texts.get(name)]
    return [(_QUEUES, given[0])] if given else []


def list_of(items: Iterable[Item]) -> str:
    """Return the objects but ConfigMaps as a List, in JSON."""
    kept = [item for item in items if item["kind"] != "ConfigMap"]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": kept})


# ------------------------------------------------------------------------
# How long work really ran, as its pods or its Workload showed it.


def run_times(events: Iterable[RecordedChange]) -> dict[Owner, float]:
    """Return the seconds that each owner of work ran, of those that succeeded.

    Pods say it best: the longest of their containers. Without pods it is the time
    from the last admission of the Workload to its end, as the watch showed them.
    """
    by_pods: dict[Owner, float] = {}
    by_workload: dict[Owner, float] = {}
    admitted: dict[Owner, int] = {}
    for seen in events:
        owner = owner_of(seen.object)
        if owner is None or seen.type == "DELETED":
            continue
        if seen.object["kind"] == "Pod":
            if (span := _span(seen.object)) is not None:
                by_pods[owner] = max(span, by_pods.get(owner, 0))
        elif seen.object["kind"] == "Workload":
            _workload(seen, owner, admitted, by_workload)
    return by_workload | by_pods


def _workload(
    seen: RecordedChange,
    owner: Owner,
    admitted: dict[Owner, int],
    found: dict[Owner, float],
) -> None:
    status = seen.object.get("status") or {}
    if is_true(status, "Finished"):
        if owner in admitted:
            found[owner] = (seen.at_us - admitted.pop(owner)) / _US
    elif is_true(status, "Admitted"):
        admitted.setdefault(owner, seen.at_us)
    else:
        admitted.pop(owner, None)


def owner_of(item: Item) -> Owner | None:
    """Return the object that controls this one."""
    metadata = item["metadata"]
    for one in metadata.get("ownerReferences") or ():
        if one.get("controller"):
            return one["kind"], metadata.get("namespace", ""), one["name"]
    return None


def _span(pod: Item) -> float | None:
    """Return how long the longest container of a pod that succeeded ran."""
    status = pod.get("status") or {}
    if status.get("phase") != "Succeeded":
        return None
    ends = [
        one["state"]["terminated"]
        for one in status.get("containerStatuses") or ()
        if "terminated" in one.get("state", {})
    ]
    try:
        return max(
            (
                durations.stamp_us(end["finishedAt"])
                - durations.stamp_us(end["startedAt"])
            )
            / _US
            for end in ends
        )
    except (KeyError, ValueError, QuantityError):
        return None
