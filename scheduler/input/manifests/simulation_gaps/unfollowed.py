"""Fields of jobs and pods that their controllers obey and nothing here does.

Source: docs/semantics/controllers.md#what-is-not-followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler.input.manifests.effects import Effect, Gap
from scheduler.input.manifests.simulation_gaps.devices import unread_devices
from scheduler.model.annotations import FAILS_AFTER
from scheduler.words.gaps import Unfollowed

Manifest = Mapping[str, Any]
Fields = Iterator[Gap]

_OF_DEVICES = (
    "ResourceClaim",
    "ResourceClaimTemplate",
    "DeviceClass",
    "ResourceSlice",
)
_DYNAMIC = "spark.dynamicAllocation.enabled"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_CLAIMS = (
    Unfollowed.CLAIMS.said(),
    Effect.BOUND_WITHOUT_VOLUME,
)
_KEPT = Unfollowed.KEPT.said(), Effect.VOLUMES_STAY
_DEADLINE = (
    Unfollowed.DEADLINE.said(),
    Effect.DEADLINE,
)
_OWN_DISK = (
    Unfollowed.OWN_DISK.said(),
    Effect.OTHER_DISK,
)
_DISKS = (
    "awsElasticBlockStore",
    "azureDisk",
    "gcePersistentDisk",
    "cinder",
    "iscsi",
    "rbd",
    "vsphereVolume",
)
_TOGETHER = Unfollowed.TOGETHER.said(), Effect.EARLY_STEPS
_AUTOSCALER = (
    Unfollowed.AUTOSCALER.said(),
    Effect.SAME_SIZE,
)


def unfollowed(manifest: Manifest) -> Fields:
    """Yield the settings that are not followed, and what happens instead."""
    kind = str(manifest.get("kind"))
    find = _BY_KIND.get(kind)
    found = [*find(manifest)] if find is not None else []
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
        yield Gap(f"{path}.activeDeadlineSeconds", *_DEADLINE)
    volumes = pod.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        for name in _DISKS:
            if name in _object(volume):
                yield Gap(f"{path}.volumes[{index}].{name}", *_OWN_DISK)


def _job(manifest: Manifest) -> Fields:
    spec = _object(manifest.get("spec"))
    if spec.get("successPolicy"):
        note = Unfollowed.ALL_COMPLETIONS.said()
        yield Gap("spec.successPolicy", note, Effect.LONGER_QUOTA)


def _job_set(manifest: Manifest) -> Fields:
    spec = _object(manifest.get("spec"))
    annotations = _object(_object(manifest.get("metadata")).get("annotations"))
    if _EXCLUSIVE in annotations:
        note = Unfollowed.SHARED_DOMAIN.said()
        yield Gap(f"metadata.annotations.{_EXCLUSIVE}", note, Effect.SHARED_DOMAIN)
    if _object(spec.get("startupPolicy")).get("startupPolicyOrder") == "InOrder":
        yield Gap("spec.startupPolicy", *_TOGETHER)
    for index, one in enumerate(spec.get("replicatedJobs") or ()):
        if _object(one).get("dependsOn"):
            yield Gap(f"spec.replicatedJobs[{index}].dependsOn", *_TOGETHER)
    if _object(spec.get("successPolicy")).get("operator") == "Any":
        note = Unfollowed.ALL_JOBS.said()
        yield Gap("spec.successPolicy", note, Effect.LONGER_QUOTA)
    may_fail = FAILS_AFTER in annotations or any(
        "activeDeadlineSeconds"
        in _object(_object(_object(one).get("template")).get("spec"))
        for one in spec.get("replicatedJobs") or ()
    )
    if _object(spec.get("failurePolicy")).get("maxRestarts") and may_fail:
        note = Unfollowed.NO_RESTARTS.said()
        yield Gap("spec.failurePolicy", note, Effect.LONGER_QUOTA)


def _ray(*path: str) -> Callable[[Manifest], Fields]:
    def find(manifest: Manifest) -> Fields:
        cluster = manifest
        for name in path:
            cluster = _object(cluster.get(name))
        if cluster.get("enableInTreeAutoscaling") is True:
            yield Gap(".".join((*path, "enableInTreeAutoscaling")), *_AUTOSCALER)

    return find


def _stateful_set(manifest: Manifest) -> Fields:
    name = "persistentVolumeClaimRetentionPolicy"
    if "Delete" in _object(_object(manifest.get("spec")).get(name)).values():
        yield Gap(f"spec.{name}", *_KEPT)


def _leader_worker_set(manifest: Manifest) -> Fields:
    template = _object(_object(manifest.get("spec")).get("leaderWorkerTemplate"))
    if template.get("volumeClaimTemplates"):
        yield Gap("spec.leaderWorkerTemplate.volumeClaimTemplates", *_CLAIMS)


def _spark(manifest: Manifest) -> Fields:
    spec = _object(manifest.get("spec"))
    if spec.get("batchScheduler"):
        note = Unfollowed.SCHEDULER.said()
        yield Gap("spec.batchScheduler", note, Effect.OTHER_SCHEDULER)
    note = Unfollowed.EXECUTORS.said()
    if _object(spec.get("dynamicAllocation")).get("enabled") is True:
        yield Gap("spec.dynamicAllocation", note, Effect.SAME_SIZE)
    if str(_object(spec.get("sparkConf")).get(_DYNAMIC)).lower() == "true":
        yield Gap(f"spec.sparkConf.{_DYNAMIC}", note, Effect.SAME_SIZE)


def _pytorch(manifest: Manifest) -> Fields:
    if _object(manifest.get("spec")).get("elasticPolicy"):
        note = Unfollowed.ELASTIC.said()
        yield Gap("spec.elasticPolicy", note, Effect.SAME_SIZE)


def _train_job(manifest: Manifest) -> Fields:
    spec = _object(manifest.get("spec"))
    for name in ("podTemplateOverrides", "podSpecOverrides", "runtimePatches"):
        if spec.get(name):
            note = Unfollowed.OVERRIDES.said()
            yield Gap(f"spec.{name}", note, Effect.NO_OVERRIDES)


def _object(given: Any) -> Manifest:
    return given if isinstance(given, Mapping) else {}


_BY_KIND: Mapping[str, Callable[[Manifest], Fields]] = {
    "Job": _job,
    "JobSet": _job_set,
    "RayCluster": _ray("spec"),
    "RayJob": _ray("spec", "rayClusterSpec"),
    "RayService": _ray("spec", "rayClusterConfig"),
    "SparkApplication": _spark,
    "PyTorchJob": _pytorch,
    "StatefulSet": _stateful_set,
    "LeaderWorkerSet": _leader_worker_set,
    **dict.fromkeys(_OF_DEVICES, unread_devices),
    "TrainJob": _train_job,
}
#: A Workload's podSets are those of its job, which says it.
_WITH_PODS = frozenset(
    {
        *_BY_KIND,
        *("Pod", "CronJob", "ReplicaSet", "DaemonSet", "Deployment", "StatefulSet"),
        *("LeaderWorkerSet", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"),
        *("ClusterTrainingRuntime", "TrainingRuntime", "AppWrapper"),
    }
)
