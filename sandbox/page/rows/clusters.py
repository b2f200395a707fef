"""Rows of worker clusters, and of the objects in them under the manager's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sandbox.page.diffs import Row
from sandbox.page.rows.tally import WorkloadTally
from sandbox.page.wire import MultiKueueClusterRow, WorkloadCounts
from scheduler.engine.multikueue.checks import connection
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.objects import (
    Key,
    Object,
    cluster_of,
    plain,
    qualified,
    qualified_name,
)

#: By kind of row: the fields that name an object of the same cluster.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "Cohort": ("name", "parent"),
    "ClusterQueue": ("name", "cohort"),
    "LocalQueue": ("name", "clusterQueue"),
    "ResourceFlavor": ("name",),
    "Workload": ("name", "localQueue", "clusterQueue"),
    "Node": ("name", "flavor"),
    "Pod": ("name", "node", "nominated", "queue"),
    "Queue": ("name", "parent"),
    "Application": ("name", "queue"),
}
#: The fields that hold a key.
_KEYS = ("key", "owner", "workload")


def world_of(world: World, key: Key) -> World:
    """Return the world that an object lives in: this one, or a worker's."""
    cluster = cluster_of(key)
    return world.workers().get(cluster, world) if cluster else world


def inside(world: World, obj: Object) -> tuple[World, Object]:
    """Return the world that an object lives in, and the object as it has it."""
    home = world_of(world, obj.key)
    return (world, obj) if home is world else (home, home.objects[plain(obj.key)])


def outside(row: Row, cluster: str) -> Row:
    """Return a row of a worker with everything that it names qualified."""
    changed = {
        name: qualified_name(row[name], cluster) for name in _NAMES.get(row["kind"], ())
    }
    for name in _KEYS:
        if text := row.get(name):
            kind, namespace, own = text.split("/", 2)
            changed[name] = str(qualified(Key(kind, namespace, own), cluster))
    return {**row, **changed}


def each_world(world: World) -> Iterator[tuple[str, World]]:
    """Yield ("", the manager), then each worker by name."""
    yield "", world
    yield from sorted(world.workers().items())


def cluster_row(world: World, obj: Object) -> MultiKueueClusterRow:
    """Return the row of a MultiKueueCluster."""
    found = connection(obj)
    since = found.get("lastTransitionTime")
    return MultiKueueClusterRow(
        key=str(obj.key),
        name=obj.key.name,
        active=found["status"] == "True",
        reason=str(found.get("reason") or ""),
        message=str(found.get("message") or ""),
        since_ms=world.context.ms(durations.stamp_us(since)) if since else None,
    )


class WorkerTally(WorkloadTally):
    """The counts of a page as one worker's queues ask for them."""

    def __init__(self, tally: WorkloadTally, cluster: str) -> None:
        super().__init__(
            tally.cluster, tally.local, tally.phases, tally.asking, tally.anew
        )
        self.name: Callable[[str], str] = lambda name: qualified_name(name, cluster)

    def of_cluster_queue(self, name: str) -> WorkloadCounts:
        """Return the counts of one ClusterQueue of the worker."""
        return super().of_cluster_queue(self.name(name))

    def of_local_queue(self, namespace: str, name: str, queue: str) -> WorkloadCounts:
        """Return the counts of one LocalQueue of the worker."""
        return super().of_local_queue(namespace, self.name(name), self.name(queue))
