"""A what-if that begins at an instant of a real cluster, and knows what came after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from scheduler.engine.tick import give_time
from scheduler.engine.world import World
from scheduler.input.manifests.dumps.run_times import estimate_run_times
from scheduler.model import durations, registry
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.objects import Key, Object
from scheduler.recorded.followed import Owner, owner_of, run_times
from scheduler.recorded.qrec.reading import RecordedChange
from scheduler.recorded.twin.observing import ObservedChange, key_of, read_object

Manifest = dict[str, Any]


def go_on(world: World, later: Sequence[ObservedChange]) -> World:
    """Return a copy of a real cluster's world that runs on by itself.

    `later` is what was seen after the instant, to the end of what is known. Work that
    arrived then comes at its time, and all work takes as long as it really took where
    its end was seen; other work is guessed from what ended before, as in every import
    of a running cluster. Cost: one look at each object and at each later change.
    """
    times = run_times(_events(world, later))
    now = durations.stamp_text(world.context.now_us)
    fork = world.copy()
    for key, seconds in times.items():
        if (obj := fork.objects.get(Key(*key))) is not None:
            _give_time(obj, seconds)
    estimate_run_times(list(fork.objects.values()), now=now)
    for obj in fork.objects.values():
        obj.state.pop("twin", None)
        if fork.lifetime.owners.pop(obj.key, None):
            fork.touch(obj.key)  # its run takes it up as it stands
    fork = fork.copy()  # the schedulers read annotations when an object comes
    for obj in _arrivals(world, later, times):
        fork.put(obj)
    return fork


def running_now(world: World) -> World:
    """Return a copy of a real cluster's world in which what runs there is running.

    It knows nothing of what came later, and decided nothing: a forecast begins there.
    """
    copy = go_on(world, ())
    give_time(copy)
    copy.context.journal.take_decisions()
    return copy


def _events(world: World, later: Sequence[ObservedChange]) -> Iterable[RecordedChange]:
    """Yield what stands, so that its admissions are known, and the changes after it."""
    for obj in world.objects.values():
        if obj.key.kind == "Workload":
            at_us = _admitted_us(obj, world.context.now_us)
            yield RecordedChange(at_us, "ADDED", {**obj.manifest, "status": obj.status})
    for one in later:
        kind = "DELETED" if one.gone else "MODIFIED"
        yield RecordedChange(world.context.us(one.at_ms), kind, one.object)


def _admitted_us(obj: Object, now_us: int) -> int:
    for one in obj.status.get("conditions") or ():
        if one.get("type") == "Admitted" and one.get("lastTransitionTime"):
            return durations.stamp_us(str(one["lastTransitionTime"]))
    return now_us


def _give_time(obj: Object, seconds: float) -> None:
    if RUNTIME not in obj.annotations:
        given = {**obj.annotations, RUNTIME: f"{round(1000 * seconds)}ms"}
        obj.metadata["annotations"] = given


def _arrivals(
    world: World, later: Sequence[ObservedChange], times: dict[Owner, float]
) -> Iterable[Object]:
    """Yield the work that arrived later, as it was given to the cluster."""
    kinds = {entry.name for entry in registry.entries("job-kind")}
    known = set(world.objects)
    for one in later:
        key = key_of(one.object)
        if one.gone or key in known or owner_of(one.object) is not None:
            continue
        known.add(key)
        if (
            key.kind not in kinds
            or (obj := read_object(_given(one.object), [])) is None
        ):
            continue
        if (seconds := times.get((key.kind, key.namespace, key.name))) is not None:
            _give_time(obj, seconds)
        obj.metadata["annotations"] = {**obj.annotations, ARRIVAL: f"{one.at_ms}ms"}
        yield obj


def _given(item: Manifest) -> Manifest:
    """Return an object as somebody gave it: without what the cluster wrote."""
    found: Manifest = msgspec.to_builtins(
        {name: part for name, part in item.items() if name != "status"}
    )
    for field in ("creationTimestamp", "resourceVersion", "generation"):
        found["metadata"].pop(field, None)
    return found
