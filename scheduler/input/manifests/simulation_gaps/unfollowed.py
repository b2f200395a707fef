"""Fields of jobs and pods that their controllers obey and nothing here does.

Source: docs/semantics/controllers.md#what-is-not-followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler.model.annotations import FAILS_AFTER
from scheduler.model.devices.claims import read_rule
from scheduler.model.webhooks import KINDS as WEBHOOKS
from scheduler.model.webhooks import takes_more
from scheduler.words.effects import Gap, NotSimulated
from scheduler.words.gaps import Devices, Unfollowed

Manifest = Mapping[str, Any]
Fields = Iterator[Gap]

_DYNAMIC = "spark.dynamicAllocation.enabled"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_DISKS = (
    "awsElasticBlockStore",
    "azureDisk",
    "gcePersistentDisk",
    "cinder",
    "iscsi",
    "rbd",
    "vsphereVolume",
)
#: Fields that are not followed once they are given: of a kind, by their path.
FIELDS: Mapping[str, Mapping[str, NotSimulated]] = {
    "Job": {"spec.successPolicy": Unfollowed.ALL_COMPLETIONS},
    "LeaderWorkerSet": {
        "spec.leaderWorkerTemplate.volumeClaimTemplates": Unfollowed.CLAIMS
    },
    "PyTorchJob": {"spec.elasticPolicy": Unfollowed.ELASTIC},
    "RayCluster": {"spec.enableInTreeAutoscaling": Unfollowed.AUTOSCALER},
    "RayJob": {"spec.rayClusterSpec.enableInTreeAutoscaling": Unfollowed.AUTOSCALER},
    "RayService": {
        "spec.rayClusterConfig.enableInTreeAutoscaling": Unfollowed.AUTOSCALER
    },
    "SparkApplication": {
        "spec.batchScheduler": Unfollowed.SCHEDULER,
        "spec.dynamicAllocation.enabled": Unfollowed.EXECUTORS,
    },
    "TrainJob": {
        "spec.podTemplateOverrides": Unfollowed.OVERRIDES,
        "spec.podSpecOverrides": Unfollowed.OVERRIDES,
        "spec.runtimePatches": Unfollowed.OVERRIDES,
    },
}


def given_fields(manifest: Manifest, fields: Mapping[str, NotSimulated]) -> Fields:
    """Yield a gap for each of the paths at which an object has something."""
    for path, words in fields.items():
        value: Any = manifest
        for name in path.split("."):
            value = _object(value).get(name)
        if value:
            yield words.at(path)


def unfollowed(manifest: Manifest) -> Fields:
    """Yield the settings that are not followed, and what happens instead."""
    kind = str(manifest.get("kind"))
    found = [*given_fields(manifest, FIELDS.get(kind, {}))]
    if kind in _BY_KIND:
        found += _BY_KIND[kind](manifest)
    for path, pod in pod_specs(manifest):
        found += _pod(path, pod)
    for gap in found:
        field = gap.field.rpartition("/" if "/" in gap.field else ".")[2]
        said = Unfollowed.OF_FIELD.said(kind=kind, field=field, what=gap.problem)
        yield gap._replace(problem=said)


def pod_specs(manifest: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield the pod specs of a pod or of what makes pods, each with its path."""
    if manifest.get("kind") in _WITH_PODS:
        yield from _pods(manifest.get("spec"), "spec")


