"""Kueue's vectors of mode `timed`: arrivals and run times on a virtual clock.

Source: docs/semantics/kueue-lifecycle.md#one-instant.
"""

from __future__ import annotations

from typing import Any

from scheduler.model.decisions import Admit, Decision, Finish, ReserveQuota
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import JOB_FINISHED
from tests.conformance.kueue_answers import Answers, Step
from tests.conformance.kueue_inputs import objects_of, stage_of
from tests.conformance.kueue_rows import event_row, in_order
from tests.conformance.kueue_shown import Shown

Outcome = dict[str, Any]

ARRIVAL, RUNTIME = "sim/arrivalMs", "sim/runtimeMs"
_MOST_CYCLES = 1000


class Timeline:
    """Arrivals, run times, steps of a script and cycles."""

    def __init__(self, vector: dict[str, Any]) -> None:
        objects = list(objects_of(vector))
        self.stage = stage_of(vector)
        # None: until nothing is left to happen.
        self.until_ms: int | None = vector.get("untilMs")
        self.script = Answers(self.stage, objects, vector.get("script") or [])
        self.shown = Shown(self.stage)
        # Whether the vector says what is shown after every instant; it costs a look
        # at every workload.
        self.all_shown = (
            not (vector.get("expect") or {}).keys().isdisjoint(("changes", "usage"))
        )
        self.arrivals: dict[int, list[Object]] = {}
        self.runtimes: dict[Key, int] = {}
        self.finishes: dict[int, dict[Key, None]] = {}
        self.ends: dict[Key, int] = {}
        self.events: list[Outcome] = []
        self.now = 0
        for obj in objects:
            self._take(obj)

    def _take(self, obj: Object) -> None:
        if obj.key.kind != "Workload":
            self.stage.put(obj)
            return
        at = int(obj.annotations.get(ARRIVAL, 0))
        self.arrivals.setdefault(at, []).append(obj)
        self.runtimes[obj.key] = int(obj.annotations.get(RUNTIME, 0))

    def run(self) -> Outcome:
        """Return the events, who never finished, and when the last one did."""
        while (at := self._next()) is not None:
            self.now = self.stage.context.now_ms = at
            self._instant()
            if self.all_shown:
                self.shown.note(at)
        works = self.stage.cluster.workloads.values()
        unfinished = sorted(work.name for work in works if not work.finished)
        last = self.events[-1]["tMs"] if self.events else 0
        return {
            "events": self.events,
            "unfinished": unfinished,
            "endMs": self.now if self.until_ms is None else last,
            "changes": self.shown.changes,
            "usage": self.shown.usage,
        }

    def _next(self) -> int | None:
        """Return the next instant; samplings alone do not keep a run alive."""
        dues = [*self.arrivals, *self.finishes]
        if self.until_ms is not None:
            timers = (self.stage.life.timers.due(), self.script.due())
            dues += [at for at in timers if at is not None]
        if not dues:
            return None
        at = min(dues)
        ledger = self.stage.life.ledger
        sampling = None if ledger is None else ledger.due()
        if sampling is not None:
            at = max(min(at, sampling), self.now)
        return at if self.until_ms is None or at <= self.until_ms else None

    def _instant(self) -> None:
        if self.until_ms is not None:
            self._controllers()
        self._finish()
        self._arrive()
        for step in self.script.take(self.now):
            self._play(step)
            self._controllers()
        self._cycles()

    def _play(self, step: Step) -> None:
        self.script.play(step)
        for key in [k for k in self.ends if k not in self.stage.cluster.workloads]:
            self._cancel(key)

    def _finish(self) -> None:
        due = self.finishes.pop(self.now, {})
        for key in sorted(due):
            del self.ends[key]
            # What was recorded ended workloads that have no job, by this reason.
            self.stage.finish(key, reason=JOB_FINISHED)
        if due:
            self._controllers()

    def _arrive(self) -> None:
        due = self.arrivals.pop(self.now, [])
        for obj in due:
            self.stage.put(obj)
        if due:
            self._controllers()

    def _controllers(self) -> bool:
        """Run the controllers, evictions ending at once; return whether they decided."""
        self.stage.reconcile()
        while self.stage.stopping():
            for key in self.stage.stopping():
                self.stage.stopped(key)
            self.stage.reconcile()
        if self.until_ms is not None:
            self.events.extend(self.shown.queue_changes(self.now))
        return self._record()

    def _cycles(self) -> None:
        quiet = 0
        for _ in range(_MOST_CYCLES):
            before = self._numbers()
            if not self.stage.cycle():
                return
            decided = self._record()
            decided |= self._controllers()
            quiet = 0 if decided or self._numbers() != before else quiet + 1
            if quiet == 2:
                return

    def _numbers(self) -> tuple[int, int]:
        lines = [queue.pending for queue in self.stage.cluster.forest.queues.values()]
        return sum(line.pending_active for line in lines), sum(
            line.pending_inadmissible for line in lines
        )

    def _record(self) -> bool:
        """Take the decisions since the last time; start and cancel finishes."""
        reported = in_order(self.stage.context.journal.take_decisions())
        for decision in reported:
            self._follow(decision)
        messages = self.until_ms is not None
        self.events.extend(event_row(d, messages=messages) for d in reported)
        return bool(reported)

    def _follow(self, decision: Decision) -> None:
        key = decision.subject
        if isinstance(decision, ReserveQuota):
            self.script.reserved(key, self.now)
        elif isinstance(decision, Admit):
            if decision.reason != "Admitted":
                self.script.reserved(key, self.now)
            self._start(key)
        elif not isinstance(decision, Finish):
            self._cancel(key)

    def _start(self, key: Key) -> None:
        end = self.now + self.runtimes[key]
        self.ends[key] = end
        self.finishes.setdefault(end, {})[key] = None

    def _cancel(self, key: Key) -> None:
        end = self.ends.pop(key, None)
        if end is not None:
            del self.finishes[end][key]
            if not self.finishes[end]:
                del self.finishes[end]
