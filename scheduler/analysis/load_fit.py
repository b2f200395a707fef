"""The load of a trace as arrival processes: when, how many, how large, for how long."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from scheduler.input.manifests.dumps.run_times import span_of
from scheduler.input.traces.options import Trace, TraceJob
from scheduler.input.traces.taking import job_of
from scheduler.model.annotations import RUNTIME
from scheduler.model.errors import SchedulerError

_HOUR_S = 3_600
_DAY_S, _WEEK_S = 24 * _HOUR_S, 168 * _HOUR_S
#: Jobs of one class within so many seconds came at once.
TOGETHER_S = 60.0
#: Classes that are told apart; the jobs of the others are one.
MOST_CLASSES = 12
_EPOCH_DAY = 3  # 1970-01-01 was a Thursday
_Class = tuple[str, int]
_ALL: _Class = ("", 0)


def fit_load(
    trace: Trace, *, queue: str = "", namespace: str = "default", weeks: float = 1.0
) -> dict[str, Any]:
    """Return a Load of the trace's classes: queue and size, the most jobs first.

    Each has its hours and days, its bursts as the mean size of what came together, and
    its run times as quantiles. All go to the LocalQueue `queue`, or each to its own.
    A trace that does not say when it began begins on a Monday.
    Raises SchedulerError for a trace without jobs. Cost: O(jobs log jobs).
    """
    jobs = [job for job in trace.jobs if job.run_s is not None]
    if not jobs:
        raise SchedulerError(f"{trace.file}: expected jobs with run times, found none")
    classes = _classes(trace)
    for key in list(classes)[MOST_CLASSES:]:
        classes.setdefault(_ALL, []).extend(classes.pop(key))
    span = max(job.submit_s for job in jobs) - min(job.submit_s for job in jobs)
    begin = trace.epoch_s or 0.0
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Load",
        "metadata": {"name": "fitted"},
        "spec": {
            "arrivals": [
                _arrival(classes[key], key, span, begin, queue, namespace, weeks)
                for key in _most_first(classes)
            ]
        },
    }


def said_of_fit(trace: Trace) -> list[str]:
    """Return a sentence for each thing that a fit omits from a trace or assumes."""
    lines = Counter(str(one.sort or one.said) for one in trace.left_out)
    said = [f"{text} ({count} x)" for text, count in lines.items()]
    said += [str(one) for one in trace.said]
    if bare := sum(job.run_s is None for job in trace.jobs):
        said.append(
            f"{bare} of {len(trace.jobs)} jobs have no run time and are left out"
        )
    classes = _classes(trace)
    if over := list(classes)[MOST_CLASSES:]:
        jobs = sum(len(classes[key]) for key in over)
        said.append(
            f"{jobs} jobs of {len(over)} small classes are one class with one queue: "
            f"{MOST_CLASSES} classes are told apart"
        )
    if trace.epoch_s is None:
        said.append("the trace does not say when it began: taken as a Monday, 0:00")
    return said


def _classes(trace: Trace) -> dict[_Class, list[TraceJob]]:
    """Return the jobs with run times by queue and size, the largest class first."""
    classes: dict[_Class, list[TraceJob]] = defaultdict(list)
    for job in trace.jobs:
        if job.run_s is not None:
            classes[job.queue, _size(job)].append(job)
    return {key: classes[key] for key in _most_first(classes)}


def _most_first(classes: Mapping[_Class, Sequence[TraceJob]]) -> list[_Class]:
    return sorted(classes, key=lambda key: (-len(classes[key]), key))


def _arrival(
    jobs: Sequence[TraceJob],
    key: tuple[str, int],
    span: float,
    begin: float,
    queue: str,
    namespace: str,
    weeks: float,
) -> dict[str, Any]:
    daily, hourly = _profile(jobs, begin)
    days = max(span / _DAY_S, 1.0)
    # Of the mean day the busiest day of the week has its share more.
    busiest = max(daily) * 7 / sum(daily)
    parameters: dict[str, Any] = {
        "perDay": round(len(jobs) / days * busiest, 3),
        "until": f"{round(weeks * 168)}h",
        "daily": daily,
        "hourly": hourly,
    }
    if (mean := _together(jobs)) > 1.0:
        parameters["batch"] = {"least": 1, "most": max(round(2 * mean - 1), 1)}
    return {
        "process": "week",
        "parameters": parameters,
        "object": _object(jobs, key, queue, namespace),
    }


def _profile(jobs: Sequence[TraceJob], begin: float) -> tuple[list[float], list[float]]:
    """Return the shares of days and hours, each with one job more than it had."""
    daily, hourly = [1.0] * 7, [1.0] * 24
    for job in jobs:
        at = begin + job.submit_s
        shift = _EPOCH_DAY if begin else 0
        daily[int(at // _DAY_S + shift) % 7] += 1
        hourly[int(at // _HOUR_S) % 24] += 1
    return _shares(daily), _shares(hourly)


def _shares(counts: Sequence[float]) -> list[float]:
    return [round(one / sum(counts), 4) for one in counts]


def _together(jobs: Sequence[TraceJob]) -> float:
    """Return how many came at once, in the mean."""
    times = sorted(job.submit_s for job in jobs)
    batches = 1 + sum(
        later - earlier > TOGETHER_S for earlier, later in pairwise(times)
    )
    return len(times) / batches


def _object(
    jobs: Sequence[TraceJob], key: tuple[str, int], queue: str, namespace: str
) -> Mapping[str, Any]:
    middle = sorted(jobs, key=lambda job: (job.pods or 1, job.line))[len(jobs) // 2]
    made = job_of(
        middle, namespace=namespace, queue=queue or middle.queue, limited=False
    )
    name = "-".join(part for part in (key[0], f"{middle.pods or 1}p") if part)
    made["metadata"]["name"] = f"load-{name}"
    runs = [job.run_s for job in jobs if job.run_s is not None]
    made["metadata"]["annotations"] = {RUNTIME: span_of(runs)}
    return made


def _size(job: TraceJob) -> int:
    """Return the pods, to the next power of two."""
    return 1 << max((job.pods or 1) - 1, 0).bit_length()
