"""Losing: pods that are evicted, nodes that fail, and what replaces them."""

from __future__ import annotations

from scheduler.decisions import Evict
from scheduler.lifetime.runs import Run
from scheduler.lifetime.stopping import RunStopping
from scheduler.records.objects import Key


class NodeLoss(RunStopping):
    """A lost pod is made again as its owner's kind demands; its work restarts."""

    def lose_node(self, node: str, why: str) -> None:
        """Take every pod off this node, as its failure does."""
        for pod in sorted(key for key, at in self.placed.items() if at == node):
            self._emit(
                Evict(
                    at_ms=self.context.now_ms,
                    subject=pod,
                    reason="NodeLost",
                    message=why,
                )
            )
            self.lose_pod(pod)

    def lose_pod(self, pod: Key) -> None:
        """Delete a pod that lost its place; its owner's kind says what follows."""
        obj = self.host.objects.get(pod)
        if obj is None or (pod not in self.arrived and pod not in self.owners):
            return
        again = self.owners.get(pod) == pod and self.timing(obj).recreate
        self.host.delete(pod)
        if again:
            self.jobs.recreate(obj)

    def _pod_gone(self, owner: Key, pod: Key) -> None:
        """Replace a pod that a run lost; its work begins again."""
        run = self.runs.get(owner)
        if run is None or pod not in run.pods:
            return
        run.pods.remove(pod)
        run.ready.pop(pod, None)
        run.waiting.pop(pod, None)
        if not run.active:
            return
        self._touch(owner)
        self._lose_work(run)
        self.jobs.replace_pods(self.host.get(owner), run)

    def _lose_work(self, run: Run) -> None:
        """Void what was done: work goes on while all pods of a run are ready."""
        if run.ready_ms is not None:
            run.lost_ms += self.context.now_ms - run.ready_ms
            run.ready_ms = run.ends_ms = run.seen_ms = None
            run.failed = False
            self._report_ready(run, False)
