"""Figures of the ways to search larger worlds, kept in a file of JSON lines as they come.

    python -m tests.bench.advice.figures FILE [--worlds PART] [--searches N] [--means]

`--worlds` takes those whose name has this part. What the file has is not run again, so
that a bench that was cut off goes on. The last lines are the means over the worlds in
the file, each counting once, with 95% intervals over worlds; `--means` prints these only.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scheduler.analysis.advice.advisor import Advisor
from scheduler.analysis.advice.goal import Numbers, mean_of
from scheduler.analysis.advice.ledger import PRICE, Ask
from scheduler.analysis.advice.space import Point
from scheduler.analysis.experiments.results import interval
from tests.bench.advice.drawn import MEASURED, drawn_world
from tests.bench.advice.ten import KEPT_ASIDE, LOOKED_AT
from tests.bench.advice.ways import WAYS, Runner
from tests.bench.advice.worlds import LargerWorld, advisor_of

SEARCHES = 5
FRESH = range(5001, 5009)
Figures = dict[str, Any]


def worlds(part: str = "") -> list[LargerWorld]:
    """Return the worlds whose name has this part: ten by people, and those drawn."""
    drawn = [drawn_world(seed) for seed in MEASURED]
    return [one for one in (*LOOKED_AT, *KEPT_ASIDE, *drawn) if part in one.name]


def measured(world: LargerWorld, searches: int, done: set[Any]) -> Iterator[Figures]:
    """Yield what each way comes to with each seed, but for those that are `done`."""
    advisor, base = advisor_of(world)
    known: dict[Ask, Numbers | None] = {}

    def run(ask: Ask) -> Numbers | None:
        if ask not in known:
            known[ask] = advisor.run(base, ask)
        return known[ask]

    for seed in range(searches):
        for name, way in WAYS.items():
            once = name == "by hand" and seed > 0
            if once or (world.name, name, seed) in done:
                continue
            began = time.process_time()
            handed = way(world, run, seed)
            yield {
                "world": world.name,
                "way": name,
                "seed": seed,
                "loss": loss(advisor, run, handed.point),
                "found": loss(advisor, run, handed.found),
                "base": loss(advisor, run, advisor.space.base),
                "verdict": handed.verdict,
                "runs": handed.runs,
                "cpu": round(time.process_time() - began, 1),
            }


def loss(advisor: Advisor, run: Runner, point: Point) -> float:
    """Return the goal's loss of a setting on seeds that nothing else uses."""
    base = [run((advisor.space.base, seed)) or {} for seed in FRESH]
    runs = [run((point, seed)) or {} for seed in FRESH]
    missed = math.fsum(b.violation(b.of(runs)) for b in advisor.goal.bounds(base))
    return advisor.goal.objective(mean_of(runs), mean_of(base)) + PRICE * missed


def read(file: Path) -> list[Figures]:
    """Return the figures in a file; none where there is no file yet."""
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def table(figures: Sequence[Figures]) -> str:
    """Return a line per world, and the means over worlds."""
    names = list(dict.fromkeys(one["world"] for one in figures))
    lines, less = [], []
    for world in names:
        of = {way: _values(figures, world, way) for way in WAYS}
        if not all(of.values()):
            continue
        shown = [f"{way} {between(values)}" for way, values in of.items()]
        lines.append(f"{world}: {', '.join(shown)}")
        means = {way: statistics.fmean(values) for way, values in of.items()}
        less.append({way: means["search"] - mean for way, mean in means.items()})
    for way in list(WAYS)[1:]:
        pooled = [one[way] for one in less]
        lines.append(f"search less {way}, {len(less)} worlds: {between(pooled)}")
    spent = [_spent(way, [o for o in figures if o["way"] == way]) for way in WAYS]
    return "\n".join([*lines, *spent, ""])


def _spent(way: str, own: Sequence[Figures]) -> str:
    if not own:
        return f"{way}: nothing yet"
    runs = statistics.fmean(one["runs"] for one in own)
    worse = sum(one["loss"] > one["base"] + 1e-9 for one in own)
    improved = sum(one["verdict"] == "improved" for one in own)
    return (
        f"{way}: {runs:.0f} runs each, {improved} of {len(own)} improved, "
        f"{worse} worse than the base"
    )


def _values(figures: Sequence[Figures], world: str, way: str) -> list[float]:
    own = [one for one in figures if (one["world"], one["way"]) == (world, way)]
    return [one["loss"] / one["base"] for one in own]


def between(values: Sequence[float]) -> str:
    """Return a mean, with its 95% interval where the values differ."""
    one = interval(values)
    if one is None:
        return "none"
    if one.low is None or one.high is None or one.low == one.high:
        return f"{one.mean:.3f}"
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


def main(arguments: Sequence[str]) -> None:
    """Measure what the file lacks, and print the table of what it has."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.advice.figures")
    parser.add_argument("file", type=Path)
    parser.add_argument("--worlds", default="")
    parser.add_argument("--searches", type=int, default=SEARCHES)
    parser.add_argument("--means", action="store_true")
    asked = parser.parse_args(arguments)
    for world in [] if asked.means else worlds(asked.worlds):
        done = {(one["world"], one["way"], one["seed"]) for one in read(asked.file)}
        for figures in measured(world, asked.searches, done):
            with asked.file.open("a") as out:
                out.write(json.dumps(figures) + "\n")
    sys.stdout.write(table(read(asked.file)))


if __name__ == "__main__":
    main(sys.argv[1:])
