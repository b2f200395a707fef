"""One head in one cycle: what it was nominated with and what became of it."""

from __future__ import annotations

from enum import Enum

from scheduler.engine.kueue.flavorassigner.assignment import Assignment, Severity
from scheduler.engine.kueue.preemption.targets import Target
from scheduler.engine.kueue.queue.requeue import RequeueReason
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.reasons import (
    EXCEEDS_MAX_QUOTA,
    GATED_SENTENCE,
    NO_MATCHING_FLAVOR,
    PENDING_EVALUATION,
    TOPOLOGY_PLACEMENT_FAILED,
    WAITING_FOR_ALL,
    WAITING_FOR_PODS_READY,
    WAITING_FOR_QUOTA,
)


class EntryStatus(Enum):
    """What a cycle decided about an entry."""

    REFUSED = "refused"  # not nominated, or no way to fit
    SKIPPED = "skipped"  # would have fitted before others of this cycle
    HELD = "held"  # the cycle waits for pods before it goes on with this one
    PREEMPTING = "preempting"
    MIGRATING = "migrating"  # its Workload is to leave a less preferred flavor
    ADMITTED = "admitted"
    REPLACED = "replaced"  # its pods on a failed node got other places
    LOST_NODE = "lostNode"  # there was no other place for them


SEVERITY_REASONS = {
    Severity.NONE: "",
    Severity.TOPOLOGY: TOPOLOGY_PLACEMENT_FAILED,
    Severity.WAITING: WAITING_FOR_QUOTA,
    Severity.EXCEEDS: EXCEEDS_MAX_QUOTA,
    Severity.NO_MATCH: NO_MATCHING_FLAVOR,
}


class Entry:
    """A head, its assignment and targets, and the verdict with its sentence."""

    __slots__ = (
        "assignment",
        "message",
        "migrated",
        "queue",
        "reason",
        "replaced",
        "requeue",
        "second_pass",
        "status",
        "targets",
        "work",
    )  # fmt: skip

    def __init__(
        self, work: WorkloadInfo, queue: ClusterQueue, *, second_pass: bool = False
    ) -> None:
        self.work = work
        self.second_pass = second_pass  # it holds quota and looks for other places
        self.queue = queue
        self.assignment: Assignment | None = None
        self.targets: list[Target] = []
        self.replaced: WorkloadInfo | None = None  # the slice whose quota it takes over
        self.migrated: WorkloadInfo | None = None  # the variant that runs until then
        self.status = EntryStatus.REFUSED
        self.requeue = RequeueReason.GENERIC
        self.reason = ""
        self.message = ""

    @property
    def borrow(self) -> int:
        """Return how high its assignment borrows."""
        return self.assignment.borrow if self.assignment is not None else 0

    def refuse(self, requeue: RequeueReason, reason: str, message: str) -> None:
        """Say that it is not admitted, and why."""
        self.status = EntryStatus.REFUSED
        self.requeue, self.reason, self.message = requeue, reason, message

    def skip(self, message: str) -> None:
        """Say that others of this cycle came before it."""
        self.status = EntryStatus.SKIPPED
        self.requeue = RequeueReason.FAILED_AFTER_NOMINATION
        self.reason, self.message = WAITING_FOR_QUOTA, message

    def gate(self) -> None:
        """Say that it would have to preempt, and that a gate forbids it.

        Source: docs/semantics/kueue.md#preemption-gates.
        """
        self.refuse(RequeueReason.PREEMPTION_GATED, PENDING_EVALUATION, GATED_SENTENCE)
        self.work.last_assignment = None

    def wait_for_pods(self) -> None:
        """Say that its turn comes when the pods of those admitted are ready."""
        self.status = EntryStatus.HELD
        self.requeue = RequeueReason.FAILED_AFTER_NOMINATION
        self.reason, self.message = WAITING_FOR_PODS_READY, WAITING_FOR_ALL
