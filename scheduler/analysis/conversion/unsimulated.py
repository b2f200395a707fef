"""What a world asks for that decides nothing here, per stack, with a count.

The importer reports it by line; this is the same for a whole world, for the panel
of every sandbox. Source: docs/semantics/kube-scheduler.md#not-simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UnsetType

from scheduler.analysis.traits import traits_of
from scheduler.engine.world import World
from scheduler.input.manifests.simulation_gaps.unfollowed import unfollowed
from scheduler.input.manifests.simulation_gaps.unsimulated import gated, unsimulated
from scheduler.model import registry
from scheduler.model.admission_check import (
    MULTI_KUEUE,
    PROVISIONING,
    read_admission_check,
)
from scheduler.model.autoscaling.group_spec import CONFIG, GROWING
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import Surroundings
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates
from scheduler.model.objects import Key
from scheduler.model.releases.release import DECIDING, FOLLOWED_FROM, TITLES
from scheduler.model.releases.rules import not_told_apart
from scheduler.model.sentence import Sentence
from scheduler.words.gaps import Idle, Unfollowed, of_proposal

Manifest = Mapping[str, Any]

_HINT = "preferredDuringSchedulingIgnoredDuringExecution"
#: Of Kueue's Configuration: what would decide something in the real system.
_DECIDING = frozenset(
    {"admissionFairSharing", "featureGates", "multiKueue", "resources"}
)

#: Rules of a release that a sentence names.
_NAMED = 5

#: Objects whose gaps are known; a world with more is looked through again.
_MOST_KNOWN = 4096


def as_release(world: World) -> list[str]:
    """Return which release or proposal decides, and what of it is not followed."""
    spec = world.policy.spec
    proposal = [said.text for said in of_proposal(spec)]
    given = dict(spec.decides_as().given())
    deciding = [one for one in DECIDING[spec.stack] if one in given]
    if not deciding:
        return proposal
    named = ", ".join(f"{TITLES[one]} {given[one]}" for one in deciding)
    return [*proposal, f"as {named}", *(said.text for said in _of_release(world))]


def _of_release(world: World) -> Iterator[Sentence]:
    """Yield what of the world's releases is not followed, where it can matter."""
    spec = world.policy.spec
    release = spec.decides_as()
    deciding = DECIDING[spec.stack]
    for scheduler, version in release.older():
        if scheduler in deciding:
            yield Idle.RELEASE_OLD.said(
                title=TITLES[scheduler], release=version, least=FOLLOWED_FROM[scheduler]
            )
    lacking = not_told_apart(release)
    traits = traits_of(world.objects.values(), spec) if lacking else {}
    for scheduler in deciding:
        names = [
            rule.id
            for rule in lacking
            if rule.scheduler == scheduler and rule.matters(traits, spec.kueue)
        ]
        if names:
            yield Idle.RELEASE_RULES.said(
                title=TITLES[scheduler],
                release=release.of(scheduler) or "",
                count=len(names),
                names=", ".join(names[:_NAMED]) + (", ..." if names[_NAMED:] else ""),
            )


def features_of(world: World) -> list[Sentence]:
    """Return a sentence for each thing without effect. Cost: O(objects)."""
    spec = world.policy.spec
    lines = [
        *of_proposal(spec),
        *_of_objects(world),
        *_without_plugin(world),
        *_of_release(world),
    ]
    if spec.stack == "kueue":
        lines += _unanswered(world)
        kept = read_configuration(spec.kueue, spec.decides_as()).kept
        named = [path for path in kept if path.partition(".")[0] in _DECIDING]
        lines += [Idle.SETTING.said(path=path) for path in named]
        if not any(key.kind in ("Node", *GROWING) for key in world.objects):
            lines.append(Idle.NO_NODES.said())
    return lines


def _of_objects(world: World) -> Iterator[Sentence]:
    """Yield what fields of objects ask for in vain, with the number of objects."""
    stack, counts = world.policy.spec.stack, Counter[str]()
    gates = world.kueue.settings.gates if world.kueue else DEFAULT_FEATURE_GATES
    said: dict[str, Sentence] = {}
    for key, obj in world.objects.items():
        manifest = msgspec.json.encode(obj.manifest)
        found = {s.text: s for s in _of_text(key.kind, manifest, stack, gates)}
        counts.update(found.keys())
        said.update(found)
    for text, count in sorted(counts.items()):
        yield Idle.COUNTED.said(what=said[text], count=count)


