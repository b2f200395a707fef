"""What happened so far, counted from events; each event is read once per process."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from sandbox.models import Sandbox
from sandbox.page.diffs import Page
from sandbox.world import history
from scheduler.model.reasons import (
    DEACTIVATED_DUE_TO,
    PODS_READY_TIMEOUT,
    QUOTA_RESERVED,
    WAIT_FOR_RECOVERY,
    WAIT_FOR_START,
)

# ------------------------------------------------------------------------
# Counts of sandboxes, kept by this process so that each event is read once.


MOST_SANDBOXES = 64


class Counted(Protocol):
    """The totals of one sandbox up to `revision`."""

    revision: int


C = TypeVar("C", bound=Counted)


class CountCache(Generic[C]):
    """The counts of the sandboxes asked for last.

    `read` adds to counts what came after their revision. Counts that are ahead of
    the sandbox, which was rewound, are begun anew from `empty`.
    """

    def __init__(
        self, empty: Callable[[], C], read: Callable[[C, Sandbox, Page], None]
    ) -> None:
        self._empty, self._read = empty, read
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, C] = OrderedDict()

    def brought_to(self, sandbox: Sandbox, page: Page) -> C:
        """Return the counts at the sandbox's revision."""
        with self._lock:
            counts = self._counts.pop(sandbox.pk, None)
            if counts is None or counts.revision > sandbox.revision:
                counts = self._empty()
            self._read(counts, sandbox, page)
            self._counts[sandbox.pk] = counts
            while len(self._counts) > MOST_SANDBOXES:
                self._counts.popitem(last=False)
            return counts


# ------------------------------------------------------------------------
# What happened so far, counted from events; each event is read once per process.


Labels = tuple[str, ...]
Row = dict[str, Any]
#: Times by place: what histograms are made of, in seconds.
Times = dict[Labels, list[float]]


def _times() -> Times:
    return defaultdict(list)


@dataclass(slots=True)
class WorkloadTotals:
    """The totals of one sandbox up to `revision`."""

    revision: int = 0
    queue_of: dict[str, str] = field(default_factory=dict)  # Workload -> ClusterQueue
    reserved: Counter[Labels] = field(default_factory=Counter)  # queue, priority class
    admitted: Counter[Labels] = field(default_factory=Counter)
    finished: Counter[Labels] = field(default_factory=Counter)
    evicted: Counter[Labels] = field(default_factory=Counter)  # ..., reason, cause
    once: set[Labels] = field(default_factory=set)  # evictions, once per Workload
    preempted: Counter[Labels] = field(default_factory=Counter)  # preemptor's queue
    waits: Times = field(default_factory=_times)  # until quota
    admissions: Times = field(default_factory=_times)  # until admitted
    checks: Times = field(default_factory=_times)  # from quota to admitted
    ready: Times = field(default_factory=_times)  # until pods were ready, before stops
    ran: Times = field(default_factory=_times)  # execution
    since: dict[str, int] = field(default_factory=dict)  # Workload -> admitted at
    # The same by (name of LocalQueue, namespace, priority class).
    local_reserved: Counter[Labels] = field(default_factory=Counter)
    local_admitted: Counter[Labels] = field(default_factory=Counter)
    local_finished: Counter[Labels] = field(default_factory=Counter)
    local_evicted: Counter[Labels] = field(default_factory=Counter)
    local_waits: Times = field(default_factory=_times)
    local_admissions: Times = field(default_factory=_times)
    local_checks: Times = field(default_factory=_times)
    local_ready: Times = field(default_factory=_times)
    local_started: Times = field(default_factory=_times)  # from admitted to ready
    reserved_at: dict[str, int] = field(default_factory=dict)  # waits for checks
    local_ran: Times = field(default_factory=_times)
    attempts: Counter[Labels] = field(default_factory=Counter)  # result
    # What evictions and lost pods cost, by (ClusterQueue, priority class).
    lost_ms: Counter[Labels] = field(default_factory=Counter)
    restarts: Counter[Labels] = field(default_factory=Counter)
    lost_from: dict[str, int] = field(default_factory=dict)  # not counted as lost yet
    stopped: set[str] = field(default_factory=set)  # lost its quota at least once


_TYPES = (
    "Admit",
    "ReserveQuota",
    "Wait",
    "Preempt",
    "Evict",
    "Finish",
    "Checkpoint",
)


