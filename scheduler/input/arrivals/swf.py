"""Arrivals from a trace in the Standard Workload Format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from scheduler.input.arrivals import Coming
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.traces.formats.swf import read_trace
from scheduler.input.traces.options import TraceJob, cut
from scheduler.input.traces.taking import job_of
from scheduler.model.errors import ManifestError
from scheduler.model.problems import RequestProblem
from scheduler.model.registry import register


class Swf(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The file's name, the LocalQueue for all jobs, and how much of it to take."""

    file: str
    queue: str
    namespace: str = "default"
    resource: str = "cpu"  # what a processor of the log stands for
    cpu_per_processor: str = "1"
    most: int = 10_000
    scale: float = 1.0  # of the gaps between arrivals


@register(
    "arrival",
    "swf",
    label="SWF trace",
    help="Jobs of a trace file in the Standard Workload Format.",
    parameters=Swf,
)
def swf(
    parameters: Swf, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming | Finding]:
    """Yield a Job per line, and a finding for each line that is left out.

    Submit time, run time, processors, requested time (as limit) and user count.
    Raises ManifestError for a file that does not exist or not of the format.
    Source: Standard Workload Format 2.2,
    <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>
    """
    text = files.get(parameters.file)
    if text is None:
        known = ", ".join(sorted(files)) or "none"
        raise ManifestError(
            RequestProblem.NO_FILE.said(name=repr(parameters.file), known=known)
        )
    trace = read_trace(text, parameters.file)
    yield from trace.left_out
    yield from cut(trace, parameters.most)
    for job in trace.jobs:
        yield _coming(job, parameters)


def _coming(job: TraceJob, parameters: Swf) -> Coming:
    return Coming(
        at_ms=round(job.submit_s * 1000 * parameters.scale),
        name=f"swf-{job.name}",
        runtime_ms=round((job.run_s or 0) * 1000),
        manifest=job_of(
            replace(job, requests={parameters.resource: parameters.cpu_per_processor}),
            namespace=parameters.namespace,
            queue=parameters.queue,
        ),
    )
