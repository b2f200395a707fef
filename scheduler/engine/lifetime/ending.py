"""Ending: work that is done, and attempts that are stopped."""

from __future__ import annotations

from scheduler.engine.lifetime import status
from scheduler.engine.lifetime.pods import owner_key
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import POD
from scheduler.engine.lifetime.starting import RunStarting
from scheduler.model import reasons
from scheduler.model.decisions import Fail, Finish
from scheduler.model.objects import Key, Object


class RunEnding(RunStarting):
    """What becomes of a run and its pods when it ends, well or not."""

    def _finish(self, run: Run, ended_ms: int | None = None) -> None:
        """End a run whose work was over at `ended_ms`, else now."""
        run.active, run.done = False, True
        run.waiting.clear()
        run.step = run.seen_ms = None
        self._touch(run.owner)
        owner = self.host.objects[run.owner]
        if run.owner.kind == POD:
            self.end_pod(owner, failed=run.failed)
            self.emit_finish(run)
            return
        for pod in list(run.ends):
            self._reclaim_later(run, pod)
        self._drop_pods(run, ended=True)
        delay = self.steps.draw("completion", str(run.owner), run.attempt)
        if delay and self.host.kueue is not None:
            run.done = False
            now = self.context.now_ms
            at = max(now, delay + (now if ended_ms is None else ended_ms))
            run.step = int(Due.COMPLETE), at
            self.timers.add(run.step[1], Due.COMPLETE, run.owner)
        else:
            self.jobs.ended(owner, run)

    def _reclaim_later(self, run: Run, pod: Key) -> None:
        """Let the Workload say in a while that this pod has ended."""

    def _complete(self, run: Run) -> None:
        """Let everybody see that the work is done."""
        run.step, run.done = None, True
        self._touch(run.owner)
        self.jobs.ended(self.host.objects[run.owner], run)

    def end_pod(self, pod: Object, *, failed: bool) -> None:
        """Leave a pod that ran to its end behind, with its resources given back."""
        status.write_ended(pod, failed=failed)
        self.free_node(pod.key)
        self._touch(pod.key)
        self.jobs.pod_changed(pod.key)
        for stage in self.host.placers():
            stage.put(pod)
        if self.host.kueue is not None:
            self.host.kueue.note_pod(pod)

    def emit_finish(self, run: Run) -> None:
        """Report the end of a run that belongs to no scheduler."""
        reason = "Failed" if run.failed else "Succeeded"
        now = self.context.now_ms
        self._emit(Finish(at_ms=now, subject=run.owner, reason=reason))

    def emit_refused(self, job: Key, problem: str) -> None:
        """Report that a job gets no Workload, and why."""
        now = self.context.now_ms
        reason = reasons.NO_WORKLOAD
        self._emit(Fail(at_ms=now, subject=job, reason=reason, message=problem))

    def _drop_pods(self, run: Run, *, ended: bool = False) -> None:
        """Part from the run's pods: its own are deleted, given ones stay or return."""
        pods, run.pods = run.pods, []
        run.ready.clear()
        for pod in pods:
            self.owners.pop(pod, None)
            obj = self.host.objects.get(pod)
            if obj is None:
                continue
            if ended and self.jobs.is_given(obj):
                self.end_pod(obj, failed=run.failed)
                continue
            self.host.delete(pod)

    def stop(self, owner: Key) -> None:
        """End an attempt without its end: what was done is lost."""
        run = self.runs.get(owner)
        if run is None or not run.active:
            return
        if run.started_ms is not None:
            self.lose(run, run.started_ms)
        run.step, run.ending = None, False
        self._halt(run)
        self._drop_pods(run)
        self._touch(owner)

    def lose(self, run: Run, since_ms: int, *, by: Key | None = None) -> None:
        """Count what a stop throws away, and what checkpoints keep of it."""
        timing = self.timing(self.host.objects[run.owner])
        self.checkpoints.stop(run, timing, since_ms, self._emit, by=by)
        self._lose_rounds(run)

    def _halt(self, run: Run) -> None:
        """Void what an attempt still had before it."""
        if run.active and run.owner in self.host.objects:
            self.jobs.resized(self.host.objects[run.owner], started=False)
        run.active, run.failed = False, False
        run.ready_ms = run.ends_ms = run.seen_ms = run.deadline_ms = None
        run.waiting.clear()
        run.ends.clear()

    def _forget_run(self, key: Key) -> None:
        if key in self.runs:
            if key.kind != POD:
                self.stop(key)
                self.stop_waiting(key)
            lost = self.runs.pop(key).lost_pods
            if lost:
                self._delete_refused(key)
        self.jobs.forget(key)

    def _delete_refused(self, owner: Key) -> None:
        """Delete the failed pods that an owner leaves behind; looks at all objects."""
        for pod, obj in list(self.host.objects.items()):
            refused = obj.status.get("reason") in reasons.REFUSED
            refused = refused or obj.status.get("phase") == "Failed"
            if (
                pod.kind == POD
                and refused
                and owner_key(obj, frozenset({owner.kind})) == owner
            ):
                self.host.delete(pod)