def _events(
    sandbox: Sandbox, since: int, kind: str, types: Sequence[str]
) -> Iterator[tuple[int, str, str, str, str, int, dict[str, Any]]]:
    """Yield revision, type, subject, cause, reason, time and data of later events."""
    yield from (
        history.events(sandbox)
        .filter(
            type__in=types,
            revision__gt=since,
            revision__lte=sandbox.revision,
            subject__startswith=f"{kind}/",
        )
        .order_by("revision", "seq")
        .values_list("revision", "type", "subject", "by", "reason", "t_ms", "data")
        .iterator()
    )


def _read(counts: WorkloadTotals, sandbox: Sandbox, page: Page) -> None:
    """Count what came since; one query."""
    for revision, type_, subject, by, reason, t_ms, data in _events(
        sandbox, counts.revision, "Workload", _TYPES
    ):
        row = page.get(subject) or _past_row(sandbox, subject, revision)
        queue = data.get("queue") or counts.queue_of.get(subject, "")
        priority_class = str(row.get("priorityClass", ""))
        place = (queue, priority_class)
        local = (
            str(row.get("localQueue", "")),
            subject.split("/")[1],
            priority_class,
        )
        if type_ == "ReserveQuota" or (type_, reason) == ("Admit", QUOTA_RESERVED):
            _count_reserved(counts, row, t_ms, place, local)
        _count_cost(counts, type_, subject, by, t_ms, data, place)
        match type_:
            case "ReserveQuota":
                counts.queue_of[subject] = queue
                counts.reserved_at[subject] = t_ms
            case "Admit":
                counts.queue_of[subject] = queue
                _count_admitted(counts, subject, row, t_ms, place, local)
            case "Wait":
                counts.attempts["inadmissible",] += 1
            case "Finish":
                counts.finished[place] += 1
                counts.local_finished[local] += 1
                ran = (t_ms - counts.since.pop(subject, t_ms)) / 1000
                counts.ran[place].append(ran)
                counts.local_ran[local].append(ran)
            case "Preempt":
                _count_eviction(counts, sandbox, subject, revision, place, local)
                counts.evicted[(*place, "Preempted", "")] += 1
                counts.once.add((subject, *place, "Preempted", ""))
                counts.local_evicted[(*local, "Preempted", "")] += 1
                winner = page.get(by, {}).get("clusterQueue") or counts.queue_of.get(by)
                counts.preempted[str(winner or ""), reason] += 1
            case "Checkpoint":
                pass
            case _:
                ready = _count_eviction(
                    counts, sandbox, subject, revision, place, local
                )
                why = _why(reason, ready=ready)
                counts.evicted[(*place, *why)] += 1
                counts.once.add((subject, *place, *why))
                counts.local_evicted[(*local, *why)] += 1
    counts.revision = sandbox.revision


def _count_reserved(
    counts: WorkloadTotals, row: Row, t_ms: int, place: Labels, local: Labels
) -> None:
    """Count a reservation of quota, and how long it was waited for."""
    counts.reserved[place] += 1
    counts.local_reserved[local] += 1
    counts.attempts["success",] += 1
    wait = max(0, t_ms - int(row.get("createdMs") or 0)) / 1000
    counts.waits[place].append(wait)
    counts.local_waits[local].append(wait)


def _count_admitted(
    counts: WorkloadTotals,
    subject: str,
    row: Row,
    t_ms: int,
    place: Labels,
    local: Labels,
) -> None:
    """Count an admission, how long it was waited for, and how long for its checks."""
    counts.admitted[place] += 1
    counts.local_admitted[local] += 1
    wait = max(0, t_ms - int(row.get("createdMs") or 0)) / 1000
    counts.admissions[place].append(wait)
    counts.local_admissions[local].append(wait)
    since = counts.reserved_at.pop(subject, None)
    if since is not None:
        counts.checks[place].append((t_ms - since) / 1000)
        counts.local_checks[local].append((t_ms - since) / 1000)
    counts.since[subject] = t_ms


def _past_row(sandbox: Sandbox, subject: str, revision: int) -> Row:
    """Return the row that a Workload had when something was decided about it.

    Of one that was made and deleted within a revision there is none.
    """
    row: Row = history.page_at(sandbox, revision).get(subject, {})
    return row


def _why(reason: str, *, ready: bool) -> tuple[str, str]:
    """Return reason and underlying cause of an eviction, as Kueue labels them.

    `ready` says whether its pods were ready before it.
    """
    if reason == PODS_READY_TIMEOUT:
        return reason, WAIT_FOR_RECOVERY if ready else WAIT_FOR_START
    if reason.startswith(DEACTIVATED_DUE_TO):
        return "Deactivated", reason.removeprefix(DEACTIVATED_DUE_TO)
    return reason, ""


