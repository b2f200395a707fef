"""Starting: pods made, bound and ready, and from then on the work's own time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.engine.kueue.topology.replacement import RankedPod, domains_for
from scheduler.engine.lifetime.admission import (
    POD_SET,
    by_topology,
    domain_of,
    make_pod,
    owner_key,
    pod_key,
)
from scheduler.engine.lifetime.rounds import RunRounds
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import POD, WORKLOAD
from scheduler.model.durations import NEVER
from scheduler.model.jobs import (
    is_managed_elsewhere,
)
from scheduler.model.objects import Key, Object
from scheduler.model.storage.claims import give_claims
from scheduler.model.topology import TopologyAssignment

_JOB = frozenset({"Job"})

STATEFUL_SET = "StatefulSet"


def first_rolled(spec: Mapping[str, Any]) -> int | None:
    """Return the first number of a StatefulSet that an update makes anew; None: none does."""
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return None
    return int((strategy.get("rollingUpdate") or {}).get("partition") or 0)


class RunStarting(RunRounds):
    """From "may run" to "works until".

    Work is done while all pods of a run are ready.
    """

    def start(self, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Begin an attempt: make the pods, or without nodes just start the clock.

        `pod_sets` are name, count, template, and `nodeSelector` and
        `tolerations` that the assigned flavors add.
        """
        run = self.run_of(owner.key)
        if run.active or run.done or run.overran:
            return
        run.step = None
        if run.pods:
            self._begin_waiting(run, owner, pod_sets)
        run.attempt += 1
        _, run.failures, until = self.failed.get(self.job_key(owner.key), (0, 0, 0))
        run.active = True
        run.started_ms = self.context.now_ms
        run.waiting.clear()
        run.ready.clear()
        run.ends.clear()
        run.ended.clear()
        self._touch(owner.key)
        if self.host.runs_elsewhere(owner.key) or self._is_of_others(owner):
            return
        self._set_deadline(run, run.started_ms)
        self.jobs.resized(owner, started=True)
        if placed := self.placement():
            done = 0 if run.rounds is None else run.rounds.succeeded
            self.complete_by_pods(run, owner, done)
            for pod in run.pods:
                self._take_part(run, self.host.objects[pod])
                if pod in self.placed:  # made in vain before, and admitted meanwhile
                    self._wait_ready(run, pod)
        if placed and until > self.context.now_ms:
            run.step = int(Due.REPLACE), until
            self.timers.add(until, Due.REPLACE, owner.key)
        elif placed:
            self._make_pods(run, owner, pod_sets)
            if run.ends_by_pods and run.all_ready():
                self._report_ready(run, True)  # as many have succeeded as it has pods
        else:
            self._wait_ready(run, owner.key)

    def _set_deadline(self, run: Run, since_ms: int) -> None:
        """Let the run's Job fail when it has been active for too long.

        Counted from the whole second in which it started, as its status says it.
        Source: docs/semantics/kueue-lifecycle.md#deadline-of-a-job.
        """
        seconds = self.jobs.deadline_of(self.host.objects[run.owner])
        run.deadline_ms = None
        if seconds is not None:
            since_ms -= self.context.us(since_ms) // 1000 % 1000
            run.deadline_ms = max(since_ms + 1000 * seconds, self.context.now_ms)
            self.timers.add(run.deadline_ms, Due.DEADLINE, run.owner)

    def _is_of_others(self, owner: Object) -> bool:
        """Return whether a controller that is not simulated makes an owner's pods."""
        job = self.host.objects.get(owner_key(owner, _JOB) or owner.key)
        return job is not None and is_managed_elsewhere(job.manifest)

    def creation(self, workload: Key) -> int:
        """Return how long (ms) it takes until a job's Workload is made."""
        return self.steps.draw("workload_creation", str(workload))

    def start_later(self, owner: Object, since_ms: int | None = None) -> bool:
        """Let the job of an owner be resumed in a while from its admission on.

        That is `since_ms`, else now. Returns False when no time is left to wait: it
        starts at once.
        """
        run, now = self.run_of(owner.key), self.context.now_ms
        delay = self.steps.draw("job_start", str(owner.key), run.attempt + 1)
        at = delay + (now if since_ms is None else since_ms)
        if at <= now or run.active or run.done or run.overran:
            return False
        run.step = int(Due.START), at
        self.timers.add(run.step[1], Due.START, owner.key)
        self._touch(owner.key)
        return True

    def make_waiting(self, owner: Object, pod_set: dict[str, Any]) -> None:
        """Make the pods of an owner that waits for quota, which have their gates."""
        run = self.run_of(owner.key)
        if not (run.active or run.done or run.ending or run.step is not None):
            self.fill_up(run, owner, [pod_set])

    def run_in_vain(self, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Make the pods of an owner without quota, which are deleted in a while."""
        run = self.run_of(owner.key)
        takes = self.steps.draw("suspension", str(owner.key), run.attempt)
        if not takes or not self.placement() or run.active or run.done or run.step:
            return
        if not (run.ending or run.pods):
            self.fill_up(run, owner, pod_sets)
            run.step = int(Due.REPLACE), self.context.now_ms + takes
            self.timers.add(run.step[1], Due.REPLACE, owner.key)

    def stop_waiting(self, owner: Key) -> None:
        """Delete the pods of an owner that does not run."""
        run = self.runs.get(owner)
        if run is None or run.active or run.ending:
            return
        if run.step_due() == Due.REPLACE:
            run.step = None
            self._touch(owner)
            if owner in self.host.objects:
                self.jobs.has_its_pods(self.host.objects[owner])
        pods, run.pods = run.pods, []
        for pod in pods:
            self.owners.pop(pod, None)
            self.host.delete(pod)

    def _begin_waiting(
        self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]
    ) -> None:
        """Let the pods that waited run; where topology places them others are made."""
        if any(pod_set.get("topology") is not None for pod_set in pod_sets):
            self.stop_waiting(owner.key)
            return
        pods = [self.host.objects[pod] for pod in run.pods]
        self.jobs.ungate_waiting(owner, pods, pod_sets)

    def _make_pods(
        self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]
    ) -> None:
        self.fill_up(run, owner, pod_sets)
        nobody = not any(int(pod_set["count"]) for pod_set in pod_sets)
        if nobody and not (self.by_members(run) or run.ends_by_pods):
            self._all_ready(run)

    def fill_up(self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Make the pods that the run lacks; of an ordered set the next one.

        Source: docs/semantics/controllers.md#statefulset.
        """
        ordered = self._in_order(owner)
        for pod_set in pod_sets:
            name = pod_set["name"]
            have, count = len(self.pods_of(run, name)), int(pod_set["count"])
            if run.rounds is not None and run.rounds.alone:
                left = self.completions_left(run, run.rounds)
                missing = min(run.rounds.pods, left) - have - self._delayed(run)
            else:
                missing = count - have - run.ended.get(name, 0)
            if ordered:
                missing = min(missing, int(len(run.ready) == len(run.pods)))
            if pod_set.get("topology") is not None:
                if not self._add_placed_pods(run, owner, pod_set, missing):
                    return
                continue
            for _ in range(missing):
                if not self.add_pod(run, owner, pod_set):
                    return
        self.jobs.has_its_pods(owner)

    def _delayed(self, run: Run) -> int:
        """Return how many indexes of a Job wait for their back-off, which it notes.

        Source: docs/semantics/kueue-lifecycle.md#pods-of-a-job-that-fail.
        """
        now = self.context.now_ms
        run.delayed = {one: at for one, at in run.delayed.items() if at > now}
        if run.delayed and run.step is None:
            run.step = int(Due.REPLACE), min(run.delayed.values())
            self.timers.add(run.step[1], Due.REPLACE, run.owner)
            self._touch(run.owner)
        return len(run.delayed)

    def _add_placed_pods(
        self, run: Run, owner: Object, pod_set: dict[str, Any], missing: int
    ) -> bool:
        """Make pods with the node selector of their domain; False while a quota holds one.

        None is made on a failed node.

        Source: docs/semantics/kueue-topology.md#ungating-pods.
        """
        assignment: TopologyAssignment = pod_set["topology"]
        levels, name = assignment.levels, pod_set["name"]
        standing = [
            RankedPod(key.name, {}, domain_of(self.host.objects[key], levels))
            for key in run.pods
            if self.host.objects[key].labels.get(POD_SET, name) == name
        ]
        gated = [RankedPod(str(index), {}) for index in range(missing)]
        failed = self._failed_nodes(owner)
        for values in domains_for([*standing, *gated], assignment).values():
            if values[-1] not in failed:
                place = dict(zip(levels, values, strict=True))
                selector = {**(pod_set.get("nodeSelector") or {}), **place}
                placed = {**pod_set, "nodeSelector": selector}
                if not self.add_pod(run, owner, by_topology(placed)):
                    return False
        return True

    def _failed_nodes(self, owner: Object) -> frozenset[str]:
        if self.host.kueue is not None:
            self.host.kueue.settle()  # a node that fails now is noted there
        status = self.host.get(owner.key).status
        return frozenset(item["name"] for item in status.get("unhealthyNodes") or ())

    def pods_of(self, run: Run, pod_set: str) -> list[Key]:
        """Return the pods that the run has of this set, oldest first."""
        return [
            pod
            for pod in run.pods
            if self.host.objects[pod].labels.get(POD_SET, pod_set) == pod_set
        ]

    def add_pod(self, run: Run, owner: Object, pod_set: dict[str, Any]) -> bool:
        """Make one more pod of this pod set; False while it is refused."""
        number = self._number(run, owner, pod_set["name"])
        if self.older:
            pod_set = self._of_present_template(owner, pod_set, number)
        pod = make_pod(
            owner,
            pod_set,
            number,
            node_selector=pod_set.get("nodeSelector") or {},
            tolerations=pod_set.get("tolerations") or [],
        )
        delay = self.jobs.refused_for(owner, pod)
        if delay is not None:
            if run.step is None:
                run.step = int(Due.REPLACE), self.context.now_ms + delay
                self.timers.add(run.step[1], Due.REPLACE, run.owner)
                self._touch(run.owner)
            return False
        self._give_index(run, pod)
        self._take_part(run, pod)
        self._give_claims(run, owner, pod)
        run.made += 1
        self.attach(run, pod.key)
        if not self.jobs.put_admitted(pod):
            run.pods.remove(pod.key)
            self.owners.pop(pod.key, None)
        return True

    def _of_present_template(
        self, owner: Object, pod_set: dict[str, Any], number: int
    ) -> dict[str, Any]:
        """Return a pod set with the template that a rolled StatefulSet has now."""
        found = self.host.objects.get(self.set_of(owner) or owner.key)
        if found is None or found.key not in self.older:
            return pod_set
        if number < (first_rolled(found.spec) or 0):
            return pod_set
        given, present = pod_set.get("template") or {}, found.spec.get("template") or {}
        metadata = {
            name: {**(given.get("metadata") or {}).get(name, {}), **values}
            for name, values in (present.get("metadata") or {}).items()
            if name in ("labels", "annotations")
        }
        spec = dict(present.get("spec") or {})
        if gates := (given.get("spec") or {}).get("schedulingGates"):
            spec["schedulingGates"] = gates
        return {**pod_set, "template": {**given, "metadata": metadata, "spec": spec}}

    def _number(self, run: Run, owner: Object, pod_set: str) -> int:
        """Return the number of a pod to be made; of a StatefulSet the lowest free one.

        Source: docs/semantics/controllers.md#statefulset.
        """
        if (key := self.set_of(owner)) is None:
            return run.made
        # While none was ever lost, none below is free.
        number = run.made if len(run.pods) == run.made else 0
        while (
            pod_key(owner, pod_set, number) in self.host.objects
            or Key(POD, key.namespace, f"{key.name}-{number}") in self.host.objects
        ):  # the second as it came with the set
            number += 1
        return number

    def set_of(self, owner: Object) -> Key | None:
        """Return the StatefulSet that an owner of pods is, or is the Workload of."""
        if owner.key.kind == STATEFUL_SET:
            return owner.key
        return owner_key(owner, frozenset({STATEFUL_SET}))

    def _in_order(self, owner: Object) -> bool:
        """Return whether each pod of a set is made when those before it are ready."""
        key = self.set_of(owner)
        found = self.host.objects.get(key) if key is not None else None
        if found is None:
            return False
        return found.spec.get("podManagementPolicy") != "Parallel"

    def _lacks_next(self, run: Run) -> bool:
        """Return whether the next pod of an ordered set is to be made now."""
        owner = self.host.objects.get(run.owner)
        if owner is None or not self._in_order(owner):
            return False
        found = self.host.objects[self.set_of(owner) or run.owner]
        wanted = self.jobs.sized(owner, int(found.spec.get("replicas", 1)))
        return len(run.ready) == len(run.pods) < wanted

    def _give_claims(self, run: Run, owner: Object, pod: Object) -> None:
        """Make the claims of a StatefulSet's pod that do not exist yet."""
        key = self.set_of(owner)
        if key is None or key not in self.host.objects:
            return
        others = (self.host.objects[one] for one in run.pods)
        for claim in give_claims(pod, self.host.objects[key], others):
            if claim.key not in self.host.objects:
                self.jobs.put_admitted(claim)

    def _wait_ready(self, run: Run, key: Key, since_ms: int | None = None) -> None:
        """Let a pod (or a run without pods) get ready after its start time.

        Counted from when it was bound: `since_ms`, else now. A pod whose node does
        not exist waits for it: no kubelet starts it.
        """
        node = self.placed.get(key)
        if node is not None and self.nodes and Key("Node", "", node) not in self.nodes:
            run.waiting[key] = NEVER
            self._touch(run.owner)
            return
        delay = self.pod_start_ms
        delay += self.steps.draw("pod_start", str(key), run.attempt)
        delay += self._ready_after(run, key)
        now = self.context.now_ms
        at = max(now, delay + (now if since_ms is None else since_ms))
        run.waiting[key] = at
        self._touch(run.owner)
        self._run_later(run, key)
        if delay >= NEVER:
            return
        if at > now:
            self.timers.add(at, Due.READY, key, run.attempt)
        else:
            self._ready(run, key)

    def _ready_after(self, run: Run, key: Key) -> int:
        """Return how long after the start of its containers a pod gets ready."""
        by_itself = key.kind == POD and self.by_members(run)
        obj = self.host.objects[key if by_itself else run.owner]
        span = self.timing(obj).ready_after
        if span is None:
            return 0
        return span.draw(self.context.seed, "ready", str(key), run.attempt)

    def starts_at(self, run: Run, pod: Key) -> int:
        """Return when the containers of a pod that waits have started."""
        if Key("Node", "", self.placed.get(pod, "")) not in self.nodes:
            return NEVER
        return run.waiting[pod] - self._ready_after(run, pod)

    def _run_later(self, run: Run, key: Key) -> None:
        """Let a pod that gets ready later run when its containers have started."""
        at = self.starts_at(run, key) if key.kind == POD else NEVER
        if self.context.now_ms < at < min(NEVER, run.waiting[key]):
            self.timers.add(at, Due.RUNS, key)

    def node_came(self, node: str) -> None:
        """Start the pods that name a node which did not exist until now."""
        for key in sorted(pod for pod, at in self.placed.items() if at == node):
            owner = self.owners.get(key)
            run = self.runs.get(owner) if owner is not None else None
            if run is not None and run.waiting.get(key, 0) >= NEVER:
                self._wait_ready(run, key)

    def bound_on(self, run: Run, pod: Key, node: str) -> None:
        """Take a pod that came with its node as started there."""
        self.placed[pod] = node
        if pod not in run.ready:
            self._wait_ready(run, pod)

    def _ready(self, run: Run, key: Key) -> None:
        run.waiting.pop(key, None)
        self._touch(run.owner)
        if key != run.owner or key.kind == POD:
            run.ready[key] = None
            self._touch(key)
            self._pod_runs(run, key)
        if run.active and self._lacks_next(run):
            run.step = int(Due.REPLACE), self.context.now_ms
            self.timers.add(self.context.now_ms, Due.REPLACE, run.owner)
        if run.all_ready():
            self._all_ready(run)
        if self.older:
            self.roll_on(run)

    def roll_on(self, run: Run) -> None:
        """Delete the next pod of an older template, where there is one."""

    def _pod_runs(self, run: Run, pod: Key, since_ms: int | None = None) -> None:
        """Let a pod that got ready (at `since_ms`, else now) have an end of its own."""

    def _all_ready(self, run: Run) -> None:
        """Start the work: it takes its run time from here.

        Work that goes on already does so: pods were added to it.
        """
        if run.ready_ms is None:
            self._begin_work(run)
        delay = self.steps.draw("readiness", str(run.owner), run.attempt)
        if delay:
            run.seen_ms = self.context.now_ms + delay
            self.timers.add(run.seen_ms, Due.SEEN, run.owner)
            self._touch(run.owner)  # what is read of its Job meanwhile writes it
        else:
            self._report_ready(run, True)

    def _begin_work(self, run: Run) -> None:
        run.ready_ms = self.context.now_ms
        if run.rounds is not None and run.rounds.alone:
            run.ends_ms = self.last_end(run, run.rounds)
            return
        length = self._length(run)
        if length is not None:
            timing = self.timing(self.host.objects[run.owner])
            restart = self.checkpoints.restart_ms(run, timing)
            run.ends_ms = self.context.now_ms + length + restart
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
            self.begin_rounds(run, run.ready_ms + restart)

    def _see_ready(self, run: Run) -> None:
        run.seen_ms = None
        self._touch(run.owner)
        self._report_ready(run, True)

    def _report_ready(self, run: Run, ready: bool) -> None:
        if self.host.kueue is not None and run.owner.kind == WORKLOAD:
            self.host.kueue.pods_ready(run.owner, ready)

    def facts_of(self, key: Key) -> tuple[int | None, int, int]:
        """Return stated run time, work kept by checkpoints, and work lost by a stop now.

        None is stated where the policy's default run time holds, or none.
        """
        obj, run = self.host.objects[key], self.runs.get(key)
        timing = self.timing(obj)
        stated = None if timing.runtime is None else self.round_length(obj)
        if stated is not None:
            stated *= self.jobs.waves(obj)
        if run is None:
            return stated, 0, 0
        if not run.active or run.started_ms is None:
            return stated, run.kept_ms, 0
        return (
            stated,
            run.kept_ms,
            self.cost(run, run.started_ms)[1],
        )

    def _length(self, run: Run) -> int | None:
        """Return how long the work takes; None when it goes on until stopped."""
        obj = self.host.objects[run.owner]
        timing = self.timing(obj)
        seed, subject = self.context.seed, str(run.owner)
        length = self.round_length(obj)
        if self._is_paused(run):
            return None
        if length is not None:
            waves = self.jobs.waves(obj)
            run.rounds = self.rounds_of(obj, length) if waves > 1 else None
            length = max(0, length * waves - run.kept_ms)
        if timing.fails_after is not None and not self._fails_by_pods(run):
            fails = timing.fails_after.draw(seed, "fails", subject, run.attempt)
            if length is None or fails < length:
                run.failed = True
                return fails
        return length
