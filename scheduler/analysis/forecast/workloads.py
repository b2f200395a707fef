"""Workloads of a world as forecasts compare them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler.analysis.forecast.run_times import WorkloadProfile
from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.world import World
from scheduler.input.manifests.dumps.run_times import ended_seconds
from scheduler.model import durations
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import is_true, true_condition

_COUNTER = re.compile(r"([-_.]?[0-9]+)+$")


def work_of(world: World, obj: Object) -> WorkloadProfile:
    """Return the class of a run time: owner without its counter, user, size.

    The user is the label `user` of the Workload, else its namespace. A job that has
    not come yet is compared as its Workload would be.
    """
    spec = obj.spec
    labels = obj.metadata.get("labels") or {}
    limit = spec.get("maximumExecutionTimeSeconds")
    return WorkloadProfile(
        ident=_ident(obj),
        submit_ms=created_ms(world, obj),
        size=_size(spec),
        queue=queue_of(obj),
        user=str(labels.get("user") or obj.key.namespace),
        family=_family(obj),
        limit_ms=None if limit is None else 1000 * int(limit),
    )


def queue_of(obj: Object) -> str:
    """Return the LocalQueue of a Workload or a job, with its namespace."""
    name = obj.spec.get("queueName") or obj.labels.get(QUEUE) or ""
    return f"{obj.key.namespace}/{name}"


def created_ms(world: World, obj: Object) -> int:
    """Return when it was created, in virtual ms; below 0 is before the world began."""
    return _ms(world, obj.metadata.get("creationTimestamp"))


def waits(obj: Object) -> bool:
    """Return whether it is a Workload that may still be admitted."""
    if obj.key.kind != "Workload" or obj.spec.get("active") is False:
        return False
    if is_variant(obj):
        return False  # its parent is admitted as it is
    return not is_true(obj.status, "Admitted") and not is_true(obj.status, "Finished")


def finished_run_ms(world: World, obj: Object) -> tuple[int, int] | None:
    """Return when a Workload finished and how long it ran (ms); None if it did not."""
    finished = true_condition(obj.status, "Finished")
    begun = true_condition(obj.status, "PodsReady") or true_condition(
        obj.status, "Admitted"
    )
    if finished is None or begun is None or is_variant(obj):
        return None
    end = _ms(world, finished.get("lastTransitionTime"))
    return end, max(end - _ms(world, begun.get("lastTransitionTime")), 1)


def finished_job_ms(world: World, obj: Object) -> tuple[int, int] | None:
    """Return when a Job was over and how long it ran (ms); None of any other."""
    seconds = ended_seconds(obj)
    if seconds is None:
        return None
    start = _ms(world, obj.status.get("startTime"))
    return start + round(1000 * seconds), max(round(1000 * seconds), 1)


def jobs_with_workloads(world: World) -> set[tuple[str, str]]:
    """Return namespace and uid of what owns a Workload."""
    return {
        (key.namespace, str(owner.get("uid") or ""))
        for key, obj in world.objects.items()
        if key.kind == "Workload"
        for owner in obj.metadata.get("ownerReferences") or ()
    }


def waited_ms(world: World, obj: Object) -> tuple[int, int] | None:
    """Return when a Workload was admitted last and how long it had waited (ms)."""
    admitted = true_condition(obj.status, "Admitted")
    if admitted is None or is_variant(obj):
        return None
    at = _ms(world, admitted.get("lastTransitionTime"))
    return at, max(at - created_ms(world, obj), 0)


def elapsed_ms(world: World, key: Key) -> int | None:
    """Return how long a Workload runs, from the readiness of its pods; None if not."""
    run = world.lifetime.runs.get(key)
    if run is None or not run.active or run.ready_ms is None or run.ends_ms is None:
        return None
    return max(world.context.now_ms - run.ready_ms, 0)


def _size(spec: Mapping[str, Any]) -> int:
    parts = spec.get("podSets")
    if parts is None:
        return int(spec.get("parallelism") or 1)
    return sum(int(part.get("count", 1)) for part in parts)


def _family(obj: Object) -> str:
    owners: list[dict[str, Any]] = obj.metadata.get("ownerReferences") or []
    itself = {"kind": obj.key.kind, "name": obj.key.name}
    owner = owners[0] if owners else itself
    stem = _COUNTER.sub("", str(owner.get("name")))
    return f"{owner.get('kind')}/{stem}"


def _ident(obj: Object) -> int:
    """Return a number of its own, from its name."""
    return int.from_bytes(str(obj.key).encode(), "big")


def _ms(world: World, stamp: object) -> int:
    return world.context.ms(durations.stamp_us(str(stamp))) if stamp else 0
