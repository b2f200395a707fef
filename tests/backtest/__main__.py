"""`python -m tests.backtest`: forecasts at past instants of a log, and their scores."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from scheduler.cli.statuses import refused
from scheduler.input.traces.formats.swf import read_trace
from scheduler.input.traces.options import Trace
from scheduler.model.errors import SchedulerError
from tests.backtest.log import Log, load_of, policy_log, real_log
from tests.backtest.models import (
    Model,
    by_futures,
    by_last_waits,
    by_similar_waits,
)
from tests.backtest.run import (
    SYNTHETIC,
    BacktestResult,
    backtest,
    recorded_trace,
    synthetic,
)


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Backtest a log and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        trace = read_log(options.file, options.seed)
        results = [_one(trace, load, options, out) for load in options.load or [None]]
    except (SchedulerError, OSError) as error:
        return refused(error)
    scored = [one for result in results for one in result.scored]
    out.write(f"{BacktestResult(scored)}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.backtest",
        description="Forecast the starts of waiting work at past instants of a log, and "
        "hold them against what came. With --load, or where the log has no waits, the "
        "truth is a run of one ClusterQueue; else it is the waits that were recorded.",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help=f"a trace (.swf, .swf.gz), the folder of a recording, or one of {', '.join(SYNTHETIC)}",
    )
    parser.add_argument(
        "--load",
        type=_share,
        nargs="+",
        help="offer so much work as a share of the machine (0.7), once per value",
    )
    parser.add_argument(
        "--strategy",
        choices=("BestEffortFIFO", "StrictFIFO"),
        default="BestEffortFIFO",
        help="of the ClusterQueue",
    )
    parser.add_argument("--instants", type=_count, default=200)
    parser.add_argument("--futures", type=_count, default=60)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _share(text: str) -> float:
    value = float(text)
    if not 0.01 <= value <= 10:
        raise argparse.ArgumentTypeError(f"expected 0.01 to 10, got {text}")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 100_000:
        raise argparse.ArgumentTypeError(f"expected 1 to 100000, got {text}")
    return value


def read_log(name: str, seed: int) -> Trace:
    """Return the trace of a file, or one made up. Raises SchedulerError, OSError."""
    if name in SYNTHETIC:
        return synthetic(name, seed)
    path = Path(name)
    if (path / "arrivals.json").is_file():
        return recorded_trace((path / "arrivals.json").read_bytes(), path.name)
    if not path.is_file():
        raise SchedulerError(
            f"{name}: expected a trace (.swf, .swf.gz) or the folder of a recording with "
            "its arrivals.json, found neither"
        )
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return read_trace(data.decode("utf-8", "replace"), path.name)


def _one(
    trace: Trace, load: float | None, options: argparse.Namespace, out: TextIO
) -> BacktestResult:
    futures: Model = by_futures(options.futures, options.seed)
    if load is None and any(job.start_s is not None for job in trace.jobs):
        log = real_log(trace)
        models = [by_similar_waits(options.seed), by_last_waits]
        if trace.size:  # of the machine: without it there is no quota to play
            models.insert(0, futures)
        said = "real waits"
    else:
        log = policy_log(trace, load=load, strict=options.strategy == "StrictFIFO")
        models = [futures]
        said = f"{options.strategy}, load {load or load_of(trace):.2f}"
    result = backtest(log, models, instants=options.instants, seed=options.seed)
    out.write(_details(log, said, result))
    return result


def _details(log: Log, said: str, result: BacktestResult) -> str:
    scored = result.scored
    instants = len({one.at_ms for one in scored})
    return (
        f"{log.name}, {said}: {len(log.works)} jobs ({log.left_out} left out) on "
        f"{log.processors} processors; {len(scored)} forecasts at {instants} instants\n"
        f"  pinball p10 {result.pinball_s(0.1):.1f}, p50 {result.pinball_s(0.5):.1f}, "
        f"p90 {result.pinball_s(0.9):.1f}; crps before correction "
        f"{result.raw_crps_s():.1f}\n  {result}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
