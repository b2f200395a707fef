"""A recording run again: its queues, nodes, arrivals and run times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Decision, Evict, Preempt
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key
from scheduler.recorded.absences import (
    absent_kinds,
    with_fair_sharing,
    without_configuration,
)
from scheduler.recorded.followed import CONFIGURATION
from tests.recorded.absences import MEASURED, RERUN
from tests.recorded.latencies import CycleClock, RecordedTimes
from tests.recorded.recording import Recording
from tests.recorded.steps import Writes
from tests.recorded.worlds import Source, build, go_on, since_start

# ------------------------------------------------------------------------
# A recording run again: its queues, nodes, arrivals and run times.


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A run beside the recording. Times are seconds since t=0.

    `notes` say what the recording leaves out, and what that changes here.
    """

    admissions: int
    in_order: int
    evictions: int
    recorded_evictions: int
    errors: list[float]  # of first admissions, ascending
    #: Job -> when it was first admitted, where the recording has it later than the begin
    first: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        """Return the error that this share of the first admissions keeps below."""
        return quantile(self.errors, share)

    def __str__(self) -> str:
        return (
            f"{self.admissions} admissions, {self.in_order} in the recorded order, "
            f"{self.evictions} evictions ({self.recorded_evictions} recorded), "
            f"first-admission error median {self.quantile(0.5):.1f} s, "
            f"p90 {self.quantile(0.9):.1f} s"
        )


def quantile(errors: Sequence[float], share: float) -> float:
    """Return what this share of the errors, ascending, keeps below; 0 of none."""
    if not errors:
        return 0.0
    return errors[min(len(errors) - 1, int(len(errors) * share))]


def rerun(
    recording: Recording,
    simulation: Mapping[str, Any],
    *,
    times_of: type[RecordedTimes] | None = None,
    seed: int = 1,
    snapshot: Source | None = None,
) -> Rerun:
    """Run a recording's input under these settings of `simulation`.

    From t=0, or on from a snapshot (name and text). Steps take what the settings
    say, or what `times_of` makes of the recording. Raises as assembling a world
    does. Cost: that of the run.
    """
    if snapshot is None:
        world, jobs = build(recording, simulation, seed)
    else:
        world, jobs = go_on(recording, snapshot, simulation, seed)
    times = use_times(world, recording, jobs, times_of) if times_of else None
    begin = since_start(world, recording)
    outcome = simulate(world, until_ms=recording.end_ms - begin)
    unseen = times.unseen if times is not None else None
    found = compare(recording, outcome.decisions, jobs, begin, unseen)
    return replace(
        found, notes=list(_notes(recording, world, times_of is not None, found))
    )


def _notes(
    recording: Recording, world: World, measured: bool, found: Rerun
) -> Iterator[str]:
    yield from recording.notes
    if all(name != CONFIGURATION for name, _ in recording.sources):
        yield without_configuration(recording.name)
    watched = {event.object["kind"] for event in recording.events}
    kinds = {key.kind for key in world.objects} | watched & {"Pod"}
    settings = world.kueue.settings if world.kueue is not None else Settings()
    effects = with_fair_sharing(RERUN, settings)
    yield from absent_kinds(kinds, effects, recording.name)
    if measured:
        yield from absent_kinds(watched, MEASURED, f"{recording.name}: watch events")
    if not found.errors:
        yield f"{recording.name}: no first admission is in both; the errors say nothing"


def use_times(
    world: World,
    recording: Recording,
    jobs: Mapping[Key, str],
    times_of: type[RecordedTimes] = RecordedTimes,
) -> RecordedTimes:
    """Let the steps of this world take what they took in the recording; return them."""
    waiting = world.kueue.settings.waiting if world.kueue is not None else None
    times = times_of(
        world.context,
        world.policy,
        recording,
        world.lifetime,
        {
            str(key): (key.namespace, name.split("/", 1)[1])
            for key, name in jobs.items()
        },
        begin=since_start(world, recording),
        blocking=waiting is not None and waiting.block,
    )
    times.place(world.objects[key] for key in world.keys("Pod"))
    world.lifetime.steps = times
    if world.kueue is not None:
        world.kueue.pace.steps = times
        if times.cycles is None:
            world.kueue.pace.writing = times
    return times


