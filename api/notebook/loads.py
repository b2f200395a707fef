"""Loads in Python: a team's week, or what a trace holds, to be opened beside files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scheduler.analysis.load_fit import fit_load
from scheduler.cli.fit import read_trace

Load = dict[str, Any]


def week(*jobs: Mapping[str, Any], per_day: float, **shape: Any) -> Load:
    """Return a Load of a team's week: so many of each job on a working day.

    `shape` is as the process `week` takes it: `until`, `hours`, `days`, `outside`,
    `weekend`, `batch`, `deadlines`, `ramp`, `hourly`, `daily`, `begins`. The annotation
    quotalab.dev/runtime of a job says how long it runs, as `lognormal(median 5m, p90
    20m)`.
    """
    return arrivals("week", *jobs, perDay=per_day, **shape)


def arrivals(process: str, *jobs: Mapping[str, Any], **parameters: Any) -> Load:
    """Return a Load of one process of arrivals per job: `poisson`, `interval`, `at`."""
    return _load(
        [
            {"process": process, "parameters": parameters, "object": dict(job)}
            for job in jobs
        ]
    )


def fit(path: str | Path, *, queue: str = "", weeks: float = 1.0) -> Load:
    """Return the Load of a trace; its jobs go to the LocalQueue `queue`, or their own.

    Raises SchedulerError for a file that is no trace or has no jobs.
    """
    return fit_load(read_trace(path), queue=queue, weeks=weeks)


def _load(given: list[dict[str, Any]]) -> Load:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Load",
        "metadata": {"name": "load"},
        "spec": {"arrivals": given},
    }
