"""Which column of a table gives which field of a job, and in what unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler.input.traces.formats.rows import first_line, number
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import RequestProblem, in_field
from scheduler.model.sentence import Sentence

AMOUNTS = ("cpu", "memory", "gpu")
TIMES = ("submit", "start", "end", "run", "limit")
EVENTS = ("event", "task")
FIELDS = (*TIMES, *AMOUNTS, *EVENTS, "id", "pods", "user", "queue", "priority")
#: Of each of these one field must be given.
NEEDED = (("submit", "start"), ("run", "end", "event"))

#: Names of columns, without their units, in the order in which they are looked for.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": (
        "job_id",
        "jobid",
        "collection_id",
        "jobidraw",
        "job_name",
        "jobname",
        "id",
        "job",
        "name",
        "pod",
    ),
    "submit": (
        "submit",
        "submit_time",
        "submitted_time",
        "submission_time",
        "submitted",
        "arrival_time",
        "arrival",
        "creation_time",
        "created_at",
        "created",
        "enqueue_time",
        "timestamp",
        "time",
    ),
    "start": ("start", "start_time", "started", "started_at", "scheduled_time"),
    "end": (
        "end",
        "end_time",
        "finish_time",
        "finished_time",
        "finished",
        "finished_at",
        "completion_time",
        "deletion_time",
        "stop_time",
    ),
    "run": (
        "run",
        "run_time",
        "runtime",
        "duration",
        "elapsed",
        "elapsed_time",
        "elapsedraw",
        "execution_time",
    ),
    "limit": (
        "limit",
        "time_limit",
        "timelimit",
        "timelimitraw",
        "requested_time",
        "walltime",
        "max_time",
    ),
    "pods": (
        "pods",
        "replicas",
        "tasks",
        "num_tasks",
        "task_num",
        "instances",
        "num_instances",
        "inst_num",
        "num_inst",
        "instance_num",
        "workers",
        "num_workers",
        "worker_num",
        "parallelism",
        "node_num",
        "num_nodes",
        "nodes",
    ),
    "cpu": (
        "cpu",
        "cpus",
        "num_cpu",
        "num_cpus",
        "cpu_num",
        "cpu_request",
        "cpu_requests",
        "resource_request_cpus",
        "reqcpus",
        "cores",
        "ncpus",
        "plan_cpu",
    ),
    "memory": (
        "memory",
        "mem",
        "ram",
        "memory_request",
        "resource_request_memory",
        "mem_request",
        "req_mem",
        "plan_mem",
    ),
    "gpu": (
        "gpu",
        "gpus",
        "num_gpu",
        "num_gpus",
        "gpu_num",
        "gpu_request",
        "gpu_count",
        "ngpus",
        "plan_gpu",
    ),
    "user": ("user", "username", "user_name", "user_id", "userid", "uid", "owner"),
    "queue": (
        "vc",
        "virtual_cluster",
        "queue",
        "queue_name",
        "partition",
        "tenant",
        "project",
        "team",
        "account",
        "group",
        "pool",
    ),
    "priority": ("priority", "prio"),
    "event": ("event_type", "event"),
    "task": ("task_index", "instance_index"),
}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_BYTES = {
    "b": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "kib": 2.0**10,
    "mib": 2.0**20,
    "gib": 2.0**30,
    "tib": 2.0**40,
}
_CORES = {"milli": 1e-3, "percent": 1e-2, "cores": 1.0}
_OTHER = {
    "sec": "s",
    "secs": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "usec": "us",
    "minutes": "min",
    "mins": "min",
    "hours": "h",
    "hrs": "h",
    "bytes": "b",
    "m": "milli",
}
#: Columns of Google's task events of 2011, which have no header.
#: Source: <https://github.com/google/cluster-data/blob/master/ClusterData2011_2.md>
GOOGLE_2011 = (
    "timestamp_us",
    "missing_info",
    "job_id",
    "task_index",
    "machine_id",
    "event_type",
    "user",
    "scheduling_class",
    "priority",
    "cpu",
    "memory",
    "disk",
    "different_machine",
)
_MACHINE = {"cpu": 64.0, "memory": 256.0 * 2**30}


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and what its numbers are multiplied with: seconds, cores, bytes."""

    name: str
    factor: float = 1.0
    unit: str = ""

    @property
    def text(self) -> str:
        """Return `NAME:UNIT`, as a mapping of columns names it; NAME where it has no unit."""
        return f"{self.name}:{self.unit}" if self.unit else self.name


