"""Two branches as the two sides of a pair: what was done to each is done again."""

from __future__ import annotations

from sandbox.base.errors import ConflictError
from sandbox.base.refusals import Refused
from sandbox.explain.comparing.branches import common_revision
from sandbox.models import Revision, Sandbox
from sandbox.world import history, lineage, operations
from scheduler.analysis.pairs import Followed, Mark, PairVerdict, compare_sides
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import gc_paused

#: What goes on from an earlier revision: a lineage has that one right before it.
_FROM_BEFORE = (
    operations.Begin,
    operations.Rewind,
    operations.Undo,
    operations.Redo,
)


def pair_of(sandbox: Sandbox, other: Sandbox) -> PairVerdict:
    """Return what `other` makes different from `sandbox` since they have parted.

    Up to the last tick that both have reached; `sandbox` is the side without the change.
    Raises ConflictError for sandboxes that have no past in common, and GoneError where it
    is no longer kept. Cost: the world at that tick, and both branches run again.
    """
    common = common_revision([sandbox, other])
    if not common:
        raise ConflictError(
            Refused.NO_PAST_IN_COMMON.said(sandbox=sandbox.pk, other=other.pk)
        )
    world = history.world_at(sandbox, common)
    end = min(sandbox, other, key=lambda one: one.tick)
    until_ms = max(end.now_ms, world.context.now_ms)
    ends = fork(world), fork(world)
    one, two = (
        _run_again(branch, common, end.tick, side, until_ms)
        for branch, side in zip((sandbox, other), ends, strict=True)
    )
    return compare_sides(world, ends, one, two)


def _run_again(
    branch: Sandbox, after: int, to_tick: int, world: World, until_ms: int
) -> Mark:
    found = lineage.rows(Revision, branch, whole=True)
    documents = found.filter(number__gt=after, tick__lte=to_tick).order_by("number")
    side = Followed(world, until_ms)
    with gc_paused():
        for document in documents.values_list("operation", flat=True):
            operation = operations.from_document(document)
            if isinstance(operation, _FROM_BEFORE):
                continue
            operations.perform(world, operation)
            side.take(world.take().decisions)
    return side.mark(until_ms)
