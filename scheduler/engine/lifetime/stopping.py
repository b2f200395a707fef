"""Stopping: what happens between an eviction and the release of quota.

Kueue suspends the Job, the Job's controller deletes its pods, kubelets end them
within their grace period, and only when none is left is quota taken away.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime import status
from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import POD, WORKLOAD
from scheduler.engine.lifetime.starting import RunStarting
from scheduler.model import reasons
from scheduler.model.decisions import Fail, Finish
from scheduler.model.durations import NEVER, stamp_text
from scheduler.model.jobs import is_work_queue
from scheduler.model.objects import Key, Object

# ------------------------------------------------------------------------
# Ending: work that is done, and attempts that are stopped.


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
            self.emit_finish(run.owner, failed=run.failed)
            return
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

    def _complete_now(self, run: Run) -> None:
        """End a run of which enough pods have succeeded."""
        run.ends_ms = self.context.now_ms
        self._finish(run)

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

    def emit_finish(self, subject: Key, *, failed: bool) -> None:
        """Report the end of a run, or of a pod, that belongs to no scheduler."""
        reason = "Failed" if failed else "Succeeded"
        now = self.context.now_ms
        self._emit(Finish(at_ms=now, subject=subject, reason=reason))

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

    def part_with_pods(self, run: Run) -> list[Object]:
        """End a run whose pods go on for themselves; return them as they stand."""
        pods = [self.host.get(pod) for pod in run.pods]
        for pod in run.pods:
            self.owners.pop(pod, None)
        run.pods = []
        self.stop(run.owner)
        return pods

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
        self.checkpoints.stop(run, timing, self.cost(run, since_ms), self._emit, by=by)
        if run.rounds is not None and run.rounds.alone:
            for pod in run.pods:
                self._leave_part(run, pod, self._work_of(run, run.rounds, pod)[0])
        self._lose_rounds(run)

    def _halt(self, run: Run) -> None:
        """Void what an attempt still had before it."""
        if (owner := self.host.objects.get(run.owner)) is not None:
            self.jobs.has_its_pods(owner)
            if run.active:
                self.jobs.resized(owner, started=False)
        run.active, run.failed = False, False
        run.ready_ms = run.ends_ms = run.seen_ms = run.deadline_ms = None
        run.waiting.clear()
        run.ends.clear()
        run.begun.clear()

    def _forget_run(self, key: Key) -> None:
        if key in self.runs:
            if key.kind != POD:
                self.stop(key)
                self.stop_waiting(key)
            if key.kind == WORKLOAD and self.runs[key].ends_by_pods:
                job = self.job_key(key)
                if job in self.host.objects:
                    self.host.get(job)  # its status keeps what has succeeded
            lost = self.runs.pop(key).lost_pods
            if lost:
                self._delete_refused(key)
        self.reclaims.pop(key, None)
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


# ------------------------------------------------------------------------
# Stopping: what happens between an eviction and the release of quota.


#: What a pod gets that says nothing.
#: Source: <https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination>
USUAL_GRACE_S = 30


class RunStopping(RunEnding):
    """Each stop goes through its steps, none of which is skipped."""

    def evict(self, owner: Key) -> bool:
        """Begin to stop the evicted owner's job; True when it has stopped already.

        Otherwise the quota's release is reported to Kueue when it is due. A Workload that
        is nobody's keeps its quota: no job is there that would be stopped.
        """
        if self.jobs.is_nobodys(self.host.objects[owner]):
            return False
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

    def _back_off(self, run: Run, delay: int) -> None:
        """Let a Job that lost pods make others after a delay (ms), also if it stops.

        Source: docs/semantics/kueue-lifecycle.md#pods-of-a-job-that-fail.
        """
        if run.step_due() != Due.SUSPEND:
            self._next(run, Due.REPLACE, delay)
        job = self.job_key(run.owner)
        if job.kind == "Job":
            until = self.context.now_ms + delay
            self.failed[job] = run.lost_pods, run.failures, until
            self._touch(job)

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
            self.lose_pod_work(run, pod)
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


# ------------------------------------------------------------------------
# Scaling: more or fewer pods for a run that goes on, and runs that change hands.


class RunScaling(RunStopping):
    """What becomes of a run whose owner asks for another number of pods."""

    def scale(self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Give a run as many pods as its sets say now; the newest go first."""
        self.shrink(run, pod_sets)
        self.fill_up(run, owner, pod_sets)
        self._touch(owner.key)

    def shrink(self, run: Run, pod_sets: list[dict[str, Any]]) -> None:
        """Terminate the pods that a run has beyond what its sets say, the newest."""
        for pod_set in pod_sets:
            pods = self.pods_of(run, pod_set["name"])
            for pod in pods[int(pod_set["count"]) :]:
                self.lose_pod_work(run, pod)
                run.pods.remove(pod)
                run.ends.pop(pod, None)
                run.ready.pop(pod, None)
                run.waiting.pop(pod, None)
                self.owners.pop(pod, None)
                self.terminate(pod)

    def follow_parallelism(
        self, run: Run, job: Object, pod_sets: list[dict[str, Any]]
    ) -> None:
        """Let a Job that runs have as many pods at once as it asks for now.

        Those that are not ready go first, then the newest; pods that work together stay.
        Source: docs/semantics/kueue-lifecycle.md#parallelism-of-a-running-job.
        """
        done = 0 if run.rounds is None else run.rounds.succeeded
        alone = run.ends_by_pods
        self.complete_by_pods(run, job, done)
        rounds = run.rounds
        if rounds is None or not rounds.alone:
            return
        run.pods.sort(key=lambda pod: (pod not in run.ready, pod not in self.placed))
        count = max(0, self.completions_left(run, rounds))
        if not (rounds.succeeded and is_work_queue(job.spec)):
            count = min(rounds.pods, count)
        self.shrink(run, [{**one, "count": count} for one in pod_sets])
        if self._needs_no_more(run):
            self._complete_now(run)
            return
        for pod in run.pods:
            if not alone and run.kept_ms:
                run.begun[pod] = run.kept_ms
            if not alone and pod in run.ready and pod not in run.ends:
                self._pod_runs(run, pod, run.ready_ms)  # it has a time of its own now
        if run.step is None:
            self.fill_up(run, job, pod_sets)
        if run.ready_ms is not None:
            run.ends_ms = self.last_end(run, rounds)
        elif run.pods and run.all_ready():
            self._all_ready(run)
        self._touch(job.key)

    def hand_over(self, replaced: Key, owner: Object) -> Run:
        """Let a run, its pods and its timers belong to another Workload.

        What it has done, lost and kept goes with it.
        """
        run = self.runs.pop(replaced)
        run.owner = owner.key
        run.waiting = {
            owner.key if key == replaced else key: at for key, at in run.waiting.items()
        }
        if (due := self.reclaims.pop(replaced, None)) is not None:
            self.reclaim_later(owner.key, due)
        for pod in run.pods:
            self.owners[pod] = owner.key
            self._give_owner(pod, owner)
        self._restore_run(run)
        self._touch(replaced)
        self._touch(owner.key)
        return run

    def _give_owner(self, pod: Key, owner: Object) -> None:
        """Let a pod's reference name the Workload that it belongs to now."""
        metadata = self.host.objects[pod].metadata
        known: list[dict[str, Any]] = metadata.get("ownerReferences") or []
        if known:
            given = {"name": owner.key.name, "uid": owner.uid}
            metadata["ownerReferences"] = [
                one | given if one.get("kind") == owner.key.kind else one
                for one in known
            ]
        self._touch(pod)

    def stretch(self, run: Run, before: int, after: int) -> None:
        """Let what is left of a run take as many rounds of its pods as it needs now.

        `before` and `after` are how often its pods run one after another.
        """
        if run.ends_ms is None or run.failed or before == after:
            return
        left = run.ends_ms - self.context.now_ms
        run.ends_ms = self.context.now_ms + left * after // before
        self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        self._touch(run.owner)

    def _restore_run(self, run: Run) -> None:
        """Keep a run under its owner, with the timers that it has."""
        self.runs[run.owner] = run
        if run.ends_ms is not None:
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        if run.rounds is not None and run.rounds.next_ms is not None:
            self.timers.add(run.rounds.next_ms, Due.ROUND, run.owner, run.attempt)
        if run.deadline_ms is not None:
            self.timers.add(run.deadline_ms, Due.DEADLINE, run.owner)
        if run.step is not None:
            self.timers.add(run.step[1], Due(run.step[0]), run.owner)
        if run.seen_ms is not None:
            self.timers.add(run.seen_ms, Due.SEEN, run.owner)
        for pod, at in run.waiting.items():
            if at < NEVER:
                self.timers.add(at, Due.READY, pod, run.attempt)
            self._run_later(run, pod)
        for pod, at in run.ends.items():
            if at < NEVER:
                self.timers.add(at, Due.POD_ENDS, pod, run.attempt)
