"""The smallest work in which a rule of a release still does something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scheduler.analysis.plan.sides import is_work
from scheduler.analysis.reproduction.parts import (
    document_of,
    only,
    scenario_of,
    shrink_keys,
)
from scheduler.analysis.reproduction.trimming import differences
from scheduler.analysis.upgrade import Patch, RuleEffect, Smallest, rule_shows
from scheduler.assembly import Prepared, prepare
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.texts.writing import write_all

#: Work of more objects is not searched.
MOST_SEARCHED = 2_000
#: How many objects all tries of a rule together may run.
_MOST_OBJECTS = 10 * MOST_SEARCHED


def smallest(
    prepared: Prepared,
    effect: RuleEffect,
    releases: tuple[Mapping[str, str], Mapping[str, str]],
    until_ms: int,
    *,
    fixed: Patch,
) -> Smallest | None:
    """Return the smallest work found in which the rule does what `effect` says.

    `fixed` is a patch of both policies. None where the rule does nothing. The text was
    read and run once more. Cost: three runs per try, of at most ten times `MOST_SEARCHED`
    objects together.
    """
    if not (effect.workloads or effect.reasons):
        return None
    whole = prepared.with_arrivals()
    keys = [obj.key for obj in whole.loaded.objects]
    if len(keys) > MOST_SEARCHED:
        return None
    left = _MOST_OBJECTS

    def shows(kept: Iterable[Key]) -> bool:
        nonlocal left
        some = frozenset(kept)
        left -= len(some)
        part = replace(whole, loaded=only(whole.loaded, some))
        return bool(wanted & _shown(part, effect, releases, until_ms, fixed))

    wanted = _shown(whole, effect, releases, until_ms, fixed)
    if not wanted:
        return None
    kept, minimal = shrink_keys(keys, is_work, shows, lambda: left > 0)
    text = _text(whole, frozenset(kept), effect, until_ms, fixed)
    again = prepare([("world.yaml", text)])
    if not wanted & _shown(again, effect, releases, until_ms, {}):
        return None
    return Smallest(before=len(keys), objects=len(kept), minimal=minimal, text=text)


def _shown(
    prepared: Prepared,
    effect: RuleEffect,
    releases: tuple[Mapping[str, str], Mapping[str, str]],
    until_ms: int,
    fixed: Patch,
) -> set[tuple[str, str]]:
    def make(patch: Patch) -> World:
        return prepared.assemble(policy={**fixed, **patch}, newest=False).world

    try:
        return rule_shows(make, effect, releases, until_ms)
    except SchedulerError:
        return set()


def _text(
    prepared: Prepared,
    kept: frozenset[Key],
    effect: RuleEffect,
    until_ms: int,
    fixed: Patch,
) -> str:
    world = prepared.assemble(policy=fixed, newest=False).world
    policy = differences(world.policy.document())
    policy.pop("release", None)
    scenario = scenario_of(
        "smallest",
        f"{effect.rule}: {effect.now}",
        seed=world.context.seed,
        policy=policy,
        horizon_ms=until_ms,
    )
    found = [obj for obj in prepared.loaded.objects if obj.key in kept]
    return write_all([scenario, *map(document_of, found)])
