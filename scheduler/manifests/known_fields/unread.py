"""Fields that are kept and decide nothing, and what that changes where it does."""

from __future__ import annotations

from collections.abc import Mapping

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
        podFailurePolicy podReplacementPolicy ttlSecondsAfterFinished""",
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

#: Field -> the code of what it changes that it is not followed.
_EFFECTS: Mapping[str, str] = {
    "readinessGates": "readyAfter",
    "readinessProbe": "readyAfter",
    "startupProbe": "readyAfter",
    "minReadySeconds": "readyAfter",
    "backoffLimit": "failsAfter",
    "backoffLimitPerIndex": "failsAfter",
    "podFailurePolicy": "failsAfter",
    "maxFailedIndexes": "failsAfter",
    "livenessProbe": "failsAfter",
    "restartPolicyRules": "failsAfter",
    "strategy": "atOnce",
    "updateStrategy": "atOnce",
    "rolloutStrategy": "atOnce",
    "podManagementPolicy": "atOnce",
    "podReplacementPolicy": "atOnce",
    "paused": "notPaused",
    "ttlSecondsAfterFinished": "staysListed",
    "resizePolicy": "sameResources",
}


def code_of_field(name: str) -> str:
    """Return the code of what it changes that a field of UNREAD is not followed."""
    return _EFFECTS.get(name.rpartition(".")[2], "noDecision")
