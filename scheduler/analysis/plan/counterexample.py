"""The smallest work and policy with which an assertion still fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.plan.assertions import Assertion, quantile_of
from scheduler.analysis.plan.judging import Verdict, judge
from scheduler.analysis.plan.measuring import measure
from scheduler.analysis.plan.sides import PLAIN, Inputs, Joined, is_work, join
from scheduler.analysis.reproduction.trimming import (
    differences,
    document_of,
    only,
    scenario_of,
    shrink_keys,
)
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.texts.plain_text import write_all

#: How many objects all tries of an assertion together may run, on each side.
_MOST_OBJECTS = 40_000
_API = "quotalab.dev/v1"


class Counterexample(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Files with which `quotalab plan` finds the same assertion failed.

    `files`: base.yaml, changed.yaml, work.yaml and assertion.yaml, to their texts.
    `before` and `objects` count objects of policy and work of both sides. `minimal`: no
    object can be left out; else the search was stopped early.
    """

    assertion: str
    seed: int
    before: int
    objects: int
    runs: int
    minimal: bool
    files: dict[str, str]

    @property
    def folder(self) -> str:
        """Return a name for a folder of these files."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.assertion.lower()).strip("-")
        return slug[:60] or "assertion"


def counterexample(
    joined: Joined,
    assertion: Assertion,
    verdict: Verdict,
    seeds: Sequence[int],
    horizon_ms: int,
) -> Counterexample | None:
    """Return the smallest files found with which the assertion fails in one run.

    Where it holds on the base, it holds there with them too; else the sides differ, where
    they did. None where no single run
    fails, or where it failed as nothing arrived. The files were read and run once more.
    Cost: two runs per try, of at most 40,000 objects together.
    """
    if verdict.holds or verdict.why:
        return None
    for seed in seeds:
        search = _Search(joined, assertion, verdict, seed, horizon_ms)
        found = search.found()
        if found is not None:
            return found
    return None


class _Search:
    """One seed of one assertion, and what is left of its objects."""

    def __init__(
        self,
        joined: Joined,
        assertion: Assertion,
        verdict: Verdict,
        seed: int,
        horizon_ms: int,
    ) -> None:
        self.joined = joined
        self.assertion = assertion
        self.only_changed = verdict.on_base is True
        self.differs = verdict.base != verdict.changed
        self.seed = seed
        self.horizon_ms = horizon_ms
        self.left = _MOST_OBJECTS
        self.runs = 0
        self.sides = [one.prepared.with_arrivals(seed) for one in joined.bases]
        self.wanted = (
            (assertion.measure,) if quantile_of(assertion.measure) is not None else ()
        )

    def found(self) -> Counterexample | None:
        """Return the smallest that this seed shows, None where it shows nothing."""
        keys = list(
            dict.fromkeys(obj.key for one in self.sides for obj in one.loaded.objects)
        )
        self.left = max(self.left, len(keys))
        if not self.shows(keys):
            return None
        kept, minimal = shrink_keys(keys, is_work, self.shows, self.go_on)
        files = self._files(frozenset(kept))
        if not self._fails_again(files):
            return None
        return Counterexample(
            assertion=self.assertion.name,
            seed=self.seed,
            before=len(keys),
            objects=len(kept),
            runs=self.runs,
            minimal=minimal,
            files=files,
        )

    def go_on(self) -> bool:
        """Return whether there may be another try."""
        return self.left > 0

    def shows(self, keys: Iterable[Key]) -> bool:
        """Return whether the assertion fails where both sides have these objects alone."""
        kept = frozenset(keys)
        self.runs += 1
        self.left -= len(kept)
        bases = [
            FileBase(replace(side, loaded=only(side.loaded, kept)))
            for side in self.sides
        ]
        return self._fails(bases)

    def _fails(self, bases: Sequence[FileBase]) -> bool:
        try:
            base, changed = (
                measure(one, self.seed, self.horizon_ms, self.wanted) for one in bases
            )
        except SchedulerError:
            return False
        [verdict] = judge([self.assertion], [(base, changed)])
        if verdict.holds or verdict.why:
            return False
        if self.only_changed:
            return verdict.on_base is True
        return not self.differs or verdict.base not in (None, verdict.changed)

    def _fails_again(self, files: dict[str, str]) -> bool:
        """Read the files as anybody would, and ask once more."""
        base, changed, work = (
            [(name, files[name])] for name in ("base.yaml", "changed.yaml", "work.yaml")
        )
        try:
            joined = join(Inputs(work=work, changed=changed, base=base), self.seed)
        except SchedulerError:
            return False
        return self._fails(joined.bases)

    def _files(self, kept: frozenset[Key]) -> dict[str, str]:
        own = {*self.joined.base.objects, *self.joined.changed.objects}
        shared = [o for o in self.sides[0].loaded.objects if o.key in kept - own]
        return {
            "base.yaml": write_all(self._policy(0, kept & own)),
            "changed.yaml": write_all(self._policy(1, kept & own)),
            "work.yaml": write_all([self._scenario(), *map(document_of, shared)]),
            "assertion.yaml": write_all([{"assertions": [self.assertion.given]}]),
        }

    def _policy(self, side: int, kept: frozenset[Key]) -> list[dict[str, Any]]:
        found = (self.joined.base, self.joined.changed)[side]
        objects = [o for o in self.sides[side].loaded.objects if o.key in kept]
        said = {"apiVersion": _API, "kind": "Policy", "spec": found.policy}
        return [*([said] if found.policy else []), *map(document_of, objects)]

    def _scenario(self) -> dict[str, Any]:
        """Return what both sides share of the policy, with the seed and the horizon."""
        world = self.joined.bases[0].world(PLAIN, self.seed)
        sections = {*self.joined.base.policy, *self.joined.changed.policy}
        spec = differences(world.policy.document())
        return scenario_of(
            "counterexample",
            f"Fails: {self.assertion.name}",
            seed=self.seed,
            policy={n: v for n, v in spec.items() if n not in sections},
            horizon_ms=self.horizon_ms,
        )
