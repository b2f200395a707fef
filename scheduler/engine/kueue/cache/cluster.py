"""Everything Kueue knows of one cluster: queues, flavors, namespaces, workloads."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from scheduler.engine.kueue.cache.candidates import AdmittedIndex, UsageOf
from scheduler.engine.kueue.cache.proposing import Proposing
from scheduler.engine.kueue.queue.pending import PendingQueue
from scheduler.engine.kueue.queue.requeue import QueueingStrategy
from scheduler.engine.kueue.topology.cache import TopologyCache
from scheduler.engine.kueue.tree.forest import Forest
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort
from scheduler.engine.kueue.usage.ledger import UsageLedger
from scheduler.engine.kueue.workload.families import Families
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.engine.kueue.workload.reading import Delays
from scheduler.model import registry
from scheduler.model.admission_check import MULTI_KUEUE, PROVISIONING, AdmissionCheck
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, namespace_labels
from scheduler.model.quota import ClusterQueueSpec, Flavor, LocalQueueSpec
from scheduler.model.workload import Catalogue


class Cluster:
    """The state that the parts of the engine share; `linked` first, then use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.forest = Forest()
        self.flavors: dict[str, Flavor] = {}
        self.checks: dict[str, AdmissionCheck] = {}
        self.ineligibility: dict[tuple[str, str], str] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.local_queues: dict[tuple[str, str], LocalQueue] = {}
        self.local_queues_of: dict[str, dict[LocalQueue, None]] = {}  # by ClusterQueue
        self.workloads: dict[Key, WorkloadInfo] = {}
        self.successors: dict[Key, Key] = {}  # slice -> the one that is to replace it
        self.catalogue = Catalogue(
            transform=settings.transform, pod_limits_count=settings.pod_limits_count
        )
        self.topologies = TopologyCache(settings.topology_gates)
        self.ledger: UsageLedger | None = None  # admission fair sharing is on
        self.families = Families() if settings.gates.concurrent_admission else None
        self.cycle = 0
        self.needs_linking = False  # the forest must be linked before it is used
        self.strategies: dict[str, QueueingStrategy] = {}
        self.proposing: Proposing | None = None  # a proposal decides; set by the stage

    def local_queue(self, namespace: str, name: str) -> LocalQueue:
        """Return the LocalQueue of this name, there or not."""
        local_queue = self.local_queues.get((namespace, name))
        if local_queue is None:
            key = Key("LocalQueue", namespace, name)
            local_queue = self.local_queues[namespace, name] = LocalQueue(key)
        return local_queue

    def cluster_queue_of(self, work: WorkloadInfo) -> ClusterQueue | None:
        """Return the ClusterQueue behind a workload's LocalQueue, if both exist."""
        spec = work.local_queue.spec
        return None if spec is None else self.forest.queues.get(spec.queue)

    def replaced_by(self, work: WorkloadInfo) -> WorkloadInfo | None:
        """Return the slice whose quota passes to `work`, while it has any there.

        Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
        """
        if work.replaces is None or not self.settings.gates.elastic_jobs:
            return None
        before = self.workloads.get(work.replaces)
        queue = self.cluster_queue_of(work)
        if before is None or before.cluster_queue is None or before is work:
            return None
        return before if before.cluster_queue is queue else None

    def is_parent(self, work: WorkloadInfo) -> bool:
        """Return whether variants of a workload are tried, and not itself.

        Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
        """
        if self.families is None or work.parent is not None:
            return False
        queue = self.cluster_queue_of(work)
        return work.is_parent or (
            queue is not None and queue.spec.migration is not None
        )

    def successor_of(self, work: WorkloadInfo) -> WorkloadInfo | None:
        """Return the slice that waits to replace this one."""
        if not self.successors or not self.settings.gates.elastic_jobs:
            return None
        after = self.workloads.get(self.successors.get(work.key, work.key))
        if after is None or after is work or after.finished:
            return None
        return after

    def delays_topology(self, queue: ClusterQueue) -> Delays:
        """Return which flavors have their nodes later, and whether others place.

        Source: docs/semantics/kueue-topology.md#delayed-assignments.
        """
        flavors: frozenset[str] = frozenset()
        elsewhere = False
        for check in queue.spec.checks:
            known = self.checks.get(check.name)
            if known is not None and known.controller == PROVISIONING:
                flavors |= check.flavors
            elsewhere |= known is not None and known.controller == MULTI_KUEUE
        return Delays(flavors, elsewhere)

    def put_local_queue(self, spec: LocalQueueSpec) -> LocalQueue:
        """Take a LocalQueue, new or changed; Workloads that name it stay."""
        local_queue = self.local_queue(spec.namespace, spec.name)
        self._unlink_local_queue(local_queue)
        local_queue.spec = spec
        self.local_queues_of.setdefault(spec.queue, {})[local_queue] = None
        return local_queue

    def remove_local_queue(self, local_queue: LocalQueue) -> None:
        """Remove a LocalQueue; Workloads that name it stay."""
        self._unlink_local_queue(local_queue)
        local_queue.spec = local_queue.active_since_us = None

    def _unlink_local_queue(self, local_queue: LocalQueue) -> None:
        if local_queue.spec is not None:
            self.local_queues_of[local_queue.spec.queue].pop(local_queue, None)

    def strategy(self, queue: ClusterQueue) -> QueueingStrategy:
        """Return the queueing strategy of a ClusterQueue."""
        name = queue.spec.strategy
        if self.proposing is not None:
            name = self.proposing.queueing(queue.name, name)
        known = self.strategies.get(name)
        if known is None:
            known = self.strategies[name] = registry.lookup("queueing", name)
        return known

    def matches(self, queue: ClusterQueue, namespace: str) -> bool:
        """Return whether a namespace may use a ClusterQueue.

        Source: docs/semantics/kueue.md#defaults-and-validation.
        """
        selector = queue.spec.selector
        if selector.nothing:
            return False
        if not selector.requirements:
            return True
        labels = self.namespaces.get(namespace, {})
        return selector.matches(namespace_labels(namespace, labels))

    def put_queue(self, spec: ClusterQueueSpec) -> ClusterQueue:
        """Take a ClusterQueue, new or changed; its pending queue and workloads stay."""
        queue = self.forest.queues.get(spec.name)
        if queue is None:
            queue = ClusterQueue(
                spec,
                AdmittedIndex(),
                PendingQueue(
                    equivalence_hashing=self.hashes(spec),
                    usage_of=self.usage_order(spec),
                ),
            )
            self.forest.queues[spec.name] = queue
        queue.spec = spec
        queue.admitted.usage_of = self.usage_order(spec)
        self.needs_linking = True
        return queue

    def hashes(self, spec: ClusterQueueSpec) -> bool:
        """Return whether a head that fails sets its like aside."""
        name = spec.strategy
        if self.proposing is not None:
            name = self.proposing.queueing(spec.name, name)
        strategy = registry.lookup("queueing", name)
        return bool(
            strategy.equivalence_hashing and self.settings.gates.equivalence_hashing
        )

    def usage_order(self, spec: ClusterQueueSpec) -> UsageOf | None:
        """Return what orders the workloads of a ClusterQueue by usage, if it does."""
        if self.ledger is None or not spec.usage_based:
            return None
        return self.ledger.value

    def is_sampled(self, local_queue: LocalQueue) -> bool:
        """Return whether neither a LocalQueue nor its ClusterQueue is stopped."""
        if local_queue.spec is None or not local_queue.is_active:
            return False
        queue = self.forest.queues.get(local_queue.spec.queue)
        return queue is not None and queue.active

    def link(self) -> None:
        """Link the forest anew when something about it changed."""
        if not self.needs_linking:
            return
        self.needs_linking = False
        self.forest.link()
        for queue in self.forest.queues.values():
            queue.group_searches.clear()
            queue.group_of = {
                resource: index
                for index, group in enumerate(queue.spec.groups)
                for resource in group.resources
            }
            names = [name for group in queue.spec.groups for name in group.flavors]
            with_topology = self.topologies.flavors
            queue.uses_topology = any(name in with_topology for name in names)
            queue.topology_only = all(name in with_topology for name in names)
            queue.active = self._active(queue)
        self.forest.update_heights()

    def _active(self, queue: ClusterQueue) -> bool:
        """Return whether a ClusterQueue admits at all.

        Source: docs/semantics/kueue.md#active-clusterqueues.
        """
        return next(self.problems(queue), None) is None

    def problems(self, queue: ClusterQueue) -> Iterator[Problem]:
        """Yield (reason, sentence) of what keeps a ClusterQueue from admitting."""
        return problems(
            queue.spec,
            in_cycle=self.forest.in_cycle,
            flavors=self.flavors,
            checks=self.checks,
            topologies=list(self.missing_topologies(queue)),
        )

    def missing_topologies(self, queue: ClusterQueue) -> Iterator[tuple[str, str]]:
        """Yield (flavor, topology) where a flavor's Topology does not exist.

        Source: docs/semantics/kueue-topology.md#topologies-and-flavors.
        """
        for group in queue.spec.groups:
            for name in group.flavors:
                flavor = self.topologies.flavors.get(name)
                if flavor and flavor.topology not in self.topologies.topologies:
                    yield name, flavor.topology

    def tree_queues(self, queue: ClusterQueue) -> Iterator[ClusterQueue]:
        """Yield every ClusterQueue of the tree that a queue belongs to."""
        root = queue.root
        if isinstance(root, Cohort):
            yield from root.subtree()
        else:
            yield queue


