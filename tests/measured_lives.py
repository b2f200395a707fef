"""A second measurement of two runs, of their events alone: what the verdict is held to.

It shares nothing with `scheduler/analysis/measures`: events in, times of each unit out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision

#: started, finished, evictions, lost, waited
Measured = tuple[int | None, int | None, int, int, int]


@dataclass
class _Unit:
    since: int | None = None
    first: int | None = None
    finished: int | None = None
    evictions: int = 0
    losses: list[tuple[int, int]] = field(default_factory=list)
    waited: int = 0
    waits_from: int | None = None
    begin: int = 0
    log: list[tuple[int, str]] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return sum(amount for _, amount in self.losses)

    def lose(self, at: int, amount: int) -> None:
        self.losses.append((at, amount))

    def keep(self, amount: int) -> None:
        at, lost = self.losses[-1]
        self.losses[-1] = at, lost - amount

    def start(self, at: int) -> None:
        if self.finished is not None or self.since is not None:
            return
        if at >= self.begin and self.waits_from is not None:
            self.waited += at - max(self.waits_from, self.begin)
        self.since, self.waits_from = at, None
        self.first = at if self.first is None else self.first
        self.log.append((at, "runs"))

    def stop(self, at: int) -> bool:
        if self.finished is not None or self.since is None:
            return False
        if at >= self.begin:
            self.evictions += 1
            self.lose(at, at - self.since)
        self.since, self.waits_from = None, at
        self.log.append((at, "stops"))
        return True


class Gang(NamedTuple):
    """What a pod is a part of, and how many pods that needs: None for all there are."""

    name: str
    needs: int | None


@dataclass
class Begin:
    """A world some ticks old, with all that was decided up to now."""

    world: World
    events: list[Decision] = field(default_factory=list)

    @property
    def now(self) -> int:
        """Return the instant at which both runs begin."""
        return self.world.context.now_ms


def aged(world: World, ticks: int) -> Begin:
    """Return a world after so many ticks."""
    found = Begin(world)
    found.events += world.context.journal.take_decisions()
    for _ in range(ticks):
        run_tick(world)
        found.events += world.take().decisions
    return found


def run_of(side: World, until_ms: int) -> list[Decision]:
    """Return what one side decides: at the change, and then up to the horizon."""
    first = side.context.journal.take_decisions()
    return [*first, *simulate(side, until_ms=until_ms).decisions]


def measured(
    begin: Begin,
    run: Iterable[Decision],
    there: Iterable[Any],
    until_ms: int,
    groups: Mapping[str, Gang] = MappingProxyType({}),
) -> dict[str, Measured]:
    """Return the times of each unit of one side; `there` are the keys after the change.

    `groups`: a pod -> what it is a part of.
    """
    units: dict[str, _Unit] = {}
    earlier: set[str] = set()
    kind = "Pod" if begin.world.kueue is None else "Workload"
    for at_begin, events in ((True, begin.events), (False, run)):
        for one in events:
            _take(units, one, kind, begin.now)
        if at_begin:
            earlier |= units.keys()
            for name in [n for n, unit in units.items() if unit.finished is not None]:
                del units[name]
            for unit in units.values():
                # What was decided at the instant of the begin, before it, is the past.
                unit.evictions = unit.waited = 0
                unit.losses.clear()
                if unit.since is None:
                    unit.first = None
                else:
                    unit.first = unit.since
                unit.log = [(begin.now - 1, "waits" if unit.since is None else "runs")]
    known = {str(key) for key in there}
    kept = {
        name: unit
        for name, unit in units.items()
        if name in known or name not in earlier or unit.evictions
    }
    members: dict[Gang, list[_Unit]] = {}
    for name, unit in kept.items():
        if name in groups:
            members.setdefault(groups[name], []).append(unit)
    alone = {name: unit for name, unit in kept.items() if name not in groups}
    return {name: _told(unit, until_ms) for name, unit in alone.items()} | {
        gang.name: _together(pods, gang.needs, begin.now, until_ms)
        for gang, pods in members.items()
    }


def _together(pods: list[_Unit], needs: int | None, begin: int, until: int) -> Measured:
    """Return the times of what needs some or all of its pods, instant by instant."""
    instants = sorted({at for pod in pods for at, _ in pod.log})
    before = first = None
    waited = evictions = lost = 0
    for at, then in zip(instants, [*instants[1:], until], strict=True):
        told = [[what for t, what in pod.log if t <= at][-1:] for pod in pods]
        states = [one[0] for one in told if one and one[0] != "over"]
        over = sum(one == ["over"] for one in told)
        least = min(needs, len(pods) - over) if needs else len(states)
        runs = states.count("runs") >= least if states else before
        if runs and at < begin:
            ran = (pod.first or 0 for pod in pods if pod.log[0] == (begin - 1, "runs"))
            first = sorted(ran)[least - 1]
        elif runs and first is None:
            first = at
        stopped = any((at, "stops") in pod.log for pod in pods)
        evictions += bool(before and runs is False and stopped)
        lost += max(sum(amount for t, amount in pod.losses if t == at) for pod in pods)
        waited += 0 if runs else then - max(at, begin)
        before = runs
    ends = [pod.finished for pod in pods]
    finished = None if None in ends else max(end for end in ends if end is not None)
    return first, finished, evictions, lost, waited


def _take(units: dict[str, _Unit], one: Decision, kind: str, begin: int) -> None:
    name, at = str(one.subject), one.at_ms
    event = type(one).__name__
    if event == "Checkpoint":
        _kept(units, one)
        return
    if one.subject.kind != kind or ":" in one.subject.name:
        return
    if event in ("Arrive", "Admit", "Bind"):
        units.setdefault(name, _Unit(waits_from=at, begin=begin, log=[(at, "waits")]))
    if name not in units:
        return
    unit = units[name]
    if event == ("Admit" if kind == "Workload" else "Bind"):
        unit.start(at)
    elif event in ("Preempt", "Evict") or (
        event == "Fail" and getattr(one, "node", "")
    ):
        unit.stop(at)
    elif event == "Finish" and unit.finished is None:
        if unit.waits_from is not None:
            unit.waited += at - max(unit.waits_from, begin)
        unit.finished = at
        unit.log.append((at, "over"))


def _kept(units: dict[str, _Unit], one: Any) -> None:
    by, name = str(one.by), str(one.subject)
    if one.by is not None and by in units:
        if units[by].evictions:
            units[by].keep(one.kept_ms)
    elif name in units:
        unit = units[name]
        if one.by is not None and unit.since is not None:
            if one.at_ms >= unit.begin:
                unit.lose(one.at_ms, one.lost_ms)
            unit.since = one.at_ms
        elif unit.evictions:
            unit.keep(one.kept_ms)


def _told(unit: _Unit, until_ms: int) -> Measured:
    waited = unit.waited
    if unit.finished is None and unit.since is None and unit.waits_from is not None:
        waited += until_ms - max(unit.waits_from, unit.begin)
    return unit.first, unit.finished, unit.evictions, unit.lost, waited


def differing(
    without: Mapping[str, Measured], changed: Mapping[str, Measured]
) -> dict[str, tuple[Measured | None, Measured | None]]:
    """Return both times of each unit that they differ of."""
    return {
        name: (without.get(name), changed.get(name))
        for name in {**without, **changed}
        if without.get(name) != changed.get(name)
    }


def rows_of(verdict: Any) -> dict[str, tuple[Measured | None, Measured | None]]:
    """Return the same of a verdict: of rows that differ in more than places."""
    rows = {
        row.subject: (_side(row.without), _side(row.changed))
        for row in verdict.workloads
    }
    return {name: both for name, both in rows.items() if both[0] != both[1]}


def _side(side: Any) -> Measured | None:
    if side is None:
        return None
    return (
        side.started_ms,
        side.finished_ms,
        side.evictions,
        side.lost_ms,
        side.waited_ms,
    )


def later_of(both: tuple[Measured | None, Measured | None]) -> int:
    """Return by how much later a unit is, of its times: what it waits and loses more."""
    one, other = both
    if one is None or other is None:
        return 0
    if one[1] is not None and other[1] is not None:
        return other[1] - one[1]
    return other[4] - one[4] + other[3] - one[3]
