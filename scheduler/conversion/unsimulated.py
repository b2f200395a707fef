"""What a world asks for that decides nothing here, per stack, with a count.

The importer reports it by line; this is the same for a whole world, for the panel
of every sandbox. Source: docs/semantics/kube-scheduler.md#not-simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from scheduler import registry
from scheduler.autoscaling.kinds import GROWING
from scheduler.errors import ManifestError
from scheduler.kueue.configuration import read_configuration
from scheduler.kueue.feature_gates import DEFAULT_FEATURE_GATES, FeatureGates
from scheduler.manifests.jobs import Surroundings
from scheduler.manifests.simulation_gaps.gated import gated
from scheduler.manifests.simulation_gaps.unfollowed import unfollowed
from scheduler.manifests.simulation_gaps.unsimulated import unsimulated
from scheduler.provisioning.config import CONFIG
from scheduler.records.admission_check import (
    MULTI_KUEUE,
    PROVISIONING,
    read_admission_check,
)
from scheduler.records.objects import Key
from scheduler.world import World

Manifest = Mapping[str, Any]

_NO_WORKER = (
    "none of its clusters has objects here (annotation quotalab.dev/cluster), so it "
    "is Ready at once"
)
_NO_CONFIG = "no ProvisioningRequestConfig{} here, so it is {}"
_NO_NODES = "no Node here: pods are placed nowhere and are ready after podStartMs"
_NO_GANGS = (
    "pods of a schedulingGroup or workloadRef are placed one by one: no profile has "
    "GangScheduling"
)
_NO_QUOTAS = "ElasticQuotas decide nothing: no profile has CapacityScheduling"
_NO_ZONES = (
    "NodeResourceTopologies decide nothing: no profile has NodeResourceTopologyMatch"
)
_HINT = "preferredDuringSchedulingIgnoredDuringExecution"
#: Of Kueue's Configuration: what would decide something in the real system.
_DECIDING = frozenset(
    {
        "admissionFairSharing",
        "featureGates",
        "multiKueue",
        "resources",
    }
)


def features_of(world: World) -> list[str]:
    """Return a sentence for each thing without effect. Cost: O(objects)."""
    spec = world.policy.spec
    counts: Counter[str] = Counter()
    gates = world.kueue.settings.gates if world.kueue else DEFAULT_FEATURE_GATES
    for key, obj in world.objects.items():
        counts.update(set(_of_object(key.kind, obj.manifest, spec.stack, gates)))
    lines = [f"{what} ({count})" for what, count in sorted(counts.items())]
    lines += _without_plugin(world)
    if spec.stack == "kueue":
        lines += _unanswered(world)
        kept = read_configuration(spec.kueue).kept
        named = [path for path in kept if path.partition(".")[0] in _DECIDING]
        lines += [f"Configuration: {path} is not simulated" for path in named]
        if not any(key.kind in ("Node", *GROWING) for key in world.objects):
            lines.append(_NO_NODES)
    return lines


def _without_plugin(world: World) -> Iterator[str]:
    """Yield a sentence for gangs, quotas and zones where no profile has their plug-in."""
    configured = str(world.policy.spec.kube_scheduler)
    if world.kube is None:
        return
    count = sum(pod.shape.gang is not None for pod in world.kube.pods.values())
    if count and "GangScheduling" not in configured:
        yield f"{_NO_GANGS} ({count})"
    quotas = len(world.keys("ElasticQuota"))
    if quotas and "CapacityScheduling" not in configured:
        yield f"{_NO_QUOTAS} ({quotas})"
    topologies = len(world.keys("NodeResourceTopology"))
    if topologies and "NodeResourceTopologyMatch" not in configured:
        yield f"{_NO_ZONES} ({topologies})"


def _unanswered(world: World) -> Iterator[str]:
    """Yield the checks that no worker cluster and no autoscaler answers, nor a rule."""
    stage = world.multikueue
    handled = () if stage is None else stage.checks.handled
    ruled = world.policy.spec.simulation.admission_checks
    names = set() if isinstance(ruled, UnsetType) else {rule.check for rule in ruled}
    for key in world.keys("AdmissionCheck"):
        check = read_admission_check(world.objects[key].manifest, {})
        if check.controller == MULTI_KUEUE and key.name not in {*handled, *names}:
            yield f"AdmissionCheck {key.path}: {_NO_WORKER}"
        if check.controller == PROVISIONING and key.name not in names:
            kind, name = check.parameters
            if kind != CONFIG or Key(CONFIG, "", name) not in world.objects:
                named = f" {name}" if name else ""
                simulated = kind == CONFIG and world.autoscaling is not None
                what = "inactive" if simulated else "Ready at once"
                yield f"AdmissionCheck {key.path}: {_NO_CONFIG.format(named, what)}"


def _of_object(
    kind: str, manifest: Manifest, stack: str, gates: FeatureGates
) -> Iterator[str]:
    for gap in (*unsimulated(manifest), *gated(manifest, gates)):
        if stack == "kueue":
            yield f"{kind} {gap.field.rpartition('.')[2]}: {gap.problem}"
    for gap in unfollowed(manifest):
        yield gap.problem.text
    for pod in _pod_specs(kind, manifest):
        yield from _of_pod(pod, stack)


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
            pass  # refers to something that is not there; said when it arrives


def _templates(holders: Iterable[Manifest]) -> Iterator[Manifest]:
    for holder in holders:
        yield _inner(holder.get("template"))


def _inner(template: Manifest | None) -> Manifest:
    return (template or {}).get("spec") or {}


def _of_pod(pod: Manifest, stack: str) -> Iterator[str]:
    if stack == "yunikorn":
        yield from _not_by_yunikorn(pod)


def _not_by_yunikorn(pod: Manifest) -> Iterator[str]:
    """Yield what YuniKorn's predicates do not look at here: wishes, claims."""
    if pod.get("resourceClaims"):
        yield "devices are not looked at under YuniKorn; a claim holds no pod back"
    if any("persistentVolumeClaim" in v or "ephemeral" in v for v in _volumes(pod)):
        yield "volumes are not looked at under YuniKorn; a claim holds no pod back"
    affinity = pod.get("affinity") or {}
    if (affinity.get("nodeAffinity") or {}).get(_HINT):
        yield "preferred node affinity is not looked at under YuniKorn"


def _volumes(pod: Manifest) -> Iterable[Manifest]:
    found: Iterable[Manifest] = pod.get("volumes") or ()
    return found
