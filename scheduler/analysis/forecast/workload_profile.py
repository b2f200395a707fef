"""What a forecast knows of a workload: who sends it, what it asks, its limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadProfile:
    """A workload as run times are compared: times in milliseconds of virtual time.

    `family` is what makes two workloads runs of one thing: the owner's name without
    its counter, or the executable of a trace. `size` counts pods or processors.
    """

    ident: int  # its place in the history; also the tie of equal submit times
    submit_ms: int
    size: int
    queue: str = ""
    user: str = ""
    family: str = ""
    limit_ms: int | None = None
    priority: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """Return the sort key of Kueue's queues: priority, then time."""
        return -self.priority, self.submit_ms, self.ident
