"""The same work under two releases: which starts differ, and by which rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from scheduler.analysis.measures.lives import POLICY, LifeReader, Lives
from scheduler.analysis.measures.subjects import kind_of_subjects
from scheduler.analysis.measures.verdict import ChangeVerdict, verdict
from scheduler.analysis.plan.sides import is_work
from scheduler.analysis.release_rules import (
    counted,
    differing,
    reasons_of,
    rules_between,
)
from scheduler.analysis.reproduction.trimming import (
    differences,
    document_of,
    only,
    scenario_of,
    shrink_keys,
)
from scheduler.analysis.traits import Traits, traits_of
from scheduler.assembly import Prepared, prepare
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Bind, Decision, Evict, Finish, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.patches import merge
from scheduler.model.releases.release import Release
from scheduler.model.releases.rules import Rule, between, turned
from scheduler.model.texts.plain_text import write_all

Patch = Mapping[str, Any]
#: Makes the world of the work at its begin, with a patch of its policy's spec.
Make = Callable[[Patch], World]

_COURSE = (Admit, Bind, Preempt, Evict, Finish)


class Smallest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The smallest work found in which the rule still does something.

    `text` is a file with which `quotalab plan` of both releases names the rule again.
    `minimal`: no object can be left out; else the search was stopped early.
    """

    before: int  # objects
    objects: int
    minimal: bool
    text: str


