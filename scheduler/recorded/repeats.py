"""How far two runs of one input are apart: as near as a run can come to a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from scheduler.recorded.cycles import CycleClock
from scheduler.recorded.latencies import RecordedTimes
from scheduler.recorded.recording import Recording
from scheduler.recorded.rerun import Rerun, quantile, rerun
from scheduler.recorded.steps import Writes
from scheduler.recorded.worlds import Source

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
