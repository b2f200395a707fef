"""Scaling: more or fewer pods for a run that goes on, and runs that change hands.

Source: docs/semantics/kueue-elastic-jobs.md#the-run-of-an-elastic-job.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.stopping import RunStopping
from scheduler.model.objects import Key, Object
from scheduler.model.spans import NEVER


class RunScaling(RunStopping):
    """What becomes of a run whose owner asks for another number of pods."""

    def scale(self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Give a run as many pods as its sets say now; the newest go first."""
        for pod_set in pod_sets:
            pods = self.pods_of(run, pod_set["name"])
            for pod in pods[int(pod_set["count"]) :]:
                run.pods.remove(pod)
                run.ready.pop(pod, None)
                run.waiting.pop(pod, None)
                self.owners.pop(pod, None)
                self.terminate(pod)
        self.fill_up(run, owner, pod_sets)
        self._touch(owner.key)

    def hand_over(self, replaced: Key, owner: Object) -> Run:
        """Let a run, its pods and its timers belong to another Workload.

        What it has done, lost and kept goes with it.
        """
        run = self.runs.pop(replaced)
        run.owner = owner.key
        run.waiting = {
            owner.key if key == replaced else key: at for key, at in run.waiting.items()
        }
        for pod, (of, at) in list(self.reclaims.items()):
            if of == replaced:
                self.reclaims[pod] = owner.key, at
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
        for pod, at in run.ends.items():
            self.timers.add(at, Due.POD_ENDS, pod, run.attempt)
