"""`python -m tests.recorded`: a recording's input, run again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.cli.recording_file import read_file
from scheduler.cli.statuses import refused
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.model.latencies import INSTANT, USUAL
from tests.recorded.folder import read_folder, read_snapshot, recording_of, snapshot
from tests.recorded.latencies import RecordedTimes
from tests.recorded.recording import Recording
from tests.recorded.rerun import Repeats, Rerun, repeats, rerun
from tests.recorded.worlds import Source

#: Where the seeds of the runs with drawn steps begin, whatever `--seed` says.
_REPEATS_SEED = 100
_LEAST_REPEATS = 2


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a recording again and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        given = _read(options)
        runs: list[Rerun] = []
        for found in given.runs(options):
            if not runs:
                sys.stderr.writelines(f"{note}\n" for note in found.notes)
            runs.append(found)
            out.write(f"{found}\n")
        if len(runs) > 1:
            out.write(f"{_spread(runs)}\n")
        if options.repeats:
            out.write(f"{given.repeats(options.repeats).beside(runs[0])}\n")
    except (SchedulerError, OSError) as error:
        return refused(error)
    return 0


@dataclass(frozen=True, slots=True)
class _Given:
    """A recording, the snapshot that its runs go on from, and their settings."""

    recording: Recording
    snapshot: Source | None
    simulation: dict[str, Any]

    def runs(self, options: argparse.Namespace) -> Iterator[Rerun]:
        """Yield the run of each seed. Raises SchedulerError, OSError."""
        times_of = RecordedTimes if options.latencies == "recorded" else None
        for seed in range(options.seed, options.seed + options.seeds):
            yield rerun(
                self.recording,
                self.simulation,
                times_of=times_of,
                seed=seed,
                snapshot=self.snapshot,
            )

    def repeats(self, count: int) -> Repeats:
        """Run it several times with drawn steps. Raises as `runs` does."""
        seeds = range(_REPEATS_SEED, _REPEATS_SEED + count)
        return repeats(self.recording, self.simulation, seeds, self.snapshot)


def _spread(runs: Sequence[Rerun]) -> str:
    """Say between what the runs of several seeds lie."""
    evictions = [run.evictions for run in runs]
    medians = [run.quantile(0.5) for run in runs]
    p90s = [run.quantile(0.9) for run in runs]
    return (
        f"{len(runs)} seeds: {min(evictions)} to {max(evictions)} evictions "
        f"({runs[0].recorded_evictions} recorded), first-admission error median "
        f"{min(medians):.1f} to {max(medians):.1f} s, "
        f"p90 {min(p90s):.1f} to {max(p90s):.1f} s"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.recorded",
        description="Run a recording's queues, nodes, arrivals and run times again, "
        "and say how near the admissions are to those that were recorded.",
    )
    parser.add_argument(
        "recording",
        type=Path,
        metavar="FOLDER|FILE",
        help="a recording's folder or a .qrec file, which goes on from its begin",
    )
    parser.add_argument(
        "--latencies",
        choices=("default", "recorded", "none"),
        default="default",
        help="how long steps take: the defaults of a policy, as measured from the "
        "recording's watch events, or no time at all",
    )
    parser.add_argument(
        "--from",
        dest="snapshot",
        metavar="SNAPSHOT",
        help="go on from this snapshot of the folder (a file, or its second), or from "
        "this second of the file, with the arrivals after it, instead of from t=0",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="run N seeds from --seed on, and say between what they lie: two runs of "
        "the same input soon differ",
    )
    parser.add_argument(
        "--repeats",
        type=_repeats,
        default=0,
        metavar="N",
        help="also run N times with steps drawn anew from those measured around then, "
        "and say what first admissions differ by between two such runs: no run can be "
        "expected nearer to the recording",
    )
    return parser


def _repeats(given: str) -> int:
    """Read how many runs to hold against each other. Raises for one that is alone."""
    if not is_whole(given) or int(given) < _LEAST_REPEATS:
        raise argparse.ArgumentTypeError(
            f"expected a count of {_LEAST_REPEATS} or more, got {given!r}"
        )
    return int(given)


def _read(options: argparse.Namespace) -> _Given:
    """Read what runs again, from where. Raises SchedulerError, OSError."""
    path, given = options.recording, options.snapshot
    simulation = _simulation(options)
    if not path.is_file():
        return _Given(read_folder(path), read_snapshot(path, given), simulation)
    if given is not None and not is_whole(given):
        raise SchedulerError(f"--from: expected a second of {path}, got {given!r}")
    found = read_file(path)
    at_us = found.start_us + 1_000_000 * int(given or 0)
    simulation["startTime"] = durations.stamp_text(at_us)
    recording = recording_of(found, path.stem)
    return _Given(recording, snapshot(found, at_us), simulation)


def _simulation(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings; the arrivals are those of Workloads that exist."""
    if options.latencies == "none":
        return {"latencies": None}
    given = msgspec.structs.replace(USUAL, workload_creation=INSTANT)
    return {"latencies": msgspec.to_builtins(given)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
