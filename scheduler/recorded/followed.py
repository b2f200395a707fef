"""What a recorder followed, as a recording that runs again from any instant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.errors import SchedulerError
from scheduler.model.latencies import USUAL
from scheduler.model.problems import Wanted, expected
from scheduler.recorded.absences import kinds_of_work, not_replayed
from scheduler.recorded.arrivals import Owner, arrivals_of, owner_of, run_times
from scheduler.recorded.qrec.reading import Followed, Place, place_of, stamp
from scheduler.recorded.recording import (
    CONFIGURATION,
    MEASURED_KINDS,
    Event,
    Recording,
)
from scheduler.recorded.worlds import Source

Item = dict[str, Any]
_CONFIGURATION = "controller_manager_config.yaml"
_QUEUES = "queues.yaml"
#: YuniKorn's ConfigMaps; what the first says wins.
_YUNIKORN = ("yunikorn-configs", "yunikorn-defaults")
_POLICY = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Policy",
    "metadata": {"name": "policy"},
}


def recording_of(found: Followed, name: str) -> Recording:
    """Return the recording: its Jobs with the times they really ran, and its events.

    Only batch Jobs arrive in a run of it; `incident` has every kind.
    """
    times = run_times(found.events)
    jobs = [_input(item, times) for item in _ever(found) if item["kind"] == "Job"]
    return Recording(
        name=name,
        start=stamp(found.start_us),
        sources=[*configuration(found), ("jobs.json", _list(jobs))],
        arrivals=arrivals_of(found),
        events=[
            Event(at=stamp(seen.at_us), type=seen.type, object=seen.object)
            for seen in found.events
            if seen.object["kind"] in MEASURED_KINDS
        ],
        notes=not_replayed(found, name),
    )


def snapshot(found: Followed, at_us: int) -> Source:
    """Return everything that stood at an instant, as a List with status."""
    return "snapshot.json", _list(state_at(found, at_us).values())


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
        ("incident.json", _list(items)),
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
            item = _input(seen.object, times)
            annotations = item["metadata"].setdefault("annotations", {})
            annotations[ARRIVAL] = f"{(seen.at_us - at_us) // 1000}ms"
            yield item


def _ever(found: Followed) -> Iterable[Item]:
    """Yield each object that ever was, as it was first."""
    first: dict[Place, Item] = {}
    for item in [*found.standing, *(seen.object for seen in found.events)]:
        first.setdefault(place_of(item), item)
    return first.values()


def _input(item: Item, times: dict[Owner, float]) -> Item:
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
    """Return Kueue's Configuration, where its ConfigMap was recorded."""
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


def _list(items: Iterable[Item]) -> str:
    kept = [item for item in items if item["kind"] != "ConfigMap"]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": kept})
