"""Condition types, reasons and sentences of Kueue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

QUOTA_RESERVED = "QuotaReserved"
ADMITTED = "Admitted"
EVICTED = "Evicted"
PREEMPTED = "Preempted"
REQUEUED = "Requeued"
FINISHED = "Finished"
PODS_READY = "PodsReady"
APPLICATION_REJECTED = "ApplicationRejected"  # YuniKorn's, of a pod
RESERVATION_TIMEOUT = "ResourceReservationTimeout"  # YuniKorn's, of a pod
#: YuniKorn's reasons of a pod that it ends before it has a place.
REFUSED = frozenset({APPLICATION_REJECTED, RESERVATION_TIMEOUT})
DEACTIVATION_TARGET = "DeactivationTarget"
BLOCKED_ON_GATES = "BlockedOnPreemptionGates"

#: The event of a job for which no Workload can be made.
NO_WORKLOAD = "ErrWorkloadCompose"

IN_CLUSTER_QUEUE = "InClusterQueue"
IN_COHORT_RECLAMATION = "InCohortReclamation"
IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"

#: Why a preemption happens, as the victim's message says it.
#: Source: docs/semantics/kueue-lifecycle.md#preemption-message.
WHY = {
    IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    IN_COHORT_RECLAMATION: "reclamation within the cohort",
    IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
}

# Why a workload has no quota (QuotaReserved=False).
# Source: docs/semantics/kueue-lifecycle.md#why-a-workload-has-no-quota.
WAITING_FOR_QUOTA = "WaitingForQuota"
EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
NO_MATCHING_FLAVOR = "NoMatchingFlavor"
TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
WAITING_FOR_PREEMPTED = "WaitingForPreemptedWorkloads"
WAITING_FOR_PODS_READY = "WaitingForPodsReady"
SUSPENDED = "Suspended"
MISCONFIGURED = "Misconfigured"
PENDING_EVALUATION = "PendingEvaluation"
DEACTIVATED = "Deactivated"
ADMISSION_GATED = "AdmissionGated"

#: Where the message of an eviction names who it made room for.
PREEMPTOR_UID = re.compile(r"\(UID: ([^,)]+)")

NO_LONGER_FITS = "Workload no longer fits after processing another workload"
OVERLAPPING = "Workload has overlapping preemption targets with another workload"
OVERLAPPING_FITS = OVERLAPPING + ", but will fit after these preemptions complete"
WRONG_NAMESPACE = "workload namespace doesn't match ClusterQueue selector"
ABOVE_LIMITS = "resources validation failed"
OUTSIDE_LIMIT_RANGES = "resources didn't satisfy LimitRange constraints"
WAITING_FOR_ALL = "waiting for all admitted workloads to be in PodsReady condition"


def held_by_proposal(name: str, until: str) -> str:
    """Return the message of a Workload that fits and that a proposal holds."""
    return f'held by the proposal "{name}"' + (f" until {until}" if until else "")


STILL_IN_QUEUE = "Workload is pending evaluation in the scheduling queue"
BYPASSED = (
    "Bypassed scheduling evaluation because an equivalent workload recently failed"
)


#: Source: docs/semantics/kueue.md#preemption-gates.
PREEMPTION_GATED = "PreemptionGated"
GATED_SENTENCE = "Workload requires preemption, but it's gated"


#: In the message of a Workload that waits for its victims, whatever its reason.
PENDING_PREEMPTION = "Pending the preemption of"


def pending_preemption(message: str, count: int) -> str:
    """Return the message of a preemptor that waits."""
    return f"{message}. {PENDING_PREEMPTION} {count} workload(s)"


def reserved_in(queue: str) -> str:
    """Return the sentence of QuotaReserved=True."""
    return f"Quota reserved in ClusterQueue {queue}"


def admitted_by(queue: str, waited_us: int) -> str:
    """Return the sentence of an admission after its checks."""
    seconds = (waited_us + 500_000) // 1_000_000
    return (
        f"Admitted by ClusterQueue {queue}, wait time since reservation was {seconds}s"
    )


def preempted_for(uid: str, job_uid: str, reason: str, ours: str, theirs: str) -> str:
    """Return the sentence of a victim; paths lead from the root to the queues.

    Source: docs/semantics/kueue-lifecycle.md#preemption-message.
    """
    return (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: "
        f"{job_uid or 'UNKNOWN'}) due to {WHY[reason]}; "
        f"preemptor path: {ours}; preemptee path: {theirs}"
    )


# Why a workload is evicted. Source: docs/semantics/kueue-lifecycle.md#eviction-reasons.
PODS_READY_TIMEOUT = "PodsReadyTimeout"
ADMISSION_CHECK = "AdmissionCheck"
CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
NODE_FAILURES = "NodeFailures"
NODE_REPLACED = "NodeReplaced"
DEACTIVATED_DUE_TO = "DeactivatedDueTo"

#: Evicted for these, a workload goes straight back to its queue.
#: Source: docs/semantics/kueue-lifecycle.md#two-steps-of-an-eviction.
REQUEUED_AT_ONCE = (PREEMPTED, NODE_FAILURES)

ADMITTED_SENTENCE = "The workload is admitted"
UNSATISFIED_CHECKS = "UnsatisfiedAdmissionChecks"
NOT_ALL_CHECKS_READY = "The workload has not all checks ready"
DELAYED_TOPOLOGY = "PendingDelayedTopologyRequests"
DELAYED_SENTENCE = "There are pending delayed topology requests"
FAILED_CHECKS = "The workload has failed admission checks"
NO_RESERVATION = "NoReservation"
NO_RESERVATION_SENTENCE = "The workload has no reservation"
DEACTIVATED_SENTENCE = "The workload is deactivated"
QUEUE_STOPPED_SENTENCE = "The ClusterQueue is stopped"
LOCAL_STOPPED_SENTENCE = "The LocalQueue is stopped"

# Why a workload may be tried again (Requeued=True).
# Source: docs/semantics/kueue-lifecycle.md#eviction.
CLUSTER_QUEUE_RESTARTED = "ClusterQueueRestarted"
LOCAL_QUEUE_RESTARTED = "LocalQueueRestarted"
BACKOFF_FINISHED = "BackoffFinished"
REACTIVATED = "Reactivated"
RESUMED = {
    CLUSTER_QUEUE_RESTARTED: "The ClusterQueue was restarted after being stopped",
    LOCAL_QUEUE_RESTARTED: "The LocalQueue was restarted after being stopped",
    BACKOFF_FINISHED: "The workload backoff was finished",
    REACTIVATED: "The workload was reactivated",
}

# Why a workload is about to be deactivated.
# Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
REQUEUING_LIMIT_EXCEEDED = "RequeuingLimitExceeded"
MAXIMUM_EXECUTION_TIME_EXCEEDED = "MaximumExecutionTimeExceeded"
DEACTIVATING = {
    REQUEUING_LIMIT_EXCEEDED: "exceeding the maximum number of re-queuing retries",
    MAXIMUM_EXECUTION_TIME_EXCEEDED: "exceeding the maximum execution time",
}

# PodsReady. Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
WAIT_FOR_START = "WaitForStart"
WAIT_FOR_RECOVERY = "WaitForRecovery"
STARTED = "Started"
RECOVERED = "Recovered"
PODS_RUN = "All pods reached readiness and the workload is running"
#: What the Job controller says of a Job that is suspended, and resumed.
JOB_SUSPENDED = {"reason": "JobSuspended", "message": "Job suspended"}
JOB_RESUMED = {"reason": "JobResumed", "message": "Job resumed"}
OUT_OF_SYNC = "OutOfSync"
PREBUILT_OUT_OF_SYNC = "The prebuilt workload is out of sync with its user job"
ON_HOLD = "OnHold"
HELD_NO_LONGER = "Workload no longer on hold; waiting for quota reservation"
WAITING_FOR_REPLACEMENT_PODS = "WaitingForReplacementPods"
PODS_FAILED = "PodsFailed"
PODS_ARE_MISSING = "Some Failed pods need replacement"
NO_PODS_ARE_MISSING = "No pods need replacement"
PODS_DO_NOT_RUN = "Not all pods are ready or succeeded"

# Why a slice of an elastic job is finished.
# Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
SLICE_REPLACED = "WorkloadSliceReplaced"
NEW_SLICE_SENTENCE = "Replaced to accommodate a new workload slice"


# Variants of concurrent admission.
# Source: docs/semantics/kueue-concurrent-admission.md#events.
CREATED_VARIANT = "CreatedVariant"
DELETED_VARIANT = "DeletedVariant"
ACTIVATED_VARIANT = "ActivatedVariant"
DEACTIVATED_VARIANT = "DeactivatedVariant"
UNGATED_VARIANT = "PreemptionUngatedVariant"
FLAVOR_MIGRATION = "FlavorMigration"
VARIANT_EVICTED = "VariantEvicted"
VARIANT_EVICTED_SENTENCE = "Admitted variant was evicted"
CONCURRENT_ADMISSION = "ConcurrentAdmission"
NO_VARIANT_RUNS = "No variant is running"
PREFERRED_ADMITTED = "A more favorable variant is already admitted"
BELOW_LAST_ACCEPTABLE = "Target flavor is below LastAcceptableFlavorName"


def created_variant(variant: str) -> str:
    """Return the sentence of a variant that was made."""
    return f'Variant Workload "{variant}" created'


def deleted_variant(variant: str, flavor: str) -> str:
    """Return the sentence of a variant whose flavor is gone."""
    return (
        f'Variant Workload "{variant}" deleted; flavor "{flavor}" no longer in '
        "ClusterQueue"
    )


def activated_for(why: str) -> str:
    """Return the sentence of a variant that is tried from now on."""
    return f"Variant Workload activated due to {why}"


def deactivated_for(why: str) -> str:
    """Return the sentence of a variant that is tried no longer."""
    return f"Variant Workload deactivated due to {why}"


def ungated_variant(variant: str) -> str:
    """Return the sentence of a variant that may preempt from now on."""
    return f'Opened preemption gate for variant workload "{variant}"'


def variant_admitted(variant: str) -> str:
    """Return the sentence of a parent's admission."""
    return f"The variant {variant} is admitted"


