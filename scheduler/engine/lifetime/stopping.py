"""Stopping: what happens between an eviction and the release of quota.

Kueue suspends the Job, the Job's controller deletes its pods, kubelets end them
within their grace period, and only when none is left is quota taken away.
"""

from __future__ import annotations

from scheduler.engine.lifetime.ending import RunEnding
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.model.durations import stamp_text
from scheduler.model.objects import Key, Object

#: What a pod gets that says nothing.
#: Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination>
USUAL_GRACE_S = 30


class RunStopping(RunEnding):
    """Each stop goes through its steps, none of which is skipped."""

    def evict(self, owner: Key) -> bool:
        """Begin to stop the evicted owner's job; True when it has stopped already.

        Otherwise the quota's release is reported to Kueue when it is due.
        """
        if not self.steps.takes_time("suspension", "termination", "release"):
            self.stop(owner)
            return True
        run = self.run_of(owner)
        if run.step_due() in (Due.SUSPEND, Due.RELEASE, Due.COMPLETE) or run.ending:
            return False
        self._next(run, Due.SUSPEND, self._takes("suspension", run))
        return False

    def _overrun(self, run: Run) -> None:
        """Fail a Job that was active for longer than it may; its pods end first.

        Source: docs/semantics/kueue-lifecycle.md#deadline-of-a-job.
        """
        if run.ready_ms is not None:
            self._report_ready(run, False)
        self._halt(run)
        run.step = None
        run.failed = run.overran = True
        self._touch(run.owner)
        if not self.steps.takes_time("termination", "release"):
            self._finish(run)
            return
        run.ending = bool(run.pods)
        for pod in list(run.pods):
            self.terminate(pod)
        if not run.ending:
            self._pods_ended(run, self._takes("termination", run))

    def _next(self, run: Run, due: Due, delay: int) -> None:
        """Set the run's next step."""
        at = self.context.now_ms + delay
        run.step = int(due), at
        self.timers.add(at, due, run.owner)
        self._touch(run.owner)

    def _takes(self, step: str, run: Run) -> int:
        return self.steps.draw(step, str(run.owner), run.attempt)

    def _suspend(self, run: Run) -> None:
        """Delete the pods of a job that may no longer run."""
        run.step = None
        started = run.active
        if run.active and run.started_ms is not None:
            self.lose(run, run.started_ms)
        self._halt(run)
        if not run.pods:  # nobody to wait for, or a world without nodes
            self._pods_ended(run, self._takes("termination", run) if started else 0)
            return
        run.ending = True
        for pod in list(run.pods):
            self.terminate(pod)

    def _pods_ended(self, run: Run, delay: int = 0) -> None:
        """Let the end of the last pod be seen."""
        run.ending = False
        self._next(run, Due.RELEASE, delay + self._takes("release", run))

    def _release(self, run: Run) -> None:
        """Report that the job has stopped: quota is free from here."""
        run.step = None
        self._touch(run.owner)
        if run.overran:
            self._finish(run)
        elif self.host.kueue is not None:
            self.stopped(run.owner)

    def stopped(self, owner: Key) -> None:
        """Report that the job of an evicted Workload has stopped: its quota is free."""
        if self.host.kueue is not None and owner in self.host.objects:
            self.host.kueue.stopped(owner)  # that of a lone pod went with it
            self.jobs.wait_gated(self.host.objects[owner])

    # -- pods ------------------------------------------------------------

    def terminate(self, pod: Key) -> None:
        """Delete a pod as the API server does: on a node it ends in a while."""
        obj = self.host.objects[pod]
        if pod in self.terminating:
            return
        run = self.runs.get(self.owners.get(pod, pod))
        delay = self._termination(obj) if pod in self.placed else 0
        if run is not None:
            run.waiting.pop(pod, None)
            run.ready.pop(pod, None)
        if not delay:
            self._end_terminated(pod)
            return
        at = self.context.now_ms + delay
        obj.metadata["deletionTimestamp"] = stamp_text(
            self.context.us(self.context.now_ms + grace_ms(obj))
        )
        self.terminating[pod] = at
        self.timers.add(at, Due.GONE, pod)
        self._touch(pod)
        for stage in self.host.placers():
            stage.put(obj)

    def _termination(self, pod: Object) -> int:
        run = self.runs.get(self.owners.get(pod.key, pod.key))
        attempt = run.attempt if run is not None else 0
        usual = self.steps.draw("termination", str(pod.key), attempt)
        return min(grace_ms(pod), usual)

    def _end_terminated(self, pod: Key) -> None:
        """Let go of a pod whose containers have ended."""
        self.terminating.pop(pod, None)
        obj = self.host.objects[pod]
        owner = self.owners.get(pod, pod)
        run = self.runs.get(owner)
        again = owner == pod and self.timing(obj).recreate
        stopping = run is not None and run.ending
        if stopping and run is not None:
            self.owners.pop(pod, None)
            run.pods.remove(pod)
            self._touch(owner)
        self.host.delete(pod)
        if again:
            self.jobs.recreate(obj)
        if stopping and run is self.runs.get(owner) and run and not run.pods:
            self._pods_ended(run)


def grace_ms(pod: Object) -> int:
    """Return how long a pod may take to end once it is deleted."""
    given = pod.spec.get("terminationGracePeriodSeconds")
    return 1000 * (USUAL_GRACE_S if given is None else int(given))
