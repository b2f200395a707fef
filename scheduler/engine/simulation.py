"""Many ticks with no database: from instant to instant, deciding the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler.engine.tick import advance, next_instant
from scheduler.engine.world import World
from scheduler.model.decisions import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """A finished simulation: what was decided, and why it ended."""

    decisions: list[Decision]
    end_ms: int
    settled: bool  # nothing more would happen by itself


def simulate(
    world: World,
    *,
    until_ms: int,
    stop: Callable[[Decision], bool] | None = None,
    hear: Callable[[Sequence[Decision]], None] | None = None,
) -> SimulationResult:
    """Advance `world` to `until_ms`, to quiet, or to the first decision `stop` takes.

    Jumps over empty time; the decisions are those that ticks would make. With
    `stop`, time ends at the instant of that decision. `hear` gets what was
    decided at each instant, while the world still stands there; neither changes it.
    """
    decisions: list[Decision] = []
    stopped = False
    at = next_instant(world)
    while at is not None and at <= until_ms:
        at = advance(world, max(at, world.context.now_ms), at)
        fresh = world.context.journal.take_decisions()
        decisions += fresh
        if hear is not None:
            hear(fresh)
        if stop is not None and any(stop(decision) for decision in fresh):
            stopped = True
            break
    _count_ticks(world)
    return SimulationResult(
        decisions=decisions,
        end_ms=world.context.now_ms,
        settled=at is None and not stopped,
    )


def _count_ticks(world: World) -> None:
    """Count the ticks that were begun, as `run_tick` would have."""
    tick_ms = world.policy.spec.simulation.tick_ms
    world.tick = -(-world.context.now_ms // tick_ms)
