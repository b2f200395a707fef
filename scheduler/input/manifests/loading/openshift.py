"""The object by which OpenShift's operator configures Kueue: to Kueue's Configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import expect_items, expect_object, expect_texts
from scheduler.model.kueue.configuration import DEFAULT_STRATEGIES, GROUP
from scheduler.model.problems import Wanted, expected

#: The label of the namespaces whose jobs are managed.
MANAGED = "kueue.openshift.io/managed"
_CONFIG = "spec.config"
_FRAMEWORKS = {
    "AppWrapper": "workload.codeflare.dev/appwrapper",
    "BatchJob": "batch/job",
    "Deployment": "deployment",
    "JaxJob": "kubeflow.org/jaxjob",
    "JobSet": "jobset.x-k8s.io/jobset",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
    "MPIJob": "kubeflow.org/mpijob",
    "PaddleJob": "kubeflow.org/paddlejob",
    "Pod": "pod",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "RayCluster": "ray.io/raycluster",
    "RayJob": "ray.io/rayjob",
    "RayService": "ray.io/rayservice",
    "SparkApplication": "sparkoperator.k8s.io/sparkapplication",
    "StatefulSet": "statefulset",
    "TFJob": "kubeflow.org/tfjob",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "XGBoostJob": "kubeflow.org/xgboostjob",
}
#: Where pods are not waited for, they may take a year.
_NEVER = "8760h"
#: What the operator documents where nobody says how long pods may take.
_TIMEOUT_S = 1800
_AGAIN = {
    "backoffBaseSeconds": "backoffBaseSeconds",
    "backoffMaxSeconds": "backoffMaxSeconds",
    "retryLimit": "backoffLimitCount",
    "timeReference": "timestamp",
}
_BY_WORKLOAD = (
    "admission",
    "recoveryTimeoutSeconds",
    "requeuingStrategy",
    "timeoutSeconds",
)
_POLICIES = (None, "", "None", "ByWorkload", "ByWorkloadDefaults")
_READ = {
    "admissionFairSharing": ("configuration", "custom"),
    "gangScheduling": ("policy", "byWorkload"),
    "integrations": ("frameworks", "externalFrameworks", "labelKeysToCopy"),
    "preemption": ("preemptionPolicy",),
    "workloadManagement": ("labelPolicy",),
}


def configuration_of(document: Document) -> dict[str, Any]:
    """Return the Configuration that the operator writes of a `Kueue` object.

    Raises ManifestError naming a field with a value that the operator refuses.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    config = expect_object(document, spec, _CONFIG, needed=True)

    def section(name: str) -> dict[str, Any]:
        return expect_object(document, config, f"{_CONFIG}.{name}")

    found: dict[str, Any] = {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "Configuration",
        "integrations": _integrations(document, section("integrations")),
        "managedJobsNamespaceSelector": {"matchLabels": {MANAGED: "true"}},
        "manageJobsWithoutQueueName": section("workloadManagement").get("labelPolicy")
        == "None",
    }
    gangs = section("gangScheduling")
    if gangs.get("policy") == "ByWorkload":
        found["waitForPodsReady"] = _waiting(document, gangs)
    elif gangs.get("policy") == "None":
        found["waitForPodsReady"] = {"timeout": _NEVER, "blockAdmission": False}
    if section("preemption").get("preemptionPolicy") == "FairSharing":
        found["fairSharing"] = {"preemptionStrategies": [*DEFAULT_STRATEGIES]}
    if usage := section("admissionFairSharing"):
        found["admissionFairSharing"] = _usage(usage)
    return found


def _integrations(document: Document, given: dict[str, Any]) -> dict[str, Any]:
    path = f"{_CONFIG}.integrations"
    frameworks = expect_texts(document, given, f"{path}.frameworks")
    for index, name in enumerate(frameworks):
        if name not in _FRAMEWORKS:
            known = Wanted.ONE_OF.said(known=", ".join(_FRAMEWORKS))
            place = f"{path}.frameworks[{index}]"
            raise document.error(place, expected(known, name))
    found: dict[str, Any] = {"frameworks": [_FRAMEWORKS[name] for name in frameworks]}
    others = [
        f"{one.get('resource')}.{one.get('version')}.{one.get('group')}"
        for _, one in expect_items(document, given, f"{path}.externalFrameworks")
    ]
    keys = [
        one.get("key")
        for _, one in expect_items(document, given, f"{path}.labelKeysToCopy")
    ]
    if others:
        found["externalFrameworks"] = others
    if keys:
        found["labelKeysToCopy"] = keys
    return found


def _waiting(document: Document, gangs: dict[str, Any]) -> dict[str, Any]:
    path = f"{_CONFIG}.gangScheduling.byWorkload"
    given = expect_object(document, gangs, path)
    again = expect_object(document, given, f"{path}.requeuingStrategy")
    found: dict[str, Any] = {
        "timeout": f"{given.get('timeoutSeconds') or _TIMEOUT_S}s",
        "blockAdmission": given.get("admission") == "Sequential",
    }
    if (recovery := given.get("recoveryTimeoutSeconds")) is not None:
        found["recoveryTimeout"] = f"{recovery}s"
    names = {ours: again[theirs] for theirs, ours in _AGAIN.items() if theirs in again}
    return found | ({"requeuingStrategy": names} if names else {})


def _usage(given: Mapping[str, Any]) -> dict[str, Any]:
    custom = given.get("custom") or {}
    found: dict[str, Any] = {
        "usageHalfLifeTime": f"{custom.get('usageHalfLifeTimeSeconds', 1800)}s",
        "usageSamplingInterval": f"{custom.get('usageSamplingIntervalSeconds', 300)}s",
    }
    if weights := custom.get("resourceWeights"):
        found["resourceWeights"] = {
            one["name"]: float(one["weight"]) for one in weights
        }
    return found


def unread(document: Document) -> Iterator[str]:
    """Yield the paths of an object's configuration that nothing here follows."""
    for name, value in document.data["spec"]["config"].items():
        known = _READ.get(name)
        if known is None:
            yield f"{_CONFIG}.{name}"
        elif isinstance(value, dict):
            yield from (f"{_CONFIG}.{name}.{one}" for one in value if one not in known)
    gangs = document.data["spec"]["config"].get("gangScheduling") or {}
    if gangs.get("policy") not in _POLICIES:
        yield f"{_CONFIG}.gangScheduling.policy"
    for name in gangs.get("byWorkload") or {}:
        if name not in _BY_WORKLOAD:
            yield f"{_CONFIG}.gangScheduling.byWorkload.{name}"
