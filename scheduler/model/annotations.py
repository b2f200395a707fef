"""Annotations of Jobs, Pods, Workloads and PodGroups: ours say when they come and go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from scheduler.model.amounts import canonical
from scheduler.model.durations import Span, read_span
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Form, Wanted, expected

PREFIX = "quotalab.dev/"
ARRIVAL = PREFIX + "arrival"
RUNTIME = PREFIX + "runtime"
READY_AFTER = PREFIX + "ready-after"
FAILS_AFTER = PREFIX + "fails-after"
RECREATE = PREFIX + "recreate"
GANG = PREFIX + "gang"
CHECKPOINT_EVERY = PREFIX + "checkpoint-every"
RESTART_TAKES = PREFIX + "restart-takes"
#: Of a pod: what it uses, where that is not what it asked for.
USES = PREFIX + "uses"
#: Of a node: what is taken by what is no pod.
TAKEN = PREFIX + "taken"
#: The worker cluster that an object lives in; without it, the manager.
CLUSTER = PREFIX + "cluster"
#: Of a MutatingWebhookConfiguration: the `spec.schedulerName` that its webhooks give.
SETS_SCHEDULER_NAME = PREFIX + "sets-scheduler-name"
#: Kueue's own: who keeps a job, or its Workload, out of the queue.
ADMISSION_GATED_BY = "kueue.x-k8s.io/admission-gated-by"
PRIORITY_BOOST = "kueue.x-k8s.io/priority-boost"
MAX_EXECUTION = "kueue.x-k8s.io/max-exec-time-seconds"
#: What an importer took the run time from; for people.
RUNTIME_SOURCE = PREFIX + "runtime-source"
#: Such a source: the limit of what it may take, which no guess exceeds.
FROM_DEADLINE = "its deadline"
FROM_COMMAND = "its command"
KNOWN = (
    ARRIVAL,
    RUNTIME,
    READY_AFTER,
    FAILS_AFTER,
    RECREATE,
    GANG,
    CHECKPOINT_EVERY,
    RESTART_TAKES,
    USES,
    TAKEN,
    RUNTIME_SOURCE,
    CLUSTER,
    SETS_SCHEDULER_NAME,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What the annotations of one object say; None means not given."""

    arrival: Span | None = None
    runtime: Span | None = None
    ready_after: Span | None = None
    fails_after: Span | None = None
    checkpoint_every: Span | None = None  # of work done
    restart_takes: Span | None = None  # before work goes on in a later attempt
    recreate: bool = False
    gang: bool = False  # its pods work together


NONE = Timing()


def read_timing(annotations: Mapping[str, str]) -> Timing:
    """Return the timing of one object.

    Raises QuantityError naming the annotation: an unknown key of ours, or a
    value that is not a span.
    """
    ours = tuple([item for item in annotations.items() if item[0].startswith(PREFIX)])
    return _read(ours) if ours else NONE


@lru_cache(maxsize=4096)
def _read(given: tuple[tuple[str, str], ...]) -> Timing:
    """Read annotations of ours; an object's are asked for at each of its steps."""
    ours = dict(given)
    unknown = sorted(set(ours) - set(KNOWN))
    if unknown:
        known = ", ".join(KNOWN)
        raise QuantityError(Form.THIS_ANNOTATION.said(name=unknown[0], known=known))
    for name in (USES, TAKEN):
        read_amounts(ours.get(name, ""), name)
    return Timing(
        arrival=_span(ours, ARRIVAL),
        runtime=_span(ours, RUNTIME),
        ready_after=_span(ours, READY_AFTER),
        fails_after=_span(ours, FAILS_AFTER),
        checkpoint_every=_span(ours, CHECKPOINT_EVERY),
        restart_takes=_span(ours, RESTART_TAKES),
        recreate=_flag(ours, RECREATE),
        gang=_flag(ours, GANG),
    )


@lru_cache(maxsize=4096)
def read_amounts(text: str, name: str = "") -> dict[str, int]:
    """Return amounts in canonical units of a text like "memory=3Gi,pid=200".

    The dict is shared: copy it before you change it. Raises QuantityError naming the annotation.
    """
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        resource, sign, amount = (word.strip() for word in part.partition("="))
        if not resource or not sign:
            raise QuantityError(expected(Wanted.AMOUNTS, part), name)
        try:
            found[resource] = canonical(resource, amount)
        except QuantityError as error:
            raise QuantityError(error.said, name) from error
    return found


def _span(ours: Mapping[str, str], name: str) -> Span | None:
    if name not in ours:
        return None
    try:
        return read_span(ours[name])
    except QuantityError as error:
        raise QuantityError(error.said, name) from error


def _flag(ours: Mapping[str, str], name: str) -> bool:
    value = ours.get(name, "false")
    if value not in ("true", "false"):
        raise QuantityError(expected(Wanted.QUOTED_FLAG, value), name)
    return value == "true"