# ------------------------------------------------------------------------
# Why a ClusterQueue does not admit.


Problem = tuple[str, str]  # reason and sentence
COHORT_CYCLE = "CohortCycle"
TERMINATING = "Terminating"
IS_TERMINATING = "clusterQueue is terminating"


def problems(
    spec: ClusterQueueSpec,
    *,
    in_cycle: Container[str],
    flavors: Container[str],
    checks: Mapping[str, AdmissionCheck],
    topologies: Iterable[tuple[str, str]] = (),
) -> Iterator[Problem]:
    """Yield what keeps a ClusterQueue from admitting, the first as its reason.

    `topologies` are missing ones, with the flavor that names each.
    """
    if spec.going:
        yield TERMINATING, IS_TERMINATING
    if spec.stop != "None":
        yield "Stopped", "is stopped"
    names = [name for group in spec.groups for name in group.flavors]
    missing = [name for name in names if name not in flavors]
    if missing:
        listed = _listed(missing)
        yield "FlavorNotFound", f"references missing ResourceFlavor(s): {listed}"
    for flavor, topology in topologies:
        sentence = f'there is no Topology "{topology}" for TAS flavor "{flavor}"'
        yield "TopologyNotFound", sentence
    yield from _check_problems(spec, checks)
    if spec.cohort in in_cycle:
        yield COHORT_CYCLE, "belongs to a cohort that is its own ancestor"