def _pods(value: Any, path: str) -> Iterator[tuple[str, Manifest]]:
    """Yield the pod specs below a value, each with its path."""
    if isinstance(value, Mapping):
        if isinstance(value.get("containers"), list):
            yield path, value
            return
        for name, inner in value.items():
            yield from _pods(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _pods(inner, f"{path}[{index}]")


def _pod(path: str, pod: Manifest) -> Fields:
    if pod.get("activeDeadlineSeconds") is not None:
        yield Unfollowed.DEADLINE.at(f"{path}.activeDeadlineSeconds")
    volumes = pod.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        for name in _DISKS:
            if name in _object(volume):
                yield Unfollowed.OWN_DISK.at(f"{path}.volumes[{index}].{name}")


def _job_set(manifest: Manifest) -> Fields:
    spec = _object(manifest.get("spec"))
    annotations = _object(_object(manifest.get("metadata")).get("annotations"))
    if _EXCLUSIVE in annotations:
        yield Unfollowed.SHARED_DOMAIN.at(f"metadata.annotations.{_EXCLUSIVE}")
    if _object(spec.get("startupPolicy")).get("startupPolicyOrder") == "InOrder":
        yield Unfollowed.TOGETHER.at("spec.startupPolicy")
    for index, one in enumerate(spec.get("replicatedJobs") or ()):
        if _object(one).get("dependsOn"):
            yield Unfollowed.TOGETHER.at(f"spec.replicatedJobs[{index}].dependsOn")
    if _object(spec.get("successPolicy")).get("operator") == "Any":
        yield Unfollowed.ALL_JOBS.at("spec.successPolicy")
    may_fail = FAILS_AFTER in annotations or any(
        "activeDeadlineSeconds"
        in _object(_object(_object(one).get("template")).get("spec"))
        for one in spec.get("replicatedJobs") or ()
    )
    if _object(spec.get("failurePolicy")).get("maxRestarts") and may_fail:
        yield Unfollowed.NO_RESTARTS.at("spec.failurePolicy")


def _webhooks(manifest: Manifest) -> Fields:
    for index, one in enumerate(manifest.get("webhooks") or ()):
        if takes_more(one):
            yield Unfollowed.WEBHOOK_RULES.at(f"webhooks[{index}].rules")


def _stateful_set(manifest: Manifest) -> Fields:
    name = "persistentVolumeClaimRetentionPolicy"
    if "Delete" in _object(_object(manifest.get("spec")).get(name)).values():
        yield Unfollowed.KEPT.at(f"spec.{name}")


def _spark(manifest: Manifest) -> Fields:
    settings = _object(_object(manifest.get("spec")).get("sparkConf"))
    if str(settings.get(_DYNAMIC)).lower() == "true":
        yield Unfollowed.EXECUTORS.at(f"spec.sparkConf.{_DYNAMIC}")


def _devices(manifest: Manifest) -> Fields:
    """Yield what a claim, template, class or slice says in vain.

    Source: docs/semantics/kube-scheduler.md#devices.
    """
    yield from _below(manifest.get("spec"), "spec")


def _below(value: Any, path: str) -> Fields:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _below(item, f"{path}[{index}]")
    if not isinstance(value, Mapping):
        return
    for name, inner in value.items():
        at = f"{path}.{name}"
        if name == "expression" and isinstance(inner, str) and read_rule(inner) is None:
            yield Devices.EXPRESSION.at(at)
        if name in _OF_DEVICES and inner:
            yield _OF_DEVICES[name].at(at)
        if name == "capacity" and isinstance(inner, Mapping) and "requests" in inner:
            yield Devices.SHARE.at(at)
        yield from _below(inner, at)


#: Fields of claims, classes and slices of devices, at any depth.
_OF_DEVICES: Mapping[str, NotSimulated] = {
    "firstAvailable": Devices.FIRST,
    "adminAccess": Devices.ADMIN,
    "distinctAttribute": Devices.DISTINCT,
    "consumesCounters": Devices.COUNTERS,
    "taints": Devices.TAINTS,
    "extendedResourceName": Devices.EXTENDED,
}


def _object(given: Any) -> Manifest:
    return given if isinstance(given, Mapping) else {}


_BY_KIND: Mapping[str, Callable[[Manifest], Fields]] = {
    "JobSet": _job_set,
    "SparkApplication": _spark,
    "StatefulSet": _stateful_set,
    **dict.fromkeys(WEBHOOKS, _webhooks),
    "ResourceClaim": _devices,
    "ResourceClaimTemplate": _devices,
    "DeviceClass": _devices,
    "ResourceSlice": _devices,
}
#: A Workload's podSets are those of its job, which says it.
_WITH_PODS = frozenset(
    {
        *_BY_KIND,
        *FIELDS,
        *("Pod", "CronJob", "ReplicaSet", "DaemonSet", "Deployment", "StatefulSet"),
        *("LeaderWorkerSet", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"),
        *("ClusterTrainingRuntime", "TrainingRuntime", "AppWrapper"),
    }
)
