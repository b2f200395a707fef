"""A worker's part of a what-if: make the changes, run both sides, write the verdict."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
from django.conf import settings

from sandbox.models import KeptWhatIf
from sandbox.process import watchdog
from sandbox.twins import ticks as twins
from sandbox.whatifs.changes import operation_of
from sandbox.world import history, operations
from scheduler.analysis.pairs import PairVerdict, Side, compare_pair
from scheduler.engine.world import World
from scheduler.recorded.twin.going_on import go_on

_ALIVE_S = 1.0
#: Seconds between two verdicts so far that are written.
_TELL_S = 0.25
#: So many runs without a change are kept in a worker: who edits asks about one often.
_MOST_PLAIN = 4

#: (sandbox, revision, horizon in ms, seed) -> the run without a change.
_plain = OrderedDict[tuple[str, int, int, int], Side]()


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
        _plain.clear()  # one of them may stand within an instant
        raise
    found.update(
        state=KeptWhatIf.OPEN,
        operation=operations.to_document(operation),
        verdict=msgspec.to_builtins(verdict),
    )


def _run(
    row: KeptWhatIf, tell: Callable[[PairVerdict], None]
) -> tuple[operations.Several, PairVerdict]:
    world = _world(row)
    operation = operation_of(world, row.changes)
    verdict = compare_pair(
        world,
        lambda side: operations.perform(side, operation),
        horizon_ms=row.horizon_ms,
        seeds=row.seeds,
        hear=_alive(),
        tell=tell,
        plain=None if row.sandbox.is_real else _kept(row),
    )
    return operation, verdict


def _kept(row: KeptWhatIf) -> Callable[[int, Callable[[], Side]], Side]:
    """Return what remembers the runs without a change of the revision it begins at."""

    def plain(seed: int, begin: Callable[[], Side]) -> Side:
        key = str(row.sandbox_id), row.revision, row.horizon_ms, seed
        side = _plain.pop(key, None) or begin()
        _plain[key] = side
        while len(_plain) > _MOST_PLAIN:
            _plain.popitem(last=False)
        return side

    return plain


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
