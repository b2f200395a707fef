"""What a forecast learns from: work of a dump that is over."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.analysis.forecast.present import present_of
from scheduler.engine.tick import advance
from tests.builders import job, small_cluster, world_of


def over(name: str, minutes: int) -> dict[str, Any]:
    """Return a Job as a cluster shows it that ran for so long."""
    made = job(name, queue="main")
    made["metadata"] |= {"uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    end = f"2026-01-01T00:{minutes:02d}:00Z"
    condition = {"type": "Complete", "status": "True", "lastTransitionTime": end}
    made["status"] = {
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": end,
        "conditions": [condition],
    }
    return made


@pytest.mark.parametrize("count", [0, 7])
def test_jobs_of_a_dump_that_are_over_are_history(count):
    past = [over(f"train-{n}", 10 + n) for n in range(count)]
    world = world_of(*small_cluster(cpu=1), *past, job("now", queue="main"))
    advance(world, 2_000)
    found = present_of(world, continued=False)
    assert (found.finished, found.enough) == (count, count >= 5)
