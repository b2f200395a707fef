"""The cluster that admitted a copy: settled on, followed, missed, done.

Source: docs/semantics/kueue-multikueue.md#what-becomes-of-a-copy.
"""

from __future__ import annotations

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.multikueue import runs
from scheduler.engine.multikueue.dispatch import Dispatch
from scheduler.engine.multikueue.worker_copies import WorkerCopies
from scheduler.model.kueue.check_state import READY, RETRY, CheckState
from scheduler.model.reasons import EVICTED, FINISHED, PODS_READY


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
