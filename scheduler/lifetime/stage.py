"""The stage that gives objects their time: it starts, ends and loses runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from scheduler import durations
from scheduler.decisions import (
    Admit,
    Arrive,
    Bind,
    Decision,
    Evict,
    Fail,
    Finish,
    Preempt,
)
from scheduler.lifetime import status
from scheduler.lifetime.changes import CHANGE, carry_out
from scheduler.lifetime.jobs import JOB_KINDS, Jobs
from scheduler.lifetime.pods import make_pod, owner_key
from scheduler.lifetime.runs import Due, Run, Timers
from scheduler.records.annotations import Timing, read_timing
from scheduler.records.objects import Key, Object
from scheduler.records.policy import Policy
from scheduler.stage import Context, Stage

if TYPE_CHECKING:
    from scheduler.kueue.stage import KueueStage

WORKLOAD = "Workload"
POD = "Pod"
NODE = "Node"
#: Kinds that arrive, in the order in which one instant takes them up: owners
#: first, so that what is imported with them finds them.
ARRIVING = (NODE, *JOB_KINDS, WORKLOAD, "PodGroup", POD, CHANGE)
_RANK = {kind: rank for rank, kind in enumerate(ARRIVING)}
OWNERS = frozenset({*JOB_KINDS, WORKLOAD})


class Host(Protocol):
    """What lifetime needs of the world that it lives in."""

    objects: dict[Key, Object]
    policy: Policy

    @property
    def kueue(self) -> KueueStage | None:
        """Return the Kueue stage, when the stack has one."""

    def placers(self) -> list[Stage]:
        """Return the stages that place pods."""

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""

    def get(self, key: Key) -> Object:
        """Return an object with fresh status."""

    def introduce(self, obj: Object) -> None:
        """Show an object to every stage."""


class Lifetime:
    """Arrivals, starts, run time, endings, lost pods and nodes.

    Kueue (or nothing, under the other stacks) says what may run; the placing
    stage says where; this says for how long. Work is done while all pods of a
    run are ready, and begins again from zero after a stop or a lost pod.
    """

    name = "lifetime"

    def __init__(self, context: Context, policy: Policy, host: Host) -> None:
        self.context = context
        self.host = host
        simulation = policy.spec.simulation
        self.default_runtime_ms = durations.milliseconds(simulation.default_runtime)
        self.pod_start_ms = simulation.pod_start_ms
        self.places_pods = simulation.nodes_schedule
        self.runs: dict[Key, Run] = {}
        self.timers = Timers()
        self.future: dict[Key, int] = {}
        self.fresh: dict[Key, None] = {}
        self.arrived: set[Key] = set()
        self.owners: dict[Key, Key] = {}  # pod -> owner of its run
        self.placed: dict[Key, str] = {}  # pod -> node
        self.nodes: set[Key] = set()
        self.used: dict[str, int] = {}  # key text -> times the name was freed
        self.awake = False
        self.jobs = Jobs(self)
        self._reactions: dict[type[Decision], Callable[[Any], None]] = {
            Admit: self._admitted,
            Evict: self._evicted,
            Preempt: self._evicted,
            Bind: self._bound,
            Fail: self._refused,
        }

    # -- the stage's contract --------------------------------------------

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object; its time begins at the next instant that is handled."""
        if restore:
            self._restore(obj)
        elif obj.key.kind in _RANK:
            self.fresh[obj.key] = None
            if obj.key.kind == NODE:
                self.nodes.add(obj.key)
        self.jobs.note(obj)

    def prepare(self, obj: Object) -> None:
        """Fill into a new object what the API server's admission would."""
        if obj.key.kind == POD:
            self.jobs.prepare_pod(obj)

    def remove(self, key: Key) -> None:
        """Forget an object; what ran for it stops, what was made for it goes."""
        self.future.pop(key, None)
        self.fresh.pop(key, None)
        self.used[str(key)] = self.used.get(str(key), 0) + 1
        if key.kind == NODE:
            self.nodes.discard(key)
            self.lose_node(key.name, "the node was deleted")
        self._forget_run(key)
        owner = self.owners.pop(key, None)
        self.placed.pop(key, None)
        if owner is not None and owner != key:
            self._pod_gone(owner, key)
        self.arrived.discard(key)

    def write(self, obj: Object) -> None:
        """Write phases, and what a restart needs, into the object."""
        memory: dict[str, Any] = {}
        if (at := self.future.get(obj.key)) is not None:
            memory["arrives"] = at
        if obj.key in self.arrived:
            memory["arrived"] = True
        if (run := self.runs.get(obj.key)) is not None:
            memory["run"] = run.memory()
        if (owner := self.owners.get(obj.key)) is not None:
            memory["owner"] = list(owner)
        if obj.key in self.fresh:
            memory["fresh"] = True
        if memory:
            obj.memory[self.name] = memory
        else:
            obj.memory.pop(self.name, None)
        status.write(self, obj)

    def due(self) -> int | None:
        """Return the next instant at which something happens by itself."""
        if self.fresh or self.awake:
            return self.context.now_ms
        heap = self.timers.heap
        while heap and not self._stands(*heap[0]):
            self.timers.take(heap[0][0])
        return self.timers.next_at()

    def remember(self) -> dict[str, Any]:
        """Return which names were used before, and whether an edit waits."""
        return {"used": dict(self.used), "awake": self.awake}

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `remember` returned."""
        self.used = dict(memory.get("used", {}))
        self.awake = bool(memory.get("awake", False))

    def owned(self) -> Iterable[Key]:
        """Return the objects that have a run or an arrival."""
        return [*self.runs, *self.future]

    # -- arrivals --------------------------------------------------------

    def timing(self, obj: Object) -> Timing:
        """Return what the object's annotations say of its time."""
        return read_timing(obj.annotations)

    def arrival_of(self, obj: Object) -> int:
        """Return when the object comes, no earlier than now."""
        span = self.timing(obj).arrival
        now = self.context.now_ms
        if span is None:
            return now
        return max(now, span.draw(self.context.seed, "arrival", str(obj.key)))

    def holds_back(self, obj: Object) -> bool:
        """Tell whether the object waits for its time; sets its timer if it does."""
        key = obj.key
        if key in self.arrived or key.kind not in _RANK:
            return False
        at = self.arrival_of(obj)
        if at <= self.context.now_ms:
            self.future.pop(key, None)
            return False
        self.future[key] = at
        self.timers.add(at, Due.ARRIVAL, key)
        return True

    def waits(self, key: Key) -> bool:
        """Tell whether the object has not arrived yet."""
        return key in self.future

    def uses(self, key: Key) -> int:
        """Return how often this name was used and freed before."""
        return self.used.get(str(key), 0)

    def wake(self) -> None:
        """Ask for the present instant to be handled (again): something was edited."""
        self.awake = True

    # -- one instant -----------------------------------------------------

    def advance(self) -> None:
        """Handle all that is due now: finishes, arrivals, pods that get ready."""
        self.awake = False
        now = self.context.now_ms
        while (entry := self.timers.take(now)) is not None:
            if self._stands(*entry):
                self._fire(Due(entry[1]), entry[2])
        while self.fresh:
            fresh = sorted(self.fresh, key=lambda key: (_RANK[key.kind], key))
            self.fresh.clear()
            for key in fresh:
                if key in self.host.objects:
                    self._take_up(self.host.objects[key])

    def react(self, decision: Decision) -> None:
        """Carry out what a scheduler decided."""
        reaction = self._reactions.get(type(decision))
        if reaction is not None:
            reaction(decision)

    def _stands(self, at: int, due: int, key: Key, attempt: int) -> bool:
        """Tell whether a timer still means something."""
        if due == Due.ARRIVAL:
            return self.future.get(key) == at
        run = self.runs.get(self.owners.get(key, key))
        if run is None or not run.active:
            return False
        if due == Due.FINISH:
            return run.ends_ms == at and run.attempt == attempt
        return run.waiting.get(key) == at

    def _fire(self, due: Due, key: Key) -> None:
        if due == Due.FINISH:
            self._finish(self.runs[key])
        elif due == Due.ARRIVAL:
            del self.future[key]
            self.host.introduce(self.host.objects[key])
        else:
            self._ready(self.runs[self.owners.get(key, key)], key)

    def _take_up(self, obj: Object) -> None:
        """Begin an object's time, once; a known one was edited."""
        first = obj.key not in self.arrived
        self.arrived.add(obj.key)
        self._touch(obj.key)
        if obj.key.kind == CHANGE:
            if first:
                carry_out(self, obj)
            return
        if first and self._is_counted(obj):
            self._emit(Arrive(at_ms=self.context.now_ms, subject=obj.key))
        self.jobs.take_up(obj, first=first)

    def _is_counted(self, obj: Object) -> bool:
        """Tell whether an arrival is news: what people gave, and what then waits.

        Under Kueue the Workload of a job waits, elsewhere its pods do.
        """
        if obj.key.kind == NODE or owner_key(obj, OWNERS) is None:
            return obj.key.kind != NODE
        waits = WORKLOAD if self.host.kueue is not None else POD
        return obj.key.kind == waits

    # -- starting --------------------------------------------------------

    def placement(self) -> bool:
        """Tell whether pods are made and placed on nodes."""
        if self.host.kueue is None:
            return True
        return self.places_pods and bool(self.nodes)

    def run_of(self, owner: Key) -> Run:
        """Return the owner's run, a new one if it has none."""
        run = self.runs.get(owner)
        if run is None:
            run = self.runs[owner] = Run(owner=owner)
        return run

    def start(self, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Begin an attempt: make the pods, or without nodes just start the clock.

        `pod_sets` are name, count, template, and `nodeSelector` and
        `tolerations` that the assigned flavors add.
        """
        run = self.run_of(owner.key)
        if run.active or run.done:
            return
        run.attempt += 1
        run.active = True
        run.started_ms = self.context.now_ms
        run.waiting.clear()
        run.ready.clear()
        self._touch(owner.key)
        if self.placement():
            self._make_pods(run, owner, pod_sets)
        else:
            self._wait_ready(run, owner.key)

    def _make_pods(
        self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]
    ) -> None:
        self.fill_up(run, owner, pod_sets)
        if not run.pods:
            self._all_ready(run)

    def fill_up(self, run: Run, owner: Object, pod_sets: list[dict[str, Any]]) -> None:
        """Make the pods that the run lacks."""
        for pod_set in pod_sets:
            have = self._count(run, pod_set["name"])
            for _ in range(int(pod_set["count"]) - have):
                self.add_pod(run, owner, pod_set)

    def _count(self, run: Run, pod_set: str) -> int:
        return sum(
            1
            for pod in run.pods
            if self.host.objects[pod].labels.get("kueue.x-k8s.io/podset", pod_set)
            == pod_set
        )

    def add_pod(self, run: Run, owner: Object, pod_set: dict[str, Any]) -> None:
        """Make one more pod of this pod set."""
        pod = make_pod(
            owner,
            pod_set,
            run.made,
            node_selector=pod_set.get("nodeSelector") or {},
            tolerations=pod_set.get("tolerations") or [],
        )
        run.made += 1
        self.attach(run, pod.key)
        self.host.put(pod)

    def attach(self, run: Run, pod: Key) -> None:
        """Make a pod part of a run."""
        if pod not in run.pods:
            run.pods.append(pod)
        self.owners[pod] = run.owner
        self._touch(pod)

    def _wait_ready(self, run: Run, key: Key) -> None:
        """Let a bound pod (or a run without pods) get ready after its start time."""
        obj = self.host.objects[run.owner]
        span = self.timing(obj).ready_after
        delay = self.pod_start_ms
        if span is not None:
            delay += span.draw(self.context.seed, "ready", str(key), run.attempt)
        at = self.context.now_ms + delay
        run.waiting[key] = at
        if delay:
            self.timers.add(at, Due.READY, key, run.attempt)
        else:
            self._ready(run, key)

    def _ready(self, run: Run, key: Key) -> None:
        run.waiting.pop(key, None)
        self._touch(run.owner)
        if key != run.owner or key.kind == POD:
            run.ready[key] = None
            self._touch(key)
        if run.all_ready():
            self._all_ready(run)

    def _all_ready(self, run: Run) -> None:
        """Start the work: it takes its run time from here."""
        run.ready_ms = self.context.now_ms
        length = self._length(run)
        if length is not None:
            run.ends_ms = self.context.now_ms + length
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        self._tell_ready(run, True)

    def _tell_ready(self, run: Run, ready: bool) -> None:
        if self.host.kueue is not None and run.owner.kind == WORKLOAD:
            self.host.kueue.pods_ready(run.owner, ready)

    def _length(self, run: Run) -> int | None:
        """Return how long the work takes; None when it goes on until stopped."""
        obj = self.host.objects[run.owner]
        timing = self.timing(obj)
        seed, subject = self.context.seed, str(run.owner)
        length: int | None = self.default_runtime_ms
        if timing.runtime is not None:
            length = timing.runtime.draw(seed, "runtime", subject)
        elif timing.recreate:
            length = None
        if length is not None:
            length *= self.jobs.waves(obj)
        if timing.fails_after is not None:
            fails = timing.fails_after.draw(seed, "fails", subject, run.attempt)
            if length is None or fails < length:
                run.failed = True
                return fails
        return length

    # -- ending ----------------------------------------------------------

    def _finish(self, run: Run) -> None:
        run.active, run.done = False, True
        run.waiting.clear()
        self._touch(run.owner)
        owner = self.host.objects[run.owner]
        if run.owner.kind == POD:
            self.end_pod(owner, failed=run.failed)
            self.emit_finish(run)
            return
        self._drop_pods(run, ended=True)
        self.jobs.ended(owner, run)

    def end_pod(self, pod: Object, *, failed: bool) -> None:
        """Leave a pod that ran to its end behind, with its room given back."""
        pod.status["phase"] = "Failed" if failed else "Succeeded"
        self.placed.pop(pod.key, None)
        self._touch(pod.key)
        for stage in self.host.placers():
            stage.put(pod)

    def emit_finish(self, run: Run) -> None:
        """Tell that a run that no scheduler speaks for came to its end."""
        reason = "Failed" if run.failed else "Succeeded"
        now = self.context.now_ms
        self._emit(Finish(at_ms=now, subject=run.owner, reason=reason))

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
            if self.jobs.is_given(obj):
                self.jobs.give_again(obj)

    def stop(self, owner: Key) -> None:
        """End an attempt without its end: what was done is lost."""
        run = self.runs.get(owner)
        if run is None or not run.active:
            return
        if run.started_ms is not None:
            run.lost_ms += self.context.now_ms - run.started_ms
        run.active, run.failed = False, False
        run.ready_ms = run.ends_ms = None
        run.waiting.clear()
        self._drop_pods(run)
        self._touch(owner)

    def _forget_run(self, key: Key) -> None:
        if key in self.runs:
            if key.kind != POD:
                self.stop(key)
            del self.runs[key]
        self.jobs.forget(key)

    # -- what the schedulers decided -------------------------------------

    def _admitted(self, decision: Admit) -> None:
        if decision.subject.kind == WORKLOAD:
            self.jobs.admitted(self.host.objects[decision.subject], decision.pod_sets)

    def _evicted(self, decision: Evict | Preempt) -> None:
        key = decision.subject
        if key.kind == POD:
            self.lose_pod(key)

    def _bound(self, decision: Bind) -> None:
        pod = decision.subject
        obj = self.host.objects.get(pod)
        if obj is None:
            return
        obj.manifest.setdefault("spec", {})["nodeName"] = decision.node
        self.placed[pod] = decision.node
        self._touch(pod)
        run = self.runs.get(self.owners.get(pod, pod))
        if run is not None and run.active and pod not in run.ready:
            self._wait_ready(run, pod)

    def bound_on(self, run: Run, pod: Key, node: str) -> None:
        """Take a pod that came with its node as started there."""
        self.placed[pod] = node
        if pod not in run.ready:
            self._wait_ready(run, pod)

    def next_ordinal(self, key: Key) -> int:
        """Return a number that no replica of this name had before, from 1."""
        text = f"replica {key}"
        self.used[text] = self.used.get(text, 0) + 1
        return self.used[text]

    def _refused(self, decision: Fail) -> None:
        """React to a pod that failed on its node; a failed attempt waits on."""
        if decision.node and decision.subject.kind == POD:
            self.lose_pod(decision.subject)

    # -- losing pods and nodes -------------------------------------------

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
        if run.ready_ms is not None:
            run.lost_ms += self.context.now_ms - run.ready_ms
            run.ready_ms = run.ends_ms = None
            run.failed = False
            self._tell_ready(run, False)
        self.jobs.replace_pods(self.host.get(owner), run)

    # -- restoring -------------------------------------------------------

    def _restore(self, obj: Object) -> None:
        memory = obj.memory.get(self.name, {})
        key = obj.key
        if memory.get("arrived"):
            self.arrived.add(key)
        if "arrives" in memory:
            self.future[key] = memory["arrives"]
            self.timers.add(memory["arrives"], Due.ARRIVAL, key)
            return
        if memory.get("fresh"):
            self.fresh[key] = None
        if key.kind == NODE:
            self.nodes.add(key)
        if "owner" in memory:
            self.owners[key] = Key(*memory["owner"])
        if key.kind == POD and obj.spec.get("nodeName"):
            self.placed[key] = obj.spec["nodeName"]
        if "run" in memory:
            self._restore_run(Run.from_memory(key, memory["run"]))
        self.jobs.note(obj)

    def _restore_run(self, run: Run) -> None:
        self.runs[run.owner] = run
        if run.ends_ms is not None:
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        for pod, at in run.waiting.items():
            self.timers.add(at, Due.READY, pod, run.attempt)

    def _touch(self, key: Key) -> None:
        """Note a change; a job's status tells of its Workload's run."""
        self.context.journal.touch(key)
        obj = self.host.objects.get(key) if key.kind == WORKLOAD else None
        job = owner_key(obj, frozenset(JOB_KINDS)) if obj is not None else None
        if job in self.host.objects:
            self.context.journal.touch(job)

    def _emit(self, decision: Decision) -> None:
        self.context.journal.emit(decision)