def migrated_for(uid: str) -> str:
    """Return the sentence of a variant that a more preferred one replaces."""
    return (
        f"Evicted to accommodate a workload (UID: {uid}) due to migration to more "
        "favorable resource flavor"
    )


def pending_migration(message: str) -> str:
    """Return the message of a variant that waits to replace another."""
    return f"{message}. Pending the migration of 1 workload(s)"


def barred_flavor(flavor: str) -> str:
    """Return why a Workload does not get a flavor that it is not allowed."""
    return (
        f"skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation "
        "annotation"
    )


def slice_replaced(uid: str, job_uid: str) -> str:
    """Return the sentence of a slice whose quota went to a new one."""
    return (
        f"Replaced to accommodate a workload (UID: {uid}, JobUID: {job_uid}) "
        "due to workload slice aggregation"
    )


def other_flavor(flavor: str, held: str) -> str:
    """Return why a slice does not get a flavor that the one before has not."""
    return (
        f"could not assign {flavor} flavor since the original workload is "
        f"assigned: {held}"
    )


#: Source: docs/semantics/kueue-lifecycle.md#retention.
RETIRED = "Deleted finished workload due to elapsed retention"
EXPIRED = "Deleted finished job as its ttlSecondsAfterFinished is over"
RETIRED_DEACTIVATED = "Deleted deactivated workload due to elapsed retention"

