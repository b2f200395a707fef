"""Where a reproduction may begin: a world as it stands, or the files of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.assembly import Assembled
from scheduler.engine.world import World
from scheduler.input.manifests.loading.loaded import rank
from scheduler.model.annotations import ARRIVAL
from scheduler.model.durations import span_ms, stamp_text
from scheduler.model.objects import Key, Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Objects and a policy at virtual time 0, and how long until it is seen."""

    objects: list[Object]
    policy: dict[str, Any]  # a whole document
    seed: int
    until_ms: int


def start_of_world(world: World, until_ms: int) -> Start:
    """Return the world as a dump that begins at its own now.

    What has not arrived by `until_ms` (virtual time of the world) is left out:
    it cannot matter. Statuses are believed, as those of any dump.
    """
    world.freshen()
    now = world.context.now_ms
    policy = world.policy.document()
    began = stamp_text(world.context.us(now))
    policy["spec"]["simulation"]["startTime"] = began
    objects = []
    for key, obj in sorted(world.objects.items(), key=_place):
        arrives = world.lifetime.future.get(key)
        if arrives is None or arrives <= until_ms:
            objects.append(_moved(obj, arrives, now))
    return Start(
        objects=objects,
        policy=policy,
        seed=world.context.seed,
        until_ms=max(0, until_ms - now),
    )


def _place(row: tuple[Key, Object]) -> tuple[int, float, Key]:
    """Return where an object stands in a dump: what waits does in the order it came in."""
    key, obj = row
    came = obj.state.get("yunikorn", {}).get("rank")
    if came is None:
        queued = obj.state.get("kube", {}).get("queued") or {}
        came = queued.get("seq", math.inf)
    return rank(obj), came, key


def _moved(obj: Object, arrives_ms: int | None, now_ms: int) -> Object:
    """Return a copy that arrives as long after `now_ms`; None for what is there already.

    What begins at 0 keeps the words that its arrival was given in.
    """
    manifest = msgspec.to_builtins(obj.manifest)
    annotations = manifest["metadata"].get("annotations") or {}
    given = annotations.pop(ARRIVAL, None)
    if now_ms == 0 and given is not None and span_ms(given) == (arrives_ms or 0):
        annotations[ARRIVAL] = given
    elif arrives_ms is not None:
        annotations[ARRIVAL] = f"{arrives_ms - now_ms}ms"
    if annotations:
        manifest["metadata"]["annotations"] = annotations
    else:
        manifest["metadata"].pop("annotations", None)
    status = msgspec.to_builtins(obj.status)
    return Object(key=obj.key, manifest=manifest, status=status)


def start_of_files(assembled: Assembled, until_ms: int) -> Start:
    """Return the start of a run of files, with their arrivals written out."""
    world = assembled.world
    return Start(
        objects=list(assembled.loaded.objects),
        policy=world.policy.document(),
        seed=world.context.seed,
        until_ms=until_ms,
    )