def headless(text: str) -> list[str] | None:
    """Return the columns of a table that begins without a header; None for others."""
    first = first_line(text)
    numbers = sum(number(value) is not None for value in first)
    if len(first) == len(GOOGLE_2011) and numbers >= 6:
        return list(GOOGLE_2011)
    return None


def guess(header: Sequence[str]) -> dict[str, Column]:
    """Return the columns that their names give away."""
    known = {_plain(name): name for name in reversed(header)}
    found: dict[str, Column] = {}
    for field, names in _NAMES.items():
        for name in names:
            column = _named(field, name, known)
            if column is not None:
                found[field] = column
                break
    if "event" in found and "task" not in found:
        del found["event"]  # another table of events than of tasks
    if list(header) == list(GOOGLE_2011):
        for field, factor in _MACHINE.items():
            found[field] = Column(field, factor, f"{factor:g}")
    return found


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _named(field: str, name: str, known: Mapping[str, str]) -> Column | None:
    """Return the column of a name, or of the name with a unit behind it."""
    if name in known:
        factor, unit = (1e-2, "percent") if name.startswith("plan_") else (1.0, "")
        if name == "plan_mem":
            factor, unit = _BYTES["gb"], "gb"
        elif field == "memory":
            factor, unit = _BYTES["gib"], "gib"
        return Column(known[name], factor, unit)
    for unit, factor in _units(field).items():
        if (given := known.get(f"{name}_{unit}")) is not None:
            return Column(given, factor, unit)
    return None


def _units(field: str) -> dict[str, float]:
    if field in TIMES:
        units = _SECONDS
    elif field == "memory":
        units = _BYTES
    elif field in AMOUNTS:
        units = _CORES
    else:
        return {}
    return units | {word: units[unit] for word, unit in _OTHER.items() if unit in units}


def read_columns(
    given: Mapping[str, str], header: Sequence[str], file: str
) -> dict[str, Column]:
    """Return the columns that somebody chose: "name", or "name:unit".

    A unit may be a number to multiply with. An empty one means no column.
    Raises ManifestError naming the field.
    """
    found: dict[str, Column] = {}
    for field, text in given.items():
        if field not in FIELDS:
            known = ", ".join(sorted(FIELDS))
            raise _wrong(
                file, RequestProblem.NO_TRACE_FIELD.said(name=repr(field), known=known)
            )
        found[field] = _column(field, text, header, file)
    return found


def _column(field: str, text: str, header: Sequence[str], file: str) -> Column:
    name, _, unit = text.strip().lower().rpartition(":")
    if not name or text.strip().lower() in header:
        name, unit = text.strip().lower(), ""
    if name not in header:
        found = ", ".join(header[:40])
        raise _wrong(
            file,
            in_field(
                f"columns: {field}",
                RequestProblem.NO_COLUMN.said(name=repr(name), known=found),
            ),
        )
    if not unit:
        return Column(name, _BYTES["gib"] if field == "memory" else 1.0)
    factor = _units(field).get(unit, number(unit))
    if factor is None or factor <= 0:
        known = ", ".join(_units(field)) or "none"
        raise _wrong(
            file,
            in_field(
                f"columns: {field}",
                RequestProblem.NO_UNIT.said(name=repr(unit), known=known),
            ),
        )
    return Column(name, factor, unit)


def _wrong(file: str, problem: Sentence) -> ManifestError:
    return ManifestError(problem, place=SourceLocation(file=file, line=1))
