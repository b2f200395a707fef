"""What happened so far, counted from events; each event is read once per process."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec
from django.db.models import Q

from sandbox.explain.below import Below, above
from sandbox.models import Sandbox, table_of
from sandbox.page import diffs
from sandbox.page.diffs import Page
from sandbox.page.rows.transport import KEY
from sandbox.process import watchdog
from sandbox.world import history
from sandbox.world.kept import Kept
from scheduler.analysis.explain.shapes import Pressure
from scheduler.model.amounts import CPU
from scheduler.model.kueue.check_state import PENDING
from scheduler.model.objects import MARK, Key
from scheduler.model.reasons import (
    ADMISSION_GATED,
    DEACTIVATED_DUE_TO,
    PODS_READY,
    PODS_READY_TIMEOUT,
    QUOTA_RESERVED,
    STARTED,
    WAIT_FOR_RECOVERY,
    WAIT_FOR_START,
)

# ------------------------------------------------------------------------
# Counts of sandboxes, kept by this process so that each event is read once.


MOST_SANDBOXES = 64
#: A web process reads no more revisions than these for one answer: some 0.3 CPU-s.
MOST_UNREAD = 1000


class Counted(Protocol):
    """The totals of one sandbox up to `revision`."""

    revision: int


C = TypeVar("C", bound=Counted)


class CountCache(Generic[C]):
    """The counts of the sandboxes asked for last.

    `read` adds to counts what came after their revision. Counts of what is no part of
    the sandbox's past any more, as after a rewind, are begun anew from `empty`.
    """

    def __init__(
        self, empty: Callable[[], C], read: Callable[[C, Sandbox, Page], None]
    ) -> None:
        self._empty, self._read = empty, read
        self._counts = Kept[C](MOST_SANDBOXES)

    def unread(self, sandbox: Sandbox) -> int:
        """Return how many revisions are to be read for the counts of now, at most."""
        counts = self._counts.get(sandbox.pk)
        return sandbox.revision - (counts.revision if counts is not None else 0)

    def brought_to(self, sandbox: Sandbox, page: Page) -> C:
        """Return the counts at the sandbox's revision."""
        with self._counts.making(sandbox.pk):
            counts = self._counts.take(sandbox.pk)
            if counts is None or not history.is_past(sandbox, counts.revision):
                counts = self._empty()
            if counts.revision != sandbox.revision:
                self._read(counts, sandbox, page)
            return self._counts.put(counts, sandbox.pk)


# ------------------------------------------------------------------------
# What happened to Workloads so far, of events and of what changed on the page; each
# revision is read once per process.


Labels = tuple[str, ...]
Row = dict[str, Any]

#: The labels of series of a ClusterQueue, of a LocalQueue, and of an eviction besides.
_OF_QUEUE = ("cluster_queue", "priority_class")
_OF_LOCAL = ("name", "namespace", "priority_class")
_CAUSES = ("reason", "underlying_cause")


class Series(NamedTuple):
    """A name and its labels, in order."""

    name: str
    labels: tuple[tuple[str, str], ...]


def _series(name: str, names: Sequence[str], values: Sequence[str]) -> Series:
    return Series(name, tuple(zip(names, values, strict=True)))


class Place(NamedTuple):
    """Where a Workload is counted: labels of its ClusterQueue and of its LocalQueue."""

    queue: Labels
    local: Labels
    is_there: bool  # whether that LocalQueue is one of that ClusterQueue


class Change(NamedTuple):
    """A change of a Workload that no event of ours tells: `what`, with its words."""

    revision: int
    t_ms: int
    workload: str
    what: str
    words: str = ""


#: Rows of Workloads that are gone, and changes of others: so many are kept.
MOST_GONE = 1000