def _without_plugin(world: World) -> Iterator[Sentence]:
    """Yield a sentence for gangs, quotas and zones where no profile has their plug-in."""
    configured = str(world.policy.spec.kube_scheduler)
    if world.kube is None:
        return
    gangs = sum(pod.shape.gang is not None for pod in world.kube.pods.values())
    for words, plugin, count in (
        (Idle.NO_GANGS, "GangScheduling", gangs),
        (Idle.NO_QUOTAS, "CapacityScheduling", len(world.keys("ElasticQuota"))),
        (
            Idle.NO_ZONES,
            "NodeResourceTopologyMatch",
            len(world.keys("NodeResourceTopology")),
        ),
    ):
        if count and plugin not in configured:
            yield Idle.COUNTED.said(what=words.said(), count=count)


def _unanswered(world: World) -> Iterator[Sentence]:
    """Yield the checks that no worker cluster and no autoscaler answers, nor a rule."""
    stage = world.multikueue
    handled = () if stage is None else stage.checks.handled
    ruled = world.policy.spec.simulation.admission_checks
    names = set() if isinstance(ruled, UnsetType) else {rule.check for rule in ruled}
    for key in world.keys("AdmissionCheck"):
        check = read_admission_check(world.objects[key].manifest, {})
        if check.controller == MULTI_KUEUE and key.name not in {*handled, *names}:
            yield Idle.CHECK.said(name=key.path, what=Idle.NO_WORKER.said())
        if check.controller == PROVISIONING and key.name not in names:
            kind, name = check.parameters
            if kind != CONFIG or Key(CONFIG, "", name) not in world.objects:
                simulated = kind == CONFIG and world.autoscaling is not None
                what = _no_config(name, inactive=simulated)
                yield Idle.CHECK.said(name=key.path, what=what)


def _no_config(name: str, *, inactive: bool) -> Sentence:
    """Return what becomes of a check whose ProvisioningRequestConfig does not exist."""
    if not name:
        words = Idle.NO_CONFIG_INACTIVE if inactive else Idle.NO_CONFIG_READY
        return words.said()
    words = Idle.NO_SUCH_CONFIG_INACTIVE if inactive else Idle.NO_SUCH_CONFIG_READY
    return words.said(name=name)


@lru_cache(maxsize=_MOST_KNOWN)
def _of_text(
    kind: str, text: bytes, stack: str, gates: FeatureGates
) -> tuple[Sentence, ...]:
    """Return what an object asks for in vain: a tick changes few of many objects."""
    return tuple(_of_object(kind, msgspec.json.decode(text), stack, gates))


def _of_object(
    kind: str, manifest: Manifest, stack: str, gates: FeatureGates
) -> Iterator[Sentence]:
    for gap in (*unsimulated(manifest), *gated(manifest, gates)):
        if stack == "kueue":
            field = gap.field.rpartition(".")[2]
            yield Unfollowed.OF_FIELD.said(kind=kind, field=field, what=gap.problem)
    for gap in unfollowed(manifest):
        yield gap.problem
    for pod in _pod_specs(kind, manifest):
        if stack == "yunikorn":
            # YuniKorn's predicates do not look at wishes and claims here.
            if pod.get("resourceClaims"):
                yield Idle.YUNIKORN_DEVICES.said()
            if any(
                "persistentVolumeClaim" in v or "ephemeral" in v for v in _volumes(pod)
            ):
                yield Idle.YUNIKORN_VOLUMES.said()
            affinity = pod.get("affinity") or {}
            if (affinity.get("nodeAffinity") or {}).get(_HINT):
                yield Idle.YUNIKORN_AFFINITY.said()


def _pod_specs(kind: str, manifest: Manifest) -> Iterator[Manifest]:
    """Yield the pod specs that an object of this kind stands for."""
    spec = manifest.get("spec") or {}
    if kind == "Pod":
        yield spec
    elif kind == "CronJob":
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        yield _inner(job.get("template"))
    elif kind in ("ReplicaSet", "DaemonSet"):
        yield _inner(spec.get("template"))
    elif kind == "Workload":
        yield from _templates(spec.get("podSets") or ())
    elif any(entry.name == kind for entry in registry.entries("job-kind")):
        try:
            job_kind = registry.lookup("job-kind", kind)
            yield from _templates(job_kind.pod_sets(manifest, Surroundings()))
        except ManifestError:
            pass  # refers to something that does not exist; said when it arrives


def _templates(holders: Iterable[Manifest]) -> Iterator[Manifest]:
    for holder in holders:
        yield _inner(holder.get("template"))


def _inner(template: Manifest | None) -> Manifest:
    return (template or {}).get("spec") or {}


def _volumes(pod: Manifest) -> Iterable[Manifest]:
    found: Iterable[Manifest] = pod.get("volumes") or ()
    return found
