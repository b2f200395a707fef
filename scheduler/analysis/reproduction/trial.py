"""One trial: a world is made of objects, run, and watched for one decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.expectations import matches
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object
from scheduler.model.policy import read_policy
from scheduler.model.scenario import Match


def match_of(decision: Decision) -> Match:
    """Return the pattern that another decision must match to count as this one."""
    return Match(
        type=type(decision).__name__,
        subject=str(decision.subject),
        by=str(decision.by) if decision.by is not None else "",
        reason=decision.reason,
        node=getattr(decision, "node", ""),
    )


class Trial:
    """What is looked for, under which seed and how long; counts its runs."""

    def __init__(self, wanted: Match, *, seed: int, until_ms: int) -> None:
        self.wanted = wanted
        self.seed = seed
        self.until_ms = until_ms
        self.runs = 0

    def at(self, objects: Sequence[Object], policy: Mapping[str, Any]) -> int | None:
        """Return when the decision is taken in a world of these, None for never.

        `policy` is a whole document. Objects are copied. A world that cannot be
        made or run shows nothing.
        """
        self.runs += 1
        try:
            world = World.create(read_policy(dict(policy)), self.seed)
            for obj in objects:
                world.put(_copy(obj))
            outcome = simulate(world, until_ms=self.until_ms, stop=self._is_it)
        except SchedulerError:
            return None
        found = [decision for decision in outcome.decisions if self._is_it(decision)]
        return found[0].at_ms if found else None

    def _is_it(self, decision: Decision) -> bool:
        return matches(self.wanted, decision)


def _copy(obj: Object) -> Object:
    return Object(
        key=obj.key,
        manifest=msgspec.to_builtins(obj.manifest),
        status=msgspec.to_builtins(obj.status),
    )
