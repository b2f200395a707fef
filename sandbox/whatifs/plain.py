"""The runs without a change that what-ifs are compared with: run beside them, and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.conf import settings

from sandbox.process import watchdog
from sandbox.process.beside import Beside, can_fork
from scheduler.analysis.pairs import Mark, Plain, Side, stops
from scheduler.engine.world import World, fork

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
        for beside in set(self._beside.values()):
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


_kept = OrderedDict[Hashable, PlainRuns]()


def kept(key: Hashable, horizon_ms: int) -> PlainRuns:
    """Return the runs that are kept under a key, or new ones."""
    found = _kept.pop(key, None) or PlainRuns(horizon_ms)
    _kept[key] = found
    while len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)[1].end()
    return found


def forget() -> None:
    """Forget all: one of them may stand within an instant."""
    while _kept:
        _kept.popitem()[1].end()
