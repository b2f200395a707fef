"""What the lifetime keeps in its objects, and how it is taken up from them again."""

from __future__ import annotations

from typing import Any

from scheduler.engine.lifetime import status
from scheduler.engine.lifetime.advancing import Advancing
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.lifetime.runtime_state import NODE, POD
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import has_ended


class Restoring(Advancing):
    """Whatever a timer or a run needs is in the state of its object."""

    name = "lifetime"

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
        if (scheduled := self.job_stage.controllers.next.get(obj.key)) is not None:
            state["scheduled"] = scheduled
        if (tries := self.job_stage.quotas.tries.get(obj.key)) is not None:
            state["tries"] = tries
        if (why := self.job_stage.quotas.refusals.get(obj.key)) is not None:
            state["refusal"] = why
        if (expires := self.expiring.get(obj.key)) is not None:
            state["expires"] = expires
        if (failed := self.failed.get(obj.key)) is not None:
            state["failed"] = list(failed)
        if (collected := self.orphaned.get(obj.key)) is not None:
            state["collected"] = collected
        if (due := self.reclaims.get(obj.key)) is not None:
            state["reclaims"] = [[at, count] for at, count in due.items()]
        if obj.key in self.older:
            state["older"] = True
        if self.failures is not None and (fails := self.failures.kept(obj.key)):
            state["fails"] = fails
        if obj.key.kind == NODE and (pressure := self.pressure.kept(obj.key)):
            state["pressure"] = pressure
        if state:
            obj.state[self.name] = state
        else:
            obj.state.pop(self.name, None)
        status.write(self, obj)

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
            if "pressure" in state:
                self.pressure.restore(key, state["pressure"])
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
        if "expires" in state:
            self.expire_at(key, state["expires"])
        if "failed" in state:
            lost, row, until = state["failed"]
            self.failed[key] = lost, row, until
        if "collected" in state:
            self.collect_at(key, state["collected"])
        if "reclaims" in state:
            self.reclaim_later(key, dict(state["reclaims"]))
        if "scheduled" in state:
            self.job_stage.controllers.wait(key, state["scheduled"])
        if "tries" in state:
            self.job_stage.quotas.tries[key] = state["tries"]
        if "refusal" in state:
            self.job_stage.quotas.refusals[key] = state["refusal"]
        if state.get("older"):
            self.older[key] = None
        if "run" in state:
            self._restore_run(Run.from_state(key, state["run"]))
        self.job_stage.note(obj)
