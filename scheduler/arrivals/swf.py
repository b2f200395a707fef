"""Arrivals from a trace in the Standard Workload Format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.arrivals import Coming
from scheduler.errors import ManifestError, SourceLocation
from scheduler.registry import register

_FIELDS = 18
_RUN_TIME, _USED, _ASKED = 3, 4, 7


class Swf(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The file's name, the LocalQueue for all jobs, and how much of it to take."""

    file: str
    queue: str
    namespace: str = "default"
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
) -> Iterator[Coming]:
    """Yield a Job per line: submit time, run time and processors count.

    Raises ManifestError with file and line for a line that is not of the format.
    Source: Standard Workload Format 2.2, fields 1, 2, 4, 5 and 8,
    <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>
    """
    text = files.get(parameters.file)
    if text is None:
        known = ", ".join(sorted(files)) or "none"
        raise ManifestError(f"no file {parameters.file!r} beside it; found: {known}")
    for count, line in enumerate(_lines(text, parameters.file)):
        if count >= parameters.most:
            return
        yield _coming(line, parameters)


def _lines(text: str, file: str) -> Iterator[list[float]]:
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.split(";", 1)[0].split()
        if not bare:
            continue
        try:
            values = [float(word) for word in bare]
        except ValueError:
            values = []
        if len(values) != _FIELDS:
            raise ManifestError(
                f"expected {_FIELDS} numbers, got {line[:60]!r}",
                place=SourceLocation(file=file, line=number),
            )
        if values[_RUN_TIME] >= 0:
            yield values


def _coming(values: list[float], parameters: Swf) -> Coming:
    processors = values[_USED] if values[_USED] > 0 else values[_ASKED]
    name = f"swf-{int(values[0])}"
    return Coming(
        at_ms=round(values[1] * 1000 * parameters.scale),
        name=name,
        runtime_ms=round(values[_RUN_TIME] * 1000),
        manifest=_job(max(1, int(processors)), parameters),
    )


def _job(processors: int, parameters: Swf) -> dict[str, Any]:
    requests = {"cpu": parameters.cpu_per_processor}
    container = {
        "name": "main",
        "image": "trace",
        "resources": {"requests": requests},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "namespace": parameters.namespace,
            "labels": {"kueue.x-k8s.io/queue-name": parameters.queue},
        },
        "spec": {
            "parallelism": processors,
            "completions": processors,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
