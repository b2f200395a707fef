"""Workload documents and stored status into WorkloadInfo, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler.engine.kueue.workload.families import PARENT, allowed_flavors, parent_of
from scheduler.engine.kueue.workload.info import (
    NO_CHECKS,
    NO_COUNTS,
    NO_EVICTIONS,
    TOLD,
    WorkloadInfo,
)
from scheduler.engine.kueue.workload.status_records import Condition, LastAssignment
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import (
    ADMISSION_GATED_BY,
    MAX_EXECUTION,
    PRIORITY_BOOST,
)
from scheduler.model.kueue.check_answers import read_gates
from scheduler.model.kueue.check_answers import written as written_gates
from scheduler.model.kueue.check_state import (
    READY,
    REJECTED,
    RETRY,
    States,
    read_states,
    written,
)
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates
from scheduler.model.kueue.slices import is_elastic, replaced_slice
from scheduler.model.objects import Object
from scheduler.model.quota import ClusterQueueSpec
from scheduler.model.reasons import ADMISSION_CHECK, EVICTED, PODS_READY_TIMEOUT
from scheduler.model.workload import Admission, Catalogue, read_admission

Manifest = Mapping[str, Any]

JOB_UID = "kueue.x-k8s.io/job-uid"
#: What the engine writes into status; anything else there is left as it is.
STATUS_FIELDS = (
    "accumulatedPastExecutionTimeSeconds",
    "admission",
    "admissionChecks",
    "conditions",
    "preemptionGates",
    "reclaimablePods",
    "requeueState",
    "schedulingStats",
    "unhealthyNodes",
)
PLAIN_NUMBER = re.compile("[+-]?[0-9]{1,10}")


def update_from_document(
    work: WorkloadInfo,
    obj: Object,
    catalogue: Catalogue,
    gates: FeatureGates = DEFAULT_FEATURE_GATES,
) -> None:
    """Take what the document says; raises QuantityError for bad requests."""
    spec, metadata = obj.spec, obj.metadata
    work.pod_set_specs = spec.get("podSets") or ()
    work.pod_sets = catalogue.pod_sets(work.pod_set_specs, work.namespace)
    work.uid = obj.uid
    if work.series == TOLD:
        work.series = 0  # of another version
    work.generation = int(metadata.get("generation") or 0)
    work.priority = int(spec.get("priority") or 0)
    if gates.priority_boost:
        work.priority += priority_boost(obj)
    if spec.get("preemptionGates") or work.preemption_gates:
        names, work.gate_states = read_gates(spec, obj.status)
        counted = gates.preemption_gates or gates.concurrent_admission
        work.preemption_gates = names if counted else ()
    if gates.concurrent_admission:
        work.parent, work.allowed_flavors = parent_of(obj), allowed_flavors(obj)
        work.is_parent = work.is_parent or obj.labels.get(PARENT) == "true"
    work.local_queue_name = spec.get("queueName") or ""
    work.active = spec.get("active") is not False
    gated = obj.annotations.get(ADMISSION_GATED_BY) or ""
    work.gated = gated if gates.gated_jobs else ""
    work.job_uid = obj.labels.get(JOB_UID, "")
    work.elastic = is_elastic(obj)
    work.replaces = replaced_slice(obj)
    owners = list(metadata.get("ownerReferences") or [])
    work.owned_by_pod = len(owners) == 1 and owners[0].get("kind") == "Pod"
    work.max_execution_s = _seconds(spec, obj.labels)
    created = metadata.get("creationTimestamp")
    work.created_us = durations.stamp_or_none(created) or 0
    work.reclaimable = read_reclaimable(obj.status) or NO_COUNTS


def priority_boost(obj: Object) -> int:
    """Return what a Workload's annotation adds to its priority; 0 for no number.

    Source: docs/semantics/kueue.md#priority-boost.
    """
    given = obj.annotations.get(PRIORITY_BOOST) or ""
    return int(given) if PLAIN_NUMBER.fullmatch(given) else 0


def _seconds(spec: Manifest, labels: Mapping[str, str]) -> int | None:
    given = spec.get("maximumExecutionTimeSeconds")
    label = labels.get(MAX_EXECUTION, "")
    if given is None and is_whole(label):
        given = int(label)
    return int(given) if given else None


def read_reclaimable(status: Manifest) -> dict[str, int]:
    """Return the reclaimable pods per podset."""
    return {
        item["name"]: int(item.get("count") or 0)
        for item in status.get("reclaimablePods") or ()
    }


def update_from_status(work: WorkloadInfo, status: Manifest) -> None:
    """Take a stored status: conditions, admission, requeue state, counters."""
    work.conditions = {
        item["type"]: _condition(item) for item in status.get("conditions") or ()
    }
    counts = {part.name: part.count for part in work.pod_sets}
    work.admission = read_admission(status.get("admission"), counts)
    work.unhealthy_nodes = tuple(
        item["name"] for item in status.get("unhealthyNodes") or ()
    )
    work.checks = read_states(status.get("admissionChecks")) or NO_CHECKS
    requeue = status.get("requeueState") or {}
    work.requeue_count = int(requeue.get("count") or 0)
    at = requeue.get("requeueAt")
    work.requeue_at_us = durations.stamp_or_none(at)
    work.accumulated_s = int(status.get("accumulatedPastExecutionTimeSeconds") or 0)
    work.evictions = {
        (item.get("reason", ""), item.get("underlyingCause", "")): item["count"]
        for item in (status.get("schedulingStats") or {}).get("evictions") or ()
    } or NO_EVICTIONS


def _condition(item: Manifest) -> Condition:
    since = item.get("lastTransitionTime")
    return Condition(
        status=item.get("status") == "True",
        reason=item.get("reason") or "",
        message=item.get("message") or "",
        since_us=durations.stamp_or_none(since) or 0,
        generation=int(item.get("observedGeneration") or 0),
    )


def queue_order_timestamp(work: WorkloadInfo, *, by_eviction: bool) -> int:
    """Return the timestamp by which a workload queues.

    Source: docs/semantics/kueue.md#queue-order-timestamp.
    """
    evicted = work.conditions.get(EVICTED)
    if evicted is not None and evicted.status:
        if evicted.reason == PODS_READY_TIMEOUT and by_eviction:
            return evicted.since_us
        if evicted.reason == ADMISSION_CHECK:
            return evicted.since_us
    return work.created_us


def status_of(work: WorkloadInfo) -> dict[str, Any]:
    """Return status as the API shows it."""
    status: dict[str, Any] = {}
    if work.admission is not None and (work.reserved or work.finished):
        status["admission"] = work.admission.document()
    if work.conditions:
        status["conditions"] = [
            _written(kind, condition) for kind, condition in work.conditions.items()
        ]
    if work.checks:
        status["admissionChecks"] = written(work.checks)
    if work.gate_states:
        status["preemptionGates"] = written_gates(work.gate_states)
    if work.reclaimable:
        status["reclaimablePods"] = [
            {"name": name, "count": count} for name, count in work.reclaimable.items()
        ]
    if work.requeue_count or work.requeue_at_us is not None:
        status["requeueState"] = _requeue_state(work)
    if work.accumulated_s:
        status["accumulatedPastExecutionTimeSeconds"] = work.accumulated_s
    if work.unhealthy_nodes:
        status["unhealthyNodes"] = [{"name": name} for name in work.unhealthy_nodes]
    if work.evictions:
        status["schedulingStats"] = {"evictions": _evictions(work)}
    return status


def _written(kind: str, condition: Condition) -> dict[str, Any]:
    written: dict[str, Any] = {
        "type": kind,
        "status": "True" if condition.status else "False",
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": durations.stamp_text(condition.since_us),
    }
    if condition.generation:
        written["observedGeneration"] = condition.generation
    return written


def _requeue_state(work: WorkloadInfo) -> dict[str, Any]:
    state: dict[str, Any] = {"count": work.requeue_count}
    if work.requeue_at_us is not None:
        state["requeueAt"] = durations.stamp_text(work.requeue_at_us)
    return state


def _evictions(work: WorkloadInfo) -> list[dict[str, Any]]:
    return [
        {"reason": reason, "underlyingCause": cause, "count": count}
        for (reason, cause), count in sorted(work.evictions.items())
    ]


def dump_state(work: WorkloadInfo) -> dict[str, Any]:
    """Return what the status does not say: where it waits and where a search stopped."""
    state: dict[str, Any] = {}
    if (
        work.pending_queue is not None
        and work in work.pending_queue.inadmissible_workloads
    ):
        state["alone"] = True
    if work.pods_ready:
        state["ready"] = True
    if work.unseen:
        state["unseen"] = True
    if work.series:
        state["series"] = work.series
    if work.second_pass_us is not None:
        state["secondPass"] = [work.second_pass_us, work.second_pass_tries]
    if work.last_assignment is not None:
        state["tried"] = [dict(part) for part in work.last_assignment.tried_flavors]
        state["cycle"] = work.last_assignment.cycle
        state["generation"] = work.last_assignment.generation
        state["identity"] = work.last_assignment.scheduling_hash
    return state


def load_state(work: WorkloadInfo, state: Mapping[str, Any]) -> None:
    """Take back what `dump_state` returned, but for the place in the queue."""
    work.pods_ready = bool(state.get("ready"))
    work.unseen = bool(state.get("unseen"))
    work.series = state.get("series", 0)
    if "secondPass" in state:
        work.second_pass_us, work.second_pass_tries = state["secondPass"]
    if "tried" in state:
        work.last_assignment = LastAssignment(
            tried_flavors=tuple(dict(part) for part in state["tried"]),
            cycle=state["cycle"],
            generation=state["generation"],
            scheduling_hash=state["identity"],
        )


# ------------------------------------------------------------------------
# Which admission checks a workload needs, and whether they are met.


#: Where a podset's delayedTopologyRequest stands.
PENDING_TOPOLOGY, READY_TOPOLOGY = "Pending", "Ready"


class Delays(NamedTuple):
    """Flavors that are placed in a second pass; whether another cluster places."""

    flavors: frozenset[str] = frozenset()
    elsewhere: bool = False


def required_checks(spec: ClusterQueueSpec, admission: Admission | None) -> list[str]:
    """Return the names of the checks needed, in order.

    With an admission those of its flavors; before it those of all flavors.
    """
    if not spec.checks:
        return []
    if admission is None:
        every = {name for group in spec.groups for name in group.flavors}
        return [check.name for check in spec.checks if every <= check.flavors]
    assigned = {
        flavor for part in admission.pod_sets for flavor in part.flavors.values()
    }
    return [
        check.name for check in spec.checks if not check.flavors.isdisjoint(assigned)
    ]


def all_ready(states: States) -> bool:
    """Return whether every listed check is ready; true for none."""
    return all(check.state == READY for check in states.values())


def waits_for_places(states: States, admission: Admission | None) -> bool:
    """Return whether all checks are ready and podsets are still to be placed.

    Source: docs/semantics/kueue-topology.md#delayed-assignments.
    """
    return (
        admission is not None
        and any(part.delayed == PENDING_TOPOLOGY for part in admission.pod_sets)
        and bool(states)
        and all_ready(states)
    )


def failed(states: States) -> bool:
    """Return whether a check says Retry or Rejected."""
    return any(check.state in (RETRY, REJECTED) for check in states.values())