#: A kubelet evicts a pod of a node that runs low.
EVICTED_BY_KUBELET = "Evicted"
SUCCEEDED = "Succeeded"
#: What recorded workloads without a job say instead.
JOB_FINISHED = "JobFinished"
JOB_FINISHED_SENTENCE = "Job finished successfully"
#: Of a batch Job: what its condition Complete says, which Kueue copies.
SUCCESS_POLICY = "SuccessPolicy"
SUCCESS_POLICY_SENTENCE = "Matched rules at index 0"
COMPLETIONS_REACHED = "CompletionsReached"
COMPLETIONS_REACHED_SENTENCE = "Reached expected number of succeeded pods"
#: Of one that lost more pods than it makes up for.
BACKOFF_LIMIT = "BackoffLimitExceeded"
BACKOFF_LIMIT_SENTENCE = "Job has reached the specified backoff limit"
#: Of one whose indexes each make up for pods of their own.
FAILED_INDEXES = "FailedIndexes"
FAILED_INDEXES_SENTENCE = "Job has failed indexes"
MAX_FAILED_INDEXES = "MaxFailedIndexesExceeded"
MAX_FAILED_INDEXES_SENTENCE = (
    "Job has exceeded the specified maximal number of failed indexes"
)
POD_FAILURE_POLICY = "PodFailurePolicy"


