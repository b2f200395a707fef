"""Copies of a world that share with it what nobody writes into."""

from __future__ import annotations

import msgspec

from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import Header
from scheduler.engine.worlds.memory import gc_paused
from scheduler.model.objects import Object


def fork(world: World, *, seed: int | None = None) -> World:
    """Return an independent world in the same state: same hash, same future.

    What is not drawn yet is drawn from `seed` where one is given. Shares what nobody
    writes into: manifests below metadata and spec. O(objects), about half the cost of
    writing all bytes and reading them.
    """
    world.freshen()
    header = msgspec.convert(
        msgspec.msgpack.decode(msgspec.msgpack.encode(world.header())), Header
    )
    if seed is not None:
        header = msgspec.structs.replace(header, seed=seed)
    with gc_paused():
        objects = (_copy(obj) for obj in world.objects.values())
        return World.load(header, objects, cluster=world.cluster)


def _copy(obj: Object) -> Object:
    manifest = dict(obj.manifest)
    for part in ("metadata", "spec"):
        if isinstance(given := manifest.get(part), dict):
            manifest[part] = dict(given)
    return Object(
        key=obj.key,
        manifest=manifest,
        status=dict(obj.status),
        state=dict(obj.state),
    )
