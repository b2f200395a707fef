"""What two releases decide otherwise in a world, as far as its rules say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.model.annotations import ADMISSION_GATED_BY
from scheduler.model.decisions import Decision, Wait
from scheduler.model.kueue.slices import ELASTIC_JOB
from scheduler.model.objects import Key, Object
from scheduler.model.policy import PolicySpec
from scheduler.model.releases.release import DECIDING
from scheduler.model.releases.rules import (
    ELASTIC_JOBS,
    GATED,
    MANY_PODSETS,
    SEVERAL_FLAVORS,
    SLICE_LAYERS,
    Rule,
    between,
)

#: Lists of which each entry makes a podset, and how many are taken in all releases.
_PODSETS = ("podSets", "replicatedJobs", "workerGroupSpecs", "components")
_FEW = 8
_LAYERS = "kueue.x-k8s.io/podset-slice-required-topology-constraints"


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


def traits_of(objects: Iterable[Object]) -> set[str]:
    """Return what rules ask of a world: its kinds, and what some objects have.

    Cost: O(objects).
    """
    found: set[str] = set()
    for obj in objects:
        found.add(obj.key.kind)
        if obj.annotations.get(ELASTIC_JOB) == "true":
            found.add(ELASTIC_JOBS)
        if obj.annotations.get(ADMISSION_GATED_BY):
            found.add(GATED)
        spec = obj.spec
        if obj.key.kind == "ClusterQueue":
            groups = spec.get("resourceGroups") or ()
            if any(len(group.get("flavors") or ()) > 1 for group in groups):
                found.add(SEVERAL_FLAVORS)
        elif any(
            isinstance(spec.get(name), list) and len(spec[name]) >= _FEW
            for name in _PODSETS
        ):
            found.add(MANY_PODSETS)
        if any(_LAYERS in one for one in _requests(obj)):
            found.add(SLICE_LAYERS)
    return found


def _requests(obj: Object) -> Iterator[Mapping[str, Any]]:
    """Yield what may ask for layers: annotations of pods, requests of podsets."""
    template = obj.spec.get("template")
    if isinstance(template, dict):
        yield (template.get("metadata") or {}).get("annotations") or {}
    pod_sets = obj.spec.get("podSets")
    for one in pod_sets if isinstance(pod_sets, list) else ():
        metadata = (one.get("template") or {}).get("metadata") or {}
        yield metadata.get("annotations") or {}
        if (one.get("topologyRequest") or {}).get(
            "podsetSliceRequiredTopologyConstraints"
        ):
            yield {_LAYERS: ""}


def rules_between(
    first: PolicySpec, last: PolicySpec, kinds: Collection[str]
) -> list[Rule]:
    """Return the rules that differ and that a world of these traits may notice."""
    return [
        rule
        for rule in between(first.decides_as(), last.decides_as())
        if rule.scheduler in DECIDING[last.stack] and rule.matters(kinds, last.kueue)
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