def pod_failure_policy(container: str, pod: str, rule: int) -> str:
    """Return the sentence of a Job that a rule of its podFailurePolicy fails."""
    said = f"Container {container} for pod {pod} failed with exit code 1"
    return f"{said} matching FailJob rule at index {rule}"


def pods_ready_timeout(name: str) -> str:
    """Return the sentence of an eviction because pods took too long."""
    return f"Exceeded the PodsReady timeout {name}"


def replaced(node: str) -> str:
    """Return the sentence of a workload whose pods got other places."""
    return f"Pods of the failed node {node} have other places"


def several_node_failures(nodes: Iterable[str]) -> str:
    """Return the sentence of an eviction because a second node failed.

    Source: docs/semantics/kueue-topology.md#failed-nodes.
    """
    return (
        "Workload eviction triggered due to multiple TAS assigned node failures, "
        "including: " + ", ".join(nodes)
    )


def no_replacement(nodes: Iterable[str]) -> str:
    """Return the sentence of an eviction because a failed node has no replacement.

    Source: docs/semantics/kueue-topology.md#second-pass.
    """
    return (
        "Workload was evicted as there was no replacement for unhealthy node(s): "
        + ", ".join(nodes)
    )


def missing(kind: str, name: str) -> str:
    """Return the sentence for a queue that does not exist."""
    return f"{kind} {name} doesn't exist"


def gated_by(value: str) -> str:
    """Return the sentence for a workload that somebody else holds back."""
    return f"Admission is gated by: {value}"


def inactive(kind: str, name: str) -> str:
    """Return the sentence for a queue that admits nothing."""
    return f"{kind} {name} is inactive"


def stopped(kind: str, name: str) -> str:
    """Return the sentence for a reservation lost to a stopped queue."""
    return f"{kind} {name} is stopped"


# Whether queues admit (their condition Active).
ACTIVE = "Active"
CAN_ADMIT = "Can admit new workloads"
CANNOT_ADMIT = "Can't admit new workloads"
CAN_SUBMIT = "Can submit new workloads to localQueue"
CANNOT_SUBMIT = "Can't submit new workloads to clusterQueue"
NO_SUCH_QUEUE = "Can't submit new workloads to clusterQueue"
LOCAL_IS_STOPPED = "LocalQueue is stopped"


# ------------------------------------------------------------------------
# Conditions and phases of a status, read in one place.


_ENDED = ("Succeeded", "Failed")


def true_condition(
    status: Mapping[str, Any] | None, *types: str
) -> Mapping[str, Any] | None:
    """Return the first condition of these types that is "True"; None without one."""
    for condition in (status or {}).get("conditions") or ():
        if condition.get("type") in types and condition.get("status") == "True":
            found: Mapping[str, Any] = condition
            return found
    return None


def is_true(status: Mapping[str, Any] | None, *types: str) -> bool:
    """Return whether a condition of one of these types is "True"."""
    return true_condition(status, *types) is not None


def has_ended(status: Mapping[str, Any] | None) -> bool:
    """Return whether a pod's phase says that it ran to its end, well or not."""
    return (status or {}).get("phase") in _ENDED


def condition(status: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    """Return this condition of a status, true or not; None when it has none."""
    conditions = (status or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == name), None)
