"""Edits, gathered until the trees are linked: who is requeued and looked at for them."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode

#: What an edit of a ClusterQueue means: its workloads are looked at again, quota
#: moved in its tree, its inadmissible workloads requeue and nothing else.
TOUCHED, QUOTA, REQUEUE = 1, 2, 4


class Edits:
    """ClusterQueues whose surroundings changed, and how, since the last `apply`."""

    def __init__(self, cluster: Cluster, life: Lifecycle) -> None:
        self.cluster = cluster
        self.life = life
        self.queues: dict[str, int] = {}  # ClusterQueue -> kind of edit
        self.cohorts: dict[str, None] = {}
        self.unreconciled: dict[str, None] = {}  # their workloads are dirty by an edit

    def queue(self, queue: ClusterQueue, kind: int = TOUCHED) -> None:
        """Note that a ClusterQueue's surroundings changed."""
        self.queues[queue.name] = kind | self.queues.get(queue.name, 0)
        self.life.touched_queues[queue] = None

    def tree(self, node: QuotaNode | None) -> None:
        """Note a change of quota for all ClusterQueues of a tree as it is linked."""
        if isinstance(node, ClusterQueue):
            for queue in self.cluster.tree_queues(node):
                self.queue(queue, QUOTA)
        elif isinstance(node, Cohort):
            root = node.root
            for queue in root.subtree() if isinstance(root, Cohort) else ():
                self.queue(queue, QUOTA)

    def flavor(
        self, name: str, *, restore: bool = False, requeues: bool = True
    ) -> None:
        """Note a change of a ResourceFlavor, for those whose quota it is in.

        They are not looked at where it does not requeue them.
        """
        self.cluster.ineligibility.clear()
        self.cluster.needs_linking = True
        if requeues and not restore:
            for queue in self._queues_with(name):
                self.queue(queue, TOUCHED | QUOTA)

    def nodes(self, flavors: Iterable[str]) -> None:
        """Note that nodes of these flavors changed, for those whose quota is there.

        Source: docs/semantics/kueue-topology.md#re-activation.
        """
        for flavor in flavors:
            for queue in self._queues_with(flavor):
                self.queue(queue)

    def _queues_with(self, flavor: str) -> list[ClusterQueue]:
        return [
            queue
            for queue in self.cluster.forest.queues.values()
            if any(flavor in group.flavors for group in queue.spec.groups)
        ]

    def check(self, name: str, *, restore: bool = False) -> None:
        """Let the ClusterQueues that name a check see whether they still admit.

        Their inadmissible workloads requeue; nobody is reconciled for it.
        Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks.
        """
        self.cluster.needs_linking = True
        for queue in self.cluster.forest.queues.values():
            if not restore and any(check.name == name for check in queue.spec.checks):
                self.life.to_requeue[queue] = None
                self.life.touched_queues[queue] = None

    def namespace(self, name: str) -> None:
        """Note a change of a namespace's labels, for those that its LocalQueues name."""
        for (namespace, _), local_queue in self.cluster.local_queues.items():
            if namespace == name and local_queue.spec is not None:
                queue = self.cluster.forest.queues.get(local_queue.spec.queue)
                if queue is not None:
                    self.queue(queue)

    def apply(self) -> None:
        """Re-activate around what was edited, and let the controller look at it.

        Source: docs/semantics/kueue.md#requeueing-inadmissible-workloads.
        """
        for name in self.cohorts:
            self.tree(self.cluster.forest.cohorts.get(name))
        self.cohorts.clear()
        for root in {self._root(n): None for n, e in self.queues.items() if e & QUOTA}:
            self.tree(root)
        edited, self.queues = self.queues, {}
        for name, kind in edited.items():
            self._apply(name, kind)

    def _apply(self, name: str, kind: int) -> None:
        queue = self.cluster.forest.queues.get(name)
        if queue is None:
            return
        queue.generation += bool(kind & QUOTA)
        self.life.to_requeue[queue] = None
        if kind & TOUCHED:
            self.unreconciled[name] = None
            for local_queue in self.cluster.local_queues_of.get(name, ()):
                self.life.dirty.update(local_queue.workloads)

    def _root(self, name: str) -> QuotaNode | None:
        queue = self.cluster.forest.queues.get(name)
        return None if queue is None else queue.root
