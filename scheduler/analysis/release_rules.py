"""What two releases decide otherwise in a world, as far as its rules say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import msgspec

from scheduler.model.decisions import Decision, Wait
from scheduler.model.objects import Key
from scheduler.model.policy import PolicySpec
from scheduler.model.releases.release import DECIDING
from scheduler.model.releases.rules import Rule, between


class ReleaseRule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule by which two releases differ. `has` says which side of it the later one has.

    `gate`, given as `given`, turns it back there; "" where no gate does. Of one that is
    not `followed` both sides decide as the newest release.
    """

    rule: str
    now: str
    before: str
    has: bool
    followed: bool
    gate: str
    given: bool | None


def rules_between(
    first: PolicySpec, last: PolicySpec, traits: Collection[str]
) -> list[Rule]:
    """Return the rules of decisions that differ and that a run of these traits may notice."""
    return [
        rule
        for rule in differing(first, last)
        if rule.in_runs and rule.matters(traits, last.kueue)
    ]


def differing(first: PolicySpec, last: PolicySpec) -> list[Rule]:
    """Return all rules that differ, of the schedulers that decide."""
    return [
        rule
        for rule in between(first.decides_as(), last.decides_as())
        if rule.scheduler in DECIDING[last.stack]
    ]


def told(rule: Rule, last: PolicySpec) -> ReleaseRule:
    """Return a rule as the later side has it."""
    release = last.decides_as()
    gate, given = rule.switch(release) or ("", None)
    return ReleaseRule(
        rule=rule.id,
        now=rule.now,
        before=rule.before,
        has=rule.holds(release),
        followed=rule.followed,
        gate=gate,
        given=given,
    )


def reasons_of(decisions: Iterable[Decision], kind: str) -> dict[Key, list[str]]:
    """Return why each subject of a kind waited, each reason once, in order."""
    found: dict[Key, list[str]] = {}
    for one in decisions:
        if isinstance(one, Wait) and one.subject.kind == kind:
            said = found.setdefault(one.subject, [])
            if one.reason not in said:
                said.append(one.reason)
    return found


def counted(
    first: Mapping[Key, Iterable[str]], last: Mapping[Key, Iterable[str]]
) -> dict[str, list[int]]:
    """Return how many subjects waited for each reason, of both sides."""
    one, other = (
        Counter(reason for said in side.values() for reason in said)
        for side in (first, last)
    )
    return {reason: [one[reason], other[reason]] for reason in sorted({*one, *other})}
