"""Status of queues and cohorts as the API shows it, rendered on demand.

Writers return what the engine keeps for itself beside the status.
Source: the status of ClusterQueue, LocalQueue and Cohort,
<https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scheduler.engine.kueue.cache.cluster import COHORT_CYCLE, TERMINATING, Cluster
from scheduler.engine.kueue.tree.quota import weighted_share
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    FlavorResource,
    PendingWorkloads,
)
from scheduler.engine.kueue.usage.decay import NANO, Usage
from scheduler.engine.kueue.usage.ledger import UsageEntry
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.model import durations
from scheduler.model.amounts import decimal_si, parse, text_of
from scheduler.model.objects import Object
from scheduler.model.reasons import (
    ACTIVE,
    CAN_ADMIT,
    CAN_SUBMIT,
    CANNOT_ADMIT,
    CANNOT_SUBMIT,
    LOCAL_IS_STOPPED,
    NO_SUCH_QUEUE,
)

Status = dict[str, Any]
State = dict[str, Any]
Verdict = tuple[bool, str, str]  # active, reason, message


def active_since(status: Mapping[str, Any]) -> int | None:
    """Return when a stored Active condition last flipped, negated if it is False."""
    for condition in status.get("conditions") or ():
        since = durations.stamp_or_none(condition.get("lastTransitionTime"))
        if condition.get("type") == ACTIVE and since is not None:
            return since if condition.get("status") == "True" else -since
    return None


def note_activity(cluster: Cluster, now_us: int) -> Iterator[ClusterQueue | LocalQueue]:
    """Note when queues began or ceased to admit, and yield these; asked after edits.

    Noted as it happens and not when a status is written, so that it does not
    depend on when somebody looks.
    """
    for queue in cluster.forest.queues.values():
        active = queue_verdict(cluster, queue)[0]
        if _flipped(queue.active_since_us, active):
            queue.active_since_us = now_us if active else -now_us
            yield queue
    for local_queue in cluster.local_queues.values():
        active = _local_queue_verdict(cluster, local_queue)[0]
        if local_queue.spec is not None and _flipped(
            local_queue.active_since_us, active
        ):
            local_queue.active_since_us = now_us if active else -now_us
            yield local_queue


def _flipped(known: int | None, active: bool) -> bool:
    return known is None or (known >= 0) is not active


def _active(known: int | None, verdict: Verdict, obj: Object, now_us: int) -> Status:
    """Return the Active condition; its time moves only when it flips."""
    active, reason, message = verdict
    same = known is not None and (known >= 0) == active
    since = abs(known) if known is not None and same else now_us
    return {
        "type": ACTIVE,
        "status": "True" if active else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": durations.stamp_text(since),
        "observedGeneration": int(obj.metadata.get("generation") or 0),
    }


# ---- ClusterQueue ----


def write_queue(cluster: Cluster, obj: Object, now_us: int) -> State:
    """Write the status of a ClusterQueue."""
    queue = cluster.forest.queues.get(obj.key.name)
    if queue is None:
        return {}
    condition = _active(
        queue.active_since_us, queue_verdict(cluster, queue), obj, now_us
    )
    unadmitted = list(queue.admitted.unadmitted)
    # An older release says nothing more of one that is being deleted.
    if cluster.settings.terminating_status or not queue.spec.going:
        obj.status = {
            "conditions": [condition],
            "flavorsReservation": _queue_usage(queue, ()),
            "flavorsUsage": _queue_usage(queue, unadmitted),
            "pendingWorkloads": _pending(queue.pending),
            "reservingWorkloads": len(queue.admitted.workloads),
            "admittedWorkloads": len(queue.admitted.workloads) - len(unadmitted),
        }
        if cluster.settings.fair:
            obj.status["fairSharing"] = {"weightedShare": weighted_share(queue)}
    state: State = {"generation": queue.generation}
    if queue.pending.failed_hashes:
        state["remembered"] = dict(sorted(queue.pending.failed_hashes.items()))
    if queue.pending.preemptor is not None:
        state["sticky"] = list(queue.pending.preemptor.key)
    if queue.pending.heard_us == now_us and queue.pending.heard():
        state["heard"] = now_us
    if queue.pending.shown is not None:
        state["shown"] = queue.pending.shown
        state["holds"] = queue.pending.heard()
        state["told"] = queue.pending.told
    return state


def _pending(pending: PendingWorkloads) -> int:
    """Return how many wait, as far as the queue has heard."""
    return pending.heard() if pending.shown is None else pending.shown


def queue_verdict(cluster: Cluster, queue: ClusterQueue) -> Verdict:
    """Return whether a ClusterQueue says that it admits, with reason and sentence.

    Of a loop of cohorts above it, which keeps it from admitting, it says nothing; in an
    older release nothing of its own deletion either.
    Source: docs/semantics/kueue.md#active-clusterqueues.
    """
    unsaid = {COHORT_CYCLE}
    if not cluster.settings.terminating_status:
        unsaid.add(TERMINATING)
    problems = [
        (reason, sentence)
        for reason, sentence in ([] if queue.active else cluster.problems(queue))
        if reason not in unsaid
    ]
    if not problems:
        return True, "Ready", CAN_ADMIT
    reason = problems[0][0]
    if reason == TERMINATING:
        return False, reason, f"{CANNOT_ADMIT}; {problems[0][1]}"
    sentences = ", ".join(sentence for _, sentence in problems)
    return False, reason, f"{CANNOT_ADMIT}: {sentences}."


def _queue_usage(queue: ClusterQueue, without: Iterable[WorkloadInfo]) -> list[Status]:
    less: dict[tuple[str, str], int] = {}
    for work in without:
        for resource_node, amount in work.usage:
            less[resource_node.flavor_resource] = (
                less.get(resource_node.flavor_resource, 0) + amount
            )
    return [
        {
            "name": flavor,
            "resources": [
                _flavor_usage(queue, (flavor, resource), less)
                for resource in group.resources
            ],
        }
        for group in queue.spec.groups
        for flavor in group.flavors
    ]


def _flavor_usage(
    queue: ClusterQueue,
    flavor_resource: tuple[str, str],
    less: Mapping[tuple[str, str], int],
) -> Status:
    resource_node, resource = queue.resource_nodes[flavor_resource], flavor_resource[1]
    used = resource_node.usage - less.get(flavor_resource, 0)
    borrowed = max(0, used - resource_node.nominal) if queue.parent is not None else 0
    return {
        "name": resource,
        "total": text_of(resource, used),
        "borrowed": text_of(resource, borrowed),
    }


# ---- LocalQueue ----


def write_local_queue(cluster: Cluster, obj: Object, now_us: int) -> State:
    """Write the status of a LocalQueue."""
    local_queue = cluster.local_queue(obj.key.namespace, obj.key.name)
    condition = _active(
        local_queue.active_since_us,
        _local_queue_verdict(cluster, local_queue),
        obj,
        now_us,
    )
    obj.status = {
        "conditions": [condition],
        "pendingWorkloads": _pending_in(cluster, local_queue),
        "reservingWorkloads": local_queue.reserving,
        "admittedWorkloads": local_queue.admitted,
        "flavorsReservation": _usage(cluster, local_queue, local_queue.usage),
        "flavorsUsage": _usage(cluster, local_queue, local_queue.admitted_usage),
    }
    ledger = cluster.ledger
    if ledger is None:
        return {}
    entry = ledger.entries.get(local_queue)
    if entry is not None and entry.shown_us is not None:
        obj.status["fairSharing"] = _consumed(entry)
    return ledger.dump(local_queue)


def _pending_in(cluster: Cluster, local_queue: LocalQueue) -> int:
    """Return how many wait in a LocalQueue, as its ClusterQueue counts them."""
    spec = local_queue.spec
    queue = cluster.forest.queues.get(spec.queue) if spec is not None else None
    unseen = queue.pending.unseen if queue is not None else ()
    less = sum(work.local_queue is local_queue for work in unseen)
    return local_queue.pending - less + _stranded(cluster, local_queue)


def _stranded(cluster: Cluster, local_queue: LocalQueue) -> int:
    """Return how many wait in a LocalQueue whose ClusterQueue does not exist."""
    spec = local_queue.spec
    if spec is None or spec.stop != "None" or spec.queue in cluster.forest.queues:
        return 0
    return sum(
        not work.finished and not work.reserved and work.active and not work.gated
        for work in local_queue.workloads
    )


def _consumed(entry: UsageEntry) -> Status:
    """Return status.fairSharing: what the last sampling found.

    Source: docs/semantics/kueue-admission-fair-sharing.md#status.
    """
    assert entry.shown_us is not None
    return {
        "weightedShare": 0,
        "admissionFairSharingStatus": {
            "consumedResources": {
                name: decimal_si(amount, exponent=-9)
                for name, amount in sorted(entry.shown.items())
            },
            "lastUpdate": durations.stamp_text(entry.shown_us // 1_000_000 * 1_000_000),
        },
    }


def consumed_resources(status: Mapping[str, Any]) -> Usage:
    """Return what a status says was consumed, in billionths."""
    sharing = status.get("fairSharing") or {}
    given = (sharing.get("admissionFairSharingStatus") or {}).get("consumedResources")
    return {name: int(parse(text) * NANO) for name, text in (given or {}).items()}


def _local_queue_verdict(cluster: Cluster, local_queue: LocalQueue) -> Verdict:
    if local_queue.spec is None or local_queue.spec.stop != "None":
        return False, "Stopped", LOCAL_IS_STOPPED
    queue = cluster.forest.queues.get(local_queue.spec.queue)
    if queue is None:
        return False, "ClusterQueueDoesNotExist", NO_SUCH_QUEUE
    if not queue_verdict(cluster, queue)[0]:
        return False, "ClusterQueueIsInactive", CANNOT_SUBMIT
    return True, "Ready", CAN_SUBMIT


def _usage(
    cluster: Cluster, local_queue: LocalQueue, usage: Mapping[FlavorResource, int]
) -> list[Status]:
    queue = (
        cluster.forest.queues.get(local_queue.spec.queue) if local_queue.spec else None
    )
    if queue is None:
        return []
    return [
        {
            "name": flavor,
            "resources": [
                {
                    "name": resource,
                    "total": text_of(resource, usage.get((flavor, resource), 0)),
                }
                for resource in group.resources
            ],
        }
        for group in queue.spec.groups
        for flavor in group.flavors
    ]


# ---- Cohort ----


def write_cohort(cluster: Cluster, obj: Object, now_us: int) -> State:
    """Write the status of a Cohort: its weighted share."""
    cohort = cluster.forest.cohorts.get(obj.key.name)
    if cohort is not None and cluster.settings.fair:
        obj.status = {"fairSharing": {"weightedShare": weighted_share(cohort)}}
    else:
        obj.status = {}
    return {}


Writer = Callable[[Cluster, Object, int], State]
WRITERS: dict[str, Writer] = {
    "ClusterQueue": write_queue,
    "LocalQueue": write_local_queue,
    "Cohort": write_cohort,
}
