"""What must hold after every tick; every test of a world checks it."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue import queries as kueue_queries
from scheduler.engine.world import World
from scheduler.engine.worlds import objects
from scheduler.model import amounts
from scheduler.model.errors import InvariantError
from scheduler.model.objects import Key
from scheduler.model.reasons import has_ended
from scheduler.model.requests import read_requests


def check(world: World) -> None:
    """Raise InvariantError naming everything that does not hold.

    Recounts from the objects what the stages keep by deltas. O(world).
    """
    broken = list(violations(world))
    if broken:
        raise InvariantError("; ".join(broken))


def violations(world: World) -> Iterator[str]:
    """Yield a sentence per law that does not hold."""
    if world.kueue is not None:
        yield from kueue_queries.violations(world.kueue)
    for stage in (world.kube, world.yunikorn):
        if stage is not None:
            yield from stage.violations()
    yield from objects.violations()
    yield from _crowded_nodes(world)
    yield from _lost_pods(world)
    yield from _void_runs(world)
    for name, worker in sorted(world.workers().items()):
        yield from (f"{name}: {broken}" for broken in violations(worker))


def _crowded_nodes(world: World) -> Iterator[str]:
    """No node holds pods that ask for more than it has.

    With the binding mode `kubernetes` the node itself refuses what is too much.
    """
    asked: dict[str, dict[str, int]] = {}
    for pod, node in world.lifetime.placed.items():
        obj = world.objects.get(pod)
        if obj is None or has_ended(obj.status):
            continue
        total = asked.setdefault(node, {})
        requests, _ = read_requests(obj.spec)
        for resource, amount in requests.exact.items():
            total[resource] = total.get(resource, 0) + amount
    for node, total in sorted(asked.items()):
        yield from _crowded(world, node, total)


def _crowded(world: World, node: str, total: dict[str, int]) -> Iterator[str]:
    obj = world.objects.get(Key("Node", "", node))
    allocatable = (obj.status.get("allocatable") or {}) if obj is not None else {}
    for resource, amount in sorted(total.items()):
        if resource in allocatable and amount > amounts.canonical(
            resource, allocatable[resource]
        ):
            yield f"node {node} has {allocatable[resource]} {resource}, its pods ask {amount}"


def _lost_pods(world: World) -> Iterator[str]:
    """Every pod of a run exists and knows its owner."""
    for owner, run in world.lifetime.runs.items():
        for pod in run.pods:
            if pod not in world.objects:
                yield f"{owner} runs {pod}, which does not exist"
            elif world.lifetime.owners.get(pod) != owner:
                yield f"{pod} does not know that {owner} runs it"


def _void_runs(world: World) -> Iterator[str]:
    """A run that works has an owner, and does not end in the past."""
    for owner, run in world.lifetime.runs.items():
        if owner not in world.objects:
            yield f"a run of {owner} is left, which does not exist"
        ends = run.ends_ms if run.active else None
        if ends is not None and ends < world.context.now_ms:
            yield f"{owner} should have ended at {ends} ms"


def due_later(world: World) -> list[tuple[int, int, Key]]:
    """Return what is still to happen in a world: when, which `Due`, and of whom.

    A world that is stored and loaded has the same: nothing is set that is not stored.
    """
    stage, now = world.lifetime, world.context.now_ms
    found = {
        (at_ms, due, key)
        for at_ms, entries in stage.timers.entries.items()
        for due, key, attempt in entries
        if at_ms > now and stage._stands(at_ms, due, key, attempt)
    }
    return sorted(found)
