"""A worker's part of a what-if: make the changes, run both sides, write the verdict.

One what-if, from the request that asks for it (`asking.py`) to its verdict:

1. `begin()` in `asking.py` writes the row: from which revision, which changes, how far.
2. `answered()` (`asking.py`) asks the question of the row; a worker takes it up: `run()`.
3. `world_of()`: the world of the revision. `operation_of()`: the changes as one edit of
   it, refused as a whole where one of them cannot be made.
4. `begun()`: the side without the changes runs in a process beside, and is kept for the
   next change of the same revision.
5. `compare_pair()`: the other side runs, where it may differ; at each stop both are
   compared, and the verdict so far is written (`_telling()`), which also ends a what-if
   that was discarded. Between two seeds it yields to another question that waits, and
   goes on in a later turn.
6. The row is open with its verdict, until `do_keep()` or `do_discard()` in `keeping.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec
from django.conf import settings

from sandbox.answers.work import YieldedError, answers, yield_to_others
from sandbox.models import KeptWhatIf
from sandbox.process import watchdog
from sandbox.process.beside import Beside, can_fork
from sandbox.twins import ticks as twins
from sandbox.whatifs.changes import operation_of
from sandbox.world import history, operations
from sandbox.world.kept import Kept
from scheduler.analysis.pairs import (
    Mark,
    PairVerdict,
    Plain,
    Side,
    compare_pair,
    seeds_of,
    stops,
)
from scheduler.engine.world import World, fork
from scheduler.recorded.twin.going_on import go_on

_ALIVE_S = 1.0
#: Seconds between two verdicts so far that are written.
_TELL_S = 0.25


class _UnwantedError(Exception):
    """It was discarded, or deleted, while it ran."""


@answers("whatIf")
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
        world = _worlds.get(row.sandbox_id, row.revision) or world_of(row)
        operation = operation_of(world, row.changes)
        runs = _plain_runs(row)
        try:
            verdict = _verdict(row, world, operation, runs)
        finally:
            if row.sandbox.is_real:
                runs.end()
    except _UnwantedError:
        return
    except YieldedError:
        raise
    except BaseException:
        forget()
        raise
    found.update(
        state=KeptWhatIf.OPEN,
        operation=operations.to_document(operation),
        verdict=msgspec.to_builtins(verdict),
    )


def _verdict(
    row: KeptWhatIf, world: World, operation: operations.AnyOperation, runs: PlainRuns
) -> PairVerdict:
    """Return the verdict of all seeds, from those that are known on.

    Raises YieldedError between two seeds where another question waits.
    """
    seeds = seeds_of(world, row.seeds)
    verdict = _known(row, world.context.now_ms + row.horizon_ms)
    left = seeds[len(verdict.seeds) if verdict else 0 :]
    for seed in left:
        with runs.begun(world, [seed]) as plain_run:
            verdict = compare_pair(
                world,
                lambda side: operations.perform(side, operation),
                horizon_ms=row.horizon_ms,
                seeds=[seed],
                hear=_alive(),
                tell=_telling(row),
                plain=plain_run,
                so_far=verdict,
            )
        if seed != left[-1]:
            _tell(row, verdict)
            if not row.sandbox.is_real:  # whose world goes on between two turns
                _worlds.put(world, row.sandbox_id, row.revision)
                yield_to_others()
    assert verdict is not None, "the last seed is told with the verdict"
    return verdict


def _known(row: KeptWhatIf, until_ms: int) -> PairVerdict | None:
    """Return what an earlier turn told of whole seeds."""
    if row.sandbox.is_real or not row.verdict or row.verdict["toMs"] != until_ms:
        return None
    return msgspec.convert(row.verdict, PairVerdict)


def _plain_runs(row: KeptWhatIf) -> PlainRuns:
    """Return the runs without a change, kept but for those of a real cluster."""
    if row.sandbox.is_real:
        return PlainRuns(row.horizon_ms)
    key = row.sandbox_id, row.revision, row.horizon_ms
    return _kept.made(lambda: PlainRuns(row.horizon_ms), *key)


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
        _tell(row, verdict)

    return tell


def _tell(row: KeptWhatIf, verdict: PairVerdict) -> None:
    found = KeptWhatIf.objects.filter(pk=row.pk, state=KeptWhatIf.RUNNING)
    if not found.update(verdict=msgspec.to_builtins(verdict)):
        raise _UnwantedError


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


# ------------------------------------------------------------------------
# The runs without a change that what-ifs are compared with: run beside them, and
# kept.


#: So many beginnings are kept in a worker: who edits asks about one often.
_MOST_KEPT = 4


class PlainRuns:
    """The runs of one world to one horizon, one per seed, as far as they are known.

    In a worker they run in a process of their own, so that a verdict takes as long as
    one side; elsewhere, and when that process is lost, they run where they are asked for.
    """

    def __init__(self, horizon_ms: int) -> None:
        self.horizon_ms = horizon_ms
        self._world: World | None = None  # while a what-if is worked out
        self._marks: dict[tuple[int, int], Mark] = {}  # seed, instant
        self._beside: dict[int, Beside] = {}  # by seed
        self._here: dict[int, Side] = {}  # by seed

    @contextmanager
    def begun(self, world: World, seeds: Sequence[int]) -> Iterator[Plain]:
        """Provide the runs of these seeds within the block; start the missing ones."""
        self._world = world
        try:
            self._begin(seeds)
            yield self._at
        finally:
            self._world = None

    def end(self) -> None:
        """End what runs beside this process."""
        for beside in {*self._beside.values()}:
            beside.end()

    def _begin(self, seeds: Sequence[int]) -> None:
        known = self._beside.keys() | self._here.keys()
        missing = [seed for seed in seeds if seed not in known]
        if not missing or not watchdog.in_worker() or not can_fork():
            return
        try:
            work = partial(self._send, missing)
            beside = Beside(work, standstill_s=settings.STANDSTILL_S)
        except OSError:  # no process can be had
            return
        self._beside |= dict.fromkeys(missing, beside)

    def _at(self, seed: int, at_ms: int, hear: Callable[[], None]) -> Mark:
        while (beside := self._beside.get(seed)) and (seed, at_ms) not in self._marks:
            try:
                self._take(*beside.next(hear))
            except EOFError:  # it was lost; what is wrong shows again here
                del self._beside[seed]
        found = self._marks.get((seed, at_ms))
        if found is None:
            side = self._here.get(seed)
            if side is None or not side.reaches(at_ms):
                side = self._here[seed] = self._side(seed)  # one has gone past it
            found = side.at(at_ms, hear)
        return found

    def _side(self, seed: int) -> Side:
        world = self._world
        assert world is not None, "a side begins while a what-if is worked out"
        return Side(fork(world, seed=seed), world.context.now_ms + self.horizon_ms)

    def _send(
        self,
        seeds: Iterable[int],
        send: Callable[[Any], None],
        goes_on: Callable[[], None],
    ) -> None:
        """Run each seed in the process beside; send what each stop adds."""
        for seed in seeds:
            side, sent = self._side(seed), 0
            for at_ms in stops(side.until_ms - self.horizon_ms, side.until_ms):
                mark = side.at(at_ms, goes_on)
                send((seed, mark._replace(decisions=mark.decisions[sent:])))
                sent = len(mark.decisions)

    def _take(self, seed: int, added: Mark) -> None:
        before = [mark for (of, _), mark in self._marks.items() if of == seed]
        earlier = before[-1].decisions if before else ()
        mark = added._replace(decisions=(*earlier, *added.decisions))
        self._marks[seed, mark.until_ms] = mark


_kept = Kept[PlainRuns](_MOST_KEPT, end=PlainRuns.end)
#: Worlds of what-ifs of many turns, of so many objects together.
_worlds = Kept[World](20_000, weigh=lambda world: len(world.objects))
#: Forgets all: one of them may stand within an instant.
forget = _kept.clear