@dataclass(slots=True)
class WorkloadTotals:
    """The totals of one sandbox up to `revision`."""

    revision: int = 0
    counters: defaultdict[Series, float] = field(
        default_factory=lambda: defaultdict(float)
    )
    times: defaultdict[Series, list[float]] = field(  # of histograms, in seconds
        default_factory=lambda: defaultdict(list)
    )
    #: By Workload: the ClusterQueue whose quota it holds, and moments in ms.
    queue_of: dict[str, str] = field(default_factory=dict)
    queued_at: dict[str, int] = field(default_factory=dict)  # again, by an eviction
    reserved_at: dict[str, int] = field(default_factory=dict)
    admitted_at: dict[str, int] = field(default_factory=dict)
    lost_from: dict[str, int] = field(default_factory=dict)  # not counted as lost yet
    stopped: set[str] = field(default_factory=set)  # lost its quota at least once
    started: set[str] = field(default_factory=set)  # its pods were ready in this run
    once: set[Labels] = field(default_factory=set)  # evictions, once per Workload
    edited: dict[str, str] = field(default_factory=dict)  # object -> how, at last
    gone: dict[str, Row] = field(default_factory=dict)  # last rows of Workloads
    waiting: dict[str, int] = field(default_factory=dict)  # by queue: all it holds
    #: By queue: how many are tried and set aside, as it was last told, where that is old.
    told: dict[str, tuple[int, int]] = field(default_factory=dict)
    below: Below = field(default_factory=Below)
    at_ms: int = 0
    levels: dict[Series, float] = field(default_factory=dict)  # that last since then
    changes: deque[Change] = field(default_factory=lambda: deque(maxlen=MOST_GONE))

    def count(self, name: str, place: Place, *causes: str) -> None:
        """Count for the ClusterQueue and for the LocalQueue."""
        more = _CAUSES if causes else ()
        labels = (*_OF_QUEUE, *more)
        self.counters[_series(f"kueue_{name}", labels, (*place.queue, *causes))] += 1
        if place.is_there:
            labels = (*_OF_LOCAL, *more)
            named = f"kueue_local_queue_{name}"
            self.counters[_series(named, labels, (*place.local, *causes))] += 1

    def observe(self, name: str, place: Place, since_ms: int, at_ms: int) -> None:
        """Add how long something took, for the ClusterQueue and for the LocalQueue."""
        took = max(0, at_ms - since_ms) / 1000
        self.times[_series(f"kueue_{name}", _OF_QUEUE, place.queue)].append(took)
        if place.is_there:
            named = f"kueue_local_queue_{name}"
            self.times[_series(named, _OF_LOCAL, place.local)].append(took)

    def clear(self, **labels: str) -> None:
        """Forget each series that has all of these labels."""
        wanted = set(labels.items())
        known: tuple[dict[Series, Any], ...] = (self.counters, self.times)
        for found in known:
            for one in [one for one in found if wanted <= {*one.labels}]:
                del found[one]


#: Rows whose changes are looked at.
_COUNTED = ("Workload/", "ClusterQueue/", "LocalQueue/", "Cohort/")
_TYPES = ("Admit", "ReserveQuota", "Wait", "Preempt", "Evict", "Finish", "Checkpoint")


class Happened(NamedTuple):
    """An event, as far as it is counted."""

    revision: int
    type: str
    subject: str
    by: str
    reason: str
    t_ms: int
    data: Mapping[str, Any] = MappingProxyType({})


def _events(
    sandbox: Sandbox, since: int, wanted: Q, *, whole: bool = True
) -> Iterator[Happened]:
    """Yield later events, oldest first; without their data unless wanted `whole`."""
    found = history.events(sandbox).filter(
        wanted, revision__gt=since, revision__lte=sandbox.revision
    )
    fields = Happened._fields if whole else Happened._fields[:-1]
    rows = found.order_by("revision", "seq").values_list(*fields)
    yield from (Happened(*row) for row in rows.iterator())


def _read(counts: WorkloadTotals, sandbox: Sandbox, _: Page) -> None:
    """Count what came since: of each revision its events, then what its page shows."""
    edits, wanted = Q(type="Edit"), Q(type__in=_TYPES, subject__startswith="Workload/")
    events: dict[int, list[Happened]] = {}
    for one in (
        *_events(sandbox, counts.revision, edits, whole=False),
        *_events(sandbox, counts.revision, wanted),
    ):
        events.setdefault(one.revision, []).append(one)
    page, steps = history.steps_from(sandbox, counts.revision)
    if not counts.revision:
        counts.below.begin(page)
    for step in steps:
        touched = (*step.removed, *step.updated, *(row["key"] for row in step.added))
        before = {
            key: row
            for key in touched
            if key.startswith(_COUNTED) and (row := page.get(key))
        }
        diffs.apply(page, step)
        counts.below.note(page, before, touched)
        _count_time(counts, page, touched)
        for one in events.pop(step.revision, ()):
            row = page.get(one.subject) or before.get(one.subject) or {}
            _count_event(counts, page, row, one)
        at = page[KEY]["tMs"]
        for key in touched:
            if key.startswith("Workload/") and key in page:
                _count_ready(counts, page, page[key])
                changed = _changes(counts, before.get(key), page[key])
                counts.changes += [
                    Change(step.revision, at, key, *one) for one in changed
                ]
        for key, row in before.items():
            if key not in page or _is_held(row, page[key]):
                _count_gone(counts, page, key, row)
    counts.revision = sandbox.revision
    counts.waiting, counts.told = {}, {}
    for kind in ("ClusterQueue", "LocalQueue"):
        rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
        for namespace, name, status, state in rows.values_list(
            "namespace", "name", "status", "state"
        ):
            key = str(Key(kind, namespace, name))
            # Its status and its metrics may say what was before a LocalQueue went.
            kept = _stage_states(state).get("kueue", {})
            said = int((status or {}).get("pendingWorkloads") or 0)
            counts.waiting[key] = kept.get("holds", said)
            if told := kept.get("told"):
                counts.told[key] = told


