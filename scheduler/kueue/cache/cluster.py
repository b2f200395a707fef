"""Everything Kueue knows of one cluster: queues, flavors, namespaces, workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler import registry
from scheduler.kueue.cache.candidates import Shelf
from scheduler.kueue.configuration import Settings
from scheduler.kueue.queue.pending import Line
from scheduler.kueue.queue.requeue import Queueing
from scheduler.kueue.tree.forest import Forest
from scheduler.kueue.tree.tree import Cohort, Queue
from scheduler.kueue.workload.info import Work
from scheduler.records.objects import Key
from scheduler.records.quota import Flavor, LocalQueueSpec, QueueSpec
from scheduler.records.workload import Catalogue


class Door:
    """A LocalQueue, and the workloads that name it."""

    __slots__ = (
        "active_since_us",
        "admitted",
        "key",
        "pending",
        "reserving",
        "spec",
        "usage",
        "works",
    )

    def __init__(self, key: Key) -> None:
        self.key = key
        self.active_since_us: int | None = None
        self.spec: LocalQueueSpec | None = None  # None: named, but not there
        self.works: dict[Work, None] = {}
        self.pending = 0
        self.reserving = 0
        self.admitted = 0
        self.usage: dict[tuple[str, str], int] = {}

    @property
    def open(self) -> bool:
        """Tell whether it exists and is not held. Source: KUEUE.md 5.1."""
        return self.spec is not None and self.spec.stop == "None"


class Cluster:
    """The state that the parts of the engine share; `linked` first, then use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.forest = Forest()
        self.flavors: dict[str, Flavor] = {}
        self.refusals: dict[tuple[str, str], str] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.doors: dict[tuple[str, str], Door] = {}
        self.doors_of: dict[str, dict[Door, None]] = {}  # by ClusterQueue
        self.works: dict[Key, Work] = {}
        self.catalogue = Catalogue()
        self.cycle = 0
        self.stale = False  # the forest must be linked before it is used
        self.strategies: dict[str, Queueing] = {}

    def door(self, namespace: str, name: str) -> Door:
        """Return the LocalQueue of this name, there or not."""
        door = self.doors.get((namespace, name))
        if door is None:
            key = Key("LocalQueue", namespace, name)
            door = self.doors[namespace, name] = Door(key)
        return door

    def queue_of(self, work: Work) -> Queue | None:
        """Return the ClusterQueue behind a workload's LocalQueue, if both exist."""
        spec = work.door.spec
        return None if spec is None else self.forest.queues.get(spec.queue)

    def put_door(self, spec: LocalQueueSpec) -> Door:
        """Take a LocalQueue, new or changed; those who name it stay."""
        door = self.door(spec.namespace, spec.name)
        self._unlink_door(door)
        door.spec = spec
        self.doors_of.setdefault(spec.queue, {})[door] = None
        return door

    def remove_door(self, door: Door) -> None:
        """Forget a LocalQueue; those who name it stay."""
        self._unlink_door(door)
        door.spec = None

    def _unlink_door(self, door: Door) -> None:
        if door.spec is not None:
            self.doors_of[door.spec.queue].pop(door, None)

    def strategy(self, queue: Queue) -> Queueing:
        """Return the queueing strategy of a ClusterQueue."""
        name = queue.spec.strategy
        known = self.strategies.get(name)
        if known is None:
            known = self.strategies[name] = registry.lookup("queueing", name)
        return known

    def matches(self, queue: Queue, namespace: str) -> bool:
        """Tell whether a namespace may use a ClusterQueue. Source: KUEUE.md 3."""
        selector = queue.spec.selector
        if selector is None:
            return False
        if not selector.requirements:
            return True
        labels = self.namespaces.get(namespace)
        if labels is None:
            labels = {"kubernetes.io/metadata.name": namespace}
        return selector.matches(labels)

    def put_queue(self, spec: QueueSpec) -> Queue:
        """Take a ClusterQueue, new or changed; its line and works stay."""
        hashing = registry.lookup("queueing", spec.strategy).hashing
        queue = self.forest.queues.get(spec.name)
        if queue is None:
            queue = Queue(spec, Shelf(), Line(hashing=hashing))
            self.forest.queues[spec.name] = queue
        queue.spec = spec
        self.stale = True
        return queue

    def link(self) -> None:
        """Link the forest anew when something about it changed."""
        if not self.stale:
            return
        self.stale = False
        self.forest.link()
        for queue in self.forest.queues.values():
            queue.plans.clear()
            queue.cover = {
                resource: index
                for index, group in enumerate(queue.spec.groups)
                for resource in group.resources
            }
            queue.active = self._active(queue)
        self.forest.raise_cohorts()

    def _active(self, queue: Queue) -> bool:
        """Tell whether a ClusterQueue admits at all. Source: KUEUE.md 3."""
        spec = queue.spec
        return (
            spec.stop == "None"
            and spec.cohort not in self.forest.looped
            and all(
                name in self.flavors for group in spec.groups for name in group.flavors
            )
        )

    def tree_queues(self, queue: Queue) -> Iterator[Queue]:
        """Yield every ClusterQueue of the tree that a queue belongs to."""
        root = queue.root
        if isinstance(root, Cohort):
            yield from root.subtree()
        else:
            yield queue
