"""Objects of Kueue that stay, Terminating, until nothing uses them.

They carry the finalizer `kueue.x-k8s.io/resource-in-use` in a cluster. What is going
works on for those that have it; only a ClusterQueue admits nothing any longer.
Source: docs/semantics/kueue-lifecycle.md#deleting-what-is-in-use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.stage import KueueStage
from scheduler.model.objects import Key


def is_in_use(kueue: KueueStage, key: Key) -> bool:
    """Return whether something uses an object that would stay until it is free."""
    uses = USES.get(key.kind)
    if uses is None:
        return False
    kueue.settle()
    return uses(kueue.cluster, key.name)


def _queue_holds(cluster: Cluster, name: str) -> bool:
    queue = cluster.forest.queues.get(name)
    return queue is not None and bool(queue.admitted.workloads)


def _flavor_is_named(cluster: Cluster, name: str) -> bool:
    groups = (one.spec.groups for one in cluster.forest.queues.values())
    return any(name in group.flavors for several in groups for group in several)


def _topology_is_named(cluster: Cluster, name: str) -> bool:
    flavors: Iterable[str] = (
        one.topology for one in cluster.topologies.flavors.values()
    )
    return name in flavors


def _check_is_named(cluster: Cluster, name: str) -> bool:
    checks = (one.spec.checks for one in cluster.forest.queues.values())
    return any(check.name == name for several in checks for check in several)


#: Kind -> whether something uses the object of this name.
USES: dict[str, Callable[[Cluster, str], bool]] = {
    "ClusterQueue": _queue_holds,
    "ResourceFlavor": _flavor_is_named,
    "Topology": _topology_is_named,
    "AdmissionCheck": _check_is_named,
}
