"""A day of 5,000 jobs: both sides of a plan, with three seeds each.

Run `./dev bench tests/bench/bench_plan.py`.
"""

from __future__ import annotations

import io
import os
import random
import resource
import sys
import time

import pytest
import yaml

from scheduler.cli import plan
from tests.bench.size import sized, some
from tests.builders import cluster_queue, flavor, local_queue

pytestmark = pytest.mark.bench

JOBS = sized(5_000, 40)
DAY_S = 86_400
TEAMS = ("a", "b", "c", "d")


def trace() -> str:
    """Return a day of jobs of one to eight processors, some twelve minutes each."""
    draw = random.Random(1)
    lines = ["; UnixStartTime: 0", "; MaxProcs: 160"]
    times = sorted(draw.randrange(DAY_S) for _ in range(JOBS))
    for n, at in enumerate(times, 1):
        length = int(draw.expovariate(1 / 700)) + 1
        size = draw.choice([1, 1, 2, 4, 8])
        queue = draw.randrange(len(TEAMS))
        tail = f"{size} {2 * length} -1 1 1 1 1 {queue} 1 -1 -1"
        lines.append(f"{n} {at} -1 {length} {size} -1 -1 {tail}")
    return "\n".join(lines)


def policy(cpu: int) -> str:
    """Return four queues of one cohort; the first has so many CPUs."""
    queues = [
        cluster_queue(
            team,
            cohort="all",
            cpu=cpu if team == "a" else 40,
            within="LowerPriority",
            reclaim="Any",
        )
        for team in TEAMS
    ]
    locals_ = [local_queue(team, cluster_queue=team) for team in TEAMS]
    return yaml.safe_dump_all([flavor(), *queues, *locals_])


@pytest.mark.parametrize("workers", some([1, 2]))
def test_a_day_of_5000_jobs(tmp_path, workers):
    (tmp_path / "day.swf").write_text(trace())
    (tmp_path / "base.yaml").write_text(policy(40))
    (tmp_path / "new.yaml").write_text(policy(20))
    asserted = tmp_path / "assert.yaml"
    asserted.write_text("assertions: [no more than 2 preemptions per hour]")
    words = [tmp_path / "new.yaml", "--against", tmp_path / "base.yaml"]
    words += ["--on", tmp_path / "day.swf", "--queues", "0=a,1=b,2=c,3=d"]
    words += ["--queue-by", "queue", "--assert", asserted, "--workers", workers]
    began, cpu = time.perf_counter(), _cpu()
    plan.main([str(word) for word in words], io.StringIO())
    said = (
        f"\n{workers} workers of {os.cpu_count()} CPUs: "
        f"{time.perf_counter() - began:.1f} s, {_cpu() - cpu:.1f} s of CPU"
    )
    sys.stdout.write(f"{said}\n")


def _cpu() -> float:
    used = [
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return sum(one.ru_utime + one.ru_stime for one in used)
