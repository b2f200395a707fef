"""How long `quotalab plan` of two releases takes, and what differs: three scenarios,
the recordings where they are at hand, and a generated cluster.

Run `./dev bench tests/bench/bench_upgrade.py`. Seconds by the clock and CPU seconds of all
processes, of which there are two, with each rule that a gate turns tried alone; a line of
JSON for each piece of work.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler.cli.plan import main
from tests.bench.size import sized
from tests.bench.worlds import crowded

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT.parent / "shared" / "recordings"
SCENARIOS = ("friday-rush", "classical-reclaim", "fair-weights")
BEFORE, AFTER, MAIN = "0.16.4", "0.19.2", "main"


def pieces(folder: Path) -> Iterator[tuple[str, Path, str, str]]:
    """Yield each work: its name, its files, how long it is run, the later release."""
    for name in SCENARIOS[: sized(3, 1)]:
        yield name, ROOT / "sandbox" / "scenarios" / name, sized("", "1m"), AFTER
    for one in sorted(RECORDINGS.glob("*/watch.jsonl.gz"))[: sized(99, 0)]:
        yield one.parent.name, one.parent, "10m", AFTER
    count = sized(5000, 50)
    for name, text in crowded(workloads=count, nodes=sized(500, 5), queues=10):
        (folder / name).write_text(text)
    for after in (AFTER, MAIN):
        yield f"{count} workloads", folder, sized("10m", "1m"), after


def reported(work: Path, horizon: str, after: str) -> dict[str, Any]:
    words = ["--release", BEFORE, "--against", after, "--on", str(work), "--json"]
    words += ["--workers", "2", *(["--horizon", horizon] if horizon else [])]
    out = io.StringIO()
    assert main(words, out) == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def cpu_seconds() -> float:
    """Return what this process has used, and those that it waited for."""
    own, others = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(one.ru_utime + one.ru_stime for one in (own, others))


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_an_upgrade_is_told_in_seconds(tmp_path: Path) -> None:
    for name, work, horizon, after in pieces(tmp_path):
        begun, busy = time.perf_counter(), cpu_seconds()
        report = reported(work, horizon, after)
        took = round(time.perf_counter() - begun, 1)
        used = round(cpu_seconds() - busy, 1)
        starts = {
            what: len(report[what]) for what in ("earlier", "later", "never", "only")
        }
        reasons = len(report["saidOtherwise"])
        rules = [
            one["rule"] for one in report["rules"] if one["workloads"] or one["reasons"]
        ]
        line = {
            "on": name,
            "against": after,
            "seconds": took,
            "cpuS": used,
            **starts,
            "reasons": reasons,
        }
        sys.stderr.write(json.dumps({**line, "rules": rules}) + "\n")
        # Where something differs, each rule was tried alone or has no other side.
        alone = [one["workloads"] is not None for one in report["rules"]]
        assert report["differs"] or not alone
        assert any(alone) or not alone
