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
from scheduler.model.reasons import QUOTA_RESERVED

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
    waits: dict[Labels, list[float]] = field(default_factory=lambda: defaultdict(list))
    ran: Times = field(default_factory=_times)  # execution
    since: dict[str, int] = field(default_factory=dict)  # Workload -> admitted at
    # The same by (name of LocalQueue, namespace, priority class).
    local_reserved: Counter[Labels] = field(default_factory=Counter)
    local_admitted: Counter[Labels] = field(default_factory=Counter)
    local_finished: Counter[Labels] = field(default_factory=Counter)
    local_evicted: Counter[Labels] = field(default_factory=Counter)
    local_waits: Times = field(default_factory=_times)
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
) -> Iterator[tuple[str, str, str, str, int, dict[str, Any]]]:
    """Yield type, subject, cause, reason, time and data of events after a revision."""
    yield from (
        history.events(sandbox)
        .filter(
            type__in=types,
            revision__gt=since,
            revision__lte=sandbox.revision,
            subject__startswith=f"{kind}/",
        )
        .order_by("revision", "seq")
        .values_list("type", "subject", "by", "reason", "t_ms", "data")
        .iterator()
    )


def _read(counts: WorkloadTotals, sandbox: Sandbox, page: Page) -> None:
    """Count what came since; one query."""
    for type_, subject, by, reason, t_ms, data in _events(
        sandbox, counts.revision, "Workload", _TYPES
    ):
        row = page.get(subject, {})
        queue = data.get("queue") or counts.queue_of.get(subject, "")
        priority_class = str(row.get("priorityClass", ""))
        place = (queue, priority_class)
        local = (
            str(row.get("localQueue", "")),
            subject.split("/")[1],
            priority_class,
        )
        if type_ == "ReserveQuota" or (type_, reason) == ("Admit", QUOTA_RESERVED):
            counts.reserved[place] += 1
            counts.local_reserved[local] += 1
            counts.attempts["success",] += 1
        _count_cost(counts, type_, subject, by, t_ms, data, place)
        match type_:
            case "ReserveQuota":
                counts.queue_of[subject] = queue
            case "Admit":
                counts.queue_of[subject] = queue
                counts.admitted[place] += 1
                created = row.get("createdMs")
                if isinstance(created, int):
                    wait = max(0, t_ms - created) / 1000
                    counts.waits[place].append(wait)
                    counts.local_waits[local].append(wait)
                counts.local_admitted[local] += 1
                counts.since[subject] = t_ms
            case "Wait":
                counts.attempts["inadmissible",] += 1
            case "Finish":
                counts.finished[place] += 1
                counts.local_finished[local] += 1
                ran = (t_ms - counts.since.pop(subject, t_ms)) / 1000
                counts.ran[place].append(ran)
                counts.local_ran[local].append(ran)
            case "Preempt":
                counts.evicted[(*place, "Preempted", reason)] += 1
                counts.once.add((subject, *place, "Preempted", reason))
                counts.local_evicted[(*local, "Preempted", reason)] += 1
                counts.since.pop(subject, None)
                winner = page.get(by, {}).get("clusterQueue") or counts.queue_of.get(by)
                counts.preempted[str(winner or ""), reason] += 1
            case "Checkpoint":
                pass
            case _:
                counts.evicted[(*place, reason, "")] += 1
                counts.once.add((subject, *place, reason, ""))
                counts.local_evicted[(*local, reason, "")] += 1
                counts.since.pop(subject, None)
    counts.revision = sandbox.revision


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
    for type_, subject, by, _, t_ms, data in _events(
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
