"""What MultiKueue keeps of the Workloads that it dispatches, and what follows of it."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue.checks import CheckObjects
from scheduler.engine.multikueue.copies import is_copy, job_of
from scheduler.engine.multikueue.dispatch import Dispatch
from scheduler.engine.multikueue.workers import MultiKueueHost, Workers
from scheduler.engine.stage import Context
from scheduler.model.kueue.multikueue import INCREMENTAL, read_multi_kueue
from scheduler.model.objects import Key
from scheduler.model.policy import Policy

WORKLOAD = "Workload"
#: How long an incremental dispatcher waits before it nominates more clusters.
ROUND_MS = 300_000


class DispatchState:
    """The workers, the checks, and where each Workload is or is tried.

    The parts build on one another: copies in workers, the cluster that admitted,
    one instant, and the stage that has them all.
    """

    def __init__(self, context: Context, policy: Policy, host: MultiKueueHost) -> None:
        self.context = context
        self.host = host
        self.settings = read_multi_kueue(policy.spec.kueue.get("multiKueue") or {})
        self.workers = Workers(context, host)
        self.checks = CheckObjects(self.workers)
        self.dispatches: dict[Key, Dispatch] = {}

    def runs_elsewhere(self, key: Key) -> bool:
        """Return whether a Workload of the manager runs in a worker."""
        found = self.dispatches.get(key)
        return found is not None and bool(found.cluster)

    def copies_of(self, key: Key) -> Iterator[tuple[str, WorkloadInfo]]:
        """Yield (cluster, copy) of a Workload in all workers, in the configs' order."""
        for cluster in self.checks.order():
            world = self.workers.worlds[cluster]
            obj = world.objects.get(key)
            if obj is not None and is_copy(obj) and world.kueue is not None:
                yield cluster, world.kueue.cluster.workloads[key]

    def name_taken(self, cluster: str, key: Key) -> bool:
        """Return whether a worker's own Workload or job has the name of a copy."""
        job = job_of(self.host.objects[key], self.host.objects)
        theirs = self.workers.worlds[cluster].objects
        names = (key,) if job is None else (key, job.key)
        return any(name in theirs and not is_copy(theirs[name]) for name in names)

    def _check_of(self, work: WorkloadInfo) -> str:
        """Return the check of a Workload that is answered here; "" for none."""
        return next((name for name in work.checks if name in self.checks.handled), "")

    def clusters_of(self, key: Key) -> list[str]:
        """Return the clusters of a Workload's check in its config's order."""
        work = self._work(key)
        check = "" if work is None else self._check_of(work)
        return (self.checks.clusters(check) or []) if check else []

    def _work(self, key: Key) -> WorkloadInfo | None:
        kueue = self.host.kueue
        return None if kueue is None else kueue.cluster.workloads.get(key)

    def lost_until_ms(self, key: Key) -> int | None:
        """Return when a Workload is taken from its cluster that is not reached."""
        found = self.dispatches.get(key)
        if found is None or found.lost_ms is None:
            return None
        return found.lost_ms + self.settings.lost_ms

    def next_round_ms(self, key: Key) -> int | None:
        """Return when more clusters are nominated for a Workload."""
        found = self.dispatches.get(key)
        if found is None or found.cluster or found.round_ms is None:
            return None
        if self.settings.dispatcher != INCREMENTAL:
            return None
        left = set(self.clusters_of(key)) - set(found.nominated)
        return found.round_ms + ROUND_MS if left else None
