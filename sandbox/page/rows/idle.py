"""What a sandbox holds that has no effect, and what is assumed in it, as it is listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.engine.world import World
from scheduler.input.manifests import kinds
from scheduler.input.manifests.run_times import assumed_work
from scheduler.model.sentence import Sentence
from scheduler.words.gaps import Idle


def not_simulated(world: World) -> list[Sentence]:
    """Return what has no effect in this world or is assumed, a sentence for each.

    Cost: O(objects).
    """
    stack = world.policy.spec.stack
    counts = Counter(key.kind for key in world.objects)
    return [
        *_assumed(world),
        *_idle_switches(world),
        *features_of(world),
        *(
            Idle.KIND.said(kind=kind, count=counts[kind], what=why)
            for kind in sorted(counts)
            if kind in kinds.BY_KIND and (why := _why(kinds.BY_KIND[kind], stack))
        ),
    ]


def _assumed(world: World) -> Iterator[Sentence]:
    """Return how much work runs for a time that nobody gave."""
    span = world.policy.spec.simulation.default_runtime
    return (said for said, _ in assumed_work(world.objects.values(), span))


def _idle_switches(world: World) -> Iterator[Sentence]:
    """Yield what the policy sets that decides nothing in this world."""
    simulation = world.policy.spec.simulation
    alone = world.kube is None or not world.kube.several
    for name, value, usual in (
        ("locking", simulation.locking, "optimistic"),
        ("binding", simulation.binding, "kubernetes"),
    ):
        if alone and value != usual:
            yield Idle.SWITCH.said(name=name, value=value)


def _why(kind: kinds.Kind, stack: str) -> Sentence | None:
    """Return why a kind decides nothing; None for one that does."""
    if kind.level == "kept":
        return kind.said or Idle.KEPT.said()
    return None if stack in kind.stacks else Idle.NO_PART.said(stack=stack)
