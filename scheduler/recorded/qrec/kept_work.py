"""The fields of every kind of work that are written: jobs, and what serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

# ------------------------------------------------------------------------
# The fields of metadata, pods and their templates that are written.


Tree: TypeAlias = "Callable[[Any], Any] | Mapping[str, Tree] | None"
#: Kept as it is.
ALL: Final = None
EACH = "*"

#: Annotations of these domains and of what is below them are kept.
_DOMAINS = (
    "kueue.x-k8s.io",
    "yunikorn.apache.org",
    "scheduling.x-k8s.io",
    "scheduling.sigs.k8s.io",
    "scheduling.k8s.io",
    "batch.kubernetes.io",
    "jobset.sigs.k8s.io",
    "leaderworkerset.sigs.k8s.io",
    "quotalab.dev",
)
_ANNOTATIONS = (
    "ray.io/ft-enabled",
    "resource.kubernetes.io/pod-claim-name",
    "pv.kubernetes.io/bind-completed",
    "volume.kubernetes.io/selected-node",
    "storageclass.kubernetes.io/is-default-class",
    "karpenter.sh/do-not-disrupt",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled",
)


def keep(given: Any, tree: Tree) -> Any:
    """Return what a tree keeps of a value. Cost: that of its size.

    Lists are gone through; a text where the tree expects an object is left out.
    """
    if tree is ALL:
        return given
    if callable(tree):
        return tree(given)
    if isinstance(given, list):
        return [keep(item, tree) for item in given]
    if not isinstance(given, dict):
        return None
    every = EACH in tree
    return {
        name: keep(part, tree[name] if name in tree else tree[EACH])
        for name, part in given.items()
        if every or name in tree
    }


def fields(names: str, **deeper: Tree) -> dict[str, Tree]:
    """Return a tree that keeps these names as they are, and others by their trees."""
    return {**dict.fromkeys(names.split(), ALL), **deeper}


def _annotations(given: Any) -> Any:
    return {name: text for name, text in (given or {}).items() if _is_read(name)}


def _is_read(annotation: str) -> bool:
    domain = annotation.partition("/")[0]
    return annotation in _ANNOTATIONS or any(
        domain == kept or domain.endswith(f".{kept}") for kept in _DOMAINS
    )


METADATA = fields(
    "name generateName namespace uid resourceVersion generation creationTimestamp "
    "deletionTimestamp deletionGracePeriodSeconds labels ownerReferences",
    annotations=_annotations,
)
CONDITIONS = fields(
    "type status reason message observedGeneration lastTransitionTime lastProbeTime "
    "lastUpdateTime"
)
_STATE = fields("", running=fields("startedAt"), waiting=fields("reason")) | {
    "terminated": fields("exitCode reason startedAt finishedAt")
}
_CONTAINER_STATUS = fields(
    "name ready started restartCount allocatedResources resources",
    state=_STATE,
    lastState=_STATE,
)
_CONTAINER = fields(
    "name image resources resizePolicy restartPolicy",
    ports=fields("name containerPort hostPort hostIP protocol"),
)
#: Sources of volumes that decide where a pod can run; of others the name is kept.
_CLAIM = fields("accessModes resources storageClassName volumeMode")
_VOLUME = fields(
    "name persistentVolumeClaim",
    csi=fields("driver readOnly"),
    ephemeral=fields("", volumeClaimTemplate=fields("", spec=_CLAIM)),
)
POD_SPEC = fields(
    "nodeName nodeSelector affinity tolerations schedulerName priority os "
    "priorityClassName preemptionPolicy overhead runtimeClassName resources "
    "topologySpreadConstraints schedulingGates restartPolicy hostNetwork "
    "terminationGracePeriodSeconds activeDeadlineSeconds serviceAccountName "
    "resourceClaims workloadRef schedulingGroup",
    containers=_CONTAINER,
    initContainers=_CONTAINER,
    ephemeralContainers=_CONTAINER,
    volumes=_VOLUME,
)
POD_STATUS = fields(
    "phase reason startTime nominatedNodeName qosClass resize observedGeneration",
    conditions=CONDITIONS,
    containerStatuses=_CONTAINER_STATUS,
    initContainerStatuses=_CONTAINER_STATUS,
    ephemeralContainerStatuses=_CONTAINER_STATUS,
)
TEMPLATE = fields("", metadata=METADATA, spec=POD_SPEC)


# ------------------------------------------------------------------------
# The fields of every kind of work that are written: jobs, and what serves.


#: Some controllers write into their messages what they were given.
_TERSE = {name: part for name, part in CONDITIONS.items() if name != "message"}
_ENDED = fields("startTime completionTime endTime", conditions=_TERSE)

_JOB = fields(
    "parallelism completions completionMode suspend backoffLimit maxFailedIndexes "
    "backoffLimitPerIndex activeDeadlineSeconds ttlSecondsAfterFinished selector "
    "podReplacementPolicy podFailurePolicy successPolicy managedBy",
    template=TEMPLATE,
)
_JOB_STATUS = fields(
    "active ready succeeded failed terminating completedIndexes failedIndexes "
    "uncountedTerminatedPods startTime completionTime",
    conditions=CONDITIONS,
)
_JOB_TEMPLATE = fields("", metadata=METADATA, spec=_JOB)
_JOB_SET = fields(
    "suspend failurePolicy successPolicy startupPolicy managedBy "
    "ttlSecondsAfterFinished",
    replicatedJobs=fields("name groupName replicas dependsOn", template=_JOB_TEMPLATE),
)
_ROLES = fields("", **{EACH: fields("replicas restartPolicy", template=TEMPLATE)})
_ROLE_JOB = fields(
    "slotsPerWorker nprocPerNode elasticPolicy",
    runPolicy=fields(
        "suspend cleanPodPolicy ttlSecondsAfterFinished activeDeadlineSeconds "
        "backoffLimit managedBy schedulingPolicy"
    ),
    **dict.fromkeys(
        (
            "pytorchReplicaSpecs",
            "tfReplicaSpecs",
            "xgbReplicaSpecs",
            "paddleReplicaSpecs",
            "jaxReplicaSpecs",
            "mpiReplicaSpecs",
        ),
        _ROLES,
    ),
)
_ROLE_STATUS = _ENDED | {
    "replicaStatuses": {EACH: fields("active ready succeeded failed")}
}
_RUNTIME = fields(
    "podGroupPolicy",
    mlPolicy=fields("numNodes"),
    template=fields("", metadata=METADATA, spec=_JOB_SET),
)
_RAY = fields(
    "suspend enableInTreeAutoscaling",
    autoscalerOptions=fields("resources idleTimeoutSeconds upscalingMode"),
    gcsFaultToleranceOptions={},  # that it is there counts
    headGroupSpec=fields("", template=TEMPLATE),
    workerGroupSpecs=fields(
        "groupName replicas minReplicas maxReplicas numOfHosts suspend",
        template=TEMPLATE,
    ),
)
_RAY_STATUS = fields("state", conditions=_TERSE)
_SPARK_ROLE = fields(
    "cores coreRequest coreLimit memory memoryOverhead gpu instances nodeSelector "
    "tolerations affinity priorityClassName serviceAccount labels",
    annotations=METADATA["annotations"],
    sidecars=POD_SPEC["containers"],
    initContainers=POD_SPEC["initContainers"],
)
_SERVING = fields(
    "replicas selector paused minReadySeconds strategy updateStrategy ordinals "
    "podManagementPolicy",
    template=TEMPLATE,
)
_SERVING_STATUS = fields(
    "replicas readyReplicas availableReplicas updatedReplicas currentReplicas "
    "unavailableReplicas terminatingReplicas observedGeneration numberReady "
    "currentNumberScheduled desiredNumberScheduled numberMisscheduled numberAvailable "
    "numberUnavailable updatedNumberScheduled",
    conditions=_TERSE,
)


def _whole(spec: Tree, status: Tree) -> Tree:
    return fields("apiVersion kind", metadata=METADATA, spec=spec, status=status)


def wrapped(given: Any) -> Any:
    """Return what is kept of an object within another, by its kind.

    Of a kind that is not known it is its pod templates, where they stand.
    """
    if not isinstance(given, dict):
        return None
    tree = WORK.get(str(given.get("kind")))
    if tree is not None:
        return keep(given, tree)
    named = keep(given, fields("apiVersion kind", metadata=METADATA))
    return {**(_templates(given) or {}), **named}


def _templates(given: Any) -> Any:
    """Return the value with nothing in it but pod templates; None without one."""
    if isinstance(given, list):
        found = [_templates(item) or {} for item in given]
        return found if any(found) else None
    if not isinstance(given, dict):
        return None
    if "containers" in (given.get("spec") or {}):
        return keep(given, TEMPLATE)
    parts = {name: _templates(part) for name, part in given.items()}
    return {name: part for name, part in parts.items() if part} or None


_COMPONENT = fields("", podSets=fields("replicas path"), template=wrapped)

WORK: dict[str, Tree] = {
    "Pod": _whole(POD_SPEC, POD_STATUS),
    "Job": _whole(_JOB, _JOB_STATUS),
    "CronJob": _whole(
        fields(
            "schedule timeZone concurrencyPolicy suspend startingDeadlineSeconds "
            "successfulJobsHistoryLimit failedJobsHistoryLimit",
            jobTemplate=_JOB_TEMPLATE,
        ),
        fields("active lastScheduleTime lastSuccessfulTime"),
    ),
    "JobSet": _whole(
        _JOB_SET, _ENDED | fields("restarts terminalState replicatedJobsStatus")
    ),
    **dict.fromkeys(
        ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"),
        _whole(_ROLE_JOB, _ROLE_STATUS),
    ),
    "TrainJob": _whole(
        fields(
            "runtimeRef suspend managedBy",
            trainer=fields("numNodes numProcPerNode resourcesPerNode"),
        ),
        _ENDED | fields("jobsStatus"),
    ),
    "TrainingRuntime": _whole(_RUNTIME, {}),
    "ClusterTrainingRuntime": _whole(_RUNTIME, {}),
    "RayCluster": _whole(_RAY, _RAY_STATUS),
    "RayJob": _whole(
        fields(
            "suspend submissionMode clusterSelector activeDeadlineSeconds backoffLimit "
            "shutdownAfterJobFinishes ttlSecondsAfterFinished",
            submitterPodTemplate=TEMPLATE,
            rayClusterSpec=_RAY,
        ),
        _ENDED | fields("jobDeploymentStatus jobStatus", rayClusterStatus=_RAY_STATUS),
    ),
    "RayService": _whole(
        fields("", rayClusterConfig=_RAY), fields("serviceStatus", conditions=_TERSE)
    ),
    "SparkApplication": _whole(
        fields(
            "suspend mode nodeSelector dynamicAllocation timeToLiveSeconds",
            driver=_SPARK_ROLE,
            executor=_SPARK_ROLE,
        ),
        fields("executorState", applicationState=fields("state")),
    ),
    "AppWrapper": _whole(
        fields("suspend managedBy", components=_COMPONENT),
        fields("phase retries resettingCount", conditions=_TERSE),
    ),
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"),
        _whole(_SERVING, _SERVING_STATUS),
    ),
    "LeaderWorkerSet": _whole(
        fields(
            "replicas startupPolicy rolloutStrategy",
            leaderWorkerTemplate=fields(
                "size restartPolicy subGroupPolicy",
                leaderTemplate=TEMPLATE,
                workerTemplate=TEMPLATE,
            ),
        ),
        _SERVING_STATUS,
    ),
}
