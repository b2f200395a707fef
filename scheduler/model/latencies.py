"""How long each step takes that a real cluster takes time for, as settings."""

from __future__ import annotations

from typing import Annotated

import msgspec

from scheduler.model.durations import Span, read_span
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import in_field

INSTANT = "0s"
_FORM = (
    r"\s*(exp|uniform|quantiles)?\(?\s*[0-9.]+[0-9a-zµ.]*"
    r"(\s*,\s*[0-9.]+[0-9a-zµ.]*)*\s*\)?\s*"
)


def _span(title: str, description: str) -> msgspec.Meta:
    return msgspec.Meta(title=title, description=description, pattern=f"^{_FORM}$")


class Latencies(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """A length of time per kind of step, fixed or drawn from the seed.

    Each is a Go duration ("250ms"), or `uniform(LOW,HIGH)`, `exp(MEAN)` or
    `quantiles(MIN,..,MAX)`. "0s" is no time at all, which no cluster has.
    """

    workload_creation: Annotated[
        str,
        _span("Workload creation", "From a Job to its Workload (Kueue's reconciler)."),
    ] = INSTANT
    scheduling_cycle: Annotated[
        str,
        _span(
            "Admission cycle",
            "How long one of Kueue's admission cycles takes. The next one begins "
            "after it; each tries one head per ClusterQueue.",
        ),
    ] = INSTANT
    admission: Annotated[
        str,
        _span(
            "Admission",
            "How much longer a cycle takes that admits: quota is assumed and written.",
        ),
    ] = INSTANT
    reactivation: Annotated[
        str,
        _span(
            "Re-activation",
            "From the release of quota until inadmissible workloads are tried again: "
            "Kueue collects such requests for a second.",
        ),
    ] = INSTANT
    job_start: Annotated[
        str,
        _span(
            "Start of a Job",
            "From the admission until the Job is resumed and its pods exist.",
        ),
    ] = INSTANT
    pod_start: Annotated[
        str,
        _span(
            "Start of a pod",
            "From the binding to a node until the pod runs and is ready (images, "
            "volumes, probes).",
        ),
    ] = INSTANT
    readiness: Annotated[
        str,
        _span(
            "Readiness seen",
            "From the last pod's readiness until the Workload says PodsReady.",
        ),
    ] = INSTANT
    completion: Annotated[
        str,
        _span(
            "Completion seen",
            "From the end of the last pod until the Workload is Finished and its "
            "quota is free.",
        ),
    ] = INSTANT
    suspension: Annotated[
        str,
        _span(
            "Suspension",
            "From the eviction of a Workload until its Job is suspended and its pods "
            "are deleted.",
        ),
    ] = INSTANT
    termination: Annotated[
        str,
        _span(
            "Termination of a pod",
            "How long a deleted pod takes to end; never longer than its "
            "terminationGracePeriodSeconds. Its node is full until then.",
        ),
    ] = INSTANT
    release: Annotated[
        str,
        _span(
            "Release of quota",
            "From the end of an evicted Workload's last pod until its quota is "
            "taken away and it is queued again.",
        ),
    ] = INSTANT


def read_latencies(latencies: Latencies) -> dict[str, Span]:
    """Return the length of every step that takes time.

    Raises PolicyError that names the field of a length that cannot be read.
    """
    found = {}
    for info in msgspec.structs.fields(Latencies):
        try:
            span = read_span(getattr(latencies, info.name))
        except QuantityError as error:
            place = f"simulation.latencies.{info.encode_name}"
            raise PolicyError(in_field(place, error.said), "policy") from error
        if not span.zero:
            found[info.name] = span
    return found


#: Near what a control plane with little else to do takes (docs/benchmarks.md).
USUAL = Latencies(
    workload_creation="exp(350ms)",
    scheduling_cycle="350ms",
    admission="50ms",
    reactivation="1s",
    job_start="exp(450ms)",
    pod_start="uniform(1200ms,3200ms)",
    readiness="uniform(400ms,1800ms)",
    completion="uniform(500ms,2400ms)",
    suspension="exp(550ms)",
    termination="uniform(400ms,1600ms)",
    release="exp(900ms)",
)
