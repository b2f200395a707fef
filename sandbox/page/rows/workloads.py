"""Workloads as cards: phase, requests, flavors, the reason and the times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandbox.models import Sandbox
from sandbox.page.diffs import Page, Row
from sandbox.page.phases import phase_of
from sandbox.page.rows import transport
from sandbox.page.wire import CheckCell, ConditionCell, PodSetCell, WorkloadRow
from scheduler.analysis.forecast.workloads import finished_run_ms
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.status_records import Condition
from scheduler.engine.lifetime.jobs.expected import expected_workloads
from scheduler.engine.lifetime.runs import Run
from scheduler.engine.multikueue.copies import is_copy
from scheduler.engine.world import World
from scheduler.model import amounts, streams
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, qualified
from scheduler.recorded.twin.observing import version_of

_WAITING = ("pending", "inadmissible")


def row(world: World, obj: Object) -> WorkloadRow:
    """Return the card of one Workload."""
    work = work_of(world, obj.key)
    since = _true_since(world, work)
    phase = phase_of(
        obj.spec, is_set=since.__contains__, inadmissible=is_inadmissible(work)
    )
    condition = _summary_condition(work, since)
    run = world.lifetime.runs.get(obj.key)
    running = run if run is not None and phase == "admitted" else None
    ready_ms, length_ms = _work_times(world, obj, running)
    return WorkloadRow(
        key=str(obj.key),
        name=obj.key.name,
        namespace=obj.key.namespace,
        uid=obj.uid,
        local_queue=obj.spec.get("queueName") or "",
        cluster_queue=cluster_queue_of(world, obj, work),
        phase=phase,
        priority=work.priority if work else int(obj.spec.get("priority") or 0),
        priority_class=priority_class(obj.spec),
        pod_sets=_pod_sets(work),
        totals=_totals(work),
        reason=condition.reason if condition else "",
        message=shortened(condition.message) if condition else "",
        conditions=_conditions(world, work),
        sticky=is_sticky(work),
        order_us=str(work.queue_order_us if work and work.pending_queue else 0),
        created_ms=world.context.ms(work.created_us) if work else 0,
        reserved_ms=since.get("QuotaReserved"),
        admitted_ms=since.get("Admitted"),
        ready_ms=ready_ms,
        ends_ms=running.ends_ms if running else None,
        runtime_ms=length_ms,
        requeue_ms=_requeue(world, work),
        evictions=sum(work.evictions.values()) if work else 0,
        evicted=work.evicted if work else False,
        owner=owner_of(obj),
        checks=_checks(work),
        worker=str(obj.status.get("clusterName") or ""),
        tried=list(obj.status.get("nominatedClusterNames") or ()),
        copy=is_copy(obj),
        finished_ms=since.get("Finished"),
    )


def _checks(work: WorkloadInfo | None) -> list[CheckCell]:
    return [
        CheckCell(name=name, state=check.state, message=shortened(check.message))
        for name, check in sorted(work.checks.items() if work else ())
    ]


def _work_times(
    world: World, obj: Object, running: Run | None
) -> tuple[int | None, int]:
    """Return when its pods were ready, and how long its work takes, in ms.

    Of what ended on a real cluster both are as its conditions say.
    """
    if version_of(obj) and (seen := finished_run_ms(world, obj)) is not None:
        end_ms, ran_ms = seen
        return end_ms - ran_ms, ran_ms
    return running.ready_ms if running else None, runtime_ms(world, obj)


def runtime_ms(world: World, obj: Object) -> int:
    """Return how long its work takes once all pods are ready; 0 = until stopped."""
    timing = world.lifetime.timing(obj)
    if timing.runtime is not None:
        return timing.runtime.draw(world.context.seed, "runtime", str(obj.key))
    return 0 if timing.recreate else world.lifetime.default_runtime_ms


def moved_aside(
    world: World, page: Mapping[str, Row], shown: set[str], cluster: str = ""
) -> Iterator[tuple[Row, Row]]:
    """Yield rows of waiting workloads that became inadmissible or pending, and what changes.

    Whole groups change by one flag, which touches none of their members; their
    queues note who that was. `cluster` is the worker whose world it is.
    """
    if world.kueue is None:
        return
    for queue in world.kueue.cluster.forest.queues.values():
        for work in queue.pending.take_moved():
            key = str(qualified(work.key, cluster))
            before = page.get(key)
            if before is None or key in shown or work.pending_queue is None:
                continue
            if before["phase"] not in _WAITING:
                continue
            patch: Row = {}
            phase = "inadmissible" if is_inadmissible(work) else "pending"
            if phase != before["phase"]:
                patch["phase"] = phase
            if (sticky := is_sticky(work)) != before["sticky"]:
                patch["sticky"] = sticky
            if patch:
                yield before, patch


def work_of(world: World, key: Key) -> WorkloadInfo | None:
    """Return what the Kueue stage knows of a Workload."""
    return None if world.kueue is None else world.kueue.cluster.workloads.get(key)


def is_inadmissible(work: WorkloadInfo | None) -> bool:
    """Return whether its queue leaves the Workload aside until something changes."""
    return (
        work is not None
        and work.pending_queue is not None
        and work.pending_queue.is_inadmissible(work)
    )


def is_sticky(work: WorkloadInfo | None) -> bool:
    """Return whether the Workload heads its queue until it is admitted."""
    return (
        work is not None
        and work.pending_queue is not None
        and work.pending_queue.preemptor is work
    )


def cluster_queue_of(world: World, obj: Object, work: WorkloadInfo | None) -> str:
    """Return the ClusterQueue that holds the Workload, or that it waits for."""
    if work is not None and work.cluster_queue is not None:
        return work.cluster_queue.name
    if work is not None and work.admission is not None:
        return work.admission.queue
    name = obj.spec.get("queueName") or ""
    local_queue = world.objects.get(Key("LocalQueue", obj.key.namespace, name))
    return str(local_queue.spec.get("clusterQueue") or "") if local_queue else ""


def priority_class(spec: Mapping[str, Any]) -> str:
    """Return the name of the class that its priority is of; "" without one."""
    given = spec.get("priorityClassRef") or {}
    return str(given.get("name") or spec.get("priorityClassName") or "")


def _pod_sets(work: WorkloadInfo | None) -> list[PodSetCell]:
    if work is None:
        return []
    flavors = (
        {part.name: part for part in work.admission.pod_sets} if work.admission else {}
    )
    cells = []
    for part in work.pod_sets:
        got = flavors.get(part.name)
        cells.append(
            PodSetCell(
                name=part.name,
                count=got.count if got else part.count,
                min_count=part.min_count,
                requests=texts(part.shape.requests),
                flavors=dict(got.flavors) if got else {},
            )
        )
    return cells


def _totals(work: WorkloadInfo | None) -> dict[str, str]:
    if work is None:
        return {}
    if work.admission is not None:
        parts = [part.usage for part in work.admission.pod_sets]
    else:
        parts = list(work.totals)
    return summed(parts)


def summed(parts: Iterable[Mapping[str, int]]) -> dict[str, str]:
    """Return the sum of amounts as the wire has them."""
    total: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = amounts.add(total.get(name, 0), amount)
    return texts(total)


def texts(values: Mapping[str, int]) -> dict[str, str]:
    """Return amounts as the wire has them."""
    return {name: str(amount) for name, amount in sorted(values.items())}


def _summary_condition(
    work: WorkloadInfo | None, since: Mapping[str, int]
) -> Condition | None:
    """Return the condition that explains the phase; `since` says which are True."""
    if work is None:
        return None
    for name in ("Finished", "Admitted"):
        if name in since:
            return work.conditions[name]
    if "QuotaReserved" in since:
        return work.conditions.get("Admitted") or work.conditions["QuotaReserved"]
    if work.evicted and not work.active:
        return work.conditions["Evicted"]
    return work.conditions.get("QuotaReserved")


def _conditions(world: World, work: WorkloadInfo | None) -> list[ConditionCell]:
    if work is None:
        return []
    return [
        ConditionCell(
            type=name,
            status=condition.status,
            reason=condition.reason,
            message=shortened(condition.message),
            since_ms=world.context.ms(condition.since_us),
        )
        for name, condition in sorted(work.conditions.items())
    ]


def _true_since(world: World, work: WorkloadInfo | None) -> dict[str, int]:
    """Return which conditions are True, and since when."""
    if work is None:
        return {}
    return {
        name: world.context.ms(condition.since_us)
        for name, condition in work.conditions.items()
        if condition.status
    }


def _requeue(world: World, work: WorkloadInfo | None) -> int | None:
    if work is None or work.requeue_at_us is None:
        return None
    return world.context.ms(work.requeue_at_us)


def owner_of(obj: Object) -> str:
    """Return the key of the job that a Workload was made from; "" for none.

    Of a group of pods it is the first.
    """
    owners = obj.metadata.get("ownerReferences") or ()
    steering = [one for one in owners if one.get("controller")]
    for owner in steering or owners:
        kind, name = owner.get("kind", ""), owner.get("name", "")
        return str(Key(kind, obj.key.namespace, name))
    return ""


# ------------------------------------------------------------------------
# Before the first tick: the cards of jobs that are here and have no Workload yet.


def rows(world: World, sandbox: Sandbox) -> list[WorkloadRow]:
    """Return a card for each Workload that the first tick makes; none after tick 0.

    They have no uid. A real cluster shows what it has and nothing else.
    """
    if world.tick > 0 or world.kueue is None or sandbox.source.get("kind"):
        return []
    found = expected_workloads(world.lifetime.job_stage, world.lifetime.waits)
    made = [obj for obj in found if obj.key not in world.objects]
    # All are made in one instant, so the uid that they will have says who is first.
    made.sort(key=lambda obj: streams.uid(world.context.seed, *obj.key))
    cards = (_row(world, obj, place) for place, obj in enumerate(made))
    return [card for card in cards if card is not None]


def among(page: Page) -> set[str]:
    """Return the keys of such cards on a page; O(page) at tick 0, else nothing."""
    sandbox = page.get(transport.KEY)
    if sandbox is None or sandbox["tick"] > 0:
        return set()
    return {key for key, row in page.items() if is_expected(row)}


def is_expected(row: Row) -> bool:
    """Return whether a row is of a Workload that is not made yet."""
    return bool(row["kind"] == "Workload" and row["uid"] == "")


def _row(world: World, obj: Object, place: int) -> WorkloadRow | None:
    assert world.kueue is not None
    catalogue = world.kueue.cluster.catalogue
    try:
        pod_sets = catalogue.pod_sets(obj.spec.get("podSets") or (), obj.key.namespace)
    except SchedulerError:
        return None
    return WorkloadRow(
        key=str(obj.key),
        name=obj.key.name,
        namespace=obj.key.namespace,
        uid="",
        local_queue=obj.spec.get("queueName") or "",
        cluster_queue=cluster_queue_of(world, obj, None),
        phase="pending",
        priority=int(obj.spec.get("priority") or 0),
        priority_class=priority_class(obj.spec),
        pod_sets=[
            PodSetCell(
                name=part.name,
                count=part.count,
                min_count=part.min_count,
                requests=texts(part.shape.requests),
                flavors={},
            )
            for part in pod_sets
        ],
        totals=summed(part.total(part.count) for part in pod_sets),
        reason="",
        message="",
        conditions=[],
        sticky=False,
        order_us=str(place),
        created_ms=0,
        reserved_ms=None,
        admitted_ms=None,
        ready_ms=None,
        ends_ms=None,
        runtime_ms=0,
        requeue_ms=None,
        evictions=0,
        evicted=False,
        owner=owner_of(obj),
    )


# ------------------------------------------------------------------------
# Long sentences, shortened to fit a card.


LONGEST = 300


def shortened(sentence: str) -> str:
    """Return a sentence of at most LONGEST characters, cut between words with "…"."""
    if len(sentence) <= LONGEST:
        return sentence
    kept = sentence[: LONGEST - 1]
    head, space, _ = kept.rpartition(" ")
    return f"{(head if space else kept).rstrip(' ,;:')}…"
