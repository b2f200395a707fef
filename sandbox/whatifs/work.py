"""A worker's part of a what-if: make the changes, run both sides, write the verdict."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from django.conf import settings

from sandbox.models import KeptWhatIf
from sandbox.process import watchdog
from sandbox.twins import ticks as twins
from sandbox.whatifs.changes import operation_of
from sandbox.world import history, operations
from scheduler.analysis.pairs import PairVerdict, compare_pair
from scheduler.engine.world import World
from scheduler.recorded.twin.going_on import go_on

_ALIVE_S = 1.0


def run(*, what_if: int) -> None:
    """Work out the verdict of a what-if that runs, and open it; nothing for another.

    Raises InvalidError for what is wrong with its changes.
    """
    found = KeptWhatIf.objects.filter(pk=what_if, state=KeptWhatIf.RUNNING)
    row = found.select_related("sandbox", "sandbox__parent").first()
    if row is None:
        return
    operation, verdict = _run(row)
    found.update(
        state=KeptWhatIf.OPEN,
        operation=operations.to_document(operation),
        verdict=msgspec.to_builtins(verdict),
    )


def _run(row: KeptWhatIf) -> tuple[operations.Several, PairVerdict]:
    world = _world(row)
    operation = operation_of(world, row.changes)
    verdict = compare_pair(
        world,
        lambda side: operations.perform(side, operation),
        horizon_ms=row.horizon_ms,
        seeds=row.seeds,
        hear=_alive(),
    )
    return operation, verdict


def _world(row: KeptWhatIf) -> World:
    """Return the world that it begins from; of a real cluster with what came after."""
    world = history.world_at(row.sandbox, row.revision)
    if row.sandbox.is_real:
        world = go_on(world, twins.after(row.sandbox, row.revision))
    return world


def _alive() -> Any:
    """Return what shows, once in a while, that the work goes on."""
    next_at = 0.0

    def hear() -> None:
        nonlocal next_at
        now = time.monotonic()
        if now >= next_at:
            next_at = now + _ALIVE_S
            watchdog.goes_on(settings.STANDSTILL_S)

    return hear
