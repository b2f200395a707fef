"""Before the first tick: the cards of jobs that are here and have no Workload yet."""

from __future__ import annotations

from sandbox.models import Sandbox
from sandbox.page.diffs import Page, Row
from sandbox.page.rows import transport
from sandbox.page.rows.workloads import (
    cluster_queue_of,
    owner_of,
    priority_class,
    summed,
    texts,
)
from sandbox.page.wire_rows import PodSetCell, WorkloadRow
from scheduler.engine.lifetime.jobs.expected import expected_workloads
from scheduler.engine.world import World
from scheduler.model import streams
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object


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