_stage_states = msgspec.msgpack.Decoder(dict[str, dict[str, Any]]).decode


def _count_time(counts: WorkloadTotals, page: Page, touched: Sequence[str]) -> None:
    """Add what lasted until this page; read what lasts from here on."""
    now = page[KEY]["tMs"]
    for series, level in counts.levels.items():
        counts.counters[series] += level * (now - counts.at_ms) / 1000
    counts.at_ms = now
    if counts.levels and not any(key.startswith("ClusterQueue/") for key in touched):
        return
    counts.levels = {}
    for key, row in page.items():
        if not key.startswith("ClusterQueue/") or MARK in row["name"]:
            continue
        waits = row["counts"]["pending"] + row["counts"]["inadmissible"] > 0
        for cell in row["cells"]:
            flavor, resource = cell["flavor"], cell["resource"]
            of_flavor = _series(CONTENDED, ("flavor",), (flavor,))
            counts.levels[of_flavor] = max(counts.levels.get(of_flavor, 0), waits)
            cells = _series(BORROWED, ("flavor", "resource"), (flavor, resource))
            borrowed = float(cell["borrowed"]) / (1000 if resource == CPU else 1)
            counts.levels[cells] = counts.levels.get(cells, 0) + borrowed


def pressure_of(sandbox: Sandbox) -> Iterator[Pressure]:
    """Yield the metrics that say how queues press each other; of waits the means.

    Cost: each revision once per process; a worker reads where many are unread.
    """
    watchdog.leave_to_worker(_workloads.unread(sandbox), MOST_UNREAD)
    counts = counts_of(sandbox, history.page_at(sandbox, sandbox.revision))
    for one, number in counts.counters.items():
        if one.name in (CAUSED, CONTENDED, BORROWED):
            yield Pressure(name=one.name, labels=dict(one.labels), value=number)
    for one, times in counts.times.items():
        if one.name == "kueue_admission_wait_time_seconds":
            mean = sum(times) / len(times)
            yield Pressure(name=one.name, labels=dict(one.labels), value=mean)


def _place(counts: WorkloadTotals, page: Page, key: str, row: Row) -> Place:
    """Return where a Workload is counted while it holds quota."""
    queue, last = counts.queue_of.get(key, ""), str(row.get("priorityClass", ""))
    local = (str(row.get("localQueue", "")), key.split("/")[1])
    found = page.get(f"LocalQueue/{local[1]}/{local[0]}", {})
    is_there = bool(queue) and found.get("clusterQueue") == queue
    return Place((queue, last), (*local, last), is_there)


def _count_event(counts: WorkloadTotals, page: Page, row: Row, one: Happened) -> None:
    key = one.subject
    if one.type == "Edit":
        counts.edited[key] = one.reason
        return
    if one.type in ("ReserveQuota", "Admit"):
        counts.queue_of[key] = str(one.data.get("queue") or "")
    place = _place(counts, page, key, row)
    _count_cost(counts, one, place.queue)
    match one.type:
        case "ReserveQuota" | "Admit":
            since = counts.queued_at.get(key, int(row.get("createdMs") or 0))
            if one.type == "ReserveQuota" or one.reason == QUOTA_RESERVED:
                counts.counters[_ATTEMPTED] += 1
                counts.count("quota_reserved_workloads_total", place)
                counts.observe(
                    "quota_reserved_wait_time_seconds", place, since, one.t_ms
                )
                counts.reserved_at[key] = one.t_ms
            counts.started.discard(key)
            if one.type == "Admit":
                _count_admitted(counts, page, row, one, place)
        case "Wait":
            counts.counters[_IN_VAIN] += 1
        case "Finish":
            counts.count("finished_workloads_total", place)
            since = counts.admitted_at.get(key, one.t_ms)
            counts.observe("execution_time_seconds", place, since, one.t_ms)
            _count_stop(counts, key)
        case "Preempt" | "Evict":
            _count_eviction(counts, page, one, place)
            _count_stop(counts, key)
            counts.queued_at[key] = one.t_ms
        case _:  # a checkpoint, whose cost alone is counted
            pass


