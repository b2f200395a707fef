"""Fields that are kept and decide nothing, and what that changes where it does."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.input.manifests.effects import Effect

UNREAD: Mapping[str, str] = {
    "PodSpec": """automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks
        ephemeralContainers hostAliases hostIPC hostPID hostUsers hostname
        hostnameOverride imagePullSecrets os readinessGates securityContext
        serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace
        subdomain""",
    "Container": """args command env envFrom imagePullPolicy lifecycle livenessProbe
        readinessProbe resizePolicy restartPolicyRules securityContext startupProbe
        stdin stdinOnce terminationMessagePath terminationMessagePolicy tty
        volumeDevices volumeMounts workingDir""",
    "JobSpec": """backoffLimit backoffLimitPerIndex maxFailedIndexes manualSelector
        podFailurePolicy podReplacementPolicy""",
    "DeploymentSpec": """minReadySeconds paused progressDeadlineSeconds
        revisionHistoryLimit strategy""",
    "StatefulSetSpec": """minReadySeconds podManagementPolicy revisionHistoryLimit
        serviceName updateStrategy""",
    "DaemonSetSpec": "minReadySeconds revisionHistoryLimit updateStrategy",
    "JobSetSpec": "coordinator network ttlSecondsAfterFinished",
    "LeaderWorkerSetSpec": "networkConfig rolloutStrategy",
    "RunPolicy": "backoffLimit cleanPodPolicy ttlSecondsAfterFinished",
}
#: How a field of a type is written for people, where the type alone does not say it.
PREFIXES: Mapping[str, str] = {"Container": "containers[]."}

#: Field -> what it changes that it is not followed.
_EFFECTS: Mapping[str, Effect] = {
    "readinessGates": Effect.READY_AFTER,
    "readinessProbe": Effect.READY_AFTER,
    "startupProbe": Effect.READY_AFTER,
    "minReadySeconds": Effect.READY_AFTER,
    "backoffLimit": Effect.FAILS_AFTER,
    "backoffLimitPerIndex": Effect.FAILS_AFTER,
    "podFailurePolicy": Effect.FAILS_AFTER,
    "maxFailedIndexes": Effect.FAILS_AFTER,
    "livenessProbe": Effect.FAILS_AFTER,
    "restartPolicyRules": Effect.FAILS_AFTER,
    "strategy": Effect.AT_ONCE,
    "updateStrategy": Effect.AT_ONCE,
    "rolloutStrategy": Effect.AT_ONCE,
    "podManagementPolicy": Effect.AT_ONCE,
    "podReplacementPolicy": Effect.AT_ONCE,
    "paused": Effect.NOT_PAUSED,
    "ttlSecondsAfterFinished": Effect.STAYS_LISTED,
    "resizePolicy": Effect.SAME_RESOURCES,
}


def effect_of_field(name: str) -> Effect:
    """Return the effect of ignoring a field of UNREAD."""
    return _EFFECTS.get(name.rpartition(".")[2], Effect.NO_DECISION)
