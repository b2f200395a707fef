"""The stage that gives objects their time: it starts, ends and loses runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UnsetType

from scheduler.decisions import (
    Admit,
    Arrive,
    Bind,
    Decision,
    Evict,
    Fail,
    Preempt,
    Replace,
)
from scheduler.lifetime import status
from scheduler.lifetime.changes import CHANGE, carry_out
from scheduler.lifetime.controllers.stage import CONTROLLERS
from scheduler.lifetime.failures import FailureProcess
from scheduler.lifetime.job_defaults import give_default_labels, is_covered
from scheduler.lifetime.jobs.stage import Jobs
from scheduler.lifetime.pods import owner_key
from scheduler.lifetime.runs import Due, Run
from scheduler.lifetime.runtime_state import (
    JOB_KINDS,
    NODE,
    POD,
    WORKLOAD,
    LifetimeHost,
)
from scheduler.lifetime.taint_eviction import TaintEviction
from scheduler.records.conditions import has_ended
from scheduler.records.objects import Key, Object
from scheduler.records.policy import Policy
from scheduler.records.spans import NEVER
from scheduler.stage import Context

#: Kinds that arrive, in the order in which one instant takes them up: owners
#: first, so that what is imported with them finds them.
ARRIVING = (NODE, *CONTROLLERS, *JOB_KINDS, WORKLOAD, "PodGroup", POD, CHANGE)
_RANK = {kind: rank for rank, kind in enumerate(ARRIVING)}
OWNERS = frozenset({*JOB_KINDS, WORKLOAD})
_STEPS = (Due.START, Due.SUSPEND, Due.RELEASE, Due.COMPLETE, Due.REPLACE)


class Lifetime(TaintEviction):
    """Arrivals, starts, run time, endings, lost pods and nodes.

    Kueue (or nothing, under the other stacks) says what may run; the placing
    stage says where; this says for how long.
    """

    name = "lifetime"
    jobs: Jobs

    def __init__(self, context: Context, policy: Policy, host: LifetimeHost) -> None:
        super().__init__(context, policy, host)
        self.advance_requested = False
        self.jobs = Jobs(self)
        self.failures: FailureProcess | None = None
        failures = policy.spec.simulation.failures
        if not isinstance(failures, UnsetType):
            self.failures = FailureProcess(self, failures)
        self._reactions: dict[type[Decision], Callable[[Any], None]] = {
            Admit: self._admitted,
            Evict: self._evicted,
            Preempt: self._evicted,
            Bind: self._bound,
            Fail: self._refused,
            Replace: self._replaced,
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
                if self.failures is not None:
                    self.failures.begin(obj)
        self.jobs.note(obj)

    def prepare(self, obj: Object) -> None:
        """Fill into a new object what the API server's admission would."""
        if self._may_be_managed(obj):
            give_default_labels(obj, self.host.objects)
        if obj.key.kind == POD:
            self.jobs.prepare_pod(obj)

    def _may_be_managed(self, obj: Object) -> bool:
        """Return whether Kueue manages such a job or pod itself, not its owner."""
        kueue = self.host.kueue
        if kueue is None or obj.key.kind not in (*JOB_KINDS, POD):
            return False
        if obj.spec.get("nodeName") or owner_key(obj, OWNERS) is not None:
            return False
        return is_covered(obj.key.namespace, kueue.settings, self.host.objects)

    def remove(self, key: Key) -> None:
        """Forget an object; what ran for it stops, what was made for it goes."""
        self.future.pop(key, None)
        self.fresh.pop(key, None)
        self.used[str(key)] = self.used.get(str(key), 0) + 1
        if key.kind == NODE:
            self.nodes.discard(key)
            if self.failures is not None:
                self.failures.forget(key)
            self.lose_node(key.name, "the node was deleted")
        self._forget_run(key)
        owner = self.owners.pop(key, None)
        self.placed.pop(key, None)
        self.leaving.pop(key, None)
        self.terminating.pop(key, None)
        if owner is not None and owner != key:
            self._pod_gone(owner, key)
        self.arrived.discard(key)

    def write(self, obj: Object) -> None:
        """Write phases, and what a restart needs, into the object."""
        state: dict[str, Any] = {}
        if (at := self.future.get(obj.key)) is not None:
            state["arrives"] = at
        if obj.key in self.arrived:
            state["arrived"] = True
        if (run := self.runs.get(obj.key)) is not None:
            state["run"] = run.state()
        if (owner := self.owners.get(obj.key)) is not None:
            state["owner"] = list(owner)
        if obj.key in self.fresh:
            state["fresh"] = True
        if (leaving := self.leaving.get(obj.key)) is not None:
            state["leaves"] = list(leaving)
        if (ends := self.terminating.get(obj.key)) is not None:
            state["ends"] = ends
        if (scheduled := self.jobs.controllers.next.get(obj.key)) is not None:
            state["scheduled"] = scheduled
        if self.failures is not None and (fails := self.failures.kept(obj.key)):
            state["fails"] = fails
        if state:
            obj.state[self.name] = state
        else:
            obj.state.pop(self.name, None)
        status.write(self, obj)

    def due(self) -> int | None:
        """Return the next instant at which something happens by itself."""
        if self.fresh or self.advance_requested:
            return self.context.now_ms
        heap = self.timers.heap
        while heap and not self._stands(*heap[0]):
            self.timers.take(heap[0][0])
        return self.timers.next_at()

    def dump_state(self) -> dict[str, Any]:
        """Return which names were used before, and whether an edit waits."""
        state = {"used": dict(self.used), "awake": self.advance_requested}
        if self.failures is not None:
            state["domains"] = self.failures.dump_domains()
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self.used = dict(state.get("used", {}))
        self.advance_requested = bool(state.get("awake", False))
        if self.failures is not None:
            self.failures.load_domains(state.get("domains", {}))

    def owned(self) -> Iterable[Key]:
        """Return the objects that have a run or an arrival."""
        return [*self.runs, *self.future, *self.jobs.controllers.next]

    # -- arrivals --------------------------------------------------------

    def arrival_of(self, obj: Object) -> int:
        """Return when the object comes, no earlier than now."""
        span = self.timing(obj).arrival
        now = self.context.now_ms
        if span is None:
            return now
        return max(now, span.draw(self.context.seed, "arrival", str(obj.key)))

    def holds_back(self, obj: Object) -> bool:
        """Return whether the object waits for its time; sets its timer if it does."""
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
        """Return whether the object has not arrived yet."""
        return key in self.future

    def request_advance(self) -> None:
        """Ask for the present instant to be handled (again): something was edited."""
        self.advance_requested = True

    # -- one instant -----------------------------------------------------

    def advance(self) -> None:
        """Handle all that is due now: finishes, arrivals, pods that get ready."""
        self.advance_requested = False
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
        """Return whether a timer still means something."""
        if due == Due.ARRIVAL:
            return self.future.get(key) == at
        if due == Due.LEAVE:
            return key in self.leaving and self.leaving[key][1] == at
        if due == Due.GONE:
            return self.terminating.get(key) == at
        if due == Due.SCHEDULE:
            return self.jobs.controllers.next.get(key) == at
        if due == Due.RECLAIM:
            return key in self.reclaims and self.reclaims[key][1] == at
        if due == Due.FAILURE:
            return self.failures is not None and self.failures.stands(key, at)
        run = self.runs.get(self.owners.get(key, key))
        if due in _STEPS:
            return run is not None and run.step == (due, at)
        if run is None or not run.active:
            return False
        if due == Due.SEEN:
            return run.seen_ms == at
        if due == Due.POD_ENDS:
            return run.ends.get(key) == at
        if due == Due.DEADLINE:
            return run.deadline_ms == at
        if due == Due.FINISH:
            return run.ends_ms == at and run.attempt == attempt
        return run.waiting.get(key) == at

    def _fire(self, due: Due, key: Key) -> None:
        if due == Due.FINISH:
            self._finish(self.runs[key])
        elif due == Due.ARRIVAL:
            del self.future[key]
            self.host.introduce(self.host.objects[key])
        elif due == Due.LEAVE:
            self.drive_off(key)
        elif due == Due.GONE:
            self._end_terminated(key)
        elif due == Due.SCHEDULE:
            self.fresh[key] = None
        elif due in _STEPS:
            self._step(due, self.runs[key])
        elif due == Due.SEEN:
            self._see_ready(self.runs[key])
        elif due == Due.POD_ENDS:
            self._pod_ends(self.runs[self.owners[key]], key)
        elif due == Due.RECLAIM:
            self._reclaim(key)
        elif due == Due.DEADLINE:
            self._overrun(self.runs[key])
        elif due == Due.FAILURE and self.failures is not None:
            self.failures.fire(key)
        else:
            self._ready(self.runs[self.owners.get(key, key)], key)

    def _step(self, due: Due, run: Run) -> None:
        """Take the step of a run that is due."""
        if due == Due.START:
            self.jobs.resume(self.host.objects[run.owner])
        elif due == Due.SUSPEND:
            self._suspend(run)
        elif due == Due.RELEASE:
            self._release(run)
        elif due == Due.REPLACE:
            self._replace(run)
        else:
            self._complete(run)

    def _take_up(self, obj: Object) -> None:
        """Begin an object's time, once; a known one was edited."""
        first = obj.key not in self.arrived
        self.arrived.add(obj.key)
        self._touch(obj.key)
        if obj.key.kind == CHANGE:
            if first:
                carry_out(self, obj)
            return
        if obj.key.kind in CONTROLLERS:
            self.jobs.controllers.sync(obj)
            return
        if first and self._is_counted(obj) and not status.came_ended(obj):
            self._emit(Arrive(at_ms=self.context.now_ms, subject=obj.key))
        self.jobs.take_up(obj, first=first)
        if obj.key.kind == NODE:
            self.judge_node(obj)
            self.jobs.controllers.nodes_changed()
        elif obj.key.kind == POD:
            self.judge_pod(obj.key)

    def _is_counted(self, obj: Object) -> bool:
        """Return whether an arrival is news: what people gave, and what then waits.

        Under Kueue the Workload of a job waits, elsewhere its pods do.
        """
        if obj.key.kind == NODE or owner_key(obj, OWNERS) is None:
            return obj.key.kind != NODE
        waits = WORKLOAD if self.host.kueue is not None else POD
        return obj.key.kind == waits

    # -- what the schedulers decided -------------------------------------

    def _admitted(self, decision: Admit) -> None:
        if decision.subject.kind == WORKLOAD:
            self.jobs.admitted(self.host.objects[decision.subject], decision.pod_sets)

    def _replaced(self, decision: Replace) -> None:
        self.jobs.replaced(self.host.objects[decision.subject])

    def _evicted(self, decision: Evict | Preempt) -> None:
        key = decision.subject
        if key.kind != POD:
            return
        if key in self.placed and self.steps.takes_time("termination"):
            self._lose_gracefully(key)
        else:
            self.lose_pod(key)

    def _lose_gracefully(self, pod: Key) -> None:
        """Let a preempted pod end; its node is full until it has."""
        owner = self.owners.get(pod, pod)
        run = self.runs.get(owner)
        if run is not None and run.active:
            self._lose_work(run, pod)
        self.terminate(pod)

    def _bound(self, decision: Bind) -> None:
        pod = decision.subject
        obj = self.host.objects.get(pod)
        if obj is None:
            return
        obj.manifest.setdefault("spec", {})["nodeName"] = decision.node
        self.placed[pod] = decision.node
        self._touch(pod)
        if self.host.kueue is not None:
            self.host.kueue.note_pod(obj)
        run = self.runs.get(self.owners.get(pod, pod))
        if run is not None and run.active and pod not in run.ready:
            self._wait_ready(run, pod)
        self.judge_pod(pod)

    def _refused(self, decision: Fail) -> None:
        """React to a pod that failed on its node; a failed attempt waits on."""
        if decision.node and decision.subject.kind == POD:
            self.lose_pod(decision.subject)

    # -- restoring -------------------------------------------------------

    def _restore(self, obj: Object) -> None:
        state = obj.state.get(self.name, {})
        key = obj.key
        if state.get("arrived"):
            self.arrived.add(key)
        if "arrives" in state:
            self.future[key] = state["arrives"]
            self.timers.add(state["arrives"], Due.ARRIVAL, key)
            return
        if state.get("fresh"):
            self.fresh[key] = None
        if key.kind == NODE:
            self.nodes.add(key)
            if self.failures is not None:
                self.failures.begin(obj, state.get("fails"))
        if "owner" in state:
            self.owners[key] = Key(*state["owner"])
        if key.kind == POD and obj.spec.get("nodeName") and not has_ended(obj.status):
            self.placed[key] = obj.spec["nodeName"]
        if "leaves" in state:
            since, at = state["leaves"]
            self.leaving[key] = since, at
            self.timers.add(at, Due.LEAVE, key)
        if "ends" in state:
            self.terminating[key] = state["ends"]
            self.timers.add(state["ends"], Due.GONE, key)
        if "scheduled" in state:
            self.jobs.controllers.wait(key, state["scheduled"])
        if "run" in state:
            self._restore_run(Run.from_state(key, state["run"]))
        self.jobs.note(obj)

    def _restore_run(self, run: Run) -> None:
        self.runs[run.owner] = run
        if run.ends_ms is not None:
            self.timers.add(run.ends_ms, Due.FINISH, run.owner, run.attempt)
        if run.deadline_ms is not None:
            self.timers.add(run.deadline_ms, Due.DEADLINE, run.owner)
        if run.step is not None:
            self.timers.add(run.step[1], Due(run.step[0]), run.owner)
        if run.seen_ms is not None:
            self.timers.add(run.seen_ms, Due.SEEN, run.owner)
        for pod, at in run.waiting.items():
            if at < NEVER:
                self.timers.add(at, Due.READY, pod, run.attempt)
