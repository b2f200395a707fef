"""The schedulers of a run in turns, at one instant, until no queue has a pod to try."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kube.binding.host import BindingHost
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.problems import GivenUp

#: Attempts of pods already tried at this instant, without a binding among them.
MAX_ATTEMPTS = 1_000
#: The same while such a loop goes on: it is known to lead nowhere.
MAX_MORE_ATTEMPTS = 50
_PAUSE_MS = 1_000


class Turns:
    """Lets each scheduler try one pod, then all bindings of the turn be written."""

    def __init__(
        self, context: Context, schedulers: list[Scheduler], binding: BindingHost
    ) -> None:
        self.context = context
        self.schedulers = schedulers
        self.binding = binding
        self.stalled = False  # since the last change from outside, or binding
        self._stalled_until = 0
        self._turns = 0

    def schedule(self) -> None:
        """Try pods until no queue has one to try now.

        A pod that is tried again and again at one instant while nothing gets
        bound stops the loop after MAX_ATTEMPTS; it goes on a second later, for
        MAX_MORE_ATTEMPTS while nothing has changed since.
        Source: docs/semantics/kube-scheduler.md#backoff.
        """
        if self._idle():
            return
        for scheduler in self.schedulers:
            scheduler.timers()
        if self.context.now_ms < self._stalled_until and not self._bind_due():
            return
        vain, bindings = 0, self._bindings()
        while True:
            again, tried = self._turn()
            if not tried and not self._settle():
                return
            vain += again
            if self._bindings() > bindings:
                vain, bindings = 0, self._bindings()
                self.stalled = False
            if vain >= (MAX_MORE_ATTEMPTS if self.stalled else MAX_ATTEMPTS):
                if self._bind_due():
                    vain, bindings = 0, self._bindings()
                    continue
                self._stall()
                return

    def _bind_due(self) -> bool:
        """Write the bindings that are due; return whether one was written.

        Binding cycles run beside the loop: one that tries pods in vain, or pauses,
        holds none of them up.
        """
        before = self._bindings()
        for scheduler in self.schedulers:
            while scheduler.signals or scheduler.may_bind():
                scheduler.run_binding_cycles()
        if self._bindings() == before:
            return False
        self.stalled, self._stalled_until = False, 0
        return True

    def _idle(self) -> bool:
        """Return whether nobody has a pod in any place: then nothing can be due."""
        return all(scheduler.idle for scheduler in self.schedulers)

    def _bindings(self) -> int:
        return sum(counts.bindings for counts in self.binding.counts.values())

    def _stall(self) -> None:
        self._stalled_until = self.context.now_ms + _PAUSE_MS
        if self.stalled:
            return
        self.stalled = True
        self.context.journal.complain(
            GivenUp.STALLED.said(count=MAX_ATTEMPTS, at=self.context.now_ms)
        )

    def _turn(self) -> tuple[int, int]:
        """Let each scheduler try one pod, then write the bindings of the turn.

        Returns how many were tried, of them how many again at this instant first.
        """
        again = tried = 0
        for scheduler in self._in_order():
            counts = self.binding.counts[scheduler.name]
            queued = scheduler.schedule_one()
            if queued is None:
                continue
            tried += 1
            counts.attempts += 1
            counts.retries += queued.attempts > 1
            self.binding.note_idle(scheduler, queued)
            again += queued.tried_before_ms == self.context.now_ms
        if len(self.schedulers) > 1:
            self._settle()
        self._turns += tried > 0
        return again, tried

    def _settle(self) -> bool:
        """Let the binding cycles go on; return whether there are pods to try now."""
        for scheduler in self._in_order():
            scheduler.run_binding_cycles()
        return any(scheduler.ready() for scheduler in self.schedulers)

    def _in_order(self) -> list[Scheduler]:
        """Return the schedulers with a drawn one first: nobody always wins."""
        if len(self.schedulers) == 1:
            return self.schedulers
        first = streams.choose(
            self.context.seed,
            "kube/turn",
            "first",
            self._turns,
            among=len(self.schedulers),
        )
        return self.schedulers[first:] + self.schedulers[:first]

    def due(self) -> int | None:
        """Return the next instant with something to do; now while pods wait."""
        if self._idle():
            return None
        times = [
            at for scheduler in self.schedulers if (at := scheduler.due()) is not None
        ]
        if any(scheduler.ready() for scheduler in self.schedulers):
            times.append(max(self.context.now_ms, self._stalled_until))
        return min(times, default=None)

    def awaited(self) -> str:
        """Return in words what `due` names."""
        ready = sum(scheduler.ready() for scheduler in self.schedulers)
        if ready:
            return f"pods to try or to bind in {ready} of {len(self.schedulers)} queues"
        return "the end of a backoff, of a wait at Permit, or of a binding"

    def dump_state(self) -> dict[str, Any]:
        """Return what a later turn depends on."""
        found = {"rounds": self._turns, "stalledUntil": self._stalled_until}
        return {**found, "stalled": True} if self.stalled else found

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `dump_state` returned."""
        self._turns = state.get("rounds", 0)
        self._stalled_until = state.get("stalledUntil", 0)
        self.stalled = state.get("stalled", False)