_ATTEMPTED = Series("kueue_admission_attempts_total", (("result", "success"),))
_IN_VAIN = Series("kueue_admission_attempts_total", (("result", "inadmissible"),))
_PREEMPTIONS = ("preempting_cluster_queue", "reason")
CAUSED = "quotalab_preemptions_total"
_CAUSED = ("preempting_cluster_queue", "cluster_queue", "preempting_cohort", "cohort")
CONTENDED, BORROWED = (
    "quotalab_contended_seconds_total",
    "quotalab_borrowed_seconds_total",
)


def _count_eviction(
    counts: WorkloadTotals, page: Page, one: Happened, place: Place
) -> None:
    if one.type == "Preempt":
        why = ("Preempted", "")
        winner = page.get(one.by, {}).get("clusterQueue")
        queue = str(winner or counts.queue_of.get(one.by) or "")
        pair = (queue, place.queue[0])
        cohorts = [page.get(f"ClusterQueue//{n}", {}).get("cohort") or "" for n in pair]
        counts.counters[_series(CAUSED, _CAUSED, (*pair, *cohorts))] += 1
        name = "kueue_preempted_workloads_total"
        counts.counters[_series(name, _PREEMPTIONS, (queue, one.reason))] += 1
    else:
        why = _why(one.reason)
    if why[0] == PODS_READY_TIMEOUT:
        ready = one.subject in counts.started
        why = (why[0], WAIT_FOR_RECOVERY if ready else WAIT_FOR_START)
    counts.count("evicted_workloads_total", place, *why)
    labels = (*place.queue, *why)
    if (one.subject, *labels) not in counts.once:
        counts.once.add((one.subject, *labels))
        name = "kueue_evicted_workloads_once_total"
        counts.counters[_series(name, (*_OF_QUEUE, *_CAUSES), labels)] += 1


def _count_admitted(
    counts: WorkloadTotals, page: Page, row: Row, one: Happened, place: Place
) -> None:
    """Count an admission, how long it was waited for, and how long for its checks."""
    key, at = one.subject, one.t_ms
    since = counts.queued_at.get(key, int(row.get("createdMs") or 0))
    counts.count("admitted_workloads_total", place)
    counts.observe("admission_wait_time_seconds", place, since, at)
    reserved = counts.reserved_at.get(key, at)
    if row.get("checks") or reserved != at:
        counts.observe("admission_checks_wait_time_seconds", place, reserved, at)
    counts.admitted_at[key] = at
    for cohort in above(page, page.get(f"ClusterQueue//{place.queue[0]}", {})):
        name, labels = "kueue_cohort_subtree_admitted_workloads_total", _OF_COHORT
        counts.counters[_series(name, labels, (cohort, place.queue[1]))] += 1


_OF_COHORT = ("cohort", "priority_class")


def _count_stop(counts: WorkloadTotals, key: str) -> None:
    for known in (counts.queue_of, counts.reserved_at, counts.admitted_at):
        known.pop(key, None)
    counts.started.discard(key)


def _changes(
    counts: WorkloadTotals, before: Row | None, row: Row
) -> Iterator[tuple[str, str]]:
    """Yield what changed of the Workload of a job."""
    if before is None or not row["owner"]:
        return
    if before["uid"] != row["uid"]:
        if before["uid"]:  # a card of what the first tick makes has none
            yield "Replaced", ""
        return
    if before["priorityClass"] != row["priorityClass"]:
        yield "PriorityClass", str(before["priority"])
    asked = [[(p["name"], p["count"], p["requests"]) for p in one["podSets"]]
             for one in (before, row)]  # fmt: skip
    is_edited = counts.edited.get(row["owner"], "Create") != "Create"
    if is_edited and asked[0] != asked[1] and before["phase"] in _WAITING:
        yield "PodSets", ""
    if before["reason"] != row["reason"] and before["reason"] == ADMISSION_GATED:
        yield "GateCleared", ""
    said = _said_by_checks(row)
    if said and said != _said_by_checks(before):
        yield "Checks", said


def _said_by_checks(row: Row) -> str:
    """Return what checks say that are waited for with quota."""
    return "; ".join(
        f"{one['name']}: {one['message']}"
        for one in row["checks"]
        if one["state"] == PENDING and one["message"] and row["phase"] == "reserved"
    )