def _count_eviction(
    counts: WorkloadTotals,
    sandbox: Sandbox,
    subject: str,
    revision: int,
    place: Labels,
    local: Labels,
) -> bool:
    """Count how long the pods of an attempt that is stopped took to get ready.

    Returns whether they ever were.
    """
    counts.since.pop(subject, None)
    counts.reserved_at.pop(subject, None)
    row = _past_row(sandbox, subject, revision - 1)
    ready, admitted = row.get("readyMs"), row.get("admittedMs")
    if ready is None or admitted is None:
        return False
    wait = max(0, ready - int(row.get("createdMs") or 0)) / 1000
    counts.ready[place].append(wait)
    counts.local_ready[local].append(wait)
    counts.local_started[local].append(max(0, ready - admitted) / 1000)
    return True


def _count_cost(
    counts: WorkloadTotals,
    type_: str,
    subject: str,
    by: str,
    t_ms: int,
    data: dict[str, Any],
    place: Labels,
) -> None:
    """Count work that is lost, less what checkpoints keep, and work begun again."""
    match type_:
        case "Admit":
            counts.lost_from[subject] = t_ms
            counts.restarts[place] += subject in counts.stopped
        case "Preempt" | "Evict":
            counts.lost_ms[place] += t_ms - counts.lost_from.pop(subject, t_ms)
            counts.stopped.add(subject)
        case "Checkpoint" if by:  # it lost a pod and keeps its quota
            counts.lost_ms[place] += int(data.get("lost_ms", 0))
            counts.restarts[place] += 1
            counts.lost_from[subject] = t_ms
        case "Checkpoint":
            counts.lost_ms[place] -= int(data.get("kept_ms", 0))
        case _:
            pass


counts_of = CountCache(WorkloadTotals, _read).brought_to


# ------------------------------------------------------------------------
# What happened to pods so far, counted from events; each event is read once per
# process.


_POD_TYPES = ("Arrive", "Bind", "Fail", "Finish", "Evict", "Preempt")


@dataclass(slots=True)
class PodCounts:
    """The totals of one sandbox up to `revision`; `place` is (queue, scheduler)."""

    revision: int = 0
    place_of: dict[str, tuple[str, str]] = field(default_factory=dict)
    arrived: dict[str, int] = field(default_factory=dict)  # pod -> ms
    tried: Counter[str] = field(default_factory=Counter)  # pod -> failed attempts
    scheduled: Counter[str] = field(default_factory=Counter)  # by scheduler
    unschedulable: Counter[str] = field(default_factory=Counter)
    allocated: Counter[str] = field(default_factory=Counter)  # by queue
    released: Counter[str] = field(default_factory=Counter)
    attempts: list[int] = field(default_factory=list)  # of each pod that was bound
    waits: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    victims: Counter[tuple[str, int]] = field(default_factory=Counter)  # (by, at)
    events: int = 0


def _read_pods(counts: PodCounts, sandbox: Sandbox, page: Page) -> None:
    """Count what came since; one query."""
    for key, row in page.items():
        if row["kind"] == "Pod":
            counts.place_of[key] = (row["queue"], row["scheduler"])
    for _, type_, subject, by, _, t_ms, data in _events(
        sandbox, counts.revision, "Pod", _POD_TYPES
    ):
        counts.events += 1
        _count(counts, type_, subject, by, t_ms, int((data or {}).get("times", 1)))
    counts.revision = sandbox.revision


def _count(
    counts: PodCounts, type_: str, subject: str, by: str, t_ms: int, times: int
) -> None:
    queue, scheduler = counts.place_of.get(subject, ("", ""))
    match type_:
        case "Arrive":
            counts.arrived[subject] = t_ms
        case "Fail":
            counts.tried[subject] += times
            counts.unschedulable[scheduler] += times
        case "Bind":
            attempts = counts.tried.pop(subject, 0) + 1
            counts.attempts.append(attempts)
            counts.scheduled[scheduler] += 1
            counts.allocated[queue] += 1
            wait = max(0, t_ms - counts.arrived.get(subject, t_ms)) / 1000
            counts.waits[attempts].append(wait)
        case "Preempt":
            counts.victims[by, t_ms] += 1
            counts.released[queue] += 1
        case _:
            counts.released[queue] += 1


pod_counts_of = CountCache(PodCounts, _read_pods).brought_to
