"""One instant of MultiKueue: checks, Workloads and copies brought in line."""

from __future__ import annotations

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue.admitting import (
    AdmittingCluster,
    eviction_message,
    was_evicted,
)
from scheduler.engine.multikueue.checks import CHECK
from scheduler.engine.multikueue.copies import is_copy, job_of, refusal
from scheduler.engine.multikueue.dispatch import Dispatch
from scheduler.engine.multikueue.state import ROUND_MS, WORKLOAD
from scheduler.model.kueue.check_state import PENDING, READY, REJECTED, RETRY
from scheduler.model.kueue.multikueue import ALL_AT_ONCE, INCREMENTAL
from scheduler.model.objects import Key
from scheduler.model.reasons import ADMITTED, FINISHED


class Reconciling(AdmittingCluster):
    """Takes the first step of those that apply to each Workload."""

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