def compare(
    recording: Recording,
    decisions: Sequence[Decision],
    jobs: Mapping[Key, str],
    begin: int = 0,
    unseen: Mapping[tuple[str, int], int] | None = None,
) -> Rerun:
    """Hold what was decided against what was recorded from `begin` (ms) on.

    A recording has an admission when it was seen, which is after it was written:
    `unseen` says how long (ms) after its decision that is in the run.
    """
    since = begin / 1000
    ours = sorted(
        (since + _seen(decision, unseen or {}) / 1000, jobs[decision.subject])
        for decision in decisions
        if isinstance(decision, Admit) and decision.subject in jobs
    )
    theirs = sorted(
        (admission.at, f"{row.namespace}/{row.name}")
        for row in recording.arrivals
        for admission in row.admissions
    )
    first, recorded = _first(ours), _first(theirs)
    theirs = [(at, name) for at, name in theirs if at > since]
    return Rerun(
        admissions=len(ours),
        in_order=_common([name for _, name in ours], [name for _, name in theirs]),
        evictions=sum(
            isinstance(decision, Preempt | Evict) and decision.subject in jobs
            for decision in decisions
        ),
        recorded_evictions=sum(
            eviction.at > since
            for row in recording.arrivals
            for eviction in row.evictions
        ),
        errors=sorted(
            abs(first[name] - at)
            for name, at in recorded.items()
            if name in first and at > since
        ),
        first={
            name: at
            for name, at in first.items()
            if recorded.get(name, recording.end_ms / 1000) > since
        },
    )


def _seen(decision: Admit, unseen: Mapping[tuple[str, int], int]) -> int:
    """Return when (ms) whoever follows the run sees an admission."""
    return decision.at_ms + unseen.get((str(decision.subject), decision.at_ms), 0)


def _first(admissions: Sequence[tuple[float, str]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for at, name in admissions:
        found.setdefault(name, at)
    return found


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(theirs) + 1)
    for mine in ours:
        diagonal = 0
        for i, other in enumerate(theirs, start=1):
            above = row[i]
            row[i] = diagonal + 1 if mine == other else max(above, row[i - 1])
            diagonal = above
    return row[-1]


# ------------------------------------------------------------------------
# How far two runs of one input are apart: as near as a run can come to a recording.


#: Runs of which the distances are said from the 5th to the 95th of 100.
_LOW, _HIGH = 0.05, 0.95


class DrawnTimes(RecordedTimes):
    """Draws each step from those of its kind that were measured around then.

    A step takes nothing from what that same step took in the recording, and a write
    takes the usual time of its minute: two runs are as two of one input on a control
    plane that was equally busy.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.writes.writes = Writes()
        if self.cycles is not None:
            self.cycles = CycleClock([], self.cycles.usual)

    def _known(self, step: str, subject: str, n: int) -> int | None:
        return None


@dataclass(frozen=True, slots=True)
class Repeats:
    """What first admissions differ by (s) between each two runs, each ascending."""

    count: int
    medians: list[float]
    p90s: list[float]

    def at_least(self, run: Rerun) -> tuple[float, float]:
        """Return which share of the pairs differs by what a run is off by, or more.

        First by the median, then by the 90th percentile.
        """
        return (
            _share(self.medians, run.quantile(0.5)),
            _share(self.p90s, run.quantile(0.9)),
        )

    def beside(self, run: Rerun) -> str:
        """Say what chance is, and whether a run is farther from the recording."""
        median, p90 = self.at_least(run)
        return (
            f"{self.count} runs with drawn steps: first admissions of two differ by a "
            f"median of {_spread(self.medians)}, p90 {_spread(self.p90s)}; {median:.0%} "
            f"of the pairs by a median as large as this run and the recording, "
            f"{p90:.0%} by a p90 as large"
        )


def repeats(
    recording: Recording,
    simulation: Mapping[str, Any],
    seeds: Sequence[int],
    snapshot: Source | None = None,
) -> Repeats:
    """Run a recording's input with drawn steps, once per seed.

    Cost: a run per seed. Raises as `rerun` does.
    """
    runs = [
        rerun(recording, simulation, times_of=DrawnTimes, seed=seed, snapshot=snapshot)
        for seed in seeds
    ]
    errors = list(_apart(runs))
    return Repeats(
        count=len(runs),
        medians=sorted(quantile(apart, 0.5) for apart in errors),
        p90s=sorted(quantile(apart, 0.9) for apart in errors),
    )


def _apart(runs: Sequence[Rerun]) -> Iterator[list[float]]:
    """Yield, of each two runs, by what the first admissions in both differ (s)."""
    for a, b in combinations(runs, 2):
        both = a.first.keys() & b.first.keys()
        yield sorted(abs(a.first[name] - b.first[name]) for name in both)


def _share(found: Sequence[float], least: float) -> float:
    return sum(one >= least for one in found) / len(found) if found else 0.0


def _spread(found: Sequence[float]) -> str:
    middle = sum(found) / len(found) if found else 0.0
    return (
        f"{middle:.1f} s ({quantile(found, _LOW):.1f} to {quantile(found, _HIGH):.1f})"
    )