_WAITING = ("pending", "inadmissible")


def _count_ready(counts: WorkloadTotals, page: Page, row: Row) -> None:
    """Count that the pods of a job got ready for the first time since its admission."""
    key = row["key"]
    admitted = counts.admitted_at.get(key)
    if not row["owner"] or admitted is None or key in counts.started:
        return  # of one without a job nobody looks whether its pods are ready
    ready = [
        int(one["sinceMs"])
        for one in row["conditions"]
        if (one["type"], one["reason"]) == (PODS_READY, STARTED)
    ]
    if not ready:
        return
    counts.started.add(key)
    since = counts.queued_at.get(key, int(row["createdMs"]))
    place = _place(counts, page, key, row)
    begins: tuple[tuple[str, int], ...] = (("", since), ("admitted_until_", admitted))
    for name, began in begins:
        counts.observe(f"{name}ready_wait_time_seconds", place, began, ready[0])


def _is_held(before: Row, row: Row) -> bool:
    """Return whether a LocalQueue was stopped: Kueue takes it out of its queues."""
    policy = row["stopPolicy"] if row["kind"] == "LocalQueue" else "None"
    return bool(policy not in ("None", "", before.get("stopPolicy")))


def _count_gone(counts: WorkloadTotals, page: Page, key: str, row: Row) -> None:
    """Forget what a queue or a cohort counted; end the Workload of a job that is gone."""
    match row["kind"]:
        case "ClusterQueue":
            counts.clear(cluster_queue=row["name"])
            counts.clear(preempting_cluster_queue=row["name"])
        case "LocalQueue":
            counts.clear(name=row["name"], namespace=row["namespace"])
        case "Cohort":
            counts.clear(cohort=row["name"])
            counts.below.forget(row["name"])
        case "Workload":
            counts.gone[key] = row
            if len(counts.gone) > MOST_GONE:
                del counts.gone[next(iter(counts.gone))]
            owner = row["owner"]
            away = owner.startswith("Pod/") and owner not in page
            is_gone = away or counts.edited.get(owner) == "Delete"
            if row["finishedMs"] is None and is_gone and not _ends_alone(row):
                place = _place(counts, page, key, row)
                counts.count("finished_workloads_total", place)
            _count_stop(counts, key)
            counts.queued_at.pop(key, None)
        case _:
            pass


def _ends_alone(row: Row) -> bool:
    """Return whether a Workload is a set's, or a group's that no pod controls."""
    kind, _, name = row["owner"].partition("/")
    group = kind == "Pod" and not row["name"].startswith(f"pod-{name.split('/')[-1]}-")
    return group or kind in ("StatefulSet", "LeaderWorkerSet")


def _why(reason: str) -> tuple[str, str]:
    """Return reason and underlying cause of an eviction, as Kueue labels them."""
    if reason.startswith(DEACTIVATED_DUE_TO):
        return "Deactivated", reason.removeprefix(DEACTIVATED_DUE_TO)
    return reason, ""


def _count_cost(counts: WorkloadTotals, one: Happened, place: Labels) -> None:
    """Count work that is lost, less what checkpoints keep, and work begun again."""
    restarts = _series("quotalab_restarts_total", _OF_QUEUE, place)
    lost = _series("quotalab_work_lost_seconds", _OF_QUEUE, place)
    match one.type:
        case "Admit":
            counts.lost_from[one.subject] = one.t_ms
            if one.subject in counts.stopped:
                counts.counters[restarts] += 1
        case "Preempt" | "Evict":
            since = counts.lost_from.pop(one.subject, one.t_ms)
            counts.counters[lost] += (one.t_ms - since) / 1000
            counts.stopped.add(one.subject)
        case "Checkpoint" if one.by:  # it lost a pod and keeps its quota
            counts.counters[lost] += int(one.data.get("lost_ms", 0)) / 1000
            counts.counters[restarts] += 1
            counts.lost_from[one.subject] = one.t_ms
        case "Checkpoint":
            counts.counters[lost] -= int(one.data.get("kept_ms", 0)) / 1000
        case _:
            pass


_workloads = CountCache(WorkloadTotals, _read)
counts_of = _workloads.brought_to


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
    wanted = Q(type__in=_POD_TYPES, subject__startswith="Pod/")
    for one in _events(sandbox, counts.revision, wanted):
        counts.events += 1
        times = int((one.data or {}).get("times", 1))
        _count(counts, one.type, one.subject, one.by, one.t_ms, times)
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
