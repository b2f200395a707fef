"""One instant of the lifetime: what is due happens, what came is taken up."""

from __future__ import annotations

from msgspec import UnsetType

from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.lifetime import status
from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.changes import CHANGE, FailureProcess, carry_out
from scheduler.engine.lifetime.controllers.stage import CONTROLLERS
from scheduler.engine.lifetime.jobs.arriving import Jobs
from scheduler.engine.lifetime.node_pressure import NodePressure
from scheduler.engine.lifetime.reactions import Reactions
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import (
    JOB_KINDS,
    NODE,
    POD,
    WORKLOAD,
    LifetimeHost,
)
from scheduler.engine.stage import Context
from scheduler.model.decisions import Arrive
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy

#: Kinds that arrive, in the order in which one instant takes them up: owners
#: first, so that what is imported with them finds them.
_ARRIVING = (NODE, *CONTROLLERS, *JOB_KINDS, WORKLOAD, "PodGroup", POD, CHANGE)
RANK = {kind: rank for rank, kind in enumerate(_ARRIVING)}
OWNERS = frozenset({*JOB_KINDS, WORKLOAD})
_STEPS = (Due.START, Due.SUSPEND, Due.RELEASE, Due.COMPLETE, Due.REPLACE)


class Advancing(Reactions):
    """Fires the timers that still mean something, and begins what is new."""

    def __init__(self, context: Context, policy: Policy, host: LifetimeHost) -> None:
        super().__init__(context, policy, host)
        self.advance_requested = False
        self.jobs = self.job_stage = Jobs(self)
        self.pressure = NodePressure(self)
        self.failures: FailureProcess | None = None
        failures = policy.spec.simulation.failures
        if not isinstance(failures, UnsetType):
            self.failures = FailureProcess(self, failures)

    def request_advance(self) -> None:
        """Ask for the present instant to be handled (again): something was edited."""
        self.advance_requested = True

    def due(self) -> int | None:
        """Return the next instant at which something happens by itself."""
        if self.fresh or self.advance_requested:
            return self.context.now_ms
        while (entry := self.timers.first()) is not None:
            if self._stands(*entry):
                return entry[0]
            self.timers.take(entry[0])
        return None

    def awaited(self) -> str:
        """Return in words what `due` names."""
        if self.fresh or self.advance_requested:
            return f"{len(self.fresh)} objects that came, to be taken up"
        first = self.timers.first()
        return "nothing" if first is None else f"{first[1].name} of {first[2]}"

    def advance(self) -> None:
        """Handle all that is due now: finishes, arrivals, pods that get ready."""
        self.advance_requested = False
        now = self.context.now_ms
        while (entry := self.timers.take(now)) is not None:
            if self._stands(*entry):
                self._fire(entry[1], entry[2])
        while self.fresh:
            fresh = sorted(self.fresh, key=lambda key: (RANK[key.kind], key))
            self.fresh.clear()
            for key in fresh:
                if key in self.host.objects:
                    self._take_up(self.host.objects[key])
            self.reject_bound()

    def _stands(self, at: int, due: int, key: Key, attempt: int) -> bool:
        """Return whether a timer still means something."""
        if due == Due.ARRIVAL:
            return self.future.get(key) == at
        if due == Due.LEAVE:
            return key in self.leaving and self.leaving[key][1] == at
        if due == Due.GONE:
            return self.terminating.get(key) == at
        if due == Due.SCHEDULE:
            return self.job_stage.controllers.next.get(key) == at
        if due == Due.RECLAIM:
            return at in self.reclaims.get(key, ())
        if due == Due.EXPIRE:
            return self.expiring.get(key) == at
        if due == Due.COLLECT:
            return self.orphaned.get(key) == at
        if due == Due.FAILURE:
            return self.failures is not None and self.failures.stands(key, at)
        if due == Due.PRESSURE:
            return self.pressure.stands(key, at)
        run = self.runs.get(self.owners.get(key, key))
        if due in _STEPS:
            return run is not None and run.step == (due, at)
        if run is None or not run.active:
            return False
        if due == Due.RUNS:
            return key in run.waiting and self.starts_at(run, key) == at
        if due == Due.SEEN:
            return run.seen_ms == at
        if due == Due.POD_ENDS:
            return run.ends.get(key) == at
        if due == Due.DEADLINE:
            return run.deadline_ms == at
        if due == Due.ROUND:
            return run.rounds is not None and run.rounds.next_ms == at
        if due == Due.FINISH:
            by_pods = run.ends_by_pods  # then it says when they will have ended
            return run.ends_ms == at and run.attempt == attempt and not by_pods
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
        elif due == Due.RUNS:
            self._touch(key)
        elif due == Due.POD_ENDS:
            self._pod_ends(self.runs[self.owners[key]], key)
        elif due == Due.RECLAIM:
            self._reclaim(key)
        elif due == Due.DEADLINE:
            self._overrun(self.runs[key])
        elif due == Due.ROUND:
            self._end_round(self.runs[key])
        elif due == Due.EXPIRE:
            self.job_stage.expire(key)
        elif due == Due.FAILURE and self.failures is not None:
            self.failures.fire(key)
        elif due == Due.PRESSURE:
            self.pressure.fire(key)
        elif due == Due.COLLECT:
            self.collect_pod(key)
        else:
            self._ready(self.runs[self.owners.get(key, key)], key)

    def check_node_taints(self, node: Object) -> None:
        """Do the same, and check whether the node runs low (`node_pressure.py`)."""
        super().check_node_taints(node)
        self.pressure.check(node.key)

    def check_pod_taints(self, pod: Key) -> None:
        """Do the same, and check whether the node runs low (`node_pressure.py`)."""
        super().check_pod_taints(pod)
        if pod in self.placed:
            self.pressure.check_with(Key(NODE, "", self.placed[pod]), pod)

    def free_node(self, pod: Key) -> str:
        """Forget where a pod is, and look at its node if that is or was low."""
        name = super().free_node(pod)
        node = Key(NODE, "", name)
        if node in self.pressure.states:
            self.look_at(node)
        return name

    def _step(self, due: Due, run: Run) -> None:
        """Take the step of a run that is due."""
        if due == Due.START:
            self.job_stage.resume(self.host.objects[run.owner])
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
            self.job_stage.controllers.sync(obj)
            return
        if first and self._is_counted(obj) and not status.came_ended(obj):
            self._emit(Arrive(at_ms=self.context.now_ms, subject=obj.key))
        self.job_stage.take_up(obj, first=first)
        if obj.key.kind == NODE:
            self.check_node_taints(obj)
            self.job_stage.controllers.nodes_changed()
        elif obj.key.kind == POD:
            self.check_pod_taints(obj.key)

    def _is_counted(self, obj: Object) -> bool:
        """Return whether an arrival is news: what people gave, and what then waits.

        Under Kueue the Workload of a job waits, elsewhere its pods do.
        """
        kueue = self.host.kueue
        if kueue is not None and kueue.variants is not None and is_variant(obj):
            return False  # its parent came
        if obj.key.kind == NODE or owner_key(obj, OWNERS) is None:
            return obj.key.kind != NODE
        waits = WORKLOAD if self.host.kueue is not None else POD
        return obj.key.kind == waits
