"""Pods of a Job that end one by one, and the quota that they give back; those that fail.

A Job's pods each run for the whole run time from their own readiness. Its Workload
says how many have ended while others go on (reclaimablePods), and those hold no
quota any longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scheduler.engine.lifetime.admission import POD_SET, owner_key
from scheduler.engine.lifetime.runs import Due, Rounds, Run
from scheduler.engine.lifetime.runtime_state import WORKLOAD
from scheduler.engine.lifetime.stopping import RunScaling
from scheduler.model.durations import NEVER
from scheduler.model.jobs import job_index, pod_number, pods_at_once
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import (
    BACKOFF_LIMIT,
    BACKOFF_LIMIT_SENTENCE,
    FAILED_INDEXES,
    FAILED_INDEXES_SENTENCE,
    MAX_FAILED_INDEXES,
    MAX_FAILED_INDEXES_SENTENCE,
    POD_FAILURE_POLICY,
    WAITING_FOR_REPLACEMENT_PODS,
    is_true,
    pod_failure_policy,
)
from scheduler.model.releases.rules import FAILED_INDEXES_FREE

#: Of the Job controller after the first failed pod; twice as long after each other.
#: Source:
#: <https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy>
BACKOFF_MS = 10_000
LONGEST_BACKOFF_MS = 360_000
#: A Job fails with the pod after so many that failed; the default.
_BACKOFF_LIMIT = 6
_JOB = frozenset({"Job"})


class PodEnds(RunScaling):
    """Lets each pod of a Job or a group end by itself."""

    def start(self, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Do the same; a Job that wants no more completions has ended with that."""
        super().start(owner, pod_sets)
        run = self.runs[owner.key]
        if run.active and self._needs_no_more(run):
            self._complete_now(run)

    def _pod_runs(self, run: Run, pod: Key, since_ms: int | None = None) -> None:
        """Let a pod that got ready end when its own run time is over, or fail."""
        now = self.context.now_ms
        length = self._fails_after(run, pod)
        if length is None and run.rounds is not None and run.rounds.alone:
            length = self._completion_ms(run, run.rounds, pod)
        elif length is None and self.by_members(run):
            length, _ = self._member_length(pod)
        if length is not None:
            began = now if since_ms is None else since_ms
            run.ends[pod] = max(now, began + length)
        if length is not None and length < NEVER:
            self.timers.add(run.ends[pod], Due.POD_ENDS, pod, run.attempt)

    def _all_ready(self, run: Run) -> None:
        """Start the work, unless pods of a group are missing."""
        if self.by_members(run):
            status = self.host.get(run.owner).status
            if is_true(status, WAITING_FOR_REPLACEMENT_PODS):
                return
            if len(run.pods) < _wanted(self.host.objects[run.owner]):
                return  # of a group that was admitted before all of it came
        super()._all_ready(run)

    def _length(self, run: Run) -> int | None:
        """Return how long the work takes; None where each pod ends by itself, too."""
        return None if self.by_members(run) else super()._length(run)

    def _member_length(self, pod: Key) -> tuple[int | None, bool]:
        """Return how long (ms) a plain pod runs, and whether it fails then."""
        obj = self.host.objects[pod]
        timing, seed = self.timing(obj), self.context.seed
        said = self.host.objects.get(self.owners.get(pod, pod), obj)  # its Workload
        timed = obj if timing.runtime is not None else said
        length = None if self.jobs.serves(obj) else self.round_length(timed)
        if timing.fails_after is not None:
            fails = timing.fails_after.draw(seed, "fails", str(pod), 0)
            if length is None or fails < length:
                return fails, True
        return length, False

    def end_members(self, run: Run, *, failed: bool) -> None:
        """End the run of plain pods that have all ended."""
        run.failed = failed
        run.ends.clear()
        self._finish(run)

    def _pod_ends(self, run: Run, pod: Key) -> None:
        """Part from a pod that is done, and let its Workload say so in a while."""
        if self.by_members(run):
            self._member_ends(run, pod, failed=self._member_length(pod)[1])
            return
        now = self.context.now_ms
        due = sorted(one for one, at in run.ends.items() if at <= now)
        fails = {one: self._fails_after(run, one) is not None for one in due}
        done = [one for one in due if not fails[one]]
        if run.rounds is not None and done:
            self._complete_due_pods(run, run.rounds, done)
        if failing := [one for one in due if fails[one]]:
            self._fail_due_pods(run, failing)

    def _complete_due_pods(self, run: Run, rounds: Rounds, pods: list[Key]) -> None:
        """Let these pods, which succeed now, go; others follow that have to be placed.

        What the last ones do not need is given back.
        """
        now = self.context.now_ms
        run.rounds = rounds.of(rounds.succeeded + len(pods))
        for pod in pods:
            del run.ends[pod]
            run.begun.pop(pod, None)
            run.pods.remove(pod)
            run.ready.pop(pod, None)
        over = self._needs_no_more(run)
        for pod in pods:
            self._note_completed(run, pod)
            if not over and self.host.kueue is None:
                self.emit_finish(pod, failed=False)
            self.owners.pop(pod, None)
            self.host.delete(pod)
            if self.steps.takes_time("reclaim"):
                self._reclaim_at(run, pod, now)
        self._touch(run.owner)
        if over:
            self._complete_now(run)
            return
        self._give_back(run)
        job = self.job_key(run.owner)
        if job in self.failed:  # its back-off ends with the first that succeeds
            self.failed[job] = run.lost_pods, 0, now
            run.failures = 0
        if run.step_due() == Due.REPLACE:
            run.step = None  # a pod was refused: it is tried again at once
        self.jobs.replace_pods(self.host.get(run.owner), run)
        if run.ends_ms is not None:
            run.ends_ms = self.last_end(run, run.rounds)

    # -- pods of a Job that fail -------------------------------------------

    def _fail_due_pods(self, run: Run, pods: list[Key]) -> None:
        """Let these pods fail now, and stay; their Job sees them together.

        Source: docs/semantics/kueue-lifecycle.md#pods-of-a-job-that-fail.
        """
        if (job := self.job_of(run)) is None:
            return
        for pod in pods:
            self.lose_pod_work(run, pod)
            run.ends.pop(pod, None)
            run.pods.remove(pod)
            run.ready.pop(pod, None)
            self.owners.pop(pod, None)
            self.end_pod(self.host.objects[pod], failed=True)
        self._touch(run.owner)
        self._lose_work(run, pods[-1])
        why, again_ms = self._judge_failures(run, job, pods)
        if why is not None:
            self._fail_for(run, why)
        elif self._needs_no_more(run):
            self._complete_now(run)
        else:
            self._back_off(run, again_ms)

    def _fail_for(self, run: Run, why: tuple[str, str]) -> None:
        """Let a Job fail for this reason; its other pods end with it."""
        run.why_failed = why
        run.lost_pods += len(run.pods)
        run.failed = True
        self._finish(run)

    def retime(self, run: Run, length_ms: int) -> None:
        """Let a run whose pods each end by themselves take so long (ms) in all."""
        if (rounds := run.rounds) is None:
            return
        each_ms = length_ms // self.jobs.waves(self.host.objects[run.owner])
        longer = each_ms - rounds.each_ms
        run.rounds = rounds._replace(each_ms=each_ms)
        for pod, at in run.ends.items():
            if self._fails_after(run, pod) is None:
                run.ends[pod] = max(at + longer, self.context.now_ms + 1)
                self.timers.add(run.ends[pod], Due.POD_ENDS, pod, run.attempt)
        if run.ends_ms is not None:
            run.ends_ms = self.last_end(run, run.rounds)

    def _judge_failures(
        self, run: Run, job: Object, pods: list[Key]
    ) -> tuple[tuple[str, str] | None, int]:
        """Count pods that failed; return why the Job fails, else when others follow (ms)."""
        per_index = job.spec.get("backoffLimitPerIndex")
        before, tries = run.lost_pods, 0
        for pod in pods:
            action, rule = failure_action(job.spec)
            if action == "Ignore":
                continue
            run.lost_pods += 1
            run.failures += 1
            tries = run.failures
            if action == "FailJob":
                container = job.spec["template"]["spec"]["containers"][0]["name"]
                said = pod_failure_policy(container, pod.path, rule)
                return (POD_FAILURE_POLICY, said), 0
            if per_index is not None:
                most = 0 if action == "FailIndex" else int(per_index)
                tries = self._index_fails(run, job, pod, most)
        why: tuple[str, str] | None = None
        if run.lost_pods > max(before, self._most_failures(run.owner)):
            why = BACKOFF_LIMIT, BACKOFF_LIMIT_SENTENCE
        elif per_index is not None:
            why = self._why_indexes_fail(run, job)
        return why, 0 if run.delayed else backoff_ms(tries)

    def _index_fails(
        self,
        run: Run,
        job: Object,
        pod: Key,
        most: int,
        since_ms: int | None = None,
    ) -> int:
        """Count a failure of a pod's index, which has `most` others; return how many.

        That is 0 where it has failed for good.
        """
        given = job_index(self.host.objects[pod].annotations)
        if given is None:
            given = (pod_number(pod.name) or 0) % pods_at_once(job.spec)
        index = str(given)
        tries = run.failed_at.get(index, 0) + 1
        run.failed_at[index] = tries
        if run.ends_by_pods and tries <= most:
            since = self.context.now_ms if since_ms is None else since_ms
            run.delayed[index] = since + backoff_ms(tries)
        if tries > most:
            run.failed_at[index] = max(tries, int(job.spec["backoffLimitPerIndex"]) + 1)
            if not run.ends_by_pods:
                name = pod_set_of(self.host.objects[pod])
                run.ended[name] = run.ended.get(name, 0) + 1  # not made again
            if self._gives_back_indexes(run, job):
                self._reclaim_at(run, pod, self.context.now_ms)
            return 0  # nobody waits to be made for it
        return tries

    def _gives_back_indexes(self, run: Run, job: Object) -> bool:
        """Return whether the quota of a failed index is for others; see the ledger."""
        at_once = int(job.spec.get("parallelism") or 1)
        return (
            bool(run.failed_at)
            and run.owner.kind == WORKLOAD
            and 1 < at_once >= int(job.spec.get("completions") or at_once)
            and FAILED_INDEXES_FREE.holds(self.host.policy.spec.decides_as())
        )

    def _why_indexes_fail(self, run: Run, job: Object) -> tuple[str, str] | None:
        """Return why a Job of these failed indexes fails; None where others go on."""
        failed = self.indexes_failed(run)
        if failed > int(job.spec.get("maxFailedIndexes", failed)):
            return MAX_FAILED_INDEXES, MAX_FAILED_INDEXES_SENTENCE
        left = pods_at_once(job.spec) - failed
        if run.rounds is not None and run.rounds.alone:
            left = self.completions_left(run, run.rounds)
        if failed and left <= 0:
            return FAILED_INDEXES, FAILED_INDEXES_SENTENCE
        return None

    def _finish(self, run: Run, ended_ms: int | None = None) -> None:
        """End a run; a Job of which indexes failed has failed when the others are done."""
        if run.ends_by_pods:
            run.ends.clear()
        if not run.failed and self.indexes_failed(run):
            run.failed = True
            run.why_failed = FAILED_INDEXES, FAILED_INDEXES_SENTENCE
        super()._finish(run, ended_ms)

    def _most_failures(self, owner: Key) -> float:
        """Return how many lost pods an owner makes up for: a Job's back-off limit."""
        owner = self.job_key(owner)
        if owner.kind != "Job" or owner not in self.host.objects:
            return math.inf
        spec = self.host.objects[owner].spec
        if (limit := spec.get("backoffLimit")) is not None:
            return int(limit)
        by_index = spec.get("backoffLimitPerIndex") is not None
        return math.inf if by_index else _BACKOFF_LIMIT

    def _lose_work(self, run: Run, pod: Key) -> None:
        """Void what was done: work goes on while all pods of a run are ready.

        Pods that each end by themselves go on without another.
        """
        if run.ends_by_pods:
            run.ready.pop(pod, None)
            if not run.all_ready():
                self._report_ready(run, False)
        elif run.ready_ms is not None:
            self.lose(run, run.ready_ms, by=pod)
            run.ready_ms = run.ends_ms = run.seen_ms = None
            run.failed = False
            self._report_ready(run, False)

    def make_anew(
        self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]
    ) -> None:
        """Let other pods take the place of all that a run has, whose work begins again."""
        self._lose_work(run, run.pods[-1])
        run.started_ms = self.context.now_ms
        self._set_deadline(run, run.started_ms)
        self.shrink(run, [{**one, "count": 0} for one in pod_sets])
        self._touch(owner.key)
        if run.step is None:
            self.fill_up(run, owner, pod_sets)

    def _member_ends(
        self, run: Run, pod: Key, *, failed: bool, reported: bool = False
    ) -> None:
        """Let a plain pod end: it stays as an object, and its group goes on.

        Of one that is `reported` to have ended no kubelet says that it is not ready.
        """
        run.ends.pop(pod, None)
        run.pods.remove(pod)
        run.ready.pop(pod, None)
        self.owners.pop(pod, None)
        self._touch(run.owner)
        obj = self.host.objects[pod]
        self.end_pod(obj, failed=failed)
        self.jobs.member_ended(run, obj, unready=not reported)

    def _end_round(self, run: Run) -> None:
        """Begin a round; the pods that the last one does not need give back their quota.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        super()._end_round(run)
        self._give_back(run)

    def _spare(self, run: Run) -> int:
        """Return how many pods of a Job its Workload is seen to need no longer.

        Source: docs/semantics/kueue-jobs.md#batch-job.
        """
        job = self.job_of(run)
        if job is None or (at_once := pods_at_once(job.spec)) == 1:
            return 0
        done = 0 if run.rounds is None else run.rounds.succeeded
        if self._gives_back_indexes(run, job):
            done += self.indexes_failed(run)
        done -= sum(self.reclaims.get(run.owner, {}).values())
        left = self.jobs.completions_of(self.host.objects[run.owner]) - done
        return max(0, at_once - left) if done > 0 else 0

    def give_back_all(self, run: Run) -> None:
        """Let the Workload of an indexed Job that is done need none of its pods.

        The counts of such a Job are seen before its end is; of others they come together.
        """
        workload = self.host.objects[run.owner]
        job = self.host.objects.get(owner_key(workload, _JOB) or run.owner)
        if run.failed or job is None or job.spec.get("completionMode") != "Indexed":
            return
        count = pods_at_once(job.spec)
        if count > 1:
            self._say_reclaimed(run, count)

    def _give_back(self, run: Run) -> None:
        """Let a Workload say how many of its pods the last round does not need."""
        workload = self.host.objects.get(run.owner)
        if workload is None or self.host.kueue is None or run.owner.kind != WORKLOAD:
            return
        self._say_reclaimed(run, self._spare(run))

    def _say_reclaimed(self, run: Run, spare: int) -> None:
        workload = self.host.get(run.owner)
        name = _pod_set(workload)
        given = [{"name": name, "count": spare}] if spare else []
        if given == (workload.status.get("reclaimablePods") or []):
            return
        workload.status["reclaimablePods"] = given
        manifest = {**workload.manifest, "metadata": dict(workload.metadata)}
        self.host.put(Object(key=run.owner, manifest=manifest))

    def stopped(self, owner: Key) -> None:
        """Report that a job has stopped; the rounds that it lost need all their pods."""
        super().stopped(owner)
        run = self.runs.get(owner)
        if run is not None and run.rounds is not None:
            self._give_back(run)

    def _reclaim_at(self, run: Run, pod: Key, ended_ms: int) -> None:
        """Let a Workload say in a while that it does not need a pod that ended then."""
        if self.host.kueue is None or run.owner.kind != WORKLOAD:
            return
        delay = self.steps.draw("reclaim", str(pod), run.attempt)
        at = max(self.context.now_ms, ended_ms + delay)
        due = self.reclaims.get(run.owner, {})
        self.reclaim_later(run.owner, {**due, at: due.get(at, 0) + 1})

    def _reclaim(self, owner: Key) -> None:
        """Let a Workload say that it needs the pods no longer that it reclaims now."""
        now, due = self.context.now_ms, self.reclaims.pop(owner)
        count = sum(n for at, n in due.items() if at <= now)
        if later := {at: n for at, n in due.items() if at > now}:
            self.reclaims[owner] = later
        self._touch(owner)
        run = self.runs.get(owner)
        if run is None or is_true(self.host.get(owner).status, "Finished"):
            return
        name = _pod_set(self.host.objects[owner])
        if name in run.ended:
            run.ended[name] = max(0, run.ended[name] - count)
        self._give_back(run)


def backoff_ms(tries: int) -> int:
    """Return how long (ms) a Job makes no pods after so many that failed."""
    return min(BACKOFF_MS << min(tries - 1, 10), LONGEST_BACKOFF_MS) if tries else 0


def failure_action(spec: Mapping[str, Any]) -> tuple[str, int]:
    """Return what a Job's podFailurePolicy does with a pod that ends with exit code 1.

    And the index of the rule that says so; Count where none does.
    """
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or ()
    for index, rule in enumerate(rules):
        codes = rule.get("onExitCodes")
        if codes and (1 in (codes.get("values") or ())) == (codes["operator"] == "In"):
            return str(rule["action"]), index
    return "Count", -1


def pod_set_of(pod: Object) -> str:
    """Return the name of the pod set that a pod of a run belongs to."""
    return str(pod.labels.get(POD_SET, "main"))


def _wanted(workload: Object) -> int:
    """Return how many pods a Workload has that have not ended."""
    sets = workload.spec.get("podSets") or ()
    ended = workload.status.get("reclaimablePods") or ()
    wanted = sum(int(one.get("count", 1)) for one in sets)
    return wanted - sum(int(one.get("count") or 0) for one in ended)


def _pod_set(workload: Object) -> str:
    """Return the name of the one pod set of a Job's Workload."""
    return str(workload.spec["podSets"][0]["name"])
