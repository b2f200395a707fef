"""What must hold after every tick; every test of a world checks it."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.errors import InvariantError
from scheduler.world import World


def check(world: World) -> None:
    """Raise InvariantError naming everything that does not hold.

    Recounts from the objects what the stages keep by deltas. O(world).
    """
    broken = list(broken_laws(world))
    if broken:
        raise InvariantError("; ".join(broken))


def broken_laws(world: World) -> Iterator[str]:
    """Yield a sentence per law that does not hold."""
    for stage in (world.kueue, world.kube, world.yunikorn):
        if stage is not None:
            yield from stage.broken_laws()
    yield from _lost_pods(world)
    yield from _void_runs(world)


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
