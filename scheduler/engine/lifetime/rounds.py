"""Pods of a Job one after another: completions, indexes, and the work of each pod."""

from __future__ import annotations

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.runs import Due, Rounds, Run
from scheduler.engine.lifetime.runtime_state import RuntimeState
from scheduler.model.durations import NEVER
from scheduler.model.jobs import (
    JOB_INDEX,
    completions_of,
    count_of,
    failed_indexes,
    first_index,
    indexes_of,
    is_work_queue,
    job_index,
    succeeded_of,
    with_index,
)
from scheduler.model.objects import Key, Object

_JOB = frozenset({"Job"})
#: So many indexes a Job may have that counts failures by index, or may let fail.
_MOST_INDEXES = 100_000


class RunRounds(RuntimeState):
    """Counts the rounds of a run that are over, for the status of its Job.

    Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
    """

    def rounds_of(self, owner: Object, each_ms: int) -> Rounds | None:
        """Return the rounds of an owner before the first; None where none count."""
        if not 0 < each_ms < NEVER:
            return None
        pods = self.jobs.pods_of_round(owner)
        return Rounds(0, pods, each_ms) if pods else None

    def begin_rounds(self, run: Run, since_ms: int) -> None:
        """Count from here on: work goes on since `since_ms` with what was kept."""
        if (rounds := run.rounds) is None:
            return
        done = run.kept_ms + max(0, self.context.now_ms - since_ms)
        ended = done // rounds.each_ms
        next_ms = since_ms + (ended + 1) * rounds.each_ms - run.kept_ms
        self._go_on(run, rounds._replace(ended=ended, next_ms=next_ms))

    def _end_round(self, run: Run) -> None:
        """Count the round that is over now and begin the next one."""
        if (over := run.rounds) is None or over.next_ms is None:
            return
        next_ms = over.next_ms + over.each_ms
        self._go_on(run, over._replace(ended=over.ended + 1, next_ms=next_ms))
        self._touch(run.owner)

    def _go_on(self, run: Run, rounds: Rounds) -> None:
        """Wait for the end of a round, unless the run ends by then."""
        at = rounds.next_ms
        if at is None or run.ends_ms is None or at >= run.ends_ms:
            run.rounds = rounds._replace(next_ms=None)
            return
        run.rounds = rounds
        self.timers.add(at, Due.ROUND, run.owner, run.attempt)

    def _lose_rounds(self, run: Run) -> None:
        """Keep of the rounds what checkpoints kept: the others are done again."""
        if (rounds := run.rounds) is not None and not rounds.alone:
            kept = min(rounds.ended, run.kept_ms // rounds.each_ms)
            run.rounds = rounds._replace(ended=kept, next_ms=None)

    def complete_by_pods(self, run: Run, owner: Object, succeeded: int) -> None:
        """Let the pods of a Job that is no gang each end by itself.

        Source: docs/semantics/kueue-lifecycle.md#further-completions.
        """
        pods = self.jobs.pods_of_round(owner, alone=run.ends_by_pods)
        each_ms = self.round_length(owner)
        if pods is None or each_ms is None:
            return
        job = self.job_of(run)
        if run.rounds is None and job is not None:
            # It came with them, or they succeeded under a Workload that is gone.
            known, run.completed = succeeded_of(job.status)
            run.failed_at |= self._failed_for_good(job)
            known = min(known, self.jobs.completions_of(owner))
            succeeded = max(succeeded, known)
        run.rounds = Rounds(0, pods, each_ms, alone=True).of(succeeded)

    def _failed_for_good(self, job: Object) -> dict[str, int]:
        """Return the indexes that a Job's status says have failed, with their failures."""
        most = job.spec.get("backoffLimitPerIndex")
        if most is None:
            return {}
        below = min(completions_of(job.spec), _MOST_INDEXES)
        failed = indexes_of(failed_indexes(job.status), below)
        return {str(one): int(most) + 1 for one in failed}

    def _take_part(self, run: Run, pod: Object) -> None:
        """Let a pod that is made go on from what one before it left, of its index."""
        index = job_index(pod.annotations)
        fitting = [part for part in run.parts if part[0] == index]
        if fitting and run.active:
            part = max(fitting)
            run.parts.remove(part)
            run.begun[pod.key] = part[1]

    def _completion_ms(self, run: Run, rounds: Rounds, pod: Key) -> int:
        """Return how long (ms) a pod runs of a Job whose pods each end by themselves."""
        begun = run.begun.get(pod)
        if begun is None:
            return rounds.each_ms
        timing = self.timing(self.host.objects[run.owner])
        restart = self.checkpoints.restart_ms(run, timing, pod)
        return max(0, rounds.each_ms - begun) + restart

    def _work_of(self, run: Run, rounds: Rounds, pod: Key) -> tuple[int, int]:
        """Return the work (ms) that a stop now keeps of a pod, and what it loses."""
        begun, at = run.begun.get(pod, 0), run.ends.get(pod)
        if at is None:
            return begun, 0
        timing = self.timing(self.host.objects[run.owner])
        fails = self._fails_after(run, pod)
        length = self._completion_ms(run, rounds, pod) if fails is None else fails
        worked = self.context.now_ms - (at - length)
        if pod in run.begun:
            worked -= self.checkpoints.restart_ms(run, timing, pod)
        kept = self.checkpoints.saved(run, timing, begun, worked)
        return kept, max(0, begun + worked - kept)

    def _fails_after(self, run: Run, pod: Key) -> int | None:
        """Return how long (ms) a pod of a Job runs until it fails; None for no failure."""
        owner = self.host.objects[run.owner]
        fails = self.timing(owner).fails_after
        if fails is None or not self._fails_by_pods(run):
            return None
        after = fails.draw(self.context.seed, "fails", str(pod), run.attempt)
        length = self.round_length(owner)
        if length is not None and run.rounds is not None and run.rounds.alone:
            length = self._completion_ms(run, run.rounds, pod)  # what is left
        return after if length is None or after < length else None

    def _fails_by_pods(self, run: Run) -> bool:
        """Return whether a run is that of a Job whose pods fail one by one."""
        return bool(run.pods) and self.job_of(run) is not None

    def _leave_part(self, run: Run, pod: Key, kept_ms: int) -> None:
        """Keep what a pod that stops has done for the next one of its index."""
        if run.ends.pop(pod, None) is None and pod not in run.begun:
            return
        run.begun.pop(pod, None)
        run.parts.append((job_index(self.host.objects[pod].annotations), kept_ms))

    def lose_pod_work(self, run: Run, pod: Key) -> None:
        """Count what is lost of a pod that ends for itself, and say so.

        The work of a Workload is that of its pods, of which this is one.
        """
        if (rounds := run.rounds) is None or not rounds.alone:
            return
        begun = run.begun.get(pod, 0)
        kept, lost = self._work_of(run, rounds, pod)
        self._leave_part(run, pod, kept)
        self.checkpoints.stop_pod(
            run, max(1, rounds.pods), kept - begun, lost, pod, self._emit
        )

    def cost(self, run: Run, since_ms: int) -> tuple[int, int]:
        """Return what checkpoints keep of the time since `since_ms`, and what is lost.

        Of pods that end by themselves that is the mean of them.
        """
        timing, rounds = self.timing(self.host.objects[run.owner]), run.rounds
        if rounds is None or not rounds.alone:
            return self.checkpoints.cost(run, timing, since_ms)
        kept = rounds.succeeded * rounds.each_ms
        kept += sum(done for _, done in run.parts)
        kept += sum(self._work_of(run, rounds, pod)[0] for pod in run.pods)
        gained = max(0, kept // max(1, rounds.pods) - run.kept_ms)
        if run.counted_ms is not None:
            since_ms = max(since_ms, run.counted_ms)
        return gained, max(0, self.context.now_ms - since_ms - gained)

    def last_end(self, run: Run, rounds: Rounds) -> int | None:
        """Return when a run is over if each pod that it lacks follows one that ends."""
        now = self.context.now_ms
        last = max([now, *run.ends.values()])
        if len(run.ends) < len(run.pods):
            last = max(last, now + rounds.each_ms)
        left = max(0, self.completions_left(run, rounds) - len(run.pods))
        last += rounds.each_ms * -(-left // max(1, rounds.pods))
        return None if last >= NEVER or not (rounds.pods or run.pods) else last

    def completions_left(self, run: Run, rounds: Rounds) -> int:
        """Return how many pods of a Job have neither succeeded nor failed for good.

        Of a work queue of which one has succeeded that is those that it has.
        """
        job = self.job_of(run) if rounds.succeeded else None
        if job is not None and is_work_queue(job.spec):
            return len(run.pods)
        wanted = self.jobs.completions_of(self.host.objects[run.owner])
        return wanted - rounds.succeeded - self.indexes_failed(run)

    def _needs_no_more(self, run: Run) -> bool:
        """Return whether enough pods that end by themselves have succeeded."""
        rounds = run.rounds if run.ends_by_pods else None
        return rounds is not None and self.completions_left(run, rounds) <= 0

    def _is_paused(self, run: Run) -> bool:
        """Return whether a run is of a Job that wants no pods now, though completions."""
        job = self.job_of(run)
        return job is not None and count_of(job.spec, "parallelism", 1) == 0

    def indexes_failed(self, run: Run) -> int:
        """Return how many indexes of a Job have failed for good."""
        job = self.job_of(run) if run.failed_at else None
        most = job.spec.get("backoffLimitPerIndex") if job is not None else None
        return sum(most is not None and n > int(most) for n in run.failed_at.values())

    def _give_index(self, run: Run, pod: Object) -> None:
        """Write into a pod the lowest index of its Job that none has, where one counts.

        Costs the pods of the run; of those made together the first alone reads them.
        Source: docs/semantics/kueue-lifecycle.md#further-completions.
        """
        spec = {} if (job := self.job_of(run)) is None else job.spec
        if spec.get("completionMode") != "Indexed":
            return
        most = spec.get("backoffLimitPerIndex")
        if most is None and not run.ends_by_pods:
            return
        if run.taken is None or len(run.taken) != len(run.pods):
            read = (job_index(self.host.objects[one].annotations) for one in run.pods)
            run.taken = {index for index in read if index is not None}
        failed = [int(i) for i, n in run.failed_at.items() if n > int(most or 0)]
        failed += map(int, run.delayed)
        index = first_index(
            run.completed, run.taken.union(failed) if failed else run.taken
        )
        run.taken.add(index)
        pod.metadata["annotations"] = {**pod.annotations, JOB_INDEX: str(index)}

    def _note_completed(self, run: Run, pod: Key) -> None:
        """Note that the index of a pod has succeeded, where it has one."""
        index = job_index(self.host.objects[pod].annotations)
        if index is not None:
            run.completed = with_index(run.completed, index)

    def job_of(self, run: Run) -> Object | None:
        """Return the batch Job that a run is of; None where it is of none."""
        owner = self.host.objects.get(run.owner)
        key = (owner_key(owner, _JOB) or owner.key) if owner is not None else None
        return self.host.objects.get(key) if key and key.kind == "Job" else None

    def round_length(self, owner: Object) -> int | None:
        """Return how long one round of its pods takes; None for until it is stopped."""
        timing = self.timing(owner)
        if timing.runtime is not None:
            return timing.runtime.draw(self.context.seed, "runtime", str(owner.key))
        if timing.recreate or self.jobs.serves(owner):
            return None
        return self.default_runtime_ms