class RuleEffect(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one rule does to this work.

    `gate` and `given` turn it to its other side in the later release; "" where no gate
    does. `workloads` come out as before when it is turned, `reasons` are said as before.
    None: it was not tried alone, for there is nothing that turns it alone.
    """

    rule: str
    now: str
    before: str
    gate: str
    given: bool | None
    workloads: list[str] | None
    reasons: int | None
    smallest: Smallest | None = None


class UntoldChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A change of the ledger that runs do not tell apart, and the objects it concerns.

    `objects` are the first of `count`; none where any world may notice it.
    """

    rule: str
    now: str
    before: str
    pull: int
    objects: list[str]
    count: int


class OtherChanges(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many changes between the releases no run of this work can show.

    `unconcerned` ask for something that this work does not have; `disturbed` for an edit,
    a restart or chance; `shown` change statuses, messages, answers or metrics alone.
    """

    unconcerned: int
    disturbed: int
    shown: int


class UpgradeReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What another release would do to the same work, from its begin to a horizon.

    `reasons` counts Workloads by a reason why they waited: in both runs. `said_otherwise`
    wait for another reason. `unexplained` differ, and no single rule accounts for it.
    `could` are changes that this work may notice and that no run tells apart, `unknown`
    those of them of which not even that was examined. Nothing is known to differ where
    `differs` is false, and nothing can where both are empty, too.
    """

    before: dict[str, str]
    after: dict[str, str]
    to_ms: int
    differs: bool
    earlier: list[str]
    later: list[str]
    never: list[str]
    only: list[str]
    verdict: ChangeVerdict
    reasons: dict[str, list[int]]
    said_otherwise: list[str]
    rules: list[RuleEffect]
    unexplained: list[str]
    could: list[UntoldChange]
    unknown: list[UntoldChange]
    others: OtherChanges

    @property
    def may_differ(self) -> bool:
        """Return whether it differs, or could by a change that no run tells apart."""
        return self.differs or bool(self.could or self.unknown)


class Trial(NamedTuple):
    """A run to make: a patch of its policy's spec, and a rule to turn to its other side.

    A rule that has a gate is turned by the patch. Only a run with `looks` has lives and
    traits, which cost a tenth more: a report asks for those of the releases themselves.
    """

    patch: Patch
    rule: str = ""
    looks: bool = False


class Run:
    """One run: what it began with, and of each subject its course and its reasons."""

    lives: Lives
    traits: Traits

    def __init__(self, make: Make, until_ms: int, trial: Trial) -> None:
        with turned(trial.rule) if trial.rule else nullcontext():
            self._run(make(trial.patch), until_ms, looks=trial.looks)

    def _run(self, world: World, until_ms: int, *, looks: bool) -> None:
        self.spec = world.policy.spec
        self.kind = kind_of_subjects(world)
        reader = LifeReader(world) if looks else None
        if looks:
            self.traits = traits_of(world.objects.values(), self.spec)
        hear = partial(reader.hear, world=world) if reader is not None else None
        decisions: list[Decision] = simulate(
            world, until_ms=until_ms, hear=hear
        ).decisions
        if reader is not None:
            self.lives = reader.lives(until_ms, world)
            # What the run made says nothing of the input; whether nodes failed does.
            self.traits |= traits_of(world.objects[key] for key in world.keys("Node"))
        self.evicted_for = {one.reason for one in decisions if isinstance(one, Evict)}
        self.courses: dict[Key, list[tuple[str, int]]] = {}
        self.reasons = reasons_of(decisions, self.kind)
        for one in decisions:
            if one.subject.kind != self.kind:
                continue
            if isinstance(one, _COURSE):
                course = self.courses.setdefault(one.subject, [])
                course.append((type(one).__name__, one.at_ms))


#: Does all runs, as `map` does: in order, or at once in several processes.
Each = Callable[[Callable[[Trial], Run], Sequence[Trial]], Iterable[Run]]


def compare_releases(
    make: Make,
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    until_ms: int,
    each: Each = map,
) -> UpgradeReport:
    """Return the differences that the later release makes, and the rules that cause them.

    Each rule that differs is turned back alone, and the work is run once more: what
    comes out as before then is its doing. A rule whose sign the later run lacks does
    nothing there. Raises PolicyError for a Configuration with which one of the two does
    not start. Cost: a run for each release and for each other rule, which `each` does.
    """
    run = partial(Run, make, until_ms)
    releases = before, after
    one, other = each(
        run, [Trial({"release": dict(it)}, looks=True) for it in releases]
    )
    first, last = one.spec.decides_as(), other.spec.decides_as()
    released = other.lives._replace(changed=frozenset({POLICY}))
    found = verdict(one.lives, released, within_ms=0)
    moved = _differing(one.courses, other.courses)
    said = _differing(one.reasons, other.reasons)
    rules = rules_between(one.spec, other.spec, other.traits)
    tried = [rule for rule in rules if rule.followed and (moved or said)]
    trials = {rule.id: trial for rule in tried if (trial := _trial(rule, last))}
    # Turned back, such a rule gives the later run once more.
    back = {rule.id: other for rule in tried if _idle(rule, last, other)}
    made = {name: trial for name, trial in trials.items() if name not in back}
    back |= zip(made, each(run, list(made.values())), strict=True)
    effects = [
        _effect(rule, last, back.get(rule.id), (one, moved, said)) for rule in tried
    ]
    explained = {name for effect in effects for name in effect.workloads or ()}
    starts = {
        name: [w.subject for w in found.workloads if w.start == name]
        for name in _STARTS
    }
    untold = [rule for rule in rules if not rule.followed]
    return UpgradeReport(
        before=dict(first.given()),
        after=dict(last.given()),
        to_ms=until_ms,
        differs=bool(moved or said),
        **starts,
        verdict=found,
        reasons=counted(one.reasons, other.reasons),
        said_otherwise=sorted(map(str, said)),
        rules=effects,
        unexplained=sorted({str(key) for key in moved} - explained),
        could=[_untold(rule, other.traits) for rule in untold if rule.examined],
        unknown=[_untold(rule, other.traits) for rule in untold if not rule.examined],
        others=_others(one, other),
    )


_STARTS = ("earlier", "later", "never", "only")


def rule_shows(
    make: Make, effect: RuleEffect, releases: tuple[Patch, Patch], until_ms: int
) -> set[tuple[str, str]]:
    """Return the effect of one rule on this work, restricted to the kind of `effect`.

    Where it moves workloads, one entry says so; else the reasons for which some wait
    before and after. Empty: it does nothing. Cost: three runs.
    """
    run = partial(Run, make, until_ms)
    one, other = (run(Trial({"release": dict(release)})) for release in releases)
    first, last = one.spec.decides_as(), other.spec.decides_as()
    rule = next(r for r in between(first, last) if r.id == effect.rule)
    trial = _trial(rule, last)
    if trial is None:
        return set()
    back = run(trial)
    if effect.workloads:
        moved = _differing(one.courses, other.courses)
        return {("", "")} if moved - _differing(one.courses, back.courses) else set()
    told = _differing(one.reasons, other.reasons)
    told -= _differing(one.reasons, back.reasons)
    return {
        (", ".join(one.reasons.get(key, ())), ", ".join(other.reasons.get(key, ())))
        for key in told
    }


def _trial(rule: Rule, after: Release) -> Trial | None:
    """Return the later release with one rule turned back; None for a gate that is locked."""
    patch: dict[str, Any] = {"release": dict(after.given())}
    if (switch := rule.switch(after)) is not None:
        gates = {"featureGates": {switch[0]: switch[1]}}
        return Trial(merge(patch, {"kueue": gates}))
    return None if rule.gate else Trial(patch, rule.id)


def _idle(rule: Rule, last: Release, other: Run) -> bool:
    """Return whether the later run has a rule and no sign that it does something."""
    return rule.holds(last) and bool(rule.sign) and rule.sign not in other.evicted_for


def _effect(
    rule: Rule, after: Release, back: Run | None, base: tuple[Run, set[Key], set[Key]]
) -> RuleEffect:
    """Hold the later release with one rule turned back to the run before."""
    one, moved, said = base
    switch = rule.switch(after) if back is not None else None
    workloads = reasons = None
    if back is not None:
        same = moved - _differing(one.courses, back.courses)
        workloads = sorted(map(str, same))
        reasons = len(said - _differing(one.reasons, back.reasons))
    return RuleEffect(
        rule=rule.id,
        now=rule.now,
        before=rule.before,
        gate=switch[0] if switch is not None else "",
        given=switch[1] if switch is not None else None,
        workloads=workloads,
        reasons=reasons,
    )


#: Objects that are named of a change that no run tells apart.
_NAMED = 10


def _untold(rule: Rule, traits: Traits) -> UntoldChange:
    """Return a row with the objects of the last trait that it asks for."""
    groups = [
        list(
            dict.fromkeys(
                key for one in group.split("|") for key in traits.get(one, ())
            )
        )
        for group in rule.concerns
    ]
    found = groups[-1] if groups else []
    return UntoldChange(
        rule=rule.id,
        now=rule.now,
        before=rule.before,
        pull=rule.pull,
        objects=[f"{key.kind} {key.path}" for key in found[:_NAMED]],
        count=len(found),
    )


def _others(one: Run, other: Run) -> OtherChanges:
    shown = disturbed = unconcerned = 0
    for rule in differing(one.spec, other.spec):
        if not rule.matters(other.traits, other.spec.kueue):
            unconcerned += 1
        elif rule.when:
            disturbed += 1
        elif not rule.in_runs:
            shown += 1
    return OtherChanges(unconcerned=unconcerned, disturbed=disturbed, shown=shown)


def _differing(one: Mapping[Key, Any], other: Mapping[Key, Any]) -> set[Key]:
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}


# ------------------------------------------------------------------------
# The smallest work in which a rule of a release still does something.


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
