"""What the lifetime of a world does when a scheduler has decided something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.runtime_state import POD, WORKLOAD, LifetimeHost
from scheduler.engine.stage import Context
from scheduler.model.decisions import (
    Admit,
    Bind,
    Decision,
    Evict,
    Fail,
    Preempt,
    Replace,
)
from scheduler.model.policy import Policy
from scheduler.model.reasons import EVICTED_BY_KUBELET, REFUSED


class Reactions(TaintEviction):
    """Starts what was admitted, places what was bound, ends what was evicted."""

    def __init__(self, context: Context, policy: Policy, host: LifetimeHost) -> None:
        super().__init__(context, policy, host)
        self._reactions: dict[type[Decision], Callable[[Any], None]] = {
            Admit: self._admitted,
            Evict: self._evicted,
            Preempt: self._evicted,
            Bind: self._bound,
            Fail: self._refused,
            Replace: self._replaced,
        }

    def react(self, decision: Decision) -> None:
        """Carry out what a scheduler decided."""
        reaction = self._reactions.get(type(decision))
        if reaction is not None:
            reaction(decision)

    def _admitted(self, decision: Admit) -> None:
        if decision.subject.kind != WORKLOAD:
            return
        workload, kueue = self.host.objects[decision.subject], self.host.kueue
        if kueue is None or kueue.variants is None or not is_variant(workload):
            self.jobs.admitted(workload, decision.pod_sets)

    def _replaced(self, decision: Replace) -> None:
        self.jobs.replaced(self.host.objects[decision.subject])

    def _evicted(self, decision: Evict | Preempt) -> None:
        key = decision.subject
        if key.kind != POD or decision.reason == EVICTED_BY_KUBELET:
            return  # of a kubelet: it has failed where that was decided
        if key in self.placed and self.steps.takes_time("termination"):
            self._lose_gracefully(key)
        else:
            self.lose_pod(key)

    def _bound(self, decision: Bind) -> None:
        pod = decision.subject
        obj = self.host.objects.get(pod)
        if obj is None:
            return
        obj.manifest.setdefault("spec", {})["nodeName"] = decision.node
        self.placed[pod] = decision.node
        self._touch(pod)
        if self.host.kueue is not None:
            self.host.kueue.note_pod(obj)
        run = self.runs.get(self.owners.get(pod, pod))
        if run is not None and run.active and pod not in run.ready:
            self._wait_ready(run, pod)
        self.check_pod_taints(pod)

    def _refused(self, decision: Fail) -> None:
        """React to a pod that failed on its node; a failed attempt waits on."""
        if decision.node and decision.subject.kind == POD:
            self.reject_pod(decision)
        elif decision.reason in REFUSED:
            self.end_refused(decision.subject)
