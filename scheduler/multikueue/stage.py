"""MultiKueue as a stage of the manager: dispatches, watches copies, answers checks.

Source: docs/semantics/kueue-multikueue.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler.kueue.multikueue import (
    ALL_AT_ONCE,
    INCREMENTAL,
    read_multi_kueue,
)
from scheduler.kueue.workload.check_state import (
    PENDING,
    READY,
    REJECTED,
    RETRY,
    CheckState,
)
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.multikueue import runs
from scheduler.multikueue.checks import CHECK, KINDS, CheckObjects
from scheduler.multikueue.copies import (
    copies,
    differences,
    is_copy,
    is_priority,
    job_of,
    refusal,
    with_priority,
)
from scheduler.multikueue.dispatch import Dispatch
from scheduler.multikueue.workers import MultiKueueHost, Workers
from scheduler.reasons import ADMITTED, EVICTED, FINISHED, PODS_READY
from scheduler.records.objects import Key, Object, cluster_of
from scheduler.records.policy import Policy
from scheduler.stage import Context

WORKLOAD = "Workload"
#: How long an incremental dispatcher waits before it nominates more clusters.
ROUND_MS = 300_000


class MultiKueueStage:
    """Compares the manager's Workloads with their copies after each change.

    What it keeps of a Workload lies in that object's state; the workers' worlds are
    made of their objects in the manager's table.
    """

    name = "multikueue"

    def __init__(self, context: Context, policy: Policy, host: MultiKueueHost) -> None:
        self.context = context
        self.host = host
        self.settings = read_multi_kueue(policy.spec.kueue.get("multiKueue") or {})
        self.workers = Workers(context, host)
        self.checks = CheckObjects(self.workers)
        self.dispatches: dict[Key, Dispatch] = {}
        self._stored: dict[str, Any] = {}

    # -- the stage's contract --------------------------------------------

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a check, its config or a cluster; of a Workload, where it was."""
        if obj.key.kind in KINDS:
            self.checks.put(obj)
            self._note_handled()
        elif obj.key.kind == WORKLOAD and restore and self.name in obj.state:
            self.dispatches[obj.key] = Dispatch.from_state(obj.state[self.name])

    def put_into(self, cluster: str, obj: Object) -> None:
        """Put an object, under the key that it has inside, into a worker."""
        self.workers.put(cluster, obj)
        self._note_handled()

    def remove(self, key: Key) -> None:
        """Forget an object; copies of a Workload go at the next instant."""
        if key.kind in KINDS:
            self.checks.remove(key)
            self._note_handled()
        self.dispatches.pop(key, None)

    def restore(self, objects: Iterable[Object]) -> None:
        """Make the workers, and take the checks, before any other stage restores."""
        given = sorted(objects, key=lambda obj: obj.key)
        self.workers.load(self._stored, (o for o in given if cluster_of(o.key)))
        for obj in given:
            if obj.key.kind in KINDS:
                self.checks.put(obj)
        self._note_handled()

    def _note_handled(self) -> None:
        """Have no rule answer what is answered here."""
        handled = self.checks.refresh()
        if self.host.kueue is not None:
            self.host.kueue.answers.dispatched = frozenset(handled)

    def write(self, obj: Object) -> None:
        """Write where a Workload is, or is tried, into its status and state."""
        if obj.key.kind != WORKLOAD:
            return
        found = self.dispatches.get(obj.key)
        for field in ("clusterName", "nominatedClusterNames"):
            if found is not None or self.name in obj.state:
                obj.status.pop(field, None)
        if found is None:
            obj.state.pop(self.name, None)
            return
        obj.state[self.name] = found.state()
        if found.cluster:
            obj.status["clusterName"] = found.cluster
        elif found.nominated:
            obj.status["nominatedClusterNames"] = list(found.nominated)

    def due(self) -> int | None:
        """Return when a worker, a round or the patience with a lost one is due."""
        dues = [at for key in self.dispatches if (at := self._timer(key)) is not None]
        if (at := self.workers.due()) is not None:
            dues.append(at)
        return min(dues, default=None)

    def _timer(self, key: Key) -> int | None:
        lost_until = self.lost_until_ms(key)
        return self.next_round_ms(key) if lost_until is None else lost_until

    def dump_state(self) -> dict[str, Any]:
        """Return the state of the workers' stages."""
        return self.workers.dump()

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `dump_state` returned; `restore` makes use of it."""
        self._stored = dict(state)

    def owned(self) -> Iterable[Key]:
        """Return the Workloads that are dispatched."""
        return list(self.dispatches)

    # -- questions --------------------------------------------------------

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

    def clusters_of(self, key: Key) -> list[str]:
        """Return the clusters of a Workload's check in its config's order."""
        work = self._work(key)
        check = "" if work is None else self._check_of(work)
        return (self.checks.clusters(check) or []) if check else []

    def _work(self, key: Key) -> WorkloadInfo | None:
        kueue = self.host.kueue
        return None if kueue is None else kueue.cluster.workloads.get(key)

    # -- one instant -------------------------------------------------------

    def reconcile(self) -> None:
        """Bring checks, Workloads and copies in line with one another."""
        if self.host.kueue is None:
            return
        self._write_checks()
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

    def _write_checks(self) -> None:
        """Say of each check whether its clusters are reached."""
        for name, obj in self.checks.handled.items():
            conditions = self.checks.conditions(name)
            if obj.status.get("conditions") != conditions:
                obj.status["conditions"] = conditions
                self.context.journal.touch(Key(CHECK, "", name))
                if self.host.kueue is not None:
                    self.host.kueue.put(obj)
                self.host.lifetime.request_advance()

    def _call_back(self, key: Key) -> None:
        """Delete the copies of a Workload that has no quota, where they are reached."""
        for cluster, _ in list(self.copies_of(key)):
            if self.checks.reached(cluster):
                self._delete(cluster, key)
        if self.dispatches.pop(key, None) is not None:
            self.context.journal.touch(key)

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
        if state.state == READY and _was_evicted(found, reached):
            self._answer(work, check, RETRY, _evicted(found.cluster))
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
            runs.follow(lifetime, work.key, theirs)
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
            runs.lose_sight(self.host.lifetime, work.key, found.lost_ms)
            self._answer(work, check, RETRY, "Admitting remote lost")

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

    def _finish(self, work: WorkloadInfo, cluster: str) -> None:
        """Finish a Workload as its copy was finished."""
        world = self.workers.worlds[cluster]
        assert world.kueue is not None
        ended = world.kueue.cluster.workloads[work.key].conditions[FINISHED]
        theirs = world.lifetime.runs.get(work.key)
        runs.end(self.host.lifetime, work.key, theirs, ended.reason, ended.message)
        self._call_back(work.key)
        self.host.lifetime.request_advance()

    def _answer(self, work: WorkloadInfo, check: str, state: str, message: str) -> None:
        assert self.host.kueue is not None
        answer = CheckState(state=state, message=message, since_us=0)
        self.host.kueue.answer_check(work.key, check, answer)
        self.host.lifetime.request_advance()


def _first(reached: dict[str, WorkloadInfo], kind: str) -> str | None:
    """Return the cluster whose copy has had this condition for longest."""
    since = {
        cluster: copied.conditions[kind].since_us
        for cluster, copied in reached.items()
        if copied.has_condition(kind)
    }
    return min(since, key=lambda cluster: since[cluster], default=None)


def _was_evicted(found: Dispatch, reached: dict[str, WorkloadInfo]) -> bool:
    """Return whether the admitted copy lost its quota, though it may have it again.

    What happened while its cluster was not reached was not seen.
    """
    copied = reached.get(found.cluster)
    if copied is None:
        return False
    again = sum(copied.evictions.values()) > found.evictions
    return copied.has_condition(EVICTED) or (again and found.lost_ms is None)


def _evicted(cluster: str) -> str:
    return (
        f'Workload evicted on worker cluster: "{cluster}", '
        f'resetting for re-admission. Previously: "{READY}"'
    )
