"""Where two runs stand, and whether they go on alike.

A run is decided by the header and the objects of its world (restart law). Two worlds
that differ in nothing but whom some ClusterQueues may preempt decide alike until it is
asked of one of these (`ClusterQueue.preemption`), so one of them need not be run.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import encode_header, encode_object
from scheduler.model.objects import Object
from scheduler.model.quota import Preemption


class Standing(NamedTuple):
    """A world at an instant: whom each ClusterQueue may preempt, and a digest of the rest."""

    preemption: dict[str, Preemption]
    rest: str


def standing(world: World) -> Standing | None:
    """Return where a world stands, and note from now on what is asked (`unasked`).

    None where it cannot be held against another: without Kueue, with worker clusters,
    and where a Workload has flavors left to try, which the generation of its
    ClusterQueue tells it to forget. Cost: a digest of each object.
    """
    if world.kueue is None or world.multikueue is not None:
        return None
    cluster = world.kueue.cluster
    if any(work.last_assignment is not None for work in cluster.workloads.values()):
        return None
    world.freshen()
    total = hashlib.sha256(encode_header(world.header()))
    for key in sorted(world.objects):
        obj = world.objects[key]
        total.update(encode_object(_rest(obj) if key.kind == "ClusterQueue" else obj))
    for queue in cluster.forest.queues.values():
        queue.asked = False
    found = {q.name: q.spec.preemption for q in cluster.forest.queues.values()}
    return Standing(found, total.hexdigest())


def _rest(obj: Object) -> Object:
    """Return a ClusterQueue without whom it may preempt, and without what counts edits."""
    manifest = dict(obj.manifest)
    for part, name in (("metadata", "generation"), ("spec", "preemption")):
        given = manifest.get(part) or {}
        manifest[part] = {one: given[one] for one in given if one != name}
    state = {
        stage: {one: held[one] for one in held if one != "generation"}
        for stage, held in obj.state.items()
    }
    conditions = [
        {one: held[one] for one in held if one != "observedGeneration"}
        for held in obj.status.get("conditions") or ()
    ]
    status = {**obj.status, "conditions": conditions}
    return Object(key=obj.key, manifest=manifest, status=status, state=state)


def unasked(world: World) -> frozenset[str]:
    """Return the ClusterQueues of which nobody asked whom they may preempt.

    Since `standing`; none of those that came or were edited later.
    """
    if world.kueue is None:
        return frozenset()
    queues = world.kueue.cluster.forest.queues.values()
    return frozenset(queue.name for queue in queues if not queue.asked)


def apart(one: Standing | None, other: Standing | None) -> frozenset[str] | None:
    """Return the ClusterQueues in which two worlds differ, where all else is equal.

    None where it is not, or is not known.
    """
    if one is None or other is None or one.rest != other.rest:
        return None
    names = one.preemption.keys() & other.preemption.keys()
    return frozenset(n for n in names if one.preemption[n] != other.preemption[n])
