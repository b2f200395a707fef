"""A worker's part of a what-if: make the changes, run both sides, write the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from django.conf import settings

from sandbox.models import KeptWhatIf
from sandbox.process import watchdog
from sandbox.twins import ticks as twins
from sandbox.whatifs import plain
from sandbox.whatifs.changes import operation_of
from sandbox.whatifs.plain import PlainRuns
from sandbox.world import history, operations
from scheduler.analysis.pairs import PairVerdict, compare_pair, seeds_of
from scheduler.engine.world import World
from scheduler.recorded.twin.going_on import go_on

_ALIVE_S = 1.0
#: Seconds between two verdicts so far that are written.
_TELL_S = 0.25


class _UnwantedError(Exception):
    """It was discarded, or deleted, while it ran."""


def run(*, what_if: int) -> None:
    """Work out the verdict of a what-if that runs, and open it; nothing for another.

    What is known meanwhile is written as the verdict so far; one that is discarded
    while it runs ends there. Raises InvalidError for what is wrong with its changes.
    """
    found = KeptWhatIf.objects.filter(pk=what_if, state=KeptWhatIf.RUNNING)
    row = found.select_related("sandbox", "sandbox__parent").first()
    if row is None:
        return
    try:
        operation, verdict = _run(row, _telling(row))
    except _UnwantedError:
        return
    except BaseException:
        plain.forget()
        raise
    found.update(
        state=KeptWhatIf.OPEN,
        operation=operations.to_document(operation),
        verdict=msgspec.to_builtins(verdict),
    )


def _run(
    row: KeptWhatIf, tell: Callable[[PairVerdict], None]
) -> tuple[operations.Several, PairVerdict]:
    world = world_of(row)
    operation = operation_of(world, row.changes)
    runs = _plain_runs(row)
    try:
        with runs.begun(world, seeds_of(world, row.seeds)) as plain_run:
            verdict = compare_pair(
                world,
                lambda side: operations.perform(side, operation),
                horizon_ms=row.horizon_ms,
                seeds=row.seeds,
                hear=_alive(),
                tell=tell,
                plain=plain_run,
            )
    finally:
        if row.sandbox.is_real:
            runs.end()
    return operation, verdict


def _plain_runs(row: KeptWhatIf) -> PlainRuns:
    """Return the runs without a change, kept but for those of a real cluster."""
    if row.sandbox.is_real:
        return PlainRuns(row.horizon_ms)
    key = row.sandbox_id, row.revision, row.horizon_ms
    return plain.kept(key, row.horizon_ms)


def _telling(row: KeptWhatIf) -> Callable[[PairVerdict], None]:
    """Return what writes a verdict so far, once in a while.

    It raises _UnwantedError when there is nothing to write it to.
    """
    next_at = time.monotonic() + _TELL_S

    def tell(verdict: PairVerdict) -> None:
        nonlocal next_at
        now = time.monotonic()
        if now < next_at:
            return
        next_at = now + _TELL_S
        found = KeptWhatIf.objects.filter(pk=row.pk, state=KeptWhatIf.RUNNING)
        if not found.update(verdict=msgspec.to_builtins(verdict)):
            raise _UnwantedError

    return tell


def world_of(row: KeptWhatIf) -> World:
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
