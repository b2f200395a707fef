"""The search: a start that shows the decision, made as small as it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from scheduler.analysis.expectations import judge, matches
from scheduler.analysis.reproduction.report import Reproduction, documents, words
from scheduler.analysis.reproduction.starts import Start
from scheduler.analysis.reproduction.trimming import (
    shrink,
    shrink_groups,
    trim,
    trim_policy,
)
from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object
from scheduler.model.policy import read_policy
from scheduler.model.scenario import Match

#: Reported after every run: how many runs there were, and how many objects are left.
Hear = Callable[[int, int], None]


def reproduce(
    starts: Sequence[Start],
    wanted: Match,
    *,
    most_runs: int = 2000,
    go_on: Callable[[], bool] = lambda: True,
    hear: Hear = lambda runs, left: None,
) -> Reproduction:
    """Return the smallest world found that takes the decision `wanted`.

    Begins at the first of `starts` that shows it; what it comes to was loaded
    from its documents and run once more. Stops early after `most_runs`, or when
    `go_on` says no. Cost: one short run per try.
    """
    runs = 0
    for start in starts:
        search = _Search(start, wanted, most_runs, go_on, hear)
        search.trial.runs = runs
        found = search.found()
        if found is not None:
            return found
        runs = search.trial.runs
    return Reproduction(found=False, decision=words(wanted), runs=runs)


class _Search:
    """One start, and what is left of it."""

    def __init__(
        self,
        start: Start,
        wanted: Match,
        most_runs: int,
        go_on: Callable[[], bool],
        hear: Hear,
    ) -> None:
        self.start = start
        self.wanted = wanted
        self.most_runs = most_runs
        self.may_go_on = go_on
        self.hear = hear
        self.trial = Trial(wanted, seed=start.seed, until_ms=start.until_ms)
        self.policy: dict[str, Any] = start.policy

    def found(self) -> Reproduction | None:
        """Return the smallest world of this start; None when it does not show it."""
        if not self.shows(self.start.objects):
            return None
        kept = shrink_groups(
            self.start.objects, lambda obj: obj.key.kind, self.shows, self.go_on
        )
        kept, minimal = shrink(kept, self.shows, self.go_on)
        self.policy = trim_policy(
            self.policy, lambda policy: self._at(kept, policy) is not None, self.go_on
        )
        kept = trim(kept, self.shows, self.go_on)
        return self._report(kept, minimal=minimal)

    def shows(self, objects: Sequence[Object]) -> bool:
        """Return whether a world of these takes the decision."""
        return self._at(objects, self.policy) is not None

    def _at(self, objects: Sequence[Object], policy: dict[str, Any]) -> int | None:
        at = self.trial.at(objects, policy)
        self.hear(self.trial.runs, len(objects))
        return at

    def go_on(self) -> bool:
        """Return whether there may be another run."""
        return self.trial.runs < self.most_runs and self.may_go_on()

    def _report(self, kept: list[Object], *, minimal: bool) -> Reproduction | None:
        at_ms = self._at(kept, self.policy)
        if at_ms is None:
            return None
        start = replace(self.start, policy=self.policy)
        made = documents(start, kept, self.wanted, at_ms)
        if not _holds(made, start.until_ms):
            return None
        return Reproduction(
            found=True,
            decision=words(self.wanted),
            at_ms=at_ms,
            before=len(self.start.objects),
            after=len(kept),
            runs=self.trial.runs,
            minimal=minimal,
            documents=made,
        )


def _holds(made: list[dict[str, Any]], until_ms: int) -> bool:
    """Load the documents as anybody would, run them, and ask their expectation."""
    sources = [
        (f"{n}.yaml", msgspec.json.encode(document).decode())
        for n, document in enumerate(made)
    ]
    assembled = assemble(sources)
    outcome = simulate(assembled.world, until_ms=until_ms)
    verdicts = judge(assembled.scenario, outcome.decisions)
    return all(verdict.holds for verdict in verdicts)


# ------------------------------------------------------------------------
# One trial: a world is made of objects, run, and watched for one decision.


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
