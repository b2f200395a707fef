"""A run and the same run with a change, side by side: from one instant to one horizon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from scheduler.analysis.experiments.results import Interval, interval
from scheduler.analysis.lines import NONE, Differing, PairLine, RunLines, differing
from scheduler.analysis.measures.collector import Measures
from scheduler.analysis.measures.lives import LifeReader, Lives
from scheduler.analysis.measures.report import idle_hours
from scheduler.analysis.measures.subjects import kind_of_subjects
from scheduler.analysis.measures.verdict import ChangeVerdict, verdict
from scheduler.analysis.release_rules import (
    ReleaseRule,
    counted,
    reasons_of,
    rules_between,
    told,
)
from scheduler.analysis.standing import Standing, apart, standing, unasked
from scheduler.analysis.traits import traits_of
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import gc_paused
from scheduler.input.manifests.run_times import assumed_work
from scheduler.model.decisions import Decision
from scheduler.model.objects import Key
from scheduler.model.sentence import Sentence

Alter = Callable[[World], Any]

#: At so many stops it is seen whether two sides stand alike: where an edit makes no
#: difference, they do as soon as what it woke has been tried.
_SEEN = 2


class PairFigures(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One run in figures; milliseconds of virtual time, None for what it cannot say.

    Waits are of what waited at the begin, from its arrival, and of what came since. The
    `waiting` that never started count with what they have waited up to the horizon.
    """

    waited: int
    waiting: int
    wait_mean_ms: float | None
    wait_p50_ms: float | None
    wait_p95_ms: float | None
    wait_max_ms: float | None
    jain: float | None  # of the queues' dominant use over the run; 1 = equal
    share_error: float | None  # of the cluster, below the weighted fair share
    unfair_spans: int  # spans in which shares were not fair
    time_to_fair_ms: float | None  # mean length of such a span
    time_to_fair_max_ms: int | None
    goodput: dict[str, float]  # resource -> share of what was held, not lost
    idle_hours: dict[str, float] = {}  # resource -> units x h that nobody held
    # The largest weighted share of a queue; None is infinite, or there are none.
    largest_share: float | None = None
    largest_share_queue: str = ""  # "" where nobody had a share
    largest_share_ms: int = 0  # for so long it was above every other


class SeedVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Two runs with one seed.

    `only_with` and `only_without` are subjects that are there in one of the runs alone.
    """

    seed: int
    verdict: ChangeVerdict
    only_with: list[str]
    only_without: list[str]
    without: PairFigures
    changed: PairFigures

    @property
    def differs(self) -> bool:
        """Return whether anything came out otherwise."""
        return self.verdict.differs or bool(self.only_with or self.only_without)


class PairSum(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One number of each seed, in their order; `interval` where seeds differ."""

    values: list[float | None]
    same: bool  # in every seed
    interval: Interval | None


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a change makes different, from one instant to one horizon, per seed.

    `sums`: `earlier`, `later`, `never` and `only` count starts (`never`: without the
    change alone, `only`: with it alone); `onlyWith` and `onlyWithout` count subjects; all
    others are differences, with the change less without it. `same` says that every
    seed names the same subjects with the same times. `lines`: how queues go on on both
    sides, and what pods hold on nodes, of the first seed, where the sides differ (all
    lines of a queue of which one differs);
    `nodesLeftOut` counts the nodes that differ and are not told, where they are many.
    """

    from_ms: int
    to_ms: int
    differs: bool
    same: bool
    sums: dict[str, PairSum]
    seeds: list[SeedVerdict]
    lines: list[PairLine] = []
    nodes_left_out: int = 0
    assumed: list[Sentence] = []  # work of both sides that takes a time nobody gave
    # Where the change is another release: its rules, and of the first seed how many
    # waited for each reason, without it and with it, where that differs.
    rules: list[ReleaseRule] = []
    reasons: dict[str, list[int]] = {}


class _Otherwise(NamedTuple):
    rules: list[ReleaseRule]
    reasons: dict[str, list[int]]


NO_OTHER_RELEASE = _Otherwise([], {})


class Mark(NamedTuple):
    """One side of a pair up to an instant."""

    until_ms: int
    decisions: Sequence[Decision]
    lives: Lives
    figures: PairFigures
    lines: RunLines  # that go on
    standing: Standing | None = None  # at the first stops
    unasked: frozenset[str] = frozenset()  # ClusterQueues, since it was seen there


class Followed:
    """One side of a pair: a world whose decisions are taken as they are made.

    `before`: the world before the change, where the change was made on this one.
    """

    def __init__(
        self, world: World, until_ms: int, before: World | None = None
    ) -> None:
        self.until_ms = until_ms
        reader = LifeReader(before or world)
        self._running: tuple[World, Measures] | None = (
            world,
            Measures(world, until_ms=until_ms, reader=reader, fragments=False),
        )
        self._lines = RunLines(world, until_ms)
        self._decisions = world.context.journal.take_decisions()
        reader.hear(self._decisions, world)
        if before is not None:
            reader.change(before, world)

    def take(self, decisions: Sequence[Decision]) -> None:
        """Take what was decided while the world still stands there."""
        assert self._running is not None, "it has run to the horizon"
        world, measures = self._running
        self._lines.look(world)
        measures.observe(decisions)
        self._decisions += decisions

    def mark(self, until_ms: int) -> Mark:
        """Return the side up to an instant: that of the world, or later."""
        assert self._running is not None, "it has run to the horizon"
        world, measures = self._running
        measures.until_ms = until_ms
        lives = measures.reader.lives(until_ms, world)
        return Mark(
            until_ms,
            tuple(self._decisions),
            lives,
            self._figures(measures, lives),
            self._lines,
        )

    def _figures(self, measures: Measures, lives: Lives) -> PairFigures:
        until_ms, found = lives.to_ms, lives.waits()
        sharing = measures.sharing(lives)
        leader = self._lines.leader(until_ms)
        return PairFigures(
            waited=len(found.ordered),
            waiting=found.never_started,
            wait_mean_ms=found.mean_ms,
            wait_p50_ms=found.quantile(0.5),
            wait_p95_ms=found.quantile(0.95),
            wait_max_ms=found.max_ms,
            **sharing._asdict(),
            idle_hours=idle_hours(measures, until_ms),
            largest_share=leader.share,
            largest_share_queue=leader.queue,
            largest_share_ms=leader.above_ms,
        )


class Side(Followed):
    """One side of a pair, run as far as it is asked for, and remembered."""

    def __init__(
        self, world: World, until_ms: int, before: World | None = None
    ) -> None:
        super().__init__(world, until_ms, before)
        self.marks: dict[int, Mark] = {}

    def reaches(self, at_ms: int) -> bool:
        """Return whether `at` can answer: nothing later was asked for, or this was."""
        return at_ms in self.marks or at_ms > max(self.marks, default=-1)

    def at(self, at_ms: int, hear: Callable[[], None]) -> Mark:
        """Return the run up to an instant: later than all before, or one of those."""
        found = self.marks.get(at_ms)
        if found is None:
            found = self.marks[at_ms] = self._run(at_ms, hear)
            if at_ms == self.until_ms:
                self._running = None
        return found

    def _run(self, until_ms: int, hear: Callable[[], None]) -> Mark:
        assert self._running is not None, "it has run to the horizon"

        def take(decisions: Sequence[Decision]) -> None:
            hear()
            self.take(decisions)

        with gc_paused():  # what is decided stays; between stops the rest is let go of
            simulate(self._running[0], until_ms=until_ms, hear=take)
            mark, world = self.mark(until_ms), self._running[0]
            since, early = unasked(world), len(self.marks) < _SEEN
            here = standing(world) if early and until_ms < self.until_ms else None
            return mark._replace(standing=here, unasked=since)


#: What gives the run of a seed without the change, up to one of `stops`.
Plain = Callable[[int, int, Callable[[], None]], Mark]


def compare_pair(
    world: World,
    alter: Alter,
    *,
    horizon_ms: int,
    seeds: Sequence[int] = (),
    within_ms: int | None = None,
    hear: Callable[[], None] = lambda: None,
    tell: Callable[[PairVerdict], None] = lambda _: None,
    plain: Plain | None = None,
    so_far: PairVerdict | None = None,
) -> PairVerdict:
    """Run copies of `world` to the horizon, without and with a change, once per seed.

    Both runs of a seed begin at the same instant, with the same arrivals. No seeds: that
    of the world. Differences of at most `within_ms` (a tick unless it is given) count as
    equal. `alter` makes the change on a copy; what it raises ends all. `hear` is
    called at each instant. `tell` gets the verdict so far: of the first seed up to the
    instants of `stops`, of others when each is through; its `to_ms` is how far both
    runs are. `plain` gives the run of a seed without the change where that is known, or
    is run elsewhere. `so_far` has the verdict of other seeds, whole, which stays.
    Cost: two copies and their decisions per seed. From the first stop on the changed one
    is taken over while nobody asks what was edited (`standing`, `test_standing.py`).
    """
    given = seeds_of(world, seeds)
    until = (begin := world.context.now_ms) + horizon_ms
    without = plain or _run_here(world, until)
    found: list[SeedVerdict] = []
    lines, assumed = NONE, _assumed(world)
    otherwise = NO_OTHER_RELEASE
    if so_far is not None:
        found += so_far.seeds
        lines = Differing(so_far.lines, so_far.nodes_left_out)
        otherwise = _Otherwise(so_far.rules, so_far.reasons)
    whole = len(found) + len(given)
    at_stops = stops(begin, until)
    for seed in given:
        changed = fork(world, seed=seed)
        alter(changed)
        other = Side(changed, until, world)
        edited: frozenset[str] | None = None  # all that is unlike, if that is known
        for at_ms in _of_later(at_stops) if found else at_stops:
            if edited is not None and edited <= without(seed, at_ms, hear).unasked:
                mark = usual = without(seed, at_ms, hear)
            else:
                mark = other.at(at_ms, hear)  # first: the other may run beside it
                usual = without(seed, at_ms, hear)
                edited = apart(usual.standing, mark.standing)
            if at_ms < until and (found or at_ms == at_stops[0]):
                continue
            if not found:
                lines = differing(usual.lines, mark.lines, at_ms)
                otherwise = _otherwise(world, changed, (usual, mark))
            one = _compared(seed, usual, mark, within_ms)
            if at_ms == until:
                found.append(one)
            else:
                tell(_verdict(begin, [one], lines, assumed, otherwise))
        if len(found) < whole:
            tell(_verdict(begin, found, lines, assumed, otherwise))
    return _verdict(begin, found, lines, assumed, otherwise)


def compare_sides(
    world: World, ends: tuple[World, World], without: Mark, changed: Mark
) -> PairVerdict:
    """Return what differs between two runs from `world` on, up to one instant.

    `ends` are the worlds of both there.
    """
    one = _compared(world.context.seed, without, changed)
    return _verdict(
        world.context.now_ms,
        [one],
        differing(without.lines, changed.lines, without.until_ms),
        _assumed(world),
        _otherwise(*ends, (without, changed)),
    )


def _run_here(world: World, until_ms: int) -> Plain:
    """Return what runs a side where it is asked for."""
    sides: dict[int, Side] = {}

    def plain(seed: int, at_ms: int, hear: Callable[[], None]) -> Mark:
        if seed not in sides:
            sides.clear()
            sides[seed] = Side(fork(world, seed=seed), until_ms)
        return sides[seed].at(at_ms, hear)

    return plain


def seeds_of(world: World, seeds: Sequence[int]) -> list[int]:
    """Return each seed once; that of the world where none is given."""
    return list(dict.fromkeys(seeds)) or [world.context.seed]


def stops(begin_ms: int, until_ms: int) -> list[int]:
    """Return the instants at which verdicts of the first seed are made, the horizon last.

    None at the first of them: there it is seen whether both sides stand alike.
    """
    span = until_ms - begin_ms
    parts = [begin_ms + span * part // 200 for part in (1, 10, 20, 40, 80, 130)]
    early = {at_ms for at_ms in parts if begin_ms < at_ms < until_ms}
    return [*sorted(early), until_ms]


def _of_later(at_stops: Sequence[int]) -> list[int]:
    """Return at which stops a later seed is looked at: the horizon, and those before.

    What is asked counts from the last one at which a side was seen to stand, so that no
    run leaves one of these out.
    """
    return [*at_stops[:-1][:_SEEN], at_stops[-1]]


def _verdict(
    begin_ms: int,
    found: Sequence[SeedVerdict],
    lines: Differing,
    assumed: list[Sentence],
    otherwise: _Otherwise,
) -> PairVerdict:
    return PairVerdict(
        from_ms=begin_ms,
        to_ms=found[0].verdict.to_ms,
        differs=any(one.differs for one in found),
        same=len({msgspec.json.encode(_who(one)) for one in found}) == 1,
        sums=_sums(found),
        seeds=list(found),
        lines=lines.lines,
        nodes_left_out=lines.nodes_left_out,
        assumed=assumed,
        rules=otherwise.rules,
        reasons=otherwise.reasons,
    )


def _otherwise(world: World, changed: World, marks: tuple[Mark, Mark]) -> _Otherwise:
    """Return what another release decides otherwise; nothing where it is the same."""
    first, last = world.policy.spec, changed.policy.spec
    if first.decides_as() == last.decides_as():
        return NO_OTHER_RELEASE
    kind = kind_of_subjects(world)
    sides = (reasons_of(mark.decisions, kind) for mark in marks)
    return _Otherwise(
        [
            told(rule, last)
            for rule in rules_between(
                first, last, traits_of(world.objects.values(), last)
            )
        ],
        {why: both for why, both in counted(*sides).items() if both[0] != both[1]},
    )


def _assumed(world: World) -> list[Sentence]:
    span = world.policy.spec.simulation.default_runtime
    return [said for said, _ in assumed_work(world.objects.values(), span)]


def _who(one: SeedVerdict) -> list[Any]:
    return [one.verdict.workloads, one.only_with, one.only_without]


def _compared(
    seed: int, without: Mark, changed: Mark, within_ms: int | None = None
) -> SeedVerdict:
    one, other = without.lives, changed.lives
    with gc_paused():
        found = verdict(one, other, within_ms=within_ms)
    return SeedVerdict(
        seed=seed,
        verdict=found,
        only_with=_names(other.units.keys() - one.units.keys()),
        only_without=_names(one.units.keys() - other.units.keys()),
        without=without.figures,
        changed=changed.figures,
    )


def _names(keys: Iterable[Key]) -> list[str]:
    return [str(key) for key in sorted(keys)]


def _sums(found: Sequence[SeedVerdict]) -> dict[str, PairSum]:
    rows = [_row(one) for one in found]
    return {name: _over([row.get(name) for row in rows]) for name in rows[0]}


def _row(one: SeedVerdict) -> dict[str, float | None]:
    starts = [each.start for each in one.verdict.workloads]
    row: dict[str, float | None] = {
        name: starts.count(name) for name in ("earlier", "later", "never", "only")
    }
    found = one.verdict
    row |= {"laterMs": found.later_ms, "waitingMs": found.waiting_ms}
    row["lostMs"] = found.lost_ms
    row["onlyWith"], row["onlyWithout"] = len(one.only_with), len(one.only_without)
    totals = (one.verdict.without, one.verdict.changed)
    figures = (one.without, one.changed)
    for pair, names in (
        (totals, ("finished", "evictions", "preemptions", "workLostMs")),
        (figures, _FIGURES),
    ):
        before, after = (msgspec.to_builtins(side) for side in pair)
        for name in names:
            row[name] = _less(after[name], before[name])
    idle = one.without.idle_hours, one.changed.idle_hours
    for resource in sorted({*idle[0], *idle[1]}):
        before, after = (side.get(resource) for side in idle)
        row[f"idleHours {resource}"] = _less(after, before)
    return row


_FIGURES = (
    "waiting",
    "waitMeanMs",
    "waitP50Ms",
    "waitP95Ms",
    "waitMaxMs",
    "jain",
    "shareError",
    "unfairSpans",
    "largestShare",
    "largestShareMs",
    "timeToFairMs",
    "timeToFairMaxMs",
)


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _over(values: list[float | None]) -> PairSum:
    known = [value for value in values if value is not None]
    same = len(set(values)) == 1
    return PairSum(values=values, same=same, interval=None if same else interval(known))
