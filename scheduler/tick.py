"""One tick of virtual time, in named steps: the table of contents of the engine."""

from __future__ import annotations

from scheduler.decisions import Decision
from scheduler.world import World

#: A loop that makes no progress at one instant ends after this many attempts.
MOST_ATTEMPTS = 1_000


def run_tick(world: World) -> list[Decision]:
    """Advance the world by one tick and return what was decided in it.

    Every instant up to and including the tick's end is handled. Pure but for
    the world itself. Cost: that of the instants; an idle tick costs nothing.
    """
    before = len(world.context.journal.decisions)
    advance(world, world.context.now_ms + world.policy.spec.simulation.tick_ms)
    world.tick += 1
    return world.context.journal.decisions[before:]


def advance(world: World, until_ms: int) -> None:
    """Go from instant to instant until virtual time is `until_ms`."""
    attempts = 0
    while (at := next_instant(world)) is not None and at <= until_ms:
        attempts = attempts + 1 if at <= world.context.now_ms else 0
        if attempts > MOST_ATTEMPTS:
            world.context.journal.complain(
                f"no quiet after {MOST_ATTEMPTS} attempts at one instant; "
                "virtual time went on"
            )
            break
        world.context.now_ms = max(at, world.context.now_ms)
        settle(world)
    world.context.now_ms = until_ms


def next_instant(world: World) -> int | None:
    """Return the earliest instant at which anything happens by itself, or None."""
    dues = [due for stage in world.stages() if (due := stage.due()) is not None]
    return min(dues, default=None)


def settle(world: World) -> None:
    """Handle the present instant once: time first, then quota, then places."""
    give_time(world)
    decide_quota(world)
    place_pods(world)


def give_time(world: World) -> None:
    """Finish what is done, bring what arrives, start what is ready."""
    read = len(world.context.journal.decisions)
    world.lifetime.advance()
    _react(world, read)


def decide_quota(world: World) -> None:
    """Run Kueue's controllers and admission cycles until they are quiet."""
    kueue = world.kueue
    if kueue is None:
        return
    for _ in range(MOST_ATTEMPTS):
        read = len(world.context.journal.decisions)
        kueue.reconcile()
        _react(world, read)
        read = len(world.context.journal.decisions)
        going = kueue.cycle()
        _react(world, read)
        if not going:
            return
    world.context.journal.complain(
        f"Kueue was not quiet after {MOST_ATTEMPTS} cycles at one instant"
    )


def place_pods(world: World) -> None:
    """Run the placing scheduler of the stack on the pods that wait for a node."""
    read = len(world.context.journal.decisions)
    if world.kube is not None:
        world.kube.schedule()
    elif world.yunikorn is not None:
        due = world.yunikorn.due()
        if due is not None and due <= world.context.now_ms:
            world.yunikorn.cycle()
    _react(world, read)


def _react(world: World, read: int) -> None:
    """Carry out the decisions from number `read` on, and those that follow."""
    decisions = world.context.journal.decisions
    while read < len(decisions):
        world.lifetime.react(decisions[read])
        read += 1
