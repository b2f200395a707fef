"""Going on with what ran before: runs whose pods, times and ends came with them.

A cluster that is read while it runs has admitted Workloads with their pods, some
ready, some ending. Their work goes on from where it stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler.engine.lifetime.admission import POD_SET, owner_key
from scheduler.engine.lifetime.node_loss import NodeLoss
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import NODE
from scheduler.engine.lifetime.stopping import grace_ms
from scheduler.model import durations
from scheduler.model.decisions import Evict
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import condition, has_ended, is_true, true_condition
from scheduler.model.selectors import Taint, Toleration, read_taints, read_tolerations

#: Controllers that make a pod again when it is gone, and that no job kind stands for.
SERVING = frozenset(
    {"DaemonSet", "ReplicaSet", "ReplicationController", "StatefulSet", "Node"}
)
_JOB = frozenset({"Job"})


class RunContinuing(NodeLoss):
    """Attempts that began before the world did."""

    def resume(
        self,
        owner: Object,
        pod_sets: list[dict[str, Any]],
        pods: Iterable[Object],
        ended: Sequence[Object] = (),
    ) -> None:
        """Go on with an attempt: its pods stay, those that it lacks are made.

        The attempt began when the owner was admitted, its work when the last pod
        got ready. `ended` are pods that succeeded: they are not made again.
        """
        run = self.run_of(owner.key)
        if run.active or run.done or run.overran or run.ending or run.step is not None:
            return
        standing, admitted = list(pods), self.since(owner.status, "Admitted")
        if not (standing or ended) and self.start_later(owner, admitted):
            return
        run.attempt += 1
        run.active = True
        run.started_ms = admitted
        self._set_deadline(run, self._job_start(owner, run.started_ms))
        self._touch(owner.key)
        if not self.placement():
            self._resume_work(run, self.since(owner.status, "PodsReady", "Admitted"))
            return
        by_members = self.by_members(run)
        self.complete_by_pods(run, owner, len(ended))
        if not (by_members or run.ends_by_pods):
            run.ended = self._unreclaimed(owner, pod_sets, ended)
        ready = {pod.key: self._take_over(run, pod) for pod in standing}
        if not by_members:
            self.fill_up(run, owner, pod_sets)
        self._resume_ends(run, ready, ended)
        if run.pods and run.all_ready():
            since = max((at for at in ready.values() if at is not None), default=None)
            self._resume_work(run, run.started_ms if since is None else since)
        elif not run.pods and ended and (by_members or self._has_ended(run)):
            self._finish(run, max(self._ended_ms(pod) for pod in ended))
        elif not run.pods:
            self._resume_work(run, run.started_ms)

    def _unreclaimed(
        self, owner: Object, pod_sets: list[dict[str, Any]], ended: Sequence[Object]
    ) -> dict[str, int]:
        """Return how many pods of each set are not made again, as they succeeded.

        Those that its Workload reclaimed are in the pod sets already. What serves is
        made again however it ended.
        Source: <https://kubernetes.io/docs/concepts/workloads/controllers/job/>
        """
        if not ended or self.jobs.serves(owner):
            return {}
        sole = pod_sets[0]["name"] if len(pod_sets) == 1 else ""
        succeeded = Counter(pod.labels.get(POD_SET, sole) for pod in ended)
        reclaimed = {
            one["name"]: int(one.get("count") or 0)
            for one in owner.status.get("reclaimablePods") or ()
        }
        found = {}
        for pod_set in pod_sets:
            name, count = pod_set["name"], int(pod_set["count"])
            due = self._completions(owner, count + reclaimed.get(name, 0))
            left = max(0, due - succeeded[name])
            if count > left:
                found[name] = count - left
        return found

    def _has_ended(self, run: Run) -> bool:
        """Return whether enough pods of a Job that came have succeeded."""
        if run.rounds is not None and run.rounds.alone:
            return not self.completions_left(run, run.rounds)
        return any(run.ended.values())

    def _completions(self, owner: Object, count: int) -> int:
        """Return how many pods of a set of `count` have to succeed."""
        job = self.host.objects.get(owner_key(owner, _JOB) or owner.key)
        if job is not None and job.key.kind == "Job":
            return int(job.spec.get("completions") or count)
        return count * self.jobs.waves(owner)

    def _resume_ends(
        self, run: Run, ready: Mapping[Key, int | None], ended: Sequence[Object]
    ) -> None:
        """Let pods that end one by one do so when they would have."""
        for pod, since in ready.items():
            if since is not None:
                self._pod_runs(run, pod, since)
        if run.ends_by_pods:
            said = self.host.objects[run.owner].status.get("reclaimablePods") or ()
            left = self._spare(run) - sum(int(one["count"]) for one in said)
            begin = len(ended) - max(0, left)
            for one in sorted(ended, key=self._ended_ms)[max(0, begin) :]:
                self._reclaim_at(run, one.key, self._ended_ms(one))

    def _ended_ms(self, pod: Object) -> int:
        """Return when a pod that has ended was no longer ready, no later than now."""
        now = self.context.now_ms
        found = condition(pod.status, "Ready") or {}
        at = self._ms(found.get("lastTransitionTime"))
        return now if at is None else min(at, now)

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
        run.attempt += 1
        for pod in ending:
            self.attach(run, pod.key)
            if node := pod.spec.get("nodeName"):
                self.placed[pod.key] = node
        deleted = any(pod.metadata.get("deletionTimestamp") for pod in ending)
        if not deleted and self._stops_later(owner, run):
            return
        run.ending = True
        for pod in ending:
            self.resume_termination(pod)

    def _stops_later(self, owner: Object, run: Run) -> bool:
        """Let the pods of an evicted owner be deleted in a while; False for at once."""
        now, since = self.context.now_ms, self.since(owner.status, "Evicted")
        left = since + self._takes("suspension", run) - now
        if left <= 0:
            return False
        self._next(run, Due.SUSPEND, left)
        return True

    def resume_termination(self, pod: Object) -> None:
        """Let a pod that was being deleted end, by its own deadline at the latest."""
        now = self.context.now_ms
        deadline = self._ms(pod.metadata.get("deletionTimestamp"))
        began = now if deadline is None else min(now, deadline - grace_ms(pod))
        at = max(now, began + self._termination(pod))
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
            bound = self.since(pod.status, "PodScheduled")
            self._wait_ready(run, pod.key, bound)
            return None
        run.ready[pod.key] = None
        return self.since(pod.status, "Ready")

    def _resume_work(self, run: Run, since: int) -> None:
        """Let the work end when it would have: counted from `since`, not from now."""
        run.ready_ms = since
        self._report_ready(run, True)
        if run.rounds is not None and run.rounds.alone:
            run.ends_ms = self.last_end(run, run.rounds)
            return
        length, now = self._length(run), self.context.now_ms
        if length is None:
            return
        run.ends_ms = max(since + length, now)
        if since + length < now and self.steps.takes_time("completion"):
            self._finish(run, since + length)
        else:
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
            self.begin_rounds(run, since)

    def since(self, given: Mapping[str, Any], *types: str) -> int:
        """Return when the first of these conditions became true, no later than now."""
        now = self.context.now_ms
        for name in types:
            if (condition := true_condition(given, name)) is not None:
                at = self._ms(condition.get("lastTransitionTime"))
                return now if at is None else min(at, now)
        return now

    def _ms(self, text: object) -> int | None:
        """Return a timestamp in virtual time; None when it cannot be parsed."""
        try:
            us = durations.stamp_or_none(str(text)) if text else None
        except QuantityError:
            return None
        return None if us is None else (us - self.context.epoch_us) // 1000


# ------------------------------------------------------------------------
# Driving off: pods leave a node that is tainted NoExecute, at once or in a while.


DRIVEN_OFF = "DeletionByTaintManager"
_SENTENCE = "Taint manager: deleting due to NoExecute taint"
_NO_EXECUTE = "NoExecute"
#: What the API server lets every pod tolerate for a while that says nothing of it.
_USUAL = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_USUAL_S = 300


class TaintEviction(RunContinuing):
    """Keeps, per pod that must leave, since when and at which instant.

    Source: <https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/>
    """

    def check_node_taints(self, node: Object) -> None:
        """Evict who does not tolerate the taints of a new or changed node, now or in time."""
        name = node.key.name
        if any(t.effect == _NO_EXECUTE for t in taints_of(node)) or self.leaving:
            for pod in sorted(key for key, at in self.placed.items() if at == name):
                self.check_pod_taints(pod)

    def check_pod_taints(self, pod: Key) -> None:
        """Evict a pod that does not tolerate its node's taints, now or when its time is over."""
        obj = self.host.objects.get(pod)
        node = self.host.objects.get(Key(NODE, "", self.placed.get(pod, "")))
        if obj is None or node is None:
            return
        if not node.spec.get("taints") and pod not in self.leaving:
            return
        seconds = tolerated_s(taints_of(node), tolerations_of(obj))
        now = self.context.now_ms
        since = self.leaving.get(pod, (now, now))[0]
        if seconds is None:
            self._may_stay(pod)
        elif since + seconds * 1000 <= now:
            self.drive_off(pod)
        else:
            self._leaves(pod, since, since + seconds * 1000)

    def _may_stay(self, pod: Key) -> None:
        if self.leaving.pop(pod, None) is not None:
            self._touch(pod)

    def _leaves(self, pod: Key, since: int, at: int) -> None:
        if self.leaving.get(pod) != (since, at):
            self.leaving[pod] = since, at
            self.timers.add(at, Due.LEAVE, pod)
            self._touch(pod)

    def drive_off(self, pod: Key) -> None:
        """Delete the pod; its owner's kind says what follows."""
        self.leaving.pop(pod, None)
        now = self.context.now_ms
        self._emit(Evict(at_ms=now, subject=pod, reason=DRIVEN_OFF, message=_SENTENCE))
        self.lose_pod(pod)


def taints_of(node: Object) -> tuple[Taint, ...]:
    """Return the taints of a Node."""
    return read_taints(node.spec.get("taints"))


def tolerations_of(pod: Object) -> tuple[Toleration, ...]:
    """Return the tolerations of a Pod, those that the API server adds included."""
    return (
        *read_tolerations(pod.spec.get("tolerations")),
        *(
            Toleration(key=key, operator="Exists", effect=_NO_EXECUTE, seconds=_USUAL_S)
            for key in _USUAL
        ),
    )


def tolerated_s(
    taints: Iterable[Taint], tolerations: tuple[Toleration, ...]
) -> int | None:
    """Return how many seconds a pod may stay; None is for ever, 0 not at all."""
    least: int | None = None
    for taint in taints:
        if taint.effect != _NO_EXECUTE:
            continue
        found = next((t for t in tolerations if t.tolerates(taint)), None)
        if found is None:
            return 0
        if found.seconds is not None:
            least = found.seconds if least is None else min(least, found.seconds)
    return None if least is None else max(0, least)
