"""One instant of MultiKueue: checks, Workloads and copies brought in line."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue import workers
from scheduler.engine.multikueue.checks import CHECK, CheckObjects
from scheduler.engine.multikueue.copies import (
    Dispatch,
    copies,
    differences,
    is_copy,
    is_priority,
    job_of,
    refusal,
    with_priority,
)
from scheduler.engine.multikueue.workers import MultiKueueHost, Workers
from scheduler.engine.stage import Context
from scheduler.model.kueue.check_state import (
    PENDING,
    READY,
    REJECTED,
    RETRY,
    CheckState,
)
from scheduler.model.kueue.multikueue import ALL_AT_ONCE, INCREMENTAL, read_multi_kueue
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy
from scheduler.model.reasons import ADMITTED, EVICTED, FINISHED, PODS_READY

# ------------------------------------------------------------------------
# What MultiKueue keeps of the Workloads that it dispatches, and what follows of it.


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


# ------------------------------------------------------------------------
# The copies of a Workload in worker clusters: sent, kept alike, deleted.


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
        theirs.parts = list(ours.parts)
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


# ------------------------------------------------------------------------
# The cluster that admitted a copy: settled on, followed, missed, done.


class AdmittingCluster(WorkerCopies):
    """Has one cluster run a Workload, and answers the check by what it does."""

    def _settle_on(
        self,
        work: WorkloadInfo,
        check: str,
        found: Dispatch,
        winner: str,
        reached: dict[str, WorkloadInfo],
    ) -> None:
        """Have the winner alone run the Workload and answer the check."""
        for cluster in reached:
            if cluster != winner:
                self._delete(cluster, work.key)
        if (found.cluster, found.lost_ms) != (winner, None):
            found.cluster, found.nominated = winner, []
            found.round_ms = found.lost_ms = None
            found.evictions = sum(reached[winner].evictions.values())
            self.context.journal.touch(work.key)
        if work.checks[check].state != READY:
            message = f'The workload was admitted on "{winner}"'
            self._answer(work, check, READY, message)
        self._see_ready(work, winner, reached[winner])

    def _see_ready(
        self, work: WorkloadInfo, cluster: str, copied: WorkloadInfo
    ) -> None:
        """Let the manager's run stand where the copy's does, and report its pods."""
        lifetime = self.host.lifetime
        theirs = self.workers.worlds[cluster].lifetime.runs.get(work.key)
        if theirs is not None:
            workers.follow(lifetime, work.key, theirs)
        ready = copied.has_condition(PODS_READY)
        ours = lifetime.runs.get(work.key)
        if ours is None or not ours.active or self.host.kueue is None:
            return
        if ready != work.has_condition(PODS_READY):
            self.host.kueue.pods_ready(work.key, ready)
            lifetime.request_advance()

    def _miss(self, work: WorkloadInfo, check: str, found: Dispatch) -> None:
        """Bear with a cluster that is not reached, for a while."""
        if self.checks.reached(found.cluster):
            message = "Admitting remote no longer exists"
            self._answer(work, check, RETRY, message)
            return
        now = self.context.now_ms
        if found.lost_ms is None:
            found.lost_ms = now
            self.context.journal.touch(work.key)
        if found.lost_ms + self.settings.lost_ms <= now:
            workers.lose_sight(self.host.lifetime, work.key, found.lost_ms)
            self._answer(work, check, RETRY, "Admitting remote lost")

    def _finish(self, work: WorkloadInfo, cluster: str) -> None:
        """Finish a Workload as its copy was finished."""
        world = self.workers.worlds[cluster]
        assert world.kueue is not None
        ended = world.kueue.cluster.workloads[work.key].conditions[FINISHED]
        theirs = world.lifetime.runs.get(work.key)
        workers.end(self.host.lifetime, work.key, theirs, ended.reason, ended.message)
        self._call_back(work.key)
        self.host.lifetime.request_advance()

    def _answer(self, work: WorkloadInfo, check: str, state: str, message: str) -> None:
        assert self.host.kueue is not None
        answer = CheckState(state=state, message=message, since_us=0)
        self.host.kueue.answer_check(work.key, check, answer)
        self.host.lifetime.request_advance()


def was_evicted(found: Dispatch, reached: dict[str, WorkloadInfo]) -> bool:
    """Return whether the admitted copy lost its quota, though it may have it again.

    What happened while its cluster was not reached was not seen.
    """
    copied = reached.get(found.cluster)
    if copied is None:
        return False
    again = sum(copied.evictions.values()) > found.evictions
    return copied.has_condition(EVICTED) or (again and found.lost_ms is None)


def eviction_message(cluster: str) -> str:
    """Return the message of the check when the admitted copy was evicted."""
    return (
        f'Workload evicted on worker cluster: "{cluster}", '
        f'resetting for re-admission. Previously: "{READY}"'
    )


# ------------------------------------------------------------------------
# One instant of MultiKueue: checks, Workloads and copies brought in line.


class Reconciling(AdmittingCluster):
    """Takes the first step of those that apply to each Workload."""

    def reconcile(self) -> None:
        """Bring checks, Workloads and copies in line with one another."""
        if self.host.kueue is None:
            return
        # Say of each check whether its clusters are reached.
        for name, obj in self.checks.handled.items():
            conditions = self.checks.conditions(name)
            if obj.status.get("conditions") != conditions:
                obj.status["conditions"] = conditions
                self.context.journal.touch(Key(CHECK, "", name))
                if self.host.kueue is not None:
                    self.host.kueue.put(obj)
                self.host.lifetime.request_advance()
        for key in sorted(self._concerned()):
            work = self._work(key)
            if work is None or not self._may_be_out(work):
                self._call_back(key)
            else:
                self._reconcile(work, self._check_of(work))

    def _concerned(self) -> set[Key]:
        """Return the Workloads that hold quota for a check, and all with copies."""
        assert self.host.kueue is not None
        keys = set(self.dispatches)
        for queue in self.host.kueue.cluster.forest.queues.values():
            if any(check.name in self.checks.handled for check in queue.spec.checks):
                keys |= {work.key for work in queue.admitted.workloads}
        for _, world in self.workers:
            keys |= {
                key
                for key, obj in world.objects.items()
                if key.kind == WORKLOAD and is_copy(obj)
            }
        return keys

    def _may_be_out(self, work: WorkloadInfo) -> bool:
        """Return whether copies of a Workload may be in workers."""
        if work.finished or not work.reserved or work.evicted:
            return False
        return bool(self._check_of(work))

    def _reconcile(self, work: WorkloadInfo, check: str) -> None:
        """Take the first step of those that apply to a Workload with quota.

        Source: docs/semantics/kueue-multikueue.md#what-becomes-of-a-copy.
        """
        state = work.checks[check]
        if state.state == REJECTED:
            return
        obj = self.host.objects[work.key]
        if why := refusal(job_of(obj, self.host.objects)):
            self._answer(work, check, REJECTED, why)
            return
        found = self._dispatch(work, state.state)
        reached = {
            cluster: copied
            for cluster, copied in self.copies_of(work.key)
            if self.checks.reached(cluster)
        }
        if (ended := _first(reached, FINISHED)) is not None:
            self._finish(work, ended)
            return
        if state.state == READY and was_evicted(found, reached):
            self._answer(work, check, RETRY, eviction_message(found.cluster))
            return
        self._align(obj, reached)
        self._follow(work, check, found, reached)

    def _dispatch(self, work: WorkloadInfo, state: str) -> Dispatch:
        """Return the dispatch of this reservation; what an earlier one left goes."""
        attempt = sum(work.evictions.values())
        found = self.dispatches.get(work.key)
        stale = found is not None and (
            found.attempt != attempt or (bool(found.cluster) and state == PENDING)
        )
        if stale:
            self._call_back(work.key)
        if found is None or stale:
            found = self.dispatches[work.key] = Dispatch(attempt=attempt)
            self.context.journal.touch(work.key)
        return found

    def _follow(
        self,
        work: WorkloadInfo,
        check: str,
        found: Dispatch,
        reached: dict[str, WorkloadInfo],
    ) -> None:
        """See who admitted a copy; nominate clusters while none has."""
        state = work.checks[check].state
        winner = found.cluster if state == READY else _first(reached, ADMITTED)
        if winner and winner in reached and reached[winner].has_condition(ADMITTED):
            self._settle_on(work, check, found, winner, reached)
        elif state == READY:
            self._miss(work, check, found)
        elif state == PENDING:
            self._nominate(work, check, found)
            self._send(work, found)

    def _nominate(self, work: WorkloadInfo, check: str, found: Dispatch) -> None:
        clusters = self.checks.clusters(check) or []
        now = self.context.now_ms
        if self.settings.dispatcher == ALL_AT_ONCE:
            chosen = [name for name in clusters if self.checks.reached(name)]
        elif self.settings.dispatcher == INCREMENTAL:
            if found.round_ms is not None and now - found.round_ms < ROUND_MS:
                return
            left = [name for name in clusters if name not in found.nominated]
            chosen = [*found.nominated, *left[: self.settings.step]]
        else:
            status = self.host.objects[work.key].status
            chosen = [str(n) for n in status.get("nominatedClusterNames") or ()]
        if chosen != found.nominated:
            found.nominated, found.round_ms = chosen, now
            self.context.journal.touch(work.key)


def _first(reached: dict[str, WorkloadInfo], kind: str) -> str | None:
    """Return the cluster whose copy has had this condition for longest."""
    since = {
        cluster: copied.conditions[kind].since_us
        for cluster, copied in reached.items()
        if copied.has_condition(kind)
    }
    return min(since, key=lambda cluster: since[cluster], default=None)
