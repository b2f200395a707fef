"""How long a step takes here and now, drawn from the seed."""

from __future__ import annotations

import msgspec

from scheduler.engine.stage import Context
from scheduler.model.latencies import Latencies, read_latencies
from scheduler.model.policy import Policy


class StepTimes:
    """The latencies of a policy; a policy without any lets steps take no time.

    Draws are one stream per kind of step and subject. Raises PolicyError for a
    length that cannot be read.
    """

    def __init__(self, context: Context, policy: Policy) -> None:
        self.context = context
        given = policy.spec.simulation.latencies
        known = Latencies() if isinstance(given, msgspec.UnsetType) else given
        self.spans = read_latencies(known)
        if "completion" in self.spans:  # of one pod of several as of the last
            self.spans["reclaim"] = self.spans["completion"]

    def takes_time(self, *steps: str) -> bool:
        """Return whether any of these steps takes time."""
        return any(step in self.spans for step in steps)

    def draw(self, step: str, subject: str, n: int = 0) -> int:
        """Return how long (ms) this step takes for the subject's draw `n`."""
        span = self.spans.get(step)
        if span is None:
            return 0
        return span.draw(self.context.seed, f"latency {step}", subject, n)
