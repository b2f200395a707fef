"""Losing: pods that are evicted, nodes that fail, and what replaces them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import UNSET

from scheduler.engine.lifetime.pod_ends import PodEnds, backoff_ms
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import NODE
from scheduler.engine.lifetime.starting import first_rolled
from scheduler.model.decisions import Evict, Fail
from scheduler.model.durations import stamp_us
from scheduler.model.event_words import Befallen
from scheduler.model.jobs import pod_number
from scheduler.model.node import read_node
from scheduler.model.node_admission import rejection
from scheduler.model.objects import Key, Object
from scheduler.model.pod import read_pod
from scheduler.model.sentence import Sentence

_JOB = frozenset({"Job"})
#: How often pod garbage collection looks, and how long a node has been away then.
_COLLECTED_EVERY_MS = 20_000
_MISSED_FOR_MS = 40_000


class NodeLoss(PodEnds):
    """A lost pod is made again as its owner's kind demands; its work restarts."""

    def lose_node(self, node: str, why: Sentence) -> None:
        """Take every pod off this node, as its failure does: at once, not one by one."""
        pods = sorted(key for key, at in self.placed.items() if at == node)
        for pod in pods:
            self.free_node(pod)
        for pod in pods:
            self._lose(pod, why)

    def orphan_pods(self, node: str) -> None:
        """Leave the pods of a deleted node to pod garbage collection.

        YuniKorn forgets what ran there at once.
        Source: docs/semantics/kueue-lifecycle.md#pods-of-a-deleted-node.
        """
        if any(one.name != "kube" for one in self.host.placers()):
            self.lose_node(node, Befallen.DELETED.said())
            return
        for pod in sorted(key for key, at in self.placed.items() if at == node):
            self._collect_later(pod)

    def _collect_later(self, pod: Key) -> None:
        """Leave a pod whose node is missed from now on to pod garbage collection."""
        first_miss = (
            -(-self.context.now_ms // _COLLECTED_EVERY_MS) * _COLLECTED_EVERY_MS
        )
        self.collect_at(pod, first_miss + _MISSED_FOR_MS)

    def collect_at(self, pod: Key, at_ms: int) -> None:
        """Let pod garbage collection take a pod at this instant, if its node stays away."""
        self.orphaned[pod] = at_ms
        self.timers.add(at_ms, Due.COLLECT, pod)
        self._touch(pod)

    def collect_pod(self, pod: Key) -> None:
        """Delete a pod whose node is gone; one of that name may have come since."""
        del self.orphaned[pod]
        self._touch(pod)
        node = self.placed.get(pod)
        if node is None or Key(NODE, "", node) in self.nodes:
            return
        was = self.uses(Key(NODE, "", node))
        self._lose(pod, Befallen.DELETED.said() if was else Befallen.NO_NODE.said())

    def _lose(self, pod: Key, why: Sentence) -> None:
        """Delete a pod with its node, and say so."""
        self._emit(
            Evict(
                at_ms=self.context.now_ms,
                subject=pod,
                reason="NodeLost",
                message=why.text,
                said=why if why.code else UNSET,
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

    def _lose_gracefully(self, pod: Key) -> None:
        """Let a preempted pod end; its node is full until it has."""
        owner = self.owners.get(pod, pod)
        run = self.runs.get(owner)
        if run is not None and run.active:
            self._lose_work(run, pod)
        self.terminate(pod)

    def roll(self, run: Run, stateful_set: Object) -> None:
        """Let the pods of a set be made anew, from the last, of its present template.

        Source: docs/semantics/controllers.md#statefulset.
        """
        first = first_rolled(stateful_set.spec)
        for pod in run.pods:
            number = pod_number(pod.name)
            if first is not None and number is not None and number >= first:
                self.older[pod] = None
                self._touch(pod)
        self.older[stateful_set.key] = None
        self._touch(stateful_set.key)
        self.roll_on(run)

    def roll_on(self, run: Run) -> None:
        """Delete the last pod of an older template: one at a time, the others ready."""
        numbers = {pod: pod_number(pod.name) or 0 for pod in run.pods}
        older = [pod for pod in run.pods if pod in self.older]
        if not older or not run.active or run.step_due() == Due.REPLACE:
            return
        last = max(older, key=numbers.__getitem__)
        ordered = self._in_order(self.host.objects[run.owner])
        above = (p for p, at in numbers.items() if ordered or at > numbers[last])
        if all(pod in run.ready for pod in above) and last not in self.terminating:
            self.older.pop(last)
            self._lose_gracefully(last)

    def fail_pod(self, pod: Key, *, reason: str, message: str) -> None:
        """Let a pod fail where it runs; its owner's kind says what follows.

        A plain pod stays as an object, with the reason in its status.
        """
        run = self.runs.get(self.owners.get(pod, pod))
        obj = self.host.objects.get(pod)
        if run is None or obj is None or not run.active or self.timing(obj).recreate:
            self.lose_pod(pod)
        elif self.by_members(run):
            self._member_ends(run, pod, failed=True)
        elif run.owner == pod:
            run.failed = True
            self._finish(run)
        else:
            self.lose_pod(pod)
            return
        if pod in self.host.objects:
            obj = self.host.objects[pod]
            obj.status |= {"reason": reason, "message": message}
            self._touch(pod)

    def note_bound(self, pod: Object) -> None:
        """Note a pod that was made with its node, for its kubelet to look at.

        One that runs, or has a start time, was admitted before.
        """
        phase, node = pod.status.get("phase"), self.placed.get(pod.key)
        if node and phase in (None, "Pending") and not pod.status.get("startTime"):
            self.bound.setdefault(node, {})[pod.key] = None

    def reject_bound(self) -> None:
        """Report which of the noted pods their kubelets reject, in the order in which they came.

        O(pods that are placed), once for all that were noted.
        Source: docs/semantics/kube-scheduler.md#what-a-kubelet-rejects.
        """
        if not self.bound:
            return
        bound, self.bound = self.bound, {}
        before: dict[str, list[Key]] = {name: [] for name in bound}
        for key, name in self.placed.items():
            if name in bound and key not in bound[name]:
                before[name].append(key)
        for name, pods in bound.items():
            key = Key(NODE, "", name)
            if key in self.nodes:
                self._reject_on(self.host.objects[key], before[name], pods)
            for pod in pods if self.nodes and key not in self.nodes else ():
                self._collect_later(pod)

    def _reject_on(
        self, node: Object, before: Iterable[Key], bound: Iterable[Key]
    ) -> None:
        """Report the pods bound to a node that do not fit beside those placed before."""
        read, used, count = read_node(node.manifest, node.status), Counter[str](), 0
        for looked_at, keys in ((False, before), (True, bound)):
            for key in keys:
                if (obj := self.host.objects.get(key)) is None:
                    continue
                pod = read_pod(obj.manifest, obj.status)
                found = rejection(pod, read, used, count) if looked_at else None
                if found is None:
                    used.update(pod.shape.requests.exact)
                    count += 1
                    continue
                reason, message = found
                self._emit(
                    Fail(
                        at_ms=self.context.now_ms,
                        subject=key,
                        node=read.name,
                        reason=reason,
                        message=message,
                    )
                )

    def reject_pod(self, decision: Fail) -> None:
        """Let a pod fail that the kubelet of its node rejects.

        One of a Job stays as an object. One that is in place was made with its node, and
        would be again: it is made up for after a back-off, whoever owns it.
        """
        pod = decision.subject
        in_place = pod in self.placed
        status = {
            "reason": decision.reason,
            "message": f"Pod was rejected: {decision.message}",
        }
        run, obj = self.runs.get(self.owners.get(pod, pod)), self.host.objects.get(pod)
        if run is None or obj is None or run.owner == pod or self.by_members(run):
            self.fail_pod(pod, **status)
        elif self.job_key(run.owner).kind == "Job":
            self.end_pod(obj, failed=True)
            self.leave_run(pod, refused=in_place)
            obj.status |= status
        else:
            self.leave_run(pod, refused=in_place)
            self.host.delete(pod)

    def end_reported(self, pod: Object) -> None:
        """Let a pod end as somebody says that it did; one of a Job that failed stays."""
        failed = pod.status.get("phase") == "Failed"
        owner = self.owners[pod.key]
        run = self.runs.get(owner)
        if run is None or not run.active:
            return
        if self.by_members(run):
            self._member_ends(run, pod.key, failed=failed, reported=True)
        elif owner == pod.key:
            run.failed = failed
            self._finish(run)
        elif failed:
            self.end_pod(pod, failed=True)
            # None of its containers has ended: its Job counts from its creation.
            created = self.context.ms(stamp_us(str(pod.metadata["creationTimestamp"])))
            self.leave_run(pod.key, since_ms=created)

    def leave_run(
        self, pod: Key, *, refused: bool = False, since_ms: int | None = None
    ) -> None:
        """Let a pod that ends, and stays as an object, run no longer.

        A `refused` one is made up for after a back-off, whoever owns it. A back-off
        counts from `since_ms`, or from now.
        """
        owner = self.owners.pop(pod, None)
        self.leaving.pop(pod, None)
        self.terminating.pop(pod, None)
        if owner is not None and owner != pod:
            self._pod_gone(owner, pod, refused=refused, since_ms=since_ms)

    def end_refused(self, pod: Key) -> None:
        """Let a pod whose application was refused fail; its owner tries another."""
        self.jobs.pod_changed(pod)
        run = self.runs.get(pod)
        self.leave_run(pod, refused=True)
        if run is not None:
            run.active, run.done, run.failed = False, True, True
            self.emit_finish(run.owner, failed=run.failed)
        self._touch(pod)

    def _pod_gone(
        self,
        owner: Key,
        pod: Key,
        *,
        refused: bool = False,
        since_ms: int | None = None,
    ) -> None:
        """Replace a pod that a run lost; its work begins again."""
        run = self.runs.get(owner)
        if run is None or pod not in run.pods:
            return
        self.lose_pod_work(run, pod)
        run.pods.remove(pod)
        run.ready.pop(pod, None)
        run.waiting.pop(pod, None)
        run.ends.pop(pod, None)
        if not run.active:
            if run.ending and not run.pods:
                self._pods_ended(run)
            return
        self._touch(owner)
        if self.by_members(run):
            self._report_ready(run, False)  # the others run on
            return
        self._lose_work(run, pod)
        if self._exceeds_limit(run, refused=refused):
            run.failed = True
            self._finish(run)
        elif self._needs_no_more(run):
            run.lost_pods += refused or self._backs_off(owner)
            self._complete_now(run)
        elif refused or self._backs_off(owner):
            run.failures += 1
            run.lost_pods += 1
            tries, why = run.failures, None
            job = self.job_of(run)
            most = job.spec.get("backoffLimitPerIndex") if job is not None else None
            if job is not None and most is not None:
                tries = self._index_fails(run, job, pod, int(most), since_ms)
                why = self._why_indexes_fail(run, job)
            if why is not None:
                self._fail_for(run, why)
                return
            delay = 0 if run.delayed else backoff_ms(tries)
            if since_ms is not None:
                delay = max(0, since_ms + delay - self.context.now_ms)
            self._back_off(run, delay)
        elif self.set_of(self.host.objects[owner]) is not None:
            self._next(run, Due.REPLACE, 0)  # when its name is free again
        else:
            self.jobs.replace_pods(self.host.get(owner), run)

    def _exceeds_limit(self, run: Run, *, refused: bool) -> bool:
        """Return whether a pod that is lost now is one more than its Job makes up for.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        backs_off = refused or self._backs_off(run.owner)
        return backs_off and run.lost_pods >= self._most_failures(run.owner)

    def _backs_off(self, owner: Key) -> bool:
        """Return whether a Job's controller replaces the pods, after a back-off."""
        if not self.steps.takes_time("termination"):
            return False
        return self.job_key(owner).kind == "Job"

    def _replace(self, run: Run) -> None:
        """Make up for the pods that a Job lost: its back-off is over."""
        run.step = None
        self._touch(run.owner)
        if run.active:
            self.jobs.replace_pods(self.host.get(run.owner), run)
            goes_on = run.failed_at and run.pods and run.ready_ms is None
            if goes_on and run.all_ready():
                self._all_ready(run)  # nobody follows the failed indexes
        elif self.job_of(run) is not None:
            self.jobs.has_its_pods(self.host.objects[run.owner])
            self.stop_waiting(run.owner)
        else:
            self.jobs.wait_gated(self.host.objects[run.owner])
