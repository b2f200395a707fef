"""When the next admission cycle may begin, and when inadmissible workloads requeue.

A cycle takes time, and Kueue collects requests to requeue inadmissible
workloads for a second. Without latencies both happen at the instant that asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from scheduler.engine.latencies import StepTimes
from scheduler.model.decisions import Decision

#: Cycles in a row that move nothing, after which none would until something does.
QUIET_CYCLES = 2


class Writing(Protocol):
    """How long it takes to write what a cycle decided."""

    def length(self, decided: Sequence[Decision]) -> int:
        """Return how long (ms) all of it takes that the next cycle waits for."""


class CyclePace:
    """The clock of the admission cycles, and one timer per tree to be requeued."""

    def __init__(self, steps: StepTimes | None, *, batches: bool = True) -> None:
        self.steps = steps
        self.paced = steps is not None and steps.takes_time("scheduling_cycle")
        takes = steps is not None and steps.takes_time("reactivation")
        self.collects = batches and takes
        #: With it a cycle decides at its begin, and lasts while it is written.
        self.writing: Writing | None = None
        self.begins_ms = 0  # no cycle begins before
        self.ends_ms: int | None = None  # of the cycle that is under way
        self.quiet = 0
        self.requeues: dict[str, tuple[int, str]] = {}  # tree -> when, for which queue

    def note_change(self) -> None:
        """Note that something changed: cycles may decide anew."""
        self.quiet = 0

    def begin_anyway(self) -> None:
        """Let a cycle begin after cycles that moved nothing: it has something else."""
        if self.quiet >= QUIET_CYCLES:
            self.quiet = 0

    @property
    def asks_for_heads(self) -> bool:
        """Return whether a cycle may begin by itself, if there is a head to try."""
        return self.paced and self.ends_ms is None and self.quiet < QUIET_CYCLES

    def due(self, now_ms: int, *, heads: bool) -> int | None:
        """Return the next instant (ms) with a cycle or a re-activation, or None."""
        due = self.ends_ms
        if heads and self.asks_for_heads:
            due = max(now_ms, self.begins_ms)
        for at, _ in self.requeues.values():
            if due is None or at < due:
                due = at
        return due

    def begin(self, now_ms: int, cycle: int) -> None:
        """Begin cycle number `cycle`, unless one is under way or none may begin."""
        if self.steps is not None and self.may_begin(now_ms):
            length = self.steps.draw("scheduling_cycle", "", cycle)
            self.ends_ms = now_ms + max(1, length)

    def may_begin(self, now_ms: int) -> bool:
        """Return whether a cycle that has heads begins now."""
        rested = self.quiet < QUIET_CYCLES and self.begins_ms <= now_ms
        return self.ends_ms is None and rested

    def write(
        self, now_ms: int, writing: Writing, decided: Sequence[Decision], *, moved: bool
    ) -> None:
        """Let the cycle that decided this last until all of it is written."""
        self.ends_ms = now_ms + max(1, writing.length(decided))
        self.quiet = 0 if moved else self.quiet + 1

    def written(self, now_ms: int) -> None:
        """Note that all is written: the next cycle may begin."""
        self.ends_ms, self.begins_ms = None, now_ms

    def resume(self, now_ms: int, cycle: int) -> None:
        """Go on with a cycle that waited for pods: only its admission takes time."""
        if self.steps is not None and self.ends_ms is None:
            self.ends_ms = now_ms + max(1, self.steps.draw("admission", "", cycle))

    def over(self, now_ms: int) -> bool:
        """Return whether the cycle under way ends by now: it decides at its end."""
        return self.ends_ms is not None and self.ends_ms <= now_ms

    def end(self, now_ms: int, cycle: int, *, admitted: bool, moved: bool) -> None:
        """Note that cycle number `cycle` is over, and what came of it."""
        self.ends_ms, self.begins_ms = None, now_ms
        if admitted and self.steps is not None:
            self.begins_ms += self.steps.draw("admission", "", cycle)
        self.quiet = 0 if moved else self.quiet + 1

    def request_requeue(self, tree: str, queue: str, now_ms: int) -> None:
        """Requeue the inadmissible Workloads of a tree after a delay, once for all requests."""
        if tree not in self.requeues and self.steps is not None:
            delay = self.steps.draw("reactivation", tree, now_ms)
            self.requeues[tree] = now_ms + delay, queue

    def due_requeues(self, now_ms: int) -> list[str]:
        """Return whose trees are to be requeued by now, and forget them."""
        if not self.requeues:
            return []
        due = sorted(tree for tree, (at, _) in self.requeues.items() if at <= now_ms)
        return [self.requeues.pop(tree)[1] for tree in due]

    def dump(self) -> dict[str, Any]:
        """Return plain values; nothing when cycles take no time."""
        kept: dict[str, Any] = {}
        if self.paced:
            kept["pace"] = [self.begins_ms, self.ends_ms, self.quiet]
        if self.requeues:
            kept["wakes"] = {t: list(self.requeues[t]) for t in sorted(self.requeues)}
        return kept

    def load(self, kept: dict[str, Any]) -> None:
        """Take back what `dump` returned."""
        pace = kept.get("pace") or (0, None, 0)
        self.begins_ms, self.ends_ms, self.quiet = pace
        wakes = kept.get("wakes") or {}
        self.requeues = {tree: (at, queue) for tree, (at, queue) in wakes.items()}
