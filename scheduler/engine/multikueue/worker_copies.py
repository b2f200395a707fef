"""The copies of a Workload in worker clusters: sent, kept alike, deleted."""

from __future__ import annotations

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue.copies import (
    copies,
    differences,
    is_copy,
    is_priority,
    job_of,
    with_priority,
)
from scheduler.engine.multikueue.dispatch import Dispatch
from scheduler.engine.multikueue.state import DispatchState
from scheduler.model.objects import Key, Object


class WorkerCopies(DispatchState):
    """Puts copies into the clusters that are reached and takes them out again."""

    def _send(self, work: WorkloadInfo, found: Dispatch) -> None:
        """Put copies into the nominated clusters that have none."""
        obj, seed = self.host.objects[work.key], self.context.seed
        for cluster in found.nominated:
            if not self.checks.reached(cluster) or self.name_taken(cluster, work.key):
                continue
            if work.key in self.workers.worlds[cluster].objects:
                continue
            job, origin = job_of(obj, self.host.objects), self.settings.origin
            for copied in copies(obj, job, origin=origin, seed=seed):
                self.workers.put(cluster, copied)
            self._give_kept_work(cluster, work.key)

    def _give_kept_work(self, cluster: str, key: Key) -> None:
        """Let a copy go on from what checkpoints kept of earlier attempts."""
        ours = self.host.lifetime.runs.get(key)
        if ours is None or not (ours.kept_ms or ours.lost_ms):
            return
        world = self.workers.world(cluster)
        theirs = world.lifetime.run_of(key)
        theirs.kept_ms, theirs.lost_ms = ours.kept_ms, ours.lost_ms
        world.touch(key)
        self.workers.drain(cluster)

    def _align(self, obj: Object, reached: dict[str, WorkloadInfo]) -> None:
        """Forward another priority; delete copies that differ in anything else."""
        for cluster in list(reached):
            world = self.workers.world(cluster)
            copied = world.get(obj.key)
            fields = differences(obj, copied)
            if is_priority(fields):
                self.workers.put(cluster, with_priority(copied, obj))
            elif fields:
                self._delete(cluster, obj.key)
                del reached[cluster]

    def _delete(self, cluster: str, key: Key) -> None:
        """Delete a copy, its job first: that takes the Workload with it."""
        world = self.workers.world(cluster)
        job = job_of(world.objects[key], world.objects)
        if job is not None and is_copy(job):
            world.delete(job.key)
        if key in world.objects:
            world.delete(key)
        self.workers.drain(cluster)

    def _call_back(self, key: Key) -> None:
        """Delete the copies of a Workload that has no quota, where they are reached."""
        for cluster, _ in list(self.copies_of(key)):
            if self.checks.reached(cluster):
                self._delete(cluster, key)
        if self.dispatches.pop(key, None) is not None:
            self.context.journal.touch(key)
