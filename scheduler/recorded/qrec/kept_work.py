"""The fields of every kind of work that are written: jobs, and what serves."""

from __future__ import annotations

from typing import Any

from scheduler.recorded.qrec.kept_pods import (
    CONDITIONS,
    EACH,
    METADATA,
    POD_SPEC,
    POD_STATUS,
    TEMPLATE,
    Tree,
    fields,
    keep,
)

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
        _JOB_SET,
        _ENDED | fields("restarts terminalState replicatedJobsStatus"),
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