def _listed(names: Iterable[str]) -> str:
    return ",".join(sorted(names))


def _check_problems(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck]
) -> Iterator[Problem]:
    """Source: docs/semantics/kueue-admission-checks.md#clusterqueues-without-their-checks."""
    names = [check.name for check in spec.checks]
    missing = [name for name in names if name not in checks]
    if missing:
        listed = _listed(missing)
        yield (
            "AdmissionCheckNotFound",
            f"references missing AdmissionCheck(s): {listed}",
        )
    inactive = [name for name in names if name in checks and not checks[name].active]
    if inactive:
        listed = _listed(inactive)
        yield (
            "AdmissionCheckInactive",
            f"references inactive AdmissionCheck(s): {listed}",
        )
    yield from _multi_kueue_problems(spec, checks)


def _multi_kueue_problems(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck]
) -> Iterator[Problem]:
    multi = _of_controller(spec, checks, MULTI_KUEUE)
    if not multi:
        return
    if len(multi) > 1:
        yield (
            "MultipleMultiKueueAdmissionChecks",
            "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, "
            f"found: {_listed(multi)}",
        )
    every = {name for group in spec.groups for name in group.flavors}
    some = [c.name for c in spec.checks if c.name in multi and not every <= c.flavors]
    if some:
        yield (
            "MultiKueueAdmissionCheckAppliedPerFlavor",
            "Cannot specify MultiKueue AdmissionCheck per flavor, "
            f"found: {_listed(some)}",
        )
    provisioning = _of_controller(spec, checks, PROVISIONING)
    if provisioning:
        yield (
            "MultiKueueWithProvisioningRequest",
            "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks "
            f"together, found: {_listed(multi)}, {_listed(provisioning)}",
        )


def _of_controller(
    spec: ClusterQueueSpec, checks: Mapping[str, AdmissionCheck], controller: str
) -> list[str]:
    return [
        check.name
        for check in spec.checks
        if check.name in checks and checks[check.name].controller == controller
    ]
