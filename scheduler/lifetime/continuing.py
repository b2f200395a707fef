"""Going on with what ran before: runs whose pods, times and ends came with them.

A cluster that is read while it runs has admitted Workloads with their pods, some
ready, some ending. Their work goes on from where it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler import durations
from scheduler.errors import QuantityError
from scheduler.lifetime.node_loss import NodeLoss
from scheduler.lifetime.pods import owner_key
from scheduler.lifetime.runs import Due, Run
from scheduler.records.conditions import has_ended, is_true, true_condition
from scheduler.records.objects import Object

#: Controllers that make a pod again when it is gone, and that no job kind stands for.
SERVING = frozenset(
    {"DaemonSet", "ReplicaSet", "ReplicationController", "StatefulSet", "Node"}
)


class RunContinuing(NodeLoss):
    """Attempts that began before the world did."""

    def resume(
        self, owner: Object, pod_sets: list[dict[str, Any]], pods: Iterable[Object]
    ) -> None:
        """Go on with an attempt: its pods stay, those that it lacks are made.

        The attempt began when the owner was admitted, its work when the last pod
        got ready.
        """
        run = self.run_of(owner.key)
        if run.active or run.done or run.step is not None:
            return
        run.attempt += 1
        run.active = True
        run.started_ms = self.since(owner.status, "Admitted")
        self._set_deadline(run, self._job_start(owner, run.started_ms))
        self._touch(owner.key)
        if not self.placement():
            self._resume_work(run, self.since(owner.status, "PodsReady", "Admitted"))
            return
        ready = [self._take_over(run, pod) for pod in pods]
        self.fill_up(run, owner, pod_sets)
        if run.pods and run.all_ready():
            since = max((at for at in ready if at is not None), default=run.started_ms)
            self._resume_work(run, since)
        elif not run.pods:
            self._resume_work(run, run.started_ms)

    def _job_start(self, owner: Object, else_ms: int) -> int:
        """Return when an owner's Job became active, as its own status says it."""
        key = owner_key(owner, frozenset({"Job"})) or owner.key
        job = self.host.objects.get(key, owner)
        at = self._ms(job.status.get("startTime"))
        return else_ms if at is None else at

    def resume_pod(self, run: Run, pod: Object) -> None:
        """Go on with a pod that runs for itself."""
        run.active = True
        run.attempt += 1
        run.started_ms = self.since(pod.status, "PodScheduled")
        ready = self._take_over(run, pod)
        if ready is not None and run.all_ready():
            self._resume_work(run, ready)

    def resume_stop(self, owner: Object, pods: Iterable[Object]) -> None:
        """Go on with a stop: the evicted owner's pods end, then its quota is free."""
        ending = [pod for pod in pods if not has_ended(pod.status)]
        if not ending:
            return
        run = self.run_of(owner.key)
        run.ending = True
        for pod in ending:
            self.attach(run, pod.key)
            if node := pod.spec.get("nodeName"):
                self.placed[pod.key] = node
            self.resume_termination(pod)

    def resume_termination(self, pod: Object) -> None:
        """Let a pod that was being deleted end, by its own deadline at the latest."""
        now = self.context.now_ms
        deadline = self._ms(pod.metadata.get("deletionTimestamp"))
        at = now + self._termination(pod)
        at = max(now, at if deadline is None else min(at, deadline))
        self.terminating[pod.key] = at
        self.timers.add(at, Due.GONE, pod.key)
        self._touch(pod.key)

    def _take_over(self, run: Run, pod: Object) -> int | None:
        """Attach a pod as it stands; return since when it is ready, if it is."""
        self.attach(run, pod.key)
        node = pod.spec.get("nodeName")
        if not node:
            return None
        self.placed[pod.key] = node
        if not is_true(pod.status, "Ready"):
            self._wait_ready(run, pod.key)
            return None
        run.ready[pod.key] = None
        return self.since(pod.status, "Ready")

    def _resume_work(self, run: Run, since: int) -> None:
        """Let the work end when it would have: counted from `since`, not from now."""
        run.ready_ms = since
        length = self._length(run)
        if length is not None:
            run.ends_ms = max(since + length, self.context.now_ms)
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        self._report_ready(run, True)

    def since(self, given: Mapping[str, Any], *types: str) -> int:
        """Return when the first of these conditions became true, no later than now."""
        now = self.context.now_ms
        for name in types:
            if (condition := true_condition(given, name)) is not None:
                at = self._ms(condition.get("lastTransitionTime"))
                return now if at is None else min(at, now)
        return now

    def _ms(self, text: object) -> int | None:
        """Return a timestamp in virtual time; None when it is none."""
        try:
            us = durations.stamp_us(str(text)) if text else None
        except QuantityError:
            return None
        return None if us is None else (us - self.context.epoch_us) // 1000
