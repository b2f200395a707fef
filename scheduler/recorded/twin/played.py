"""A cluster that this engine plays, as `quotalab record` would have written it down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.jobs.given import WORKLOAD_NAME
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.annotations import PREFIX
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.problems.runs import RunProblem
from scheduler.recorded.qrec.frames import MAGIC, frame, slim
from scheduler.recorded.qrec.reading import Entry, Header, Type, encode, stamp
from scheduler.recorded.twin.observing import is_shown

Manifest = dict[str, Any]


def recording_of(world: World, until_ms: int) -> bytes:
    """Play a fresh world to an instant; return the `.qrec` of what was to be seen.

    A recorder sees objects and their changes once per tick: no arrival before its
    time, no run time before the end, no seed. Of the policy it sees Kueue's
    Configuration. Plays the world itself. Cost: that of the run, and of its changes.
    Raises SchedulerError for a world in which a proposal decides.
    """
    if (chosen := world.policy.spec.proposed()) is not None:
        raise SchedulerError(RunProblem.PROPOSAL.said(name=chosen.name))
    return MAGIC + frame(encode(entry) for entry in _entries(world, until_ms))


def _entries(world: World, until_ms: int) -> Iterator[Entry]:
    begin = stamp(world.context.now_us)
    standing = [obj for obj in world.objects.values() if _came(world, obj)]
    times = _Times()
    kinds = sorted({obj.key.kind for obj in standing})
    release = dict(world.policy.spec.decides_as().given())
    releases = {str(name): version for name, version in release.items()}
    header = Header(recorder="played", kinds=kinds, releases=releases)
    yield Entry(begin, "BEGIN", header=header)
    if configuration := world.policy.spec.kueue:
        yield Entry(begin, "LISTED", "ConfigMap", _config_map(configuration))
    for obj in standing:
        yield Entry(begin, "LISTED", obj.key.kind, times.seen(obj, begin))
    for kind in kinds:
        yield Entry(begin, "SYNCED", kind)
    world.take()
    while world.context.now_ms < until_ms:
        yield from _tick(world, times)
    yield Entry(stamp(world.context.now_us), "END")


def _tick(world: World, times: _Times) -> Iterator[Entry]:
    known = set(world.objects)
    run_tick(world)
    at, changes = stamp(world.context.now_us), world.take()
    for key in changes.removed:
        yield Entry(at, "DELETED", key.kind, _named(key))
    for obj in changes.touched:
        if _came(world, obj):
            kind: Type = "MODIFIED" if obj.key in known else "ADDED"
            yield Entry(at, kind, obj.key.kind, times.seen(obj, at))


def _came(world: World, obj: Object) -> bool:
    return is_shown(obj.manifest) and not world.lifetime.waits(obj.key)


class _Times:
    """What a real cluster says of pods beside: since when, and of which Workload."""

    def __init__(self) -> None:
        self._since: dict[tuple[Key, str, str], str] = {}

    def seen(self, obj: Object, at: str) -> Manifest:
        """Return what a recorder writes of an object, and nothing of what is to come."""
        found = msgspec.to_builtins({**obj.manifest, "status": obj.status})
        given = found["metadata"].get("annotations") or {}
        notes = found["metadata"]["annotations"] = {
            name: text for name, text in given.items() if not name.startswith(PREFIX)
        }
        if obj.key.kind == "Pod":
            if owner := owner_key(obj, frozenset({"Workload"})):
                notes[WORKLOAD_NAME] = owner.name
            for one in found["status"].get("conditions") or ():
                place = (obj.key, one["type"], one["status"])
                one["lastTransitionTime"] = self._since.setdefault(place, at)
        return slim(found)


def _named(key: Key) -> Manifest:
    metadata = {"name": key.name}
    if key.namespace:
        metadata["namespace"] = key.namespace
    return {"kind": key.kind, "metadata": metadata}


def _config_map(configuration: object) -> Manifest:
    text = msgspec.yaml.encode(configuration).decode()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "kueue-system", "name": "kueue-manager-config"},
        "data": {"controller_manager_config.yaml": text},
    }
